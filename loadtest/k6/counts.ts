/**
 * How many counts of a drawn polygon does the service answer in a second, in a closed loop?
 *
 * @module
 */
import { check } from 'k6'
import { SharedArray } from 'k6/data'
import exec from 'k6/execution'
import type { Options } from 'k6/options'
import { isKnownCount, namesSnapshot } from './answers.js'
import { ask } from './ask.js'
import { COUNTS_FILE, type KnownCount, nextOf } from './scenario-data.js'
import { connectionCount, dataDirectory, seconds } from './settings.js'

const known = new SharedArray<KnownCount>('counts', () =>
  JSON.parse(open(`${dataDirectory}/${COUNTS_FILE}`)),
)

export const options: Options = {
  scenarios: {
    counts: {
      executor: 'constant-vus',
      vus: connectionCount,
      duration: `${seconds}s`,
      exec: 'count',
    },
  },
  thresholds: {
    checks: ['rate==1'],
    http_req_failed: ['rate==0'],
    http_req_duration: ['p(99)<250'],
  },
}

export function count(): void {
  const request = nextOf(known, exec.scenario.iterationInTest)
  const answer = ask(request.body)
  check(answer, {
    'the count is the known one': (seen) => isKnownCount(seen, request),
    'the answer names its snapshot': namesSnapshot,
  })
}
