/**
 * Keeps the marks of all snapshots of a service up to date with the suppression lists. Whether a phone is suppressed is
 * always read from the lists, so that a change may be applied twice.
 *
 * @module
 */
import { limits } from '../limits.js'
import { hasColumns } from '../shard/layout.js'
import type { Snapshot } from '../snapshot/snapshot.js'
import type { PhoneHits, UnmatchedPhones } from '../store/change-port.js'
import {
  isOnList,
  type LoggedChange,
  readLists,
  type Scope,
  type SuppressionLog,
  suppressionLogOf,
} from '../store/suppressions.js'
import type { Tables } from '../store/tables.js'
import {
  type ChangedRecipients,
  type DeltaChange,
  DeltaMarks,
  type Markable,
  ShardMarks,
  wantedPhone,
} from './marks.js'
import { sampleOf, trialsOf } from './notations.js'
import { type PhoneTable, readListed } from './phone-table.js'
import { appliedVersion, type Progress, publishApplied } from './progress.js'

export interface CaughtUp {
  readonly version: number
  /** Whether other processes made some of the changes, and wait for this one to apply them. */
  readonly hasForeign: boolean
}

export class Marker {
  readonly #tables: Tables
  readonly #log: SuppressionLog
  readonly #progress: Progress
  readonly #ownName: string
  /** By id, without those that are being attached. */
  readonly #attached = new Map<string, AttachedMarks>()
  readonly #attaching = new Set<Attaching>()

