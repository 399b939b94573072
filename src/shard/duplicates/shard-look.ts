/**
 * The part of finding repeats that needs the phones of one shard only, so that threads can share it.
 *
 * @module
 */
import { COPY_SLACK_BYTES, copyTexts } from '../build/copy-texts.js'
import { type Dealing, type DealtPhones, dealPhones } from './deal-phones.js'
import { findTwins, type TwinSearch } from './find-twins.js'
import { hashPhone, type PhoneColumn, viewOf } from './phone-hash.js'

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

/** Looks at one shard, or at some bins of all shards, after the other: here or on threads. */
export interface PhoneLook {
  /** How much it may be asked for at a time, one shard at least. */
  readonly aheadCount: number
  /** As `dealPhones`. */
  deal(shard: number, dealing: Dealing, room: Uint32Array): Promise<DealtPhones>
  /** As `findTwins`. */
  findTwins(search: TwinSearch): Promise<number>
  /** As `findCandidates`. */
  candidates(shard: number, twins: Int32Array, share: Share): Promise<Candidates>
}

/** @param read  called several times for each shard; one column is used at a time */
export function lookHere(read: (shard: number) => PhoneColumn | Promise<PhoneColumn>): PhoneLook {
  return {
    aheadCount: 1,
    deal: async (shard, dealing, room) => dealPhones(await read(shard), dealing, room),
    findTwins: async (search) => findTwins(search),
    candidates: async (shard, twins, share) => findCandidates(await read(shard), twins, share),
  }
}

/** @param twins  a bit for each recipient, set if its phone may repeat */
export function findCandidates(
  column: PhoneColumn,
  twins: Int32Array,
  { share, shareCount }: Share,
): Candidates {
  const count = column.phoneOffsets.length - 1
  if (count > found.length) {
    found = new Uint32Array(count)
    hashes = new Uint32Array(count)
  }
  const view = viewOf(column.phones)
  let foundCount = 0
  let byteCount = 0
  for (let recipient = 0; recipient < count; recipient++) {
    if (((twins[recipient >>> 5] >>> (recipient & 31)) & 1) === 0) continue
    const start = column.phoneOffsets[recipient]
    const end = column.phoneOffsets[recipient + 1]
    const hash = hashPhone(view, start, end)
    if (shareCount > 1 && shareOf(hash, shareCount) !== share) continue
    hashes[foundCount] = hash
    found[foundCount++] = recipient
    byteCount += end - start
  }
  const recipients = found.slice(0, foundCount)
  const phoneOffsets = new Uint32Array(foundCount + 1)
  const phones = new Uint8Array(byteCount + COPY_SLACK_BYTES)
  const from = { bytes: column.phones, offsets: column.phoneOffsets }
  copyTexts(from, recipients, { bytes: phones, offsets: phoneOffsets })
  return { recipients, hashes: hashes.slice(0, foundCount), phones, phoneOffsets }
}

/** Kept from shard to shard. */
let found = new Uint32Array(0)
let hashes = new Uint32Array(0)

function shareOf(hash: number, shareCount: number): number {
  return ((hash & 0xffff) * shareCount) >>> 16
}
