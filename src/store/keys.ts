/**
 * The keys of a data directory: a record of each, by its id, and a version that grows by one with each change. They are
 * few, so that readers read all of them again. `src/keys` interprets the records.
 *
 * @module
 */
import { assertOfNoCluster, KEYED_FORMAT, META, raiseFormat, type Tables } from './tables.js'

export interface StoredKeys {
  /** 0 before the first change. */
  readonly version: number
  /** JSON, unless a disk has damaged it, by id. */
  readonly records: ReadonlyMap<string, string>
}

/** Records by id; undefined removes one. */
export type KeyChanges = ReadonlyMap<string, string | undefined>

export interface KeyReader {
  version(): number
  read(): StoredKeys
}

export interface KeyChanger {
  /**
   * Makes changes that depend on the stored keys, all of them or none; they are on disk when this returns.
   *
   * @returns the version of the keys with these changes
   */
  change(changesFor: (before: StoredKeys) => KeyChanges): number
}

/** For the process that has the store open for writing. */
export interface KeyWriter extends KeyReader, KeyChanger {
  /** The recorded use of each key, by id. */
  uses(): ReadonlyMap<string, string>
  /** Records it; keys that are gone are ignored. Changes no version. */
  noteUses(notesFor: (before: ReadonlyMap<string, string>) => ReadonlyMap<string, string>): void
}

export function keyReader(tables: Tables): KeyReader {
  return {
    version() {
      tables.refresh()
      return keysVersionOf(tables)
    },
    read() {
      tables.refresh()
      return read(tables)
    },
  }
}

export function keyWriter(tables: Tables): KeyWriter {
  const { keys, keyUses, refresh, transact } = tables
  return {
    ...keyReader(tables),
    change(changesFor) {
      // If LMDB has failed, reading says so, while beginning a change would end the process.
      refresh()
      keysVersionOf(tables)
      return transact(() => {
        assertOfNoCluster(tables)
        const before = read(tables)
        return putKeys(tables, before.version, changesFor(before))
      })
    },
    uses() {
      refresh()
      return entriesOf(keyUses)
    },
    noteUses(notesFor) {
      refresh()
      keysVersionOf(tables)
      transact(() => {
        for (const [id, note] of notesFor(entriesOf(keyUses))) {
          if (keys.doesExist(id)) keyUses.put(id, note)
        }
      })
    },
  }
}

/**
 * To be called within a transaction.
 *
 * @param before  the version of the stored keys
 * @returns the version of the keys with these changes
 */
export function putKeys(tables: Tables, before: number, changes: KeyChanges): number {
  const { keys, keyUses, meta } = tables
  if (changes.size === 0) return before
  for (const [id, record] of changes) {
    if (record !== undefined) keys.put(id, record)
    else {
      keys.remove(id)
      keyUses.remove(id)
    }
  }
  const version = before + 1
  meta.put(META.keysVersion, String(version))
  raiseFormat(tables, KEYED_FORMAT)
  return version
}

/** 0 before the first change. Readers refresh the tables first. */
export function keysVersionOf({ meta }: Pick<Tables, 'meta'>): number {
  return Number(meta.get(META.keysVersion) ?? 0)
}

function read(tables: Tables): StoredKeys {
  return { version: keysVersionOf(tables), records: entriesOf(tables.keys) }
}

function entriesOf(table: Tables['keys']): ReadonlyMap<string, string> {
  return new Map(Array.from(table.getRange({}), ({ key, value }) => [key, value]))
}