  /** @param ownName  the name of this process in the log of changes */
  constructor(tables: Tables, progress: Progress, ownName: string) {
    this.#tables = tables
    this.#log = suppressionLogOf(tables)
    this.#progress = progress
    this.#ownName = ownName
    tables.refresh()
    publishApplied(progress, this.#log.state().version, true)
  }

  /**
   * Sets the marks of a snapshot, and from then on keeps them right. Between the steps others may be
   * served.
   */
  *attach({ id, shards }: Snapshot): Generator<void, void> {
    const attaching: Attaching = {
      shards: shards.map((shard) => new ShardMarks(shard)),
      changes: [],
      isOutdated: false,
    }
    this.#attaching.add(attaching)
    do {
      attaching.isOutdated = false
      attaching.changes.length = 0
      yield* this.#compareAll(attaching.shards)
    } while (attaching.isOutdated)
    this.#tables.refresh()
    for (const change of attaching.changes) this.#apply(attaching.shards, change)
    this.#attaching.delete(attaching)
    this.#attached.set(id, new AttachedMarks(attaching.shards, shards.every(hasColumns)))
    // What was changed until now may matter to what was counted in it before.
    publishApplied(this.#progress, appliedVersion(this.#progress), true)
  }

  /** Touches its memory no more. */
  detach(snapshotId: string): void {
    this.#attached.delete(snapshotId)
  }

  /** Sets the marks of recipients that changes have added since the snapshot. */
  change({ snapshotId, shards, deltas }: ChangedRecipients): void {
    const attached = this.#attached.get(snapshotId)
    if (attached === undefined) return
    // Later changes of the lists are looked for among the added recipients, too.
    this.#tables.refresh()
    for (const { shardIndex, gone } of shards) attached.shards[shardIndex].remove(gone)
    for (const delta of deltas) {
      const { sourceId } = delta
      attached.deltaOf(delta).change(delta, (phone) => this.#isSuppressed(sourceId, phone))
    }
  }

  /**
   * Brings all marks up to what the store has now.
   *
   * @returns undefined when they were
   */
  catchUp(): CaughtUp | undefined {
    this.#tables.refresh()
    const taken = appliedVersion(this.#progress)
    const { version } = this.#log.state()
    if (version === taken) return undefined
    const { isEffective, hasForeign } = this.#applyLogged(taken) ?? this.#compareAnew()
    publishApplied(this.#progress, version, isEffective)
    return { version, hasForeign }
  }

  /** Which recipients of a snapshot have one of the phones, of one source or of all. */
  hitsOf(snapshotId: string, scope: Scope, phones: readonly string[]): PhoneHits {
    const attached = this.#attached.get(snapshotId)
    const shards = inScope(attached?.all() ?? [], scope)
    const distinct = new Set(phones)
    const counts = [...distinct].map((phone) => countWith(shards, phone))
    const recipientCount = counts.reduce((sum, count) => sum + count, 0)
    // What other machines hold is not looked at.
    if (attached?.isWhole !== true) return { recipientCount }
    const unmatched = [...distinct].filter((_, at) => counts[at] === 0)
    return { recipientCount, unmatched: unmatchedOf(shards, distinct, unmatched) }
  }

  /** Undefined where the log does not reach back far enough. */
  #applyLogged(taken: number): Effect | undefined {
    let isEffective = false
    let hasForeign = false
    const isWhole = this.#log.replay(taken, (change) => {
      if (change.maker !== this.#ownName) hasForeign = true
      for (const attached of this.#attached.values()) {
        const isMarked = this.#apply(attached.all(), change)
        // What it does to shards that other machines hold is not known here.
        if (isMarked || !attached.isWhole) isEffective = true
      }
      for (const { changes } of this.#attaching) changes.push(change)
    })
    return isWhole ? { isEffective, hasForeign } : undefined
  }

  #compareAnew(): Effect {
    for (const attached of this.#attached.values()) {
      for (const _ of this.#compareAll(attached.all()));
    }
    for (const attaching of this.#attaching) attaching.isOutdated = true
    return { isEffective: true, hasForeign: true }
  }

  *#compareAll(shards: readonly Markable[]): Generator<void, void> {
    this.#tables.refresh()
    const sourceIds = new Set<Scope>(shards.map(({ sourceId }) => sourceId))
    const lists = new Map<Scope, PhoneTable>()
    for (const { scope, count } of readLists(this.#tables)) {
      if (scope !== 'all' && !sourceIds.has(scope)) continue
      lists.set(scope, yield* readListed(this.#tables, scope, count))
    }
    for (const shard of shards) {
      const own = [lists.get('all'), lists.get(shard.sourceId)]
      shard.compare(own.filter((list) => list !== undefined))
      yield
    }
  }

  /** @returns whether any mark changed */
  #apply(all: readonly Markable[], { scope, numbers: phones }: LoggedChange): boolean {
    const shards = inScope(all, scope)
    let isEffective = false
    for (const phone of phones) {
      const wanted = wantedPhone(phone)
      const known = new Map<number, boolean>()
      for (const shard of shards) {
        for (const recipient of shard.recipientsWith(wanted)) {
          const { sourceId } = shard
          const isSuppressed = known.get(sourceId) ?? this.#isSuppressed(sourceId, phone)
          known.set(sourceId, isSuppressed)
          if (shard.set(recipient, isSuppressed)) isEffective = true
        }
      }
    }
    return isEffective
  }

  #isSuppressed(sourceId: number, phone: string): boolean {
    return isOnList(this.#tables, 'all', phone) || isOnList(this.#tables, sourceId, phone)
  }
}

interface Effect {
  /** Whether any mark changed, or may have. */
  readonly isEffective: boolean
  /** Whether other processes made some of the changes. */
  readonly hasForeign: boolean
}

/** A snapshot, with the recipients that were added since. */
class AttachedMarks {
  readonly shards: readonly ShardMarks[]
  /** Whether this machine holds all shards. */
  readonly isWhole: boolean
  readonly #deltas = new Map<number, DeltaMarks>()

  constructor(shards: readonly ShardMarks[], isWhole: boolean) {
    this.shards = shards
    this.isWhole = isWhole
  }

  all(): readonly Markable[] {
    return this.#deltas.size === 0 ? this.shards : [...this.shards, ...this.#deltas.values()]
  }

  deltaOf({ sourceId, marks }: Pick<DeltaChange, 'sourceId' | 'marks'>): DeltaMarks {
    const known = this.#deltas.get(sourceId) ?? new DeltaMarks(sourceId, marks)
    this.#deltas.set(sourceId, known)
    return known
  }
}

interface Attaching {
  readonly shards: readonly ShardMarks[]
  /** Made meanwhile. */
  readonly changes: LoggedChange[]
  /** Whether there were changes that the log has no more. */
  isOutdated: boolean
}

function countWith(shards: readonly Markable[], phone: string): number {
  const wanted = wantedPhone(phone)
  return shards.reduce((sum, shard) => sum + shard.countWith(wanted), 0)
}

function unmatchedOf(
  shards: readonly Markable[],
  all: ReadonlySet<string>,
  unmatched: readonly string[],
): UnmatchedPhones {
  const tried = sampleOf(unmatched, limits.notationSampleOfBatchCount)
  const otherwiseWritten = trialsOf(tried, all)
    .map(({ notation, variants }) => ({
      notation,
      count: variants.filter((phone) => countWith(shards, phone) > 0).length,
    }))
    .filter(({ count }) => count > 0)
  const { size: phoneCount } = all
  const { length: unmatchedCount } = unmatched
  return { phoneCount, unmatchedCount, otherwiseWritten, triedCount: tried.length }
}

function inScope(shards: readonly Markable[], scope: Scope): readonly Markable[] {
  return scope === 'all' ? shards : shards.filter(({ sourceId }) => sourceId === scope)
}
