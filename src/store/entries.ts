/**
 * Entries of a cluster, which all its machines apply to their stores in the same order. The outcome of each follows from
 * the store alone, so that it is the same everywhere.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import type { Log } from '../log.js'
import { putAudience, removeAudience, type SharedAudience } from './audiences.js'
import { applyChange, type Change, type ChangeOutcome, notMade, readTotals } from './changes.js'
import { beginDigests, openTablesToWrite, readDigests, type SharedPart } from './digests.js'
import { type KeyChanges, keysVersionOf, putKeys } from './keys.js'
import {
  applySuppressions,
  type SuppressionChange,
  type SuppressionsOutcome,
  suppressionLogOf,
} from './suppressions.js'
import { CLUSTERED_FORMAT, KEYED_FORMAT, META, raiseFormat, type Tables } from './tables.js'

export type StoreChange =
  | { readonly kind: 'document'; readonly change: Change }
  | { readonly kind: 'suppressions'; readonly change: SuppressionChange; readonly atMs: number }
  /** Applied to the keys of a version, and refused for others. */
  | { readonly kind: 'keys'; readonly version: number; readonly changes: KeyChanges }
  | { readonly kind: 'audience'; readonly audience: SharedAudience; readonly atMs: number }
  | { readonly kind: 'deleteAudience'; readonly id: string }

/** How many there are of each, and the digest of all. */
export type ComparedStore = Readonly<
  Record<SharedPart, { readonly count: number; readonly digest: string }>
>

export type StoreOutcome = ChangeOutcome | SuppressionsOutcome

/** Only for the main thread. */
export interface StoreEntries {
  /** All entries of the journal up to here are in the store. */
  sequence(): number
  /**
   * Applies entries, all of them or none; they are on disk when this returns.
   *
   * @param upTo  the sequence of the last one, or a later one if none is in between
   * @returns the outcome of each
   * @throws  a fault of the disk
   */
  apply(changes: readonly StoreChange[], upTo: number): StoreOutcome[]
  /** Whether the audiences that the directory had before are shared with the cluster. */
  areAudiencesShared(): boolean
  noteAudiencesShared(): void
  /** To be compared with the store of another machine; undefined before the first entry. */
  compared(): ComparedStore | undefined
  isClustered(): boolean
  /** Makes it a store of no cluster. */
  end(): void
}

export function storeEntries(tables: Tables, log: Log): StoreEntries {
  const { meta, refresh, transact } = tables
  return {
    sequence() {
      refresh()
      return Number(meta.get(META.entriesSequence) ?? 0)
    },
    apply(changes, upTo) {
      // If LMDB has failed, reading says so, while beginning a change would end the process.
      refresh()
      readTotals(tables)
      beginDigests(tables)
      return transact(() => {
        const outcomes = changes.map((change) => apply(tables, change, log))
        meta.put(META.entriesSequence, String(upTo))
        raiseFormat(tables, CLUSTERED_FORMAT)
        return outcomes
      })
    },
    areAudiencesShared() {
      refresh()
      return meta.get(META.audiencesShared) !== undefined
    },
    noteAudiencesShared() {
      refresh()
      transact(() => meta.put(META.audiencesShared, '1'))
    },
    compared() {
      refresh()
      const digests = readDigests(tables)
      if (digests === undefined) return undefined
      const of = (part: SharedPart, count: number) => [part, { count, digest: digests[part] }]
      return Object.fromEntries([
        of('suppressions', suppressionLogOf(tables).state().totalCount),
        of('keys', tables.keys.getCount()),
        of('configuration', tables.documents.getCount()),
        of('contexts', readTotals(tables).contextCount),
      ]) as ComparedStore
    },
    isClustered() {
      refresh()
      return meta.get(META.format) === CLUSTERED_FORMAT
    },
    end() {
      refresh()
      transact(() => {
        meta.remove(META.entriesSequence)
        meta.remove(META.audiencesShared)
        for (const id of [...tables.audiences.getKeys({})]) tables.audiences.remove(id)
        meta.remove(META.digests)
        if (meta.get(META.format) === CLUSTERED_FORMAT) meta.put(META.format, KEYED_FORMAT)
      })
    },
  }
}

/**
 * Notes in a copied store, which must not be open, that it has all entries up to a sequence: a store notes its own sequence
 * only now and then.
 */
export async function noteEntries(directory: string, sequence: number): Promise<void> {
  const tables = openTablesToWrite(directory)
  try {
    beginDigests(tables)
    tables.transact(() => {
      const before = Number(tables.meta.get(META.entriesSequence) ?? 0)
      tables.meta.put(META.entriesSequence, String(Math.max(before, sequence)))
      raiseFormat(tables, CLUSTERED_FORMAT)
    })
  } finally {
    await tables.close()
  }
}

/** A refused change has changed nothing. */
function apply(tables: Tables, change: StoreChange, log: Log): StoreOutcome {
  try {
    switch (change.kind) {
      case 'document':
        applyChange(tables, change.change)
        return { isMade: true }
      case 'suppressions': {
        const { atMs } = change
        // No process has this name: every process treats the change as one of others.
        const made = { maker: 'cluster', atMs }
        return { isMade: true, changed: applySuppressions(tables, change.change, made) }
      }
      case 'keys':
        if (keysVersionOf(tables) !== change.version) throw KEYS_CHANGED
        putKeys(tables, change.version, change.changes)
        return { isMade: true }
      case 'audience':
        putAudience(tables, change.audience, change.atMs)
        return { isMade: true }
      case 'deleteAudience':
        removeAudience(tables, change.id)
        return { isMade: true }
    }
  } catch (fault) {
    if (fault instanceof ServiceError) return notMade(fault, change.kind, log)
    throw fault
  }
}

const KEYS_CHANGED = new ServiceError(
  'Unavailable',
  'the keys were changed meanwhile: run the command once more',
)
