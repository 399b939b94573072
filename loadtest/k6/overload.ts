/**
 * Three times what the service can answer, at a rate that does not wait for it: is as much answered
 * as ever, and the rest refused at once?
 *
 * @module
 */
import { check } from 'k6'
import { SharedArray } from 'k6/data'
import exec from 'k6/execution'
import http from 'k6/http'
import { Counter } from 'k6/metrics'
import type { Options } from 'k6/options'
import { isKnownCount, isRefusal } from './answers.js'
import { ask } from './ask.js'
import { COUNTS_FILE, type KnownCount, nextOf } from './scenario-data.js'
import { dataDirectory, peakPerSecond, seconds } from './settings.js'

const known = new SharedArray<KnownCount>('counts', () =>
  JSON.parse(open(`${dataDirectory}/${COUNTS_FILE}`)),
)

const answered = new Counter('answered')

// Being refused is no failure here; no answer, or another one, is.
http.setResponseCallback(http.expectedStatuses(200, 503))

export const options: Options = {
  scenarios: {
    overload: {
      executor: 'constant-arrival-rate',
      rate: 3 * peakPerSecond,
      timeUnit: '1s',
      duration: `${seconds}s`,
      preAllocatedVUs: 500,
      maxVUs: 4_000,
      exec: 'press',
    },
  },
  thresholds: {
    checks: ['rate==1'],
    http_req_failed: ['rate==0'],
    answered: [`rate>=${0.9 * peakPerSecond}`],
    'http_req_duration{status:503}': ['p(99)<10'],
    // The generator did not keep its rate: the figures are not of three times the capacity.
    dropped_iterations: [`rate<${0.05 * peakPerSecond}`],
  },
}

export function press(): void {
  const request = nextOf(known, exec.scenario.iterationInTest)
  const answer = ask(request.body)
  if (answer.status === 200) answered.add(1)
  check(answer, {
    'the count is the known one, or refused with Retry-After': (seen) =>
      isKnownCount(seen, request) || isRefusal(seen),
  })
}
