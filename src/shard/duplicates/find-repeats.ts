/**
 * Phones that several recipients of a snapshot have, within a source or over several.
 *
 * Threads deal the hashes of all phones out into bins, shard by shard, and find the recipients whose
 * hashes are the same, bin by bin. Only of these the bytes of the phones are compared. Both is done in
 * several turns where there are very many, each for a share of the hashes, so that what has to be kept of
 * them at a time is bounded. What threads do is in shard-look.ts.
 *
 * @module
 */

import { type DealtPhones, ENTRY_WORDS } from './deal-phones.js'
import { viewOf } from './phone-hash.js'
import { PhoneIds } from './phone-ids.js'
import type { Candidates, PhoneLook } from './shard-look.js'

/** The recipients of one shard whose phone another recipient of the snapshot has, too. */
export interface ShardRepeats {
  /** Indexes of recipients, ascending. */
  readonly recipients: Uint32Array
  /** The id of the phone of each of them: below `Repeats.phoneCount`. */
  readonly phoneIds: Uint32Array
}

export interface Repeats {
  /** Different phones that repeat. */
  readonly phoneCount: number
  /** One entry a shard, in the order of the snapshot's shards. */
  readonly shards: readonly ShardRepeats[]
}

/**
 * Finds the phones that repeat. Ids are given in the order in which phones first appear.
 *
 * @param recipientCounts  of each shard
 * @param phonesPerPass  phones that are compared with each other in a pass, about
 */
export async function findRepeats(
  recipientCounts: readonly number[],
  look: PhoneLook,
  phonesPerPass = PHONES_PER_PASS,
): Promise<Repeats> {
  const shardCount = recipientCounts.length
  const twins = recipientCounts.map(
    (count) => new Int32Array(new SharedArrayBuffer(4 * Math.ceil(count / 32))),
  )
  const phonesPerTurn = PASSES_PER_TURN * phonesPerPass
  const twinCount = await findAllTwins(recipientCounts, look, twins, phonesPerTurn)
  const shareCount = Math.ceil(twinCount / phonesPerPass)
  const passes: Pass[] = []
  for (let share = 0; share < shareCount; share++) {
    const buckets = new PhoneIds(twinCount / shareCount)
    const recipients: Uint32Array[] = []
    const finding = inOrder(shardCount, look.aheadCount, (shard) =>
      look.candidates(shard, twins[shard], { share, shareCount }),
    )
    for await (const candidates of finding) {
      recipients.push(candidates.recipients)
      addAll(candidates, buckets)
    }
    passes.push({ recipients, ...buckets.finish() })
  }
  return numbered(passes, shardCount)
}

/** Each takes some 50 bytes while it is compared. */
const PHONES_PER_PASS = 16_000_000
/** Each takes eight bytes while twins are found, and this many passes are found at a time. */
const PASSES_PER_TURN = 8
/** Few enough that their table stays in the cache of a core. */
const PHONES_PER_BIN = 8_192
/** Bins are handed out in this many groups, so that no thread waits long for another. */
const GROUP_COUNT = 32

/** Sets the bits of recipients whose phones have equal hashes; returns how many they are. */
async function findAllTwins(
  recipientCounts: readonly number[],
  look: PhoneLook,
  twins: readonly Int32Array[],
  phonesPerTurn: number,
): Promise<number> {
  const phoneCount = recipientCounts.reduce((sum, count) => sum + count, 0)
  const turnCount = Math.max(1, Math.ceil(phoneCount / phonesPerTurn))
  const binBits = Math.ceil(Math.log2(Math.max(turnCount, phoneCount / PHONES_PER_BIN)))
  const indexBits = Math.ceil(Math.log2(Math.max(2, ...recipientCounts)))
  // The same memory for each turn: what is given up stays until V8 looks for it.
  const rooms = recipientCounts.map((count) => entryRoom(count, turnCount))
  let twinCount = 0
  for (let turn = 0; turn < turnCount; turn++) {
    const firstBin = Math.floor((2 ** binBits * turn) / turnCount)
    const endBin = Math.floor((2 ** binBits * (turn + 1)) / turnCount)
    const dealing = { binBits, firstBin, endBin, indexBits }
    const dealt: DealtPhones[] = []
    const deals = inOrder(rooms.length, look.aheadCount, (shard) =>
      look.deal(shard, dealing, rooms[shard]),
    )
    for await (const phones of deals) dealt.push(phones)
    const bound = (group: number) => Math.floor(((endBin - firstBin) * group) / GROUP_COUNT)
    const searches = inOrder(GROUP_COUNT, look.aheadCount, (group) => {
      const bins = { firstBin: bound(group), endBin: bound(group + 1) }
      return look.findTwins({ dealt, twins, indexBits, ...bins })
    })
    for await (const count of searches) twinCount += count
  }
  return twinCount
}

/** For the phones of a shard in one of several turns: a share of them, and some more. */
function entryRoom(recipientCount: number, turnCount: number): Uint32Array {
  const share = turnCount === 1 ? recipientCount : Math.ceil((9 * recipientCount) / (8 * turnCount))
  return new Uint32Array(new SharedArrayBuffer(4 * ENTRY_WORDS * share))
}

/** Candidates of a share of the hashes, of each shard. */
interface Pass {
  readonly recipients: readonly Uint32Array[]
  /** Of the candidates of all shards, one shard after the other: ids that hold within the pass. */
  readonly ids: Uint32Array
  /** By id. */
  readonly cameAgain: Uint8Array
}

/** Some are begun before they are asked for. */
async function* inOrder<Result>(
  count: number,
  aheadCount: number,
  begin: (index: number) => Promise<Result>,
): AsyncGenerator<Result> {
  const begun: Promise<Result>[] = []
  for (let index = 0; index < count; index++) {
    while (begun.length < aheadCount && index + begun.length < count) {
      const result = begin(index + begun.length)
      // Should one before it fail, nobody asks for it.
      result.catch(() => undefined)
      begun.push(result)
    }
    yield (await begun.shift()) as Result
  }
}

function addAll({ recipients, hashes, phones, phoneOffsets }: Candidates, buckets: PhoneIds): void {
  const view = viewOf(phones)
  for (let at = 0; at < recipients.length; at++) {
    buckets.add(view, phoneOffsets[at], phoneOffsets[at + 1], hashes[at])
  }
}

/** Drops phones that came once, and gives the others their ids. */
function numbered(passes: readonly Pass[], shardCount: number): Repeats {
  let phoneCount = 0
  // One more than the id; 0 until the phone appears.
  const newIds = passes.map(({ cameAgain }) => new Uint32Array(cameAgain.length))
  const idAt = passes.map(() => 0)
  const shards = Array.from({ length: shardCount }, (_, shard): ShardRepeats => {
    const parts = passes.map(({ recipients }) => recipients[shard])
    const order = orderOf(parts)
    const recipients = new Uint32Array(order.length)
    const phoneIds = new Uint32Array(order.length)
    const at = parts.map(() => 0)
    let count = 0
    for (const pass of order) {
      const recipient = parts[pass][at[pass]++]
      const id = passes[pass].ids[idAt[pass]++]
      if (passes[pass].cameAgain[id] === 0) continue
      if (newIds[pass][id] === 0) newIds[pass][id] = ++phoneCount
      recipients[count] = recipient
      phoneIds[count++] = newIds[pass][id] - 1
    }
    return { recipients: recipients.slice(0, count), phoneIds: phoneIds.slice(0, count) }
  })
  return { phoneCount, shards }
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
