/**
 * The recipients of a source after some changes: those of a snapshot, without whoever was deleted or
 * replaced, and behind them whoever is new.
 *
 * Whose key, or whose number, is in no change is passed over by a look at one bit.
 *
 * @module
 */
import { join } from 'node:path'
import { createArenaPool } from '../shard/arena-pool.js'
import type { Identities, RecipientColumns } from '../shard/columns.js'
import { hashBytes } from '../shard/hash-bytes.js'
import { attachShard, type Shard } from '../shard/layout.js'
import { snapshotsDirectory } from '../snapshot/directory.js'
import type { ManifestSource } from '../snapshot/format/manifest.js'
import { roomBytesOf } from '../snapshot/format/shard-image.js'
import type { SourceIdentities } from '../snapshot/identities/list.js'
import { readIdentitiesFile } from '../snapshot/identities/read-file.js'
import { loadShard } from '../snapshot/load/load-piece.js'
import { planShard } from '../snapshot/load/plan-piece.js'
import type { RecipientBatch } from '../sources/batch.js'
import { RecipientCollector } from '../sources/columns/collector.js'
import { identityOf, type Upsert } from './change.js'
import type { LastChanges } from './last-changes.js'

/** A source of a snapshot, and what its recipients are known by. */
interface KnownSource {
  readonly dataDirectory: string
  readonly snapshotId: string
  readonly source: ManifestSource
  readonly identities: SourceIdentities
}

/** What became of the changes, and of the recipients. */
export interface ChangeCounts {
  /** Upserts of recipients that were not there. */
  readonly addedCount: number
  /** Upserts of recipients that were there in another way. */
  readonly changedCount: number
  /** Upserts of recipients that were there just so. */
  readonly unchangedCount: number
  /** Deletes that found somebody. */
  readonly deletedCount: number
  /** Deletes that found nobody. */
  readonly absentCount: number
  readonly recipientCount: number
}

interface ChangedSource {
  readonly counts: ChangeCounts
  /** Undefined where nothing changed. */
  readonly columns: RecipientColumns | undefined
}

/**
 * @param onProgress  called with the recipients of the snapshot that were looked at
 * @throws OperatorError `SnapshotCorrupt`, or `InputRejected` beyond the limits of a source
 */
export async function changedSource(
  known: KnownSource,
  changes: LastChanges,
  onProgress: (doneCount: number) => void,
): Promise<ChangedSource> {
  const { dataDirectory, snapshotId, source, identities } = known
  const directory = join(snapshotsDirectory(dataDirectory), snapshotId)
  const collector = new RecipientCollector()
  const change = new Sieve(changes)
  const roomBytes = source.shards.map((shard) =>
    roomBytesOf(shard.byteLength, shard.recipientCount),
  )
  const [room] = createArenaPool(1).take([Math.max(0, ...roomBytes)])
  let doneCount = 0
  for (const [at, entry] of source.shards.entries()) {
    const piece = await planShard(directory, source, entry, room)
    const shard = attachShard(await loadShard(piece, () => {}))
    const texts = await readIdentitiesFile(directory, identities.files[at], entry.recipientCount)
    collector.add(batchOf(shard, texts, change.keptOf(shard, texts)))
    doneCount += entry.recipientCount
    onProgress(doneCount)
  }
  const fresh = change.fresh()
  // Also where nobody is left: so it is known that the source has keys.
  if (fresh.length > 0 || collector.recipientCount === 0) {
    collector.add(freshBatch(fresh, identities.hasKeys))
  }
  const counts = { ...change.counts(), recipientCount: collector.recipientCount }
  const columns = change.hasChanged() ? await collector.finish() : undefined
  return { counts, columns }
}

/** Some recipients of a shard. */
interface Kept {
  readonly indexes: Uint32Array
  /** Of each of them. */
  readonly ranks: Uint32Array
}

/** Who stays of the recipients that were there. */
class Sieve {
  readonly #changes: LastChanges
  /** One bit for each hash of a key, or of a number, that is in a change. */
  readonly #bits = new Uint32Array(1 << (SIEVE_BITS - 5))
  /** Identities that were found, and whether one of them stays as it is. */
  readonly #found = new Map<string, boolean>()
  #removedCount = 0

  constructor(changes: LastChanges) {
    this.#changes = changes
    for (const identity of changes.byIdentity.keys()) {
      // In a source with keys no key has such a character in vain: then it is looked up in full.
      const end = identity.indexOf('\0')
      this.#set(identity)
      if (end >= 0) this.#set(identity.slice(0, end))
    }
  }

