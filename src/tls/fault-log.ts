/**
 * Tells the log of handshakes that failed, once a second at most: who may connect may fail as often as they
 * like.
 *
 * @module
 */
import type { Log } from '../log.js'

export class FaultLog {
  readonly #log: Log
  #lastMs = Number.NEGATIVE_INFINITY
  #unloggedCount = 0

  constructor(log: Log) {
    this.#log = log
  }

  /** @param nowMs  of a clock that never goes back */
  note(reason: string, address: string | undefined, nowMs: number = performance.now()): void {
    if (nowMs - this.#lastMs < 1_000) {
      this.#unloggedCount++
      return
    }
    const unloggedCount = this.#unloggedCount
    this.#lastMs = nowMs
    this.#unloggedCount = 0
    this.#log.info(
      { reason, address, ...(unloggedCount > 0 && { unloggedCount }) },
      'a TLS handshake failed',
    )
  }
}
