/**
 * What the service may answer. Nothing of k6 is used here, so that Node.js can test it.
 *
 * @module
 */
import type { KnownCount } from './scenario-data.js'

/** What a client sees of an answer; k6 gives the names of headers as Go writes them. */
export interface SeenAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export function isKnownCount({ status, body }: SeenAnswer, known: KnownCount): boolean {
  return status === 200 && body === known.answer
}

/** 503 with a time to come back after, in few bytes. */
export function isRefusal({ status, headers, body }: SeenAnswer): boolean {
  return status === 503 && isWaitSeconds(headers['Retry-After']) && body.length <= REFUSAL_CHAR_MAX
}

/** Whether the answer says which snapshot it is from. */
export function namesSnapshot({ headers }: SeenAnswer): boolean {
  return (headers['X-Snapshot'] ?? '') !== ''
}

const REFUSAL_CHAR_MAX = 512
const WAIT_SECONDS_MAX = 60

function isWaitSeconds(text: string | undefined): boolean {
  return text !== undefined && /^[0-9]+$/.test(text) && Number(text) <= WAIT_SECONDS_MAX
}
