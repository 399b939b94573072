/**
 * Numbers that several recipients of a snapshot have, within a source or over several.
 *
 * They are found in passes over all shards. The first tells by hashes which recipients surely have a
 * number of their own. Of the others the further passes compare the bytes, each pass those of a share
 * of the hashes, so that what has to be kept of them at a time is bounded.
 *
 * @module
 */
import { NumberBuckets } from './number-buckets.js'
import { hashNumbers, viewOf } from './number-hash.js'
import { NumberSlots } from './number-slots.js'

/** The recipients of one shard whose number another recipient of the snapshot has, too. */
export interface ShardRepeats {
  /** Indexes of recipients, ascending. */
  readonly recipients: Uint32Array
  /** The number of each of them: below `Repeats.numberCount`, the same for the same number. */
  readonly numberIds: Uint32Array
}

export interface Repeats {
  /** Different numbers that repeat. */
  readonly numberCount: number
  /** One entry a shard, in the order of the snapshot's shards. */
  readonly shards: readonly ShardRepeats[]
}

export const NO_REPEATS: ShardRepeats = {
  recipients: new Uint32Array(0),
  numberIds: new Uint32Array(0),
}

/** The numbers of a shard, end to end: that of recipient `i` is at [numberOffsets[i], numberOffsets[i + 1]). */
export interface NumberColumn {
  readonly numbers: Uint8Array
  readonly numberOffsets: Uint32Array
}

export type ReadNumbers = (shardIndex: number) => NumberColumn | Promise<NumberColumn>

export interface FindOptions {
  /** Of all shards; counted in a pass of its own where it is not known. */
  readonly recipientCount?: number
  /** Numbers that are compared with each other in a pass, about. */
  readonly numbersPerPass?: number
}

/**
 * Finds the numbers that repeat. Ids are given in the order in which numbers first appear.
 *
 * @param read  called several times for each shard, in order; one column is used at a time
 */
export async function findRepeats(
  shardCount: number,
  read: ReadNumbers,
  { recipientCount, numbersPerPass = NUMBERS_PER_PASS }: FindOptions = {},
): Promise<Repeats> {
  const slots = new NumberSlots(recipientCount ?? (await countAll(shardCount, read)))
  for (let shard = 0; shard < shardCount; shard++) slots.addAll(hashesOf(await read(shard)))
  const passCount = Math.ceil(slots.sharedCount / numbersPerPass)
  const passes: Pass[] = []
  for (let share = 0; share < passCount; share++) {
    const buckets = new NumberBuckets(slots.sharedCount / passCount)
    const recipients: Uint32Array[] = []
    for (let shard = 0; shard < shardCount; shard++) {
      const column = await read(shard)
      recipients.push(candidatesIn(hashesOf(column), slots, share, passCount))
      addAll(column, recipients[shard], buckets)
    }
    passes.push({ recipients, ...buckets.finish() })
  }
  return numbered(passes, shardCount)
}

/** Each takes some 50 bytes while it is compared. */
const NUMBERS_PER_PASS = 16_000_000

/** Candidates of a share of the hashes, of each shard. */
interface Pass {
  readonly recipients: readonly Uint32Array[]
  /** Of the candidates of all shards, one shard after the other: ids that hold within the pass. */
  readonly ids: Uint32Array
  /** By id. */
  readonly cameAgain: Uint8Array
}

async function countAll(shardCount: number, read: ReadNumbers): Promise<number> {
  let count = 0
  for (let shard = 0; shard < shardCount; shard++) {
    count += (await read(shard)).numberOffsets.length - 1
  }
  return count
}

let hashes = new Uint32Array(0)
let candidates = new Uint32Array(0)

/** Good until it is called again. */
function hashesOf(column: NumberColumn): Uint32Array {
  const count = column.numberOffsets.length - 1
  if (count > hashes.length) hashes = new Uint32Array(count)
  const own = hashes.subarray(0, count)
  hashNumbers(column, own)
  return own
}

/** Those of a share of the hashes whose number may repeat. */
function candidatesIn(
  hashes: Uint32Array,
  slots: NumberSlots,
  share: number,
  shareCount: number,
): Uint32Array {
  if (hashes.length > candidates.length) candidates = new Uint32Array(hashes.length)
  let count = 0
  for (let recipient = 0; recipient < hashes.length; recipient++) {
    const hash = hashes[recipient]
    if (shareCount > 1 && shareOf(hash, shareCount) !== share) continue
    if (slots.isShared(hash)) candidates[count++] = recipient
  }
  return candidates.slice(0, count)
}

/** By the low bits of a hash; the high ones choose its slot. */
function shareOf(hash: number, shareCount: number): number {
  return ((hash & 0xffff) * shareCount) >>> 16
}

function addAll(
  { numbers, numberOffsets }: NumberColumn,
  recipients: Uint32Array,
  buckets: NumberBuckets,
): void {
  const view = viewOf(numbers)
  for (const recipient of recipients) {
    const end = numberOffsets[recipient + 1]
    buckets.add(view, numberOffsets[recipient], end, hashes[recipient])
  }
}

/** Drops numbers that came once, and gives the others their ids. */
function numbered(passes: readonly Pass[], shardCount: number): Repeats {
  let numberCount = 0
  // One more than the id; 0 until the number appears.
  const newIds = passes.map(({ cameAgain }) => new Uint32Array(cameAgain.length))
  const idAt = passes.map(() => 0)
  const shards = Array.from({ length: shardCount }, (_, shard): ShardRepeats => {
    const parts = passes.map(({ recipients }) => recipients[shard])
    const order = orderOf(parts)
    const recipients = new Uint32Array(order.length)
    const numberIds = new Uint32Array(order.length)
    const at = parts.map(() => 0)
    let count = 0
    for (const pass of order) {
      const recipient = parts[pass][at[pass]++]
      const id = passes[pass].ids[idAt[pass]++]
      if (passes[pass].cameAgain[id] === 0) continue
      if (newIds[pass][id] === 0) newIds[pass][id] = ++numberCount
      recipients[count] = recipient
      numberIds[count++] = newIds[pass][id] - 1
    }
    return { recipients: recipients.slice(0, count), numberIds: numberIds.slice(0, count) }
  })
  return { numberCount, shards }
}

/** Which part the next recipient is from, again and again, so that all of them come in order. */
function orderOf(parts: readonly Uint32Array[]): Uint16Array {
  const order = new Uint16Array(parts.reduce((sum, part) => sum + part.length, 0))
  if (parts.length < 2) return order
  const end = Math.max(...parts.map((part) => 1 + (part.at(-1) ?? -1)))
  const partOf = new Uint16Array(end)
  for (const [part, recipients] of parts.entries()) {
    for (const recipient of recipients) partOf[recipient] = part + 1
  }
  let count = 0
  for (const part of partOf) if (part > 0) order[count++] = part - 1
  return order
}
