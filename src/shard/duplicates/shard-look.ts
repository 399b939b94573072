/**
 * The part of finding repeats that needs the phones of one shard only, so that threads can share it.
 *
 * @module
 */
import { COPY_SLACK_BYTES, copyTexts } from '../build/copy-texts.js'
import { fillSlots, isShared, slotShift } from './hash-filter.js'
import { hashPhones, type PhoneColumn } from './phone-hash.js'

/** Recipients whose phone may repeat, with their phones end to end, and the hashes of these. */
export interface Candidates extends PhoneColumn {
  /** Indexes of recipients, ascending. */
  readonly recipients: Uint32Array
  readonly hashes: Uint32Array
}

/** Which candidates are wanted: those of one of so many shares of all hashes. */
export interface Share {
  readonly share: number
  readonly shareCount: number
}

/** Looks at one shard after the other, here or on threads. */
export interface PhoneLook {
  /** How many shards it may be asked for at a time, one at least. */
  readonly aheadCount: number
  /** As `markPhones`. */
  mark(shard: number, slots: Uint32Array): Promise<number>
  /** As `findCandidates`. */
  candidates(shard: number, slots: Uint32Array, share: Share): Promise<Candidates>
}

/** @param read  called several times for each shard; one column is used at a time */
export function lookHere(read: (shard: number) => PhoneColumn | Promise<PhoneColumn>): PhoneLook {
  return {
    aheadCount: 1,
    mark: async (shard, slots) => markPhones(await read(shard), slots),
    candidates: async (shard, slots, share) => findCandidates(await read(shard), slots, share),
  }
}

/** Notes in the slots where the hashes of phones fall; returns how many fell where one was before. */
export function markPhones(column: PhoneColumn, slots: Uint32Array): number {
  return fillSlots(slots, hashesOf(column))
}

export function findCandidates(
  column: PhoneColumn,
  slots: Uint32Array,
  { share, shareCount }: Share,
): Candidates {
  const all = hashesOf(column)
  if (all.length > found.length) found = new Uint32Array(all.length)
  const shift = slotShift(slots)
  let count = 0
  let byteCount = 0
  for (let recipient = 0; recipient < all.length; recipient++) {
    const hash = all[recipient]
    if (shareCount > 1 && shareOf(hash, shareCount) !== share) continue
    if (!isShared(slots, hash, shift)) continue
    found[count++] = recipient
    byteCount += column.phoneOffsets[recipient + 1] - column.phoneOffsets[recipient]
  }
  const recipients = found.slice(0, count)
  const phoneOffsets = new Uint32Array(count + 1)
  const phones = new Uint8Array(byteCount + COPY_SLACK_BYTES)
  const from = { bytes: column.phones, offsets: column.phoneOffsets }
  copyTexts(from, recipients, { bytes: phones, offsets: phoneOffsets })
  return {
    recipients,
    hashes: recipients.map((recipient) => all[recipient]),
    phones,
    phoneOffsets,
  }
}

/** Kept from shard to shard. */
let hashes = new Uint32Array(0)
let found = new Uint32Array(0)

/** Good until it is called again. */
function hashesOf(column: PhoneColumn): Uint32Array {
  const count = column.phoneOffsets.length - 1
  if (count > hashes.length) hashes = new Uint32Array(count)
  const own = hashes.subarray(0, count)
  hashPhones(column, own)
  return own
}

/** By the low bits of a hash; the high ones choose its slot. */
function shareOf(hash: number, shareCount: number): number {
  return ((hash & 0xffff) * shareCount) >>> 16
}
