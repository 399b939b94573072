/**
 * The tables of one version of the gazetteer, in LMDB, whose file is mapped into memory. A version is written
 * once. Nobody opens it before its file is known to be what was written (verify.ts), since to read a damaged
 * one from mapped memory can end the process.
 *
 * @module
 */
import { type Database, open, type RootDatabase } from 'lmdb'
import { limits } from '../limits.js'

/** The name that LMDB gives to its file. */
export const DATA_FILE = 'data.mdb'
export const LOCK_FILE = 'lock.mdb'

export interface AreaTables {
  readonly root: RootDatabase
  /** A record of each area (area-record.ts), by its name as it is looked up. */
  readonly areas: Database<Buffer, string>
  /** The name of an area as it is looked up, by each of its aliases as they are looked up. */
  readonly aliases: Database<string, string>
  /** The index (area-index.ts), under `INDEX_KEY`. */
  readonly index: Database<Buffer, string>
}

export const INDEX_KEY = 'index'

/** Threads of one process share what they open. The thread that opens it first should hold it the longest. */
export function openAreaTables(directory: string, mode: 'read' | 'write'): AreaTables {
  const root = open(directory, {
    noSubdir: false,
    encoding: 'binary',
    readOnly: mode === 'read',
    overlappingSync: false,
    // A draft is copied when it is complete, and the copy is what is synced.
    noSync: mode === 'write',
    mapSize: limits.gazetteerMapBytes,
    maxReaders: limits.gazetteerReaderCount,
    maxDbs: 4,
    // Not in the types of the library, but in its native part.
    ...{ permissionsMode: 0o600 },
  })
  return {
    root,
    areas: root.openDB<Buffer, string>({ name: 'areas', encoding: 'binary' }),
    aliases: root.openDB<string, string>({ name: 'aliases', encoding: 'string' }),
    index: root.openDB<Buffer, string>({ name: 'index', encoding: 'binary' }),
  }
}
