/**
 * A place in a list of runs: the recipients before it have been listed.
 *
 * @module
 */

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

  /** The runs of the next `recipientCount` recipients, or of all that are left. */
  peek(recipientCount: number): Uint32Array {
    const next: number[] = []
    let room = recipientCount
    for (let at = this.#at; at < this.#runs.length && room > 0; at += 2) {
      const start = at === this.#at ? this.#start : this.#runs[at]
      const end = Math.min(this.#runs[at + 1], start + room)
      next.push(start, end)
      room -= end - start
    }
    return Uint32Array.from(next)
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
