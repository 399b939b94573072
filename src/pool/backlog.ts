/**
 * The selections of one lane that are not answered yet, and how long one more of them would wait. A
 * client that waits for seconds has asked again before its answer comes. So a selection that would wait
 * too long is refused when it comes. RFC 8289 has the reasons for short queues.
 *
 * @module
 */
import { limits } from '../limits.js'

export class Backlog {
  /** Selections that wait or are under way. */
  openCount = 0
  /** The time that one selection has lately taken a worker. */
  #serviceMs = 0

  /** A worker has spent so long on so many selections. */
  spent(selectionCount: number, tookMs: number): void {
    const share = Math.min(1, selectionCount * SMOOTHING)
    this.#serviceMs += share * (tookMs / selectionCount - this.#serviceMs)
  }

  /** @param threadCount  workers that share the work */
  isTooLong(threadCount: number): boolean {
    const serviceMs = this.#serviceMs
    const waitMs = (this.openCount * serviceMs) / Math.max(1, threadCount)
    // Where one takes long by itself, some of them may wait for each other, and two always.
    const longMs = Math.min(LONG_TASK_COUNT * serviceMs, limits.largeWaitMs)
    return waitMs > Math.max(limits.backlogMs, longMs, 2 * serviceMs)
  }

  /** How many selections are to travel together, so that nobody waits long behind them. */
  get togetherCount(): number {
    const count = Math.floor(limits.batchMs / Math.max(this.#serviceMs, TINY_MS))
    return Math.min(Math.max(1, count), limits.queriesPerTaskCount)
  }
}

/** Of each selection in the average of what they take. */
const SMOOTHING = 1 / 64
const LONG_TASK_COUNT = 8
const TINY_MS = 1e-3
