/**
 * Which connection sends which requests, and what each of the answers is worth.
 *
 * @module
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { Request } from 'autocannon'
import type { KnownRequest } from '../harness/answers.js'
import type { Outcome } from './tally.js'

interface Deck {
  readonly requests: readonly KnownRequest[]
  readonly compareAnswers: boolean
  readonly connectionCount: number
}

/**
 * Deals requests out to one connection after the other. Each has its own objects, since autocannon
 * writes into them.
 *
 * @param onOutcome  called for each answer
 */
export function dealOut(deck: Deck, onOutcome: (outcome: Outcome) => void): () => Request[] {
  const { requests, compareAnswers, connectionCount } = deck
  let dealtCount = 0
  return () => {
    const first = (dealtCount++ % connectionCount) % requests.length
    const own = requests.filter((_, at) => at % connectionCount === first)
    return own.map(({ body, answer }) => ({
      method: 'POST',
      path: '/api/recipients',
      headers: { 'content-type': 'application/json' },
      body,
      onResponse: (status, text, _, headers) => {
        const isRight = !compareAnswers || text === answer
        onOutcome(outcomeOf(status, isRight, headers))
      },
    }))
  }
}

function outcomeOf(
  status: number,
  isRight: boolean,
  headers: IncomingHttpHeaders | undefined,
): Outcome {
  if (status >= 200 && status < 300) return isRight ? 'right' : 'wrong'
  return status === 503 && hasRetryAfter(headers) ? 'refused' : 'failed'
}

/** Names come as they were sent. */
function hasRetryAfter(headers: IncomingHttpHeaders | undefined): boolean {
  return Object.keys(headers ?? {}).some((name) => name.toLowerCase() === 'retry-after')
}
