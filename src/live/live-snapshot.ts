/**
 * A snapshot and what came since, where changes are applied: who is there for each identity, and what of
 * that nobody was told yet.
 *
 * @module
 */
import assert from 'node:assert/strict'
import type { Change, Upsert } from '../changes/change.js'
import type { ChangedShards, ShardIncrement } from '../shard/delta/increment.js'
import type { Shard } from '../shard/layout.js'
import type { NewlyTied } from '../shard/ties/extend-ties.js'
import type { Rows } from '../snapshot/load/rows.js'
import { GrowingDelta } from './growing-delta.js'
import type { LiveShard } from './live-shard.js'
import type { Found, PhoneFinder } from './phone-finder.js'
import type { SourceFinder } from './source-finder.js'
import { TieIds } from './tie-ids.js'

/** What became of the changes of a batch. */
interface AppliedCounts {
  /** Upserts of recipients that were not there. */
  addedCount: number
  /** Upserts of recipients that were there in another way. */
  changedCount: number
  /** Upserts of recipients that were there just so. */
  unchangedCount: number
  /** Deletes that found somebody. */
  deletedCount: number
  /** Deletes that found nobody. */
  absentCount: number
  /** Recipients that went with all others of the source. */
  clearedCount: number
}

interface LiveSource {
  readonly finder: SourceFinder
  readonly delta: GrowingDelta
  readonly contacts: TieIds
}

/** Recipients of a shard that are gone. */
interface GoneOfShard {
  readonly all: Set<number>
  /** What no increment had yet. */
  recipients: number[]
  moments: number[]
}

export class LiveSnapshot {
  readonly #shards: readonly Shard[]
  readonly #rows: readonly Rows[]
  readonly #sourceIds: readonly number[]
  readonly #phoneFinder: PhoneFinder
  readonly #phones: TieIds
  readonly #sources = new Map<number, LiveSource>()
  readonly #gone = new Map<number, GoneOfShard>()
  #moment = 0
  #changeCount = 0
  #toldMoment = 0

  /**
   * @param live  the shards of the snapshot
   * @param sourceIds  all of the snapshot, in its order
   */
  constructor(live: readonly LiveShard[], sourceIds: readonly number[], phones: PhoneFinder) {
    const shards = live.map(({ shard }) => shard)
    this.#shards = shards
    this.#rows = live.map(({ rows }) => rows)
    this.#sourceIds = sourceIds
    this.#phoneFinder = phones
    this.#phones = new TieIds(shards, 'phoneTies')
  }

