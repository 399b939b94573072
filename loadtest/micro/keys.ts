/**
 * What does it cost to ask for a key?
 *
 * @module
 */
import { KeyGuard } from '../../src/http/authenticate.js'
import { Gate, OPEN_ADMISSION } from '../../src/http/gate.js'
import type { HttpRequest } from '../../src/http/request.js'
import { DEFAULT_OPTIONS } from '../../src/http/response/response-options.js'
import type { RouteMatch } from '../../src/http/router.js'
import { createLog } from '../../src/log.js'
import { privatePage } from '../../src/metrics/memory.js'
import { OPEN_ACCESS } from '../../src/selection/access.js'
import { followed, keyFor, keysInMemory } from '../../test/support/data/keys.js'
import { compareInTurn } from './harness/in-turn.js'
import type { Question } from './harness/stage.js'

const REQUEST_COUNT = 1_000
const KEY_COUNT = 200

export const keys: Question = async () => {
  const store = keysInMemory()
  const texts = Array.from({ length: KEY_COUNT }, () => keyFor(store, { scopes: ['counts'] }))
  const limited = Array.from({ length: KEY_COUNT }, () =>
    keyFor(store, { scopes: ['counts'], requestsPerSecond: 100_000 }),
  )
  const guard = new KeyGuard({
    keys: followed(store),
    log: createLog('silent'),
    page: privatePage(),
  })
  const rules = { corsOrigins: [], isFull: () => false }
  const open = new Gate({ admission: OPEN_ADMISSION, ...rules })
  const keyed = new Gate({ admission: { ...OPEN_ADMISSION, keys: guard }, ...rules })
  const plain = requestsOf(texts.map(() => undefined))
  const bearers = requestsOf(texts.map((text) => `Bearer ${text}`))
  const bounded = requestsOf(limited.map((text) => `Bearer ${text}`))
  const { ring } = followed(store)
  let first = 0
  return [
    compareInTurn({
      title: 'the gate before a count',
      shapeCount: REQUEST_COUNT,
      ways: {
        'no key is asked for': () => passing(open, plain),
        'a key that is known by its header': () => passing(keyed, bearers),
        'a key that may ask so often': () => passing(keyed, bounded),
        'a key that is looked at: SHA-256': () => {
          let sum = 0
          for (let i = 0; i < REQUEST_COUNT; i++) {
            first = (first + 1) % KEY_COUNT
            if ('access' in ring.verdictOf(texts[first], 0)) sum++
          }
          return sum
        },
      },
      measuresGarbage: true,
      notes: ['a count takes 22 µs of a front thread (README of loadtest)'],
    }),
  ]
}

const ROUTE = {
  isWork: true,
  callOf: () => ({ name: 'RecipientRequest', isBatch: false }),
} as unknown as RouteMatch<unknown>

function passing(gate: Gate, requests: readonly HttpRequest[]): number {
  let sum = 0
  for (const request of requests) if (gate.refusalOf(request, ROUTE) === undefined) sum++
  return sum
}

function requestsOf(headers: readonly (string | undefined)[]): HttpRequest[] {
  return Array.from({ length: REQUEST_COUNT }, (_, i) => {
    const authorization = headers[i % headers.length]
    return {
      access: OPEN_ACCESS,
      declaredBytes: 200,
      options: DEFAULT_OPTIONS,
      clientCertificate: undefined,
      peerAddress: '127.0.0.1',
      header: (name: string) => (name === 'authorization' ? authorization : undefined),
      hasKeyInQuery: false,
    } as unknown as HttpRequest
  })
}
