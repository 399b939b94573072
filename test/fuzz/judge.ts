/**
 * What must never come back.
 *
 * @module
 */
import type { ReadAnswer } from '../support/service/answer-reader.js'
import type { Outcome } from './lane.js'
import { MARKER } from './mutate/odd-values.js'
import type { Plan } from './plan.js'
import type { Poked } from './poke.js'

/** Undefined when all is well. */
export function judgeOutcome(outcome: Outcome, plan: Plan): string | undefined {
  if (outcome.kind === 'answered') return judgeAnswer(outcome.answer)
  if (outcome.kind === 'closed') {
    // The library answers 431 and closes at once; what the client is still sending resets the
    // connection, and the answer may be lost to that.
    return isTooLong(plan) ? undefined : 'the connection was closed without an answer'
  }
  if (outcome.kind === 'late') return 'no answer in time'
  return 'what came back is not HTTP'
}

export function judgePoked({ statuses, isOver }: Poked): string | undefined {
  const wrong = statuses.find((status) => isOurFault(status) && status !== UNREADABLE)
  if (wrong !== undefined) return `answered ${wrong}`
  return isOver ? undefined : 'the connection was not closed in time'
}

/** How the HTTP library answers bytes that are no request line of HTTP/1.1. */
const UNREADABLE = 505

/** 503 says that there is too much to do; anything else from 500 on says that we cannot do it. */
function isOurFault(status: number): boolean {
  return status >= 500 && status !== 503
}

function judgeAnswer({ status, headers, body }: ReadAnswer): string | undefined {
  if (isOurFault(status)) return `answered ${status}`
  if (status === 503 && headers['retry-after'] === undefined) return '503 without Retry-After'
  if (status >= 400 && body.includes(MARKER)) return `${status} quotes the request`
  const isJson = headers['content-type']?.startsWith('application/json')
  if (!isJson || body.length === 0 || body.length > PARSED_BYTES_MAX) return undefined
  if (headers['content-encoding'] !== undefined) return undefined
  try {
    JSON.parse(body.toString())
    return undefined
  } catch {
    return `${status} with a body that is not JSON`
  }
}

/** To parse every long list would be most of the work. */
const PARSED_BYTES_MAX = 20_000

/** What the library takes of a request line and headers. */
const HEAD_BYTES_MAX = 4_096

function isTooLong({ pieces }: Plan): boolean {
  const bytes = Buffer.concat(pieces.map((piece) => piece.bytes))
  const end = bytes.indexOf('\r\n\r\n')
  return (end < 0 ? bytes.length : end) > HEAD_BYTES_MAX
}
