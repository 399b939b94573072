/**
 * Rows of recipients, as bytes, from shard files on the disk.
 *
 * @module
 */
import { limits } from '../limits.js'
import type { Shard } from '../shard/layout.js'
import { encodeRows, rowBytes } from '../shard/rows/encode-rows.js'
import { prefixOf, type RowFormat, rowBytesMax } from '../shard/rows/row-format.js'
import { recipientCountOf } from '../shard/runs.js'
import type { ShardColumns } from './shard-columns.js'

/** Runs that are read together, as those of a shard that has only these recipients. */
interface Window {
  readonly start: number
  readonly end: number
  /** From the first recipient of the window on. */
  readonly runs: Uint32Array
}

/** As many of the recipients as there is room for, at least one, encoded like those in memory. */
export function encodeFrom(
  columns: ShardColumns,
  runs: Uint32Array,
  format: RowFormat,
): { rowCount: number; bytes: Uint8Array } {
  const into = new Uint8Array(limits.rowBufferBytes)
  const longestBytes = rowBytesMax(format.kind, prefixOf(format).length)
  let rowCount = 0
  let byteCount = 0
  for (const { start, end, runs: own } of windowsOf(runs)) {
    if (into.length - byteCount < longestBytes) break
    const encoded = encodeRows(columns.rows(start, end), own, format, into.subarray(byteCount))
    rowCount += encoded.rowCount
    byteCount += encoded.byteCount
    if (encoded.rowCount < recipientCountOf(own)) break
  }
  return { rowCount, bytes: into.subarray(0, byteCount) }
}

export function rowBytesFrom(columns: ShardColumns, runs: Uint32Array, format: RowFormat): number {
  let byteCount = 0
  for (const { start, end, runs: own } of windowsOf(runs)) {
    byteCount += rowBytes(columns.rows(start, end), own, format)
  }
  return byteCount
}

/** The shard that has only these recipients, for each part of the runs that is read together. */
export function* shardsOf(columns: ShardColumns, runs: Uint32Array): Generator<Part> {
  for (const { start, end, runs: own } of windowsOf(runs)) {
    yield { shard: columns.phones(start, end), runs: own, start }
  }
}

interface Part {
  readonly shard: Pick<Shard, 'phones' | 'phoneOffsets'>
  /** From `start` on. */
  readonly runs: Uint32Array
  /** The first recipient of it in the file. */
  readonly start: number
}

/**
 * A read of its own takes about as long as this many recipients more: runs that lie nearer to each other
 * are read together.
 */
const NEAR_COUNT = 512

function* windowsOf(runs: Uint32Array): Generator<Window> {
  let first = 0
  let start = runs[0] ?? 0
  while (first < runs.length) {
    // A run that is longer than a window is read in several.
    let last = first
    let end = Math.min(runs[first + 1], start + limits.audienceReadCount)
    while (
      last + 2 < runs.length &&
      end === runs[last + 1] &&
      runs[last + 2] - end <= NEAR_COUNT &&
      runs[last + 3] - start <= limits.audienceReadCount
    ) {
      last += 2
      end = runs[last + 1]
    }
    const own = runs.slice(first, last + 2)
    own[0] = start
    own[own.length - 1] = end
    for (let i = 0; i < own.length; i++) own[i] -= start
    yield { start, end, runs: own }
    const isWhole = end === runs[last + 1]
    first = isWhole ? last + 2 : last
    start = isWhole ? (runs[first] ?? 0) : end
  }
}
