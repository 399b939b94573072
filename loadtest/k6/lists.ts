/**
 * How many lists a second of the people inside a drawn polygon, in a closed loop?
 *
 * @module
 */
import { check } from 'k6'
import { sha256 } from 'k6/crypto'
import { SharedArray } from 'k6/data'
import exec from 'k6/execution'
import type { Options } from 'k6/options'
import { namesSnapshot } from './answers.js'
import { ask } from './ask.js'
import { type KnownList, LISTS_FILE, nextOf } from './scenario-data.js'
import { connectionCount, dataDirectory, seconds } from './settings.js'

const known = new SharedArray<KnownList>('lists', () =>
  JSON.parse(open(`${dataDirectory}/${LISTS_FILE}`)),
)

export const options: Options = {
  scenarios: {
    lists: {
      executor: 'constant-vus',
      // Each holds a whole list while it computes the digest.
      vus: Math.min(16, connectionCount),
      duration: `${seconds}s`,
      exec: 'list',
    },
  },
  thresholds: {
    checks: ['rate==1'],
    http_req_failed: ['rate==0'],
    http_req_waiting: ['p(99)<500'],
  },
}

export function list(): void {
  const request = nextOf(known, exec.scenario.iterationInTest)
  const answer = ask(request.body)
  check(answer, {
    'the status is 200': ({ status }) => status === 200,
    'the list is the known one': ({ body }) => sha256(body, 'hex') === request.answerSha256,
    'the answer names its snapshot': namesSnapshot,
  })
}
