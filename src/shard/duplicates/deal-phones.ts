/**
 * Deals the hashes of the phones of a shard out into bins. The same phone comes into the same bin, of
 * whichever shard it is, so each bin can be searched by itself.
 *
 * @module
 */
import { hashPhones, type PhoneColumn } from './phone-hash.js'

/** How the phones of all shards are dealt out. */
export interface Dealing {
  /** A phone is in one of 2^binBits bins. */
  readonly binBits: number
  /** The bins [firstBin, endBin) are wanted. */
  readonly firstBin: number
  readonly endBin: number
  /** What the index of a recipient in its shard takes at most. */
  readonly indexBits: number
}

/** Those of one shard, in shared memory. */
export interface DealtPhones {
  /**
   * Two words for each phone, bin by bin: a hash, and another one. The low `indexBits` of the second word
   * are the index of the recipient instead.
   */
  readonly entries: Uint32Array
  /** Where each wanted bin begins, and where the last one ends, in phones. */
  readonly starts: Uint32Array
}

export const ENTRY_WORDS = 2

/** @param room  for the entries, in shared memory; other memory is taken if it is too small */
export function dealPhones(column: PhoneColumn, dealing: Dealing, room: Uint32Array): DealtPhones {
  const count = column.phoneOffsets.length - 1
  makeRoom(count)
  hashPhones(column, hashes, others)
  const starts = placeBins(count, dealing)
  const entryCount = starts[starts.length - 1]
  const entries =
    ENTRY_WORDS * entryCount > room.length
      ? new Uint32Array(new SharedArrayBuffer(4 * ENTRY_WORDS * entryCount))
      : room.subarray(0, ENTRY_WORDS * entryCount)
  fillBins(count, dealing, starts.slice(), entries)
  return { entries, starts }
}

/** Of the phones of one shard; kept from shard to shard. */
let hashes = new Uint32Array(0)
let others = new Uint32Array(0)

function makeRoom(count: number): void {
  if (count <= hashes.length) return
  hashes = new Uint32Array(count)
  others = new Uint32Array(count)
}

function placeBins(count: number, { binBits, firstBin, endBin }: Dealing): Uint32Array {
  const binCount = endBin - firstBin
  const starts = new Uint32Array(new SharedArrayBuffer(4 * (binCount + 1)))
  const mask = 2 ** binBits - 1
  for (let index = 0; index < count; index++) {
    const bin = (others[index] & mask) - firstBin
    if (bin >= 0 && bin < binCount) starts[bin + 1]++
  }
  for (let bin = 0; bin < binCount; bin++) starts[bin + 1] += starts[bin]
  return starts
}

/** @param places  where the next phone of each bin goes; is used up */
function fillBins(
  count: number,
  { binBits, firstBin, endBin, indexBits }: Dealing,
  places: Uint32Array,
  entries: Uint32Array,
): void {
  const binCount = endBin - firstBin
  const binMask = 2 ** binBits - 1
  const indexMask = 2 ** indexBits - 1
  for (let index = 0; index < count; index++) {
    const other = others[index]
    const bin = (other & binMask) - firstBin
    if (bin < 0 || bin >= binCount) continue
    const at = ENTRY_WORDS * places[bin]++
    entries[at] = hashes[index]
    entries[at + 1] = (other & ~indexMask) | index
  }
}
