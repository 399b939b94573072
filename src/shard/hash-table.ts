/**
 * A table of texts by their hashes: the index of each, in buckets that lie one behind the other, so that no
 * count of equal texts makes it slow to build. It takes five bytes a text, and does not have the texts.
 *
 * @module
 */

export interface HashTable {
  /** Where each bucket starts in `items`, and the end of the last one. */
  readonly starts: Uint32Array
  /** The index of a text in the lower bits; in the others, some bits of its hash. */
  readonly items: Uint32Array
  readonly indexBits: number
}

/**
 * About 25 nanoseconds a text.
 *
 * @param hashOf  of each text (hash-bytes.ts)
 */
export function createHashTable(count: number, hashOf: (index: number) => number): HashTable {
  const steps = hashTableInSteps(count, hashOf)
  let step = steps.next()
  while (step.done !== true) step = steps.next()
  return step.value
}

/** The same in steps of less than a millisecond, between which a thread may do something else. */
export function* hashTableInSteps(
  count: number,
  hashOf: (index: number) => number,
): Generator<void, HashTable> {
  const bucketCount = bucketCountOf(count)
  const indexBits = 32 - Math.clz32(Math.max(1, count - 1))
  const hashes = new Int32Array(count)
  const starts = new Uint32Array(bucketCount + 1)
  for (let from = 0; from < count; from += STEP_COUNT) {
    const to = Math.min(count, from + STEP_COUNT)
    for (let i = from; i < to; i++) {
      const hash = hashOf(i)
      hashes[i] = hash
      starts[bucketOf(hash, bucketCount)]++
    }
    yield
  }
  let end = 0
  for (let bucket = 0; bucket <= bucketCount; bucket++) {
    end += starts[bucket]
    starts[bucket] = end
  }
  const items = new Uint32Array(count)
  for (let to = count; to > 0; to -= STEP_COUNT) {
    for (let i = to - 1; i >= Math.max(0, to - STEP_COUNT); i--) {
      const place = --starts[bucketOf(hashes[i], bucketCount)]
      items[place] = (hashes[i] << indexBits) | i
    }
    yield
  }
  return { starts, items, indexBits }
}

const STEP_COUNT = 16_384

/**
 * The next place in the table whose text may have a hash, at `place` or behind it: most of the bits of the
 * hash are the same.
 *
 * @param place  `firstPlace` to begin with
 * @returns -1 when there is none
 */
export function nextPlace(table: HashTable, hash: number, place: number): number {
  const { starts, items, indexBits } = table
  const bucketEnd = starts[bucketOf(hash, starts.length - 1) + 1]
  const mask = indexMask(indexBits)
  const upper = hash << indexBits
  for (let at = place; at < bucketEnd; at++) if ((items[at] & ~mask) === upper) return at
  return -1
}

/** Where the places begin that could have a text with this hash. */
export function firstPlace({ starts }: HashTable, hash: number): number {
  return starts[bucketOf(hash, starts.length - 1)]
}

/** The index of the text at a place. */
export function indexAt({ items, indexBits }: HashTable, place: number): number {
  return items[place] & indexMask(indexBits)
}

/** Few enough to take little, and many enough for a bucket to be read in one go. */
function bucketCountOf(count: number): number {
  return Math.max(1, Math.ceil(count / 4))
}

/** By the upper bits, since the lower ones are in the items. */
function bucketOf(hash: number, bucketCount: number): number {
  return Math.floor(((hash >>> 0) / 2 ** 32) * bucketCount)
}

function indexMask(indexBits: number): number {
  return (1 << indexBits) - 1
}
