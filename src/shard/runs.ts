/**
 * Runs: a selection within one shard as half-open ranges [start, end) of recipient indexes, sorted
 * and disjoint. Set operations are linear merges of runs; nothing is ever listed id by id.
 *
 * @module
 */

/** A growing list of runs; start at `2 * i`, end at `2 * i + 1`. */
export class RunList {
  pairs = new Uint32Array(256)
  runCount = 0

  clear(): void {
    this.runCount = 0
  }

  /** Adds [start, end), joined to the last run when it begins where that one ends. */
  append(start: number, end: number): void {
    const last = 2 * this.runCount
    if (last > 0 && this.pairs[last - 1] === start) {
      this.pairs[last - 1] = end
      return
    }
    this.#reserve(last + 2)
    this.pairs[last] = start
    this.pairs[last + 1] = end
    this.runCount++
  }

  /** Swaps all runs with those of another list. */
  exchange(other: RunList): void {
    const { pairs, runCount } = other
    other.pairs = this.pairs
    other.runCount = this.runCount
    this.pairs = pairs
    this.runCount = runCount
  }

  /** Whether a recipient is in any of the runs, which must be sorted. */
  has(recipient: number): boolean {
    let low = 0
    let high = this.runCount
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.pairs[2 * middle + 1] <= recipient) low = middle + 1
      else high = middle
    }
    return low < this.runCount && this.pairs[2 * low] <= recipient
  }

  /** Adds runs as `pairs` holds them; the first may begin where the last one here ends. */
  appendPairs(pairs: Uint32Array): void {
    if (pairs.length === 0) return
    this.append(pairs[0], pairs[1])
    const last = 2 * this.runCount
    this.#reserve(last + pairs.length - 2)
    this.pairs.set(pairs.subarray(2), last)
    this.runCount += pairs.length / 2 - 1
  }

  recipientCount(): number {
    return recipientCountOf(this.inUse())
  }

  /** The runs in use; good until the list changes. */
  inUse(): Uint32Array {
    return this.pairs.subarray(0, 2 * this.runCount)
  }

  /** A copy of exactly the runs in use. */
  toPairs(): Uint32Array {
    return this.pairs.slice(0, 2 * this.runCount)
  }

  #reserve(boundCount: number): void {
    if (boundCount <= this.pairs.length) return
    const grown = new Uint32Array(2 * boundCount)
    grown.set(this.pairs)
    this.pairs = grown
  }
}

/** How many recipients are in runs, given as their starts and ends in turn. */
export function recipientCountOf(pairs: Uint32Array): number {
  let count = 0
  for (let i = 0; i < pairs.length; i += 2) count += pairs[i + 1] - pairs[i]
  return count
}

/**
 * Sorts runs that were appended in any order, and joins those that overlap or touch.
 *
 * Start and end are packed into one number, which a typed array sorts natively; both are below
 * 2 ** 26, so the number is exact.
 */
export function normalise(runs: RunList): void {
  const { pairs, runCount } = runs
  const packed = new Float64Array(runCount)
  for (let i = 0; i < runCount; i++) packed[i] = pairs[2 * i] * PACK + pairs[2 * i + 1]
  packed.sort()
  runs.clear()
  let start = 0
  let end = 0
  for (const pair of packed) {
    const nextStart = Math.floor(pair / PACK)
    const nextEnd = pair - nextStart * PACK
    if (nextStart <= end) {
      if (nextEnd > end) end = nextEnd
    } else {
      if (end > start) runs.append(start, end)
      start = nextStart
      end = nextEnd
    }
  }
  if (end > start) runs.append(start, end)
}

const PACK = 2 ** 26

/** Writes the recipients that are in `a` but not in `b` to `into`, which is neither of them. */
export function subtract(a: RunList, b: RunList, into: RunList): void {
  into.clear()
  let j = 0
  for (let i = 0; i < 2 * a.runCount; i += 2) {
    let start = a.pairs[i]
    const end = a.pairs[i + 1]
    while (j < 2 * b.runCount && b.pairs[j + 1] <= start) j += 2
    // A run of `b` may reach beyond this run of `a`, so the next one looks at it again.
    for (let k = j; k < 2 * b.runCount && b.pairs[k] < end; k += 2) {
      if (b.pairs[k] > start) into.append(start, b.pairs[k])
      if (b.pairs[k + 1] > start) start = b.pairs[k + 1]
    }
    if (start < end) into.append(start, end)
  }
}