  /** Those of a shard that stay, in the order of the import. */
  keptOf(shard: Shard, texts: Identities): Kept {
    const { recipientCount, ids } = shard
    const byRank = new Uint32Array(recipientCount)
    for (let index = 0; index < recipientCount; index++) byRank[ids[index]] = index
    const ranks = new Uint32Array(recipientCount)
    let keptCount = 0
    for (let rank = 0; rank < recipientCount; rank++) {
      if (!this.#stays(shard, texts, byRank[rank], rank) || this.#changes.isCleared) continue
      byRank[keptCount] = byRank[rank]
      ranks[keptCount++] = rank
    }
    this.#removedCount += recipientCount - keptCount
    return { indexes: byRank.subarray(0, keptCount), ranks: ranks.subarray(0, keptCount) }
  }

  /** Upserts of whoever is not there, or not so. */
  fresh(): Upsert[] {
    const fresh: Upsert[] = []
    for (const [identity, change] of this.#changes.byIdentity) {
      const stays = this.#found.get(identity) === true && !this.#changes.isCleared
      if (change.op === 'upsert' && !stays) fresh.push(change)
    }
    return fresh
  }

  hasChanged(): boolean {
    return this.#removedCount > 0 || this.fresh().length > 0
  }

  counts(): Omit<ChangeCounts, 'recipientCount'> {
    let [addedCount, changedCount, unchangedCount, deletedCount, absentCount] = [0, 0, 0, 0, 0]
    for (const [identity, { op }] of this.#changes.byIdentity) {
      const found = this.#found.get(identity)
      if (op === 'delete') {
        if (found === undefined) absentCount++
        else deletedCount++
      } else if (found === undefined) addedCount++
      else if (found) unchangedCount++
      else changedCount++
    }
    return { addedCount, changedCount, unchangedCount, deletedCount, absentCount }
  }

  #stays(
    shard: Shard,
    { contactOffsets, contactTexts, keys }: Identities,
    index: number,
    rank: number,
  ): boolean {
    const { coords, phones, phoneOffsets } = shard
    const [offsets, texts, at] =
      keys === null ? [phoneOffsets, phones, index] : [keys.offsets, keys.texts, rank]
    if (!this.#has(hashBytes(texts, offsets[at], offsets[at + 1]))) return true
    const phone = textAt(phones, phoneOffsets[index], phoneOffsets[index + 1])
    const contact = textAt(contactTexts, contactOffsets[rank], contactOffsets[rank + 1])
    const identity =
      keys === null ? identityOf(phone, contact) : textAt(texts, offsets[at], offsets[at + 1])
    const change = this.#changes.byIdentity.get(identity)
    if (change === undefined) return true
    const isSame =
      change.op === 'upsert' &&
      this.#found.get(identity) !== true &&
      change.lng === coords[2 * index] &&
      change.lat === coords[2 * index + 1] &&
      change.phone === phone &&
      change.contact === contact
    this.#found.set(identity, isSame || this.#found.get(identity) === true)
    return isSame
  }

  #set(text: string): void {
    const bytes = Buffer.from(text)
    const bit = hashBytes(bytes, 0, bytes.length) >>> (32 - SIEVE_BITS)
    this.#bits[bit >>> 5] |= 1 << (bit & 31)
  }

  #has(hash: number): boolean {
    const bit = hash >>> (32 - SIEVE_BITS)
    return ((this.#bits[bit >>> 5] >>> (bit & 31)) & 1) === 1
  }
}

/** For a million changes one recipient in sixteen is looked up in vain. */
const SIEVE_BITS = 24

function textAt(texts: Uint8Array, start: number, end: number): string {
  return Buffer.from(texts.buffer, texts.byteOffset + start, end - start).toString('utf8')
}

function batchOf(
  { coords, phoneOffsets, phones }: Shard,
  { contactOffsets, contactTexts, keys }: Identities,
  { indexes, ranks }: Kept,
): RecipientBatch {
  const phoneTexts = picked(phoneOffsets, phones, indexes)
  const contacts = picked(contactOffsets, contactTexts, ranks)
  const keyTexts = keys === null ? undefined : picked(keys.offsets, keys.texts, ranks)
  return {
    recipientCount: indexes.length,
    lngs: Int32Array.from(indexes, (index) => coords[2 * index]),
    lats: Int32Array.from(indexes, (index) => coords[2 * index + 1]),
    phoneOffsets: phoneTexts.offsets,
    phones: phoneTexts.texts,
    contactOffsets: contacts.offsets,
    contacts: contacts.texts,
    keyOffsets: keyTexts?.offsets,
    keys: keyTexts?.texts,
  }
}

function picked(offsets: Uint32Array, texts: Uint8Array, places: Uint32Array) {
  const pickedOffsets = new Uint32Array(places.length + 1)
  for (let at = 0; at < places.length; at++) {
    pickedOffsets[at + 1] = pickedOffsets[at] + offsets[places[at] + 1] - offsets[places[at]]
  }
  const pickedTexts = new Uint8Array(pickedOffsets[places.length])
  let end = 0
  for (let at = 0; at < places.length; at++) {
    const textEnd = offsets[places[at] + 1]
    for (let from = offsets[places[at]]; from < textEnd; from++) pickedTexts[end++] = texts[from]
  }
  return { offsets: pickedOffsets, texts: pickedTexts }
}

function freshBatch(upserts: readonly Upsert[], hasKeys: boolean): RecipientBatch {
  const phones = joined(upserts.map(({ phone }) => phone))
  const contacts = joined(upserts.map(({ contact }) => contact))
  const keys = hasKeys ? joined(upserts.map(({ key }) => key ?? '')) : undefined
  return {
    recipientCount: upserts.length,
    lngs: Int32Array.from(upserts, ({ lng }) => lng),
    lats: Int32Array.from(upserts, ({ lat }) => lat),
    phoneOffsets: phones.offsets,
    phones: phones.bytes,
    contactOffsets: contacts.offsets,
    contacts: contacts.bytes,
    keyOffsets: keys?.offsets,
    keys: keys?.bytes,
  }
}

function joined(texts: readonly string[]) {
  const pieces = texts.map((text) => Buffer.from(text))
  const offsets = new Uint32Array(pieces.length + 1)
  for (const [at, piece] of pieces.entries()) offsets[at + 1] = offsets[at] + piece.length
  return { offsets, bytes: Buffer.concat(pieces) }
}
