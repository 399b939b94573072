/**
 * Keeps the marks of all snapshots of a service as the suppression lists say. What is true of a
 * phone is always read from the lists, so that to look at it twice does no harm.
 *
 * @module
 */
import type { Snapshot } from '../snapshot/snapshot.js'
import {
  isOnList,
  type LoggedChange,
  readLists,
  type Scope,
  type SuppressionLog,
  suppressionLogOf,
} from '../store/suppressions.js'
import type { Tables } from '../store/tables.js'
import { readListed } from './listed-phones.js'
import type { PhoneTable } from './phone-table.js'
import { type Progress, takenVersion, tellTaken } from './progress.js'
import { ShardMarks, wantedPhone } from './shard-marks.js'

/** What was caught up with. */
export interface CaughtUp {
  readonly version: number
  /** Whether some of it was changed by other processes, which wait for this one to say so. */
  readonly hasForeign: boolean
}

export class Marker {
  readonly #tables: Tables
  readonly #log: SuppressionLog
  readonly #progress: Progress
  readonly #ownName: string
  /** By id; those that are being attached are not among them. */
  readonly #attached = new Map<string, readonly ShardMarks[]>()
  /** What changes while snapshots are being attached. */
  readonly #attaching = new Set<Attaching>()

  /** @param ownName  what the changes of this process are logged under */
  constructor(tables: Tables, progress: Progress, ownName: string) {
    this.#tables = tables
    this.#log = suppressionLogOf(tables)
    this.#progress = progress
    this.#ownName = ownName
    tables.refresh()
    tellTaken(progress, this.#log.state().version, true)
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
    this.#attached.set(id, attaching.shards)
    // Nobody has looked whether what was changed until now matters to what was counted in it before.
    tellTaken(this.#progress, takenVersion(this.#progress), true)
  }

  /** Touches its memory no more. */
  detach(snapshotId: string): void {
    this.#attached.delete(snapshotId)
  }

  /**
   * Brings all marks up to what the store has now.
   *
   * @returns undefined when they were
   */
  catchUp(): CaughtUp | undefined {
    this.#tables.refresh()
    const taken = takenVersion(this.#progress)
    const { version } = this.#log.state()
    if (version === taken) return undefined
    const { isEffective, hasForeign } = this.#applyLogged(taken) ?? this.#compareAnew()
    tellTaken(this.#progress, version, isEffective)
    return { version, hasForeign }
  }

  /** How many recipients of a snapshot have one of the phones, of one source or of all. */
  countWith(snapshotId: string, scope: Scope, phones: readonly string[]): number {
    const shards = inScope(this.#attached.get(snapshotId) ?? [], scope)
    let count = 0
    for (const phone of new Set(phones)) {
      const wanted = wantedPhone(phone)
      for (const shard of shards) for (const _ of shard.recipientsWith(wanted)) count++
    }
    return count
  }

  /** Undefined where the log does not reach back far enough. */
  #applyLogged(taken: number): Effect | undefined {
    let isEffective = false
    let hasForeign = false
    const isWhole = this.#log.replay(taken, (change) => {
      if (change.maker !== this.#ownName) hasForeign = true
      for (const shards of this.#attached.values()) {
        if (this.#apply(shards, change)) isEffective = true
      }
      for (const { changes } of this.#attaching) changes.push(change)
    })
    return isWhole ? { isEffective, hasForeign } : undefined
  }

  #compareAnew(): Effect {
    for (const shards of this.#attached.values()) for (const _ of this.#compareAll(shards));
    for (const attaching of this.#attaching) attaching.isOutdated = true
    return { isEffective: true, hasForeign: true }
  }

  *#compareAll(shards: readonly ShardMarks[]): Generator<void, void> {
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
  #apply(all: readonly ShardMarks[], { scope, numbers: phones }: LoggedChange): boolean {
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

interface Attaching {
  readonly shards: readonly ShardMarks[]
  readonly changes: LoggedChange[]
  /** Whether there were changes that the log has no more. */
  isOutdated: boolean
}

function inScope(shards: readonly ShardMarks[], scope: Scope): readonly ShardMarks[] {
  return scope === 'all' ? shards : shards.filter(({ sourceId }) => sourceId === scope)
}
