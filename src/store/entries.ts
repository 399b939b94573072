/**
 * Entries of a cluster, which all its machines put into their stores in the same order. What becomes of each follows from
 * what is there, so that it is the same everywhere.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import type { Log } from '../log.js'
import { putAudience, removeAudience, type SharedAudience } from './audiences.js'
import { applyChange, type Change, type ChangeOutcome, notMade, readTotals } from './changes.js'
import { beginDigests, readDigests, type SharedPart } from './digests.js'
import { type KeyChanges, keysVersionOf, putKeys } from './keys.js'
import { applySuppressions, type SuppressionChange, type SuppressionsOutcome } from './suppress.js'
import { suppressionLogOf } from './suppressions.js'
import { CLUSTERED_FORMAT, KEYED_FORMAT, META, raiseFormat, type Tables } from './tables.js'
import { openTablesToWrite } from './write-tables.js'

/** What the journal says, and when it was written. */
export type StoreChange =
  | { readonly kind: 'document'; readonly change: Change }
  | { readonly kind: 'suppressions'; readonly change: SuppressionChange; readonly atMs: number }
  /** Made of the keys at a version, and of no others. */
  | { readonly kind: 'keys'; readonly version: number; readonly changes: KeyChanges }
  | { readonly kind: 'audience'; readonly audience: SharedAudience; readonly atMs: number }
  | { readonly kind: 'deleteAudience'; readonly id: string }

/** How many there are of each, and the digest of all. */
export type ComparedStore = Readonly<
  Record<SharedPart, { readonly count: number; readonly digest: string }>
>

export type StoreOutcome = ChangeOutcome | SuppressionsOutcome

/** The entries of the store. To be used by the main thread alone. */
export interface StoreEntries {
  /** All entries of the journal up to here are in the store. */
  sequence(): number
  /**
   * Puts entries into the store, all of them or none; they are on disk when this returns.
   *
   * @param upTo  the sequence of the last one, or a later one behind which none is
   * @returns what became of each
   * @throws  what the disk says
   */
  apply(changes: readonly StoreChange[], upTo: number): StoreOutcome[]
  /** Whether the cluster knows the audiences that the directory had before. */
  areAudiencesShared(): boolean
  noteAudiencesShared(): void
  /** What the store has, to be compared with that of another machine; undefined before the first entry. */
  compared(): ComparedStore | undefined
  /** Whether it is that of a machine of a cluster. */
  isClustered(): boolean
  /** Makes the store one of no cluster. */
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
      // Where LMDB has given up, it says so when it is read; to begin a change would end the process.
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
 * Notes in a store that was copied, and that nobody has open, that it has all entries up to a sequence. A store knows only
 * now and then how far it is.
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

/** What is refused is refused before anything is changed. */
function apply(tables: Tables, change: StoreChange, log: Log): StoreOutcome {
  try {
    switch (change.kind) {
      case 'document':
        applyChange(tables, change.change)
        return { isMade: true }
      case 'suppressions': {
        const { atMs } = change
        // No process has this name: every one looks for what it has not made itself.
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
