/**
 * The order of numbers, without a call for each two of them that are compared.
 *
 * @module
 */

/** Indexes of the keys, by ascending keys; of equal ones by ascending indexes. No key is NaN. */
export function orderOf(keys: Float64Array): Uint32Array {
  const count = keys.length
  let from = new Uint32Array(count)
  for (let start = 0; start < count; start += RUN_COUNT) {
    const end = Math.min(count, start + RUN_COUNT)
    for (let index = start; index < end; index++) {
      let at = index
      for (; at > start && keys[from[at - 1]] > keys[index]; at--) from[at] = from[at - 1]
      from[at] = index
    }
  }
  let to = count > RUN_COUNT ? new Uint32Array(count) : from
  for (let width = RUN_COUNT; width < count; width *= 2) {
    for (let start = 0; start < count; start += 2 * width) {
      merge(
        keys,
        from,
        to,
        start,
        Math.min(count, start + width),
        Math.min(count, start + 2 * width),
      )
    }
    const merged = to
    to = from
    from = merged
  }
  return from
}

/** So many are put in order by insertion, which is faster for few. */
const RUN_COUNT = 16

/** Merges the runs [start, middle) and [middle, end). */
function merge(
  keys: Float64Array,
  from: Uint32Array,
  into: Uint32Array,
  start: number,
  middle: number,
  end: number,
): void {
  let left = start
  let right = middle
  for (let at = start; at < end; at++) {
    const isLeft = right >= end || (left < middle && keys[from[left]] <= keys[from[right]])
    into[at] = isLeft ? from[left++] : from[right++]
  }
}
