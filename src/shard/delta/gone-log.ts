/**
 * Who of some recipients is there no more, and since which moment.
 *
 * @module
 */
import { growingWords } from './growing.js'
import type { Gone } from './increment.js'

export class GoneLog {
  readonly #recipients = growingWords()
  readonly #moments = growingWords()
  /** The last answer: the first so many that went, ascending. */
  #sorted = new Uint32Array(0)

  add({ recipients, moments }: Gone): void {
    this.#recipients.append(recipients)
    this.#moments.append(moments)
  }

  /** How many went up to a moment. */
  countAt(moment: number): number {
    return countUpTo(this.#moments.view(), moment)
  }

  /** Who is there of the first `recipientCount` when so many went, as runs. */
  runsAt(goneCount: number, recipientCount: number): Uint32Array {
    const gone = this.#firstGone(goneCount)
    const runs = new Uint32Array(2 * (gone.length + 1))
    let length = 0
    let start = 0
    for (const recipient of gone) {
      if (recipient >= recipientCount) break
      if (start < recipient) {
        runs[length++] = start
        runs[length++] = recipient
      }
      start = recipient + 1
    }
    if (start < recipientCount) {
      runs[length++] = start
      runs[length++] = recipientCount
    }
    return runs.subarray(0, length)
  }

  #firstGone(count: number): Uint32Array {
    const known = this.#sorted
    if (count === known.length) return known
    const recipients = this.#recipients.view()
    // Moments mostly come one after the other: then few go into what is sorted.
    const isLater = count > known.length
    const fresh = recipients.slice(isLater ? known.length : 0, count).sort()
    this.#sorted = isLater ? merged(known, fresh) : fresh
    return this.#sorted
  }
}

/** How many of some ascending moments are not behind one. */
export function countUpTo(moments: Uint32Array, moment: number): number {
  let low = 0
  let high = moments.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (moments[middle] <= moment) low = middle + 1
    else high = middle
  }
  return low
}

/** Two lists without a common member. */
function merged(left: Uint32Array, right: Uint32Array): Uint32Array<ArrayBuffer> {
  const all = new Uint32Array(left.length + right.length)
  let taken = 0
  for (const [at, item] of right.entries()) {
    let end = taken
    while (end < left.length && left[end] < item) end++
    all.set(left.subarray(taken, end), taken + at)
    all[end + at] = item
    taken = end
  }
  all.set(left.subarray(taken), taken + right.length)
  return all
}
