/**
 * Finds recipients of one source of a snapshot by what changes know them by: five bytes of memory for each
 * recipient and each of key, contact and phone. A text that may be right is compared with that in the file.
 *
 * @module
 */
import { identityOf } from '../changes/change.js'
import { hashBytes } from '../shard/hash-bytes.js'
import {
  firstPlace,
  type HashTable,
  hashTableInSteps,
  indexAt,
  nextPlace,
} from '../shard/hash-table.js'
import type { Shard } from '../shard/layout.js'
import { IdentityTexts } from '../snapshot/identities/identity-texts.js'
import type { SourceIdentities } from '../snapshot/identities/list.js'
import { readIdentitiesFile } from '../snapshot/identities/read-file.js'
import type { Rows } from '../snapshot/load/rows.js'
import { inTurns } from './in-turns.js'
import type { LiveShard } from './live-shard.js'
import type { Found, PhoneFinder } from './phone-finder.js'

interface FinderOptions {
  /** Of the snapshot. */
  readonly directory: string
  readonly identities: SourceIdentities
  /** All of the snapshot. */
  readonly shards: readonly LiveShard[]
  readonly phones: PhoneFinder
  /** Gives up. */
  readonly signal?: AbortSignal
}

interface ShardTables {
  readonly shardIndex: number
  readonly rows: Rows
  readonly texts: IdentityTexts
  /** Undefined where nobody has one. */
  readonly contacts: HashTable | undefined
  /** Undefined in a source without keys. */
  readonly keys: HashTable | undefined
}

export class SourceFinder {
  readonly hasKeys: boolean
  readonly #tables: readonly ShardTables[]
  readonly #phones: PhoneFinder
  readonly #sourceId: number

  private constructor(
    { id, hasKeys }: SourceIdentities,
    phones: PhoneFinder,
    tables: ShardTables[],
  ) {
    this.hasKeys = hasKeys
    this.#sourceId = id
    this.#phones = phones
    this.#tables = tables
  }

  /**
   * Reads and verifies all files of identities of a source, while the thread serves others.
   *
   * @throws OperatorError, or the reason of the signal
   */
  static async open({
    directory,
    identities,
    shards,
    phones,
    signal,
  }: FinderOptions): Promise<SourceFinder> {
    const tables: ShardTables[] = []
    const finder = new SourceFinder(identities, phones, tables)
    try {
      for (const [shardIndex, live] of shards.entries()) {
        if (live.shard.sourceId !== identities.id) continue
        const shard = await live.columns()
        const file = identities.files[tables.length]
        const read = await readIdentitiesFile(directory, file, shard.recipientCount)
        const { contactOffsets, contactTexts, keys: ofKeys } = read
        const contacts =
          contactTexts.length === 0
            ? undefined
            : await inTurns(tableOf(shard, contactOffsets, contactTexts), signal)
        const keys =
          ofKeys === null
            ? undefined
            : await inTurns(tableOf(shard, ofKeys.offsets, ofKeys.texts), signal)
        const texts = new IdentityTexts(directory, file, read)
        tables.push({ shardIndex, rows: live.rows, texts, contacts, keys })
      }
    } catch (fault) {
      finder.close()
      throw fault
    }
    return finder
  }

  /** All that have an identity, in the order of the snapshot. */
  withIdentity(identity: string): Found[] {
    if (this.hasKeys) return this.#withText(identity, 'keys')
    const phone = identity.slice(0, identity.indexOf('\0'))
    return this.#phones
      .with(phone, this.#sourceId)
      .filter((found) => identityOf(phone, this.contactOf(found)) === identity)
  }

  /** All that have a phone and no contact. */
  withPhoneAlone(phone: string): Found[] {
    return this.#phones.with(phone, this.#sourceId).filter((found) => this.contactOf(found) === '')
  }

  /** @param contact  not an empty one */
  withContact(contact: string): Found[] {
    return this.#withText(contact, 'contacts')
  }

  contactOf({ shardIndex, recipient }: Found): string {
    const { texts, rows } = this.#tables[shardIndex - this.#tables[0].shardIndex]
    return texts.contactAt(rows.rankOf(recipient))
  }

  close(): void {
    for (const { texts } of this.#tables) texts.close()
  }

  #withText(text: string, column: 'contacts' | 'keys'): Found[] {
    const bytes = Buffer.from(text)
    const hash = hashBytes(bytes, 0, bytes.length)
    const found: Found[] = []
    for (const { shardIndex, rows, texts, [column]: table } of this.#tables) {
      if (table === undefined) continue
      let place = nextPlace(table, hash, firstPlace(table, hash))
      for (; place >= 0; place = nextPlace(table, hash, place + 1)) {
        const recipient = indexAt(table, place)
        const rank = rows.rankOf(recipient)
        const own = column === 'keys' ? texts.keyAt(rank) : texts.contactAt(rank)
        if (own === text) found.push({ shardIndex, recipient })
      }
    }
    return found
  }
}

function tableOf(
  { ids, recipientCount }: Shard,
  offsets: Uint32Array,
  texts: Uint8Array,
): Generator<void, HashTable> {
  return hashTableInSteps(recipientCount, (index) =>
    hashBytes(texts, offsets[ids[index]], offsets[ids[index] + 1]),
  )
}
