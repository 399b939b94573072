/**
 * A place in a list of runs: the recipients before it have been listed.
 *
 * @module
 */
import { limits } from '../limits.js'

export class RunCursor {
  readonly #runs: Uint32Array
  /** Where the run begins that is not listed to its end, and its first recipient that is not. */
  #at = 0
  #start: number

  /** @param runs  [start, end) pairs, none of them empty */
  constructor(runs: Uint32Array) {
    this.#runs = runs
    this.#start = runs[0] ?? 0
  }

  get isAtEnd(): boolean {
    return this.#at === this.#runs.length
  }

  /**
   * The runs of the next `recipientCount` recipients, or of all that are left; fewer where they are more
   * than `limits.runsPerPieceCount` runs.
   */
  peek(recipientCount: number): Uint32Array {
    const runs = this.#runs
    const most = Math.min(runs.length, this.#at + 2 * limits.runsPerPieceCount)
    let room = recipientCount
    let at = this.#at
    let start = this.#start
    while (at < most && room > 0) {
      room -= runs[at + 1] - start
      at += 2
      start = runs[at]
    }
    const next = runs.slice(this.#at, at)
    if (next.length > 0) next[0] = this.#start
    if (room < 0) next[next.length - 1] += room
    return next
  }

  skip(recipientCount: number): void {
    let left = recipientCount
    while (left > 0) {
      const end = this.#runs[this.#at + 1]
      if (this.#start + left < end) {
        this.#start += left
        return
      }
      left -= end - this.#start
      this.#at += 2
      this.#start = this.#runs[this.#at] ?? 0
    }
  }
}
