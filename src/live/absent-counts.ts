/**
 * How many deletes of a batch found nobody, for the front that handed it in. Some counts are kept for a while, since a
 * batch may be applied before the front asks, and the other way round.
 *
 * @module
 */
import { limits } from '../limits.js'

export class AbsentCounts {
  /** Of batches of which nobody has asked yet, by sequence. */
  readonly #known = new Map<number, number>()
  /** Of batches that are not applied yet, by sequence. */
  readonly #asked = new Map<number, (count: number) => void>()

  /** A batch is applied. Where several snapshots are attached, the first one tells. */
  applied(sequence: number, count: number): void {
    const answer = this.#asked.get(sequence)
    this.#asked.delete(sequence)
    if (answer !== undefined) answer(count)
    else keep(this.#known, sequence, count)
  }

  /** The answer may never be called. */
  ask(sequence: number, answer: (count: number) => void): void {
    const known = this.#known.get(sequence)
    if (known !== undefined) answer(known)
    else keep(this.#asked, sequence, answer)
  }
}

/** Those that are kept longest go first. */
function keep<Value>(map: Map<number, Value>, sequence: number, value: Value): void {
  if (!map.has(sequence)) map.set(sequence, value)
  for (const first of map.keys()) {
    if (map.size <= limits.absentCountsCount) return
    map.delete(first)
  }
}
