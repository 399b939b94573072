/**
 * How long a machine took for its last tasks.
 *
 * @module
 */

/** Of the last ones, this part was answered by then. */
const PART = 0.95
const KEPT_COUNT = 128
const LOOKED_AFTER_COUNT = 16

export class Latencies {
  readonly #lastMs: number[] = []
  #next = 0
  #untilLook = 0
  #highMs: number | undefined

  note(ms: number): void {
    this.#lastMs[this.#next] = ms
    this.#next = (this.#next + 1) % KEPT_COUNT
    this.#untilLook--
  }

  /** The 95th percentile; undefined where next to nothing is known. */
  highMs(): number | undefined {
    if (this.#lastMs.length < LOOKED_AFTER_COUNT) return undefined
    if (this.#untilLook <= 0) {
      this.#untilLook = LOOKED_AFTER_COUNT
      const sorted = [...this.#lastMs].sort((left, right) => left - right)
      this.#highMs = sorted[Math.floor(PART * (sorted.length - 1))]
    }
    return this.#highMs
  }
}