  /** To be called before the first change of a source. */
  addSource(sourceId: number, finder: SourceFinder): void {
    const sourceIndex = this.#sourceIds.indexOf(sourceId)
    this.#sources.set(sourceId, {
      finder,
      delta: new GrowingDelta(sourceId, sourceIndex),
      contacts: new TieIds(this.#shards, 'contactTies', sourceId),
    })
  }

  hasSource(sourceId: number): boolean {
    return this.#sources.has(sourceId)
  }

  /** @param moment  of the batch: later than all before */
  apply(sourceId: number, changes: readonly Change[], moment: number): AppliedCounts {
    const source = this.#sources.get(sourceId)
    assert(source !== undefined, 'a source is added before its first change')
    this.#moment = moment
    const counts: AppliedCounts = {
      addedCount: 0,
      changedCount: 0,
      unchangedCount: 0,
      deletedCount: 0,
      absentCount: 0,
      clearedCount: 0,
    }
    for (const change of changes) {
      if (change.op === 'upsert') counts[this.#upsert(source, change, moment)]++
      else if (change.op === 'clear') counts.clearedCount += this.#clear(sourceId, source, moment)
      else counts[this.#delete(source, change.identity, moment)]++
    }
    return counts
  }

  /** How many came or went since the snapshot. */
  get changeCount(): number {
    return this.#changeCount
  }

  /** The most that `apply` may add to `changeCount`. */
  changeCountOf(sourceId: number, changes: readonly Change[]): number {
    const isCleared = changes.some(({ op }) => op === 'clear')
    // Each change lets one come, and one go.
    return 2 * changes.length + (isCleared ? this.#recipientCountOf(sourceId) : 0)
  }

  /** A batch that changes nothing here. */
  pass(moment: number): void {
    this.#moment = moment
  }

  /** What changed since the last call, and up to which moment; undefined where there is no later one. */
  takeChanged(): ChangedShards | undefined {
    if (this.#moment === this.#toldMoment) return undefined
    this.#toldMoment = this.#moment
    const deltas = [...this.#sources.values()].flatMap(({ delta }) => delta.takeIncrement() ?? [])
    return { moment: this.#moment, shards: this.#shardIncrements(), deltas }
  }

  #upsert(source: LiveSource, upsert: Upsert, moment: number): keyof AppliedCounts {
    const { delta, finder } = source
    const { identity } = upsert
    const came = delta.find(identity)
    if (came !== undefined && isSame(came, upsert)) return 'unchangedCount'
    let wasThere = this.#goFrom(delta, identity, moment)
    let isThere = false
    for (const found of this.#presentOf(finder, identity)) {
      wasThere = true
      // Only one stays with an identity.
      if (!isThere && this.#isSameAs(found, finder, upsert)) isThere = true
      else this.#go(found, moment)
    }
    if (isThere) return 'unchangedCount'
    const { phone, contact } = upsert
    const phoneId = this.#phones.of(phone, () => this.#phoneFinder.with(phone))
    // Whoever has no contact shares one with those of the source who have the phone, and none either.
    const contactId =
      contact === ''
        ? source.contacts.of(`phone ${phone}`, () => finder.withPhoneAlone(phone))
        : source.contacts.of(`contact ${contact}`, () => finder.withContact(contact))
    delta.come(upsert, { contactId, phoneId }, moment)
    this.#changeCount++
    return wasThere ? 'changedCount' : 'addedCount'
  }

  #clear(sourceId: number, { delta }: LiveSource, moment: number): number {
    let count = delta.clear(moment)
    this.#changeCount += count
    for (const [shardIndex, shard] of this.#shards.entries()) {
      if (shard.sourceId !== sourceId) continue
      const gone = this.#gone.get(shardIndex)?.all
      for (let recipient = 0; recipient < shard.recipientCount; recipient++) {
        if (gone?.has(recipient)) continue
        this.#go({ shardIndex, recipient }, moment)
        count++
      }
    }
    return count
  }

  #recipientCountOf(sourceId: number): number {
    const own = this.#shards.filter((shard) => shard.sourceId === sourceId)
    const came = this.#sources.get(sourceId)?.delta.recipientCount ?? 0
    return own.reduce((sum, { recipientCount }) => sum + recipientCount, came)
  }

  #delete({ delta, finder }: LiveSource, identity: string, moment: number): keyof AppliedCounts {
    let wasThere = this.#goFrom(delta, identity, moment)
    for (const found of this.#presentOf(finder, identity)) {
      wasThere = true
      this.#go(found, moment)
    }
    return wasThere ? 'deletedCount' : 'absentCount'
  }

  #goFrom(delta: GrowingDelta, identity: string, moment: number): boolean {
    const wasThere = delta.go(identity, moment)
    if (wasThere) this.#changeCount++
    return wasThere
  }

  #presentOf(finder: SourceFinder, identity: string): Found[] {
    return finder
      .withIdentity(identity)
      .filter(({ shardIndex, recipient }) => !this.#gone.get(shardIndex)?.all.has(recipient))
  }

  #go({ shardIndex, recipient }: Found, moment: number): void {
    const gone = this.#gone.get(shardIndex) ?? { all: new Set(), recipients: [], moments: [] }
    this.#gone.set(shardIndex, gone)
    gone.all.add(recipient)
    gone.recipients.push(recipient)
    gone.moments.push(moment)
    this.#changeCount++
  }

  #isSameAs(found: Found, finder: SourceFinder, { phone, lng, lat, contact }: Upsert): boolean {
    const rows = this.#rows[found.shardIndex]
    const [ownLng, ownLat] = rows.positionOf(found.recipient)
    if (ownLng !== lng || ownLat !== lat) return false
    const own = rows.phoneOf(found.recipient)
    return Buffer.from(phone).equals(own) && finder.contactOf(found) === contact
  }

  #shardIncrements(): ShardIncrement[] {
    const byPhone = this.#phones.takeNewlyTied()
    const byContact = new Map<number, NewlyTied>()
    for (const { contacts } of this.#sources.values()) {
      for (const [shardIndex, tied] of contacts.takeNewlyTied()) byContact.set(shardIndex, tied)
    }
    const increments: ShardIncrement[] = []
    for (let shardIndex = 0; shardIndex < this.#shards.length; shardIndex++) {
      const gone = this.#gone.get(shardIndex)
      const hasGone = gone !== undefined && gone.recipients.length > 0
      if (!hasGone && !byPhone.has(shardIndex) && !byContact.has(shardIndex)) continue
      increments.push({
        shardIndex,
        gone: {
          recipients: Uint32Array.from(gone?.recipients ?? []),
          moments: Uint32Array.from(gone?.moments ?? []),
        },
        byContact: byContact.get(shardIndex) ?? NOBODY,
        byPhone: byPhone.get(shardIndex) ?? NOBODY,
      })
      if (gone !== undefined) {
        gone.recipients = []
        gone.moments = []
      }
    }
    return increments
  }
}

const NOBODY: NewlyTied = { recipients: new Uint32Array(0), ids: new Uint32Array(0) }

function isSame(came: Upsert, upsert: Upsert): boolean {
  return (
    came.lng === upsert.lng &&
    came.lat === upsert.lat &&
    came.phone === upsert.phone &&
    came.contact === upsert.contact
  )
}
