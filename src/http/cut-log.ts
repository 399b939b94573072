/**
 * Tells the log of answers that were begun and cut off, since their clients have a part that looks like
 * nothing went wrong, if they do not look closely.
 *
 * @module
 */
import { limits } from '../limits.js'
import type { Log } from '../log.js'
import type { RequestEnd } from './request-end.js'

type Cut = Pick<
  RequestEnd,
  'requestId' | 'operation' | 'isBatch' | 'status' | 'bytesOut' | 'cutReason'
>

export class CutLog {
  readonly #log: Log
  #second = 0
  #count = 0
  #unloggedCount = 0

  constructor(log: Log) {
    this.#log = log
  }

  /** @param nowMs  of a clock that never goes back */
  note(end: Cut, nowMs: number = performance.now()): void {
    const { requestId, operation, isBatch, status, bytesOut, cutReason: reason } = end
    // Without a status, no answer was begun: its client has nothing that it could take for a whole.
    if (reason === undefined || status === undefined) return
    const second = Math.floor(nowMs / 1_000)
    if (second !== this.#second) this.#count = 0
    this.#second = second
    if (this.#count >= limits.cutsLoggedPerSecondCount) {
      this.#unloggedCount++
      return
    }
    this.#count++
    const unloggedCount = this.#unloggedCount
    this.#unloggedCount = 0
    this.#log.warn(
      {
        requestId,
        operation,
        ...(isBatch && { isBatch }),
        bytesOut,
        reason,
        ...(unloggedCount > 0 && { unloggedCount }),
      },
      'an answer was cut off',
    )
  }
}
