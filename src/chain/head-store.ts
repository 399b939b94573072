/**
 * The head of a chain, in LMDB beside its files: which record is the last one, and where it ends. Its write
 * transaction is the lock between processes that write to one directory, which the system takes back when
 * one of them dies.
 *
 * @module
 */
import { existsSync, linkSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Database, open, type RootDatabase } from 'lmdb'
import { createDirectorySync, syncDirectorySync } from '../durable-files.js'

/** The head of a chain is gone: it is unknown whether its files are complete. */
export class HeadMissing extends Error {}

/** What is kept beside a head, by keys of bytes. */
export interface HeadTable {
  /** Keys and values by ascending keys. */
  forwards(): Iterable<[key: Uint8Array, value: Uint8Array]>
  backwards(): Iterable<[key: Uint8Array, value: Uint8Array]>
  put(key: Uint8Array, value: Uint8Array): void
  remove(key: Uint8Array): void
}

/** What a transaction reads and changes. */
interface HeadTransaction<H, T extends string> {
  /** Undefined before the first move. */
  readonly head: H | undefined
  readonly tables: Readonly<Record<T, HeadTable>>
  /** Moves the head when the transaction ends. */
  move(head: H): void
}

export interface HeadStore<H, T extends string = never> {
  /** The current head, by any process; undefined before the first move. */
  read(): H | undefined
  /**
   * No other process is in a transaction meanwhile. Nothing is changed if `work` throws, and nothing is
   * synced if it changes nothing.
   */
  transact<R>(work: (transaction: HeadTransaction<H, T>) => R): R
  /** Whether it is still what its path leads to. */
  isInPlace(): boolean
  /** Copies it, as it is at one moment, into an empty directory. */
  copyTo(directory: string): Promise<void>
  close(): Promise<void>
}

interface HeadOptions<T extends string> {
  /** `write` begins a head if it is missing. */
  readonly mode: 'read' | 'write'
  /** Whether a head that is not there was never there. */
  readonly isNew: () => boolean
  /** Address space. */
  readonly mapBytes: number
  /** Threads of all processes that have it open. */
  readonly readerCount: number
  readonly tables: readonly T[]
}

/** @throws HeadMissing */
export function openHeadStore<H, T extends string = never>(
  path: string,
  { mode, isNew, mapBytes, readerCount, tables: names }: HeadOptions<T>,
): HeadStore<H, T> {
  const file = join(path, 'data.mdb')
  const isBegun = !existsSync(file)
  if (isBegun) {
    if (mode === 'read' || !isNew()) throw new HeadMissing(`${path} has no head of the chain`)
    createDirectorySync(path)
  }
  if (mode === 'write') reserveLock(join(path, 'lock.mdb'))
  const isReadOnly = mode === 'read'
  const root: RootDatabase = open(path, {
    ...OPTIONS,
    mapSize: mapBytes,
    maxReaders: readerCount,
    maxDbs: 1 + names.length,
    readOnly: isReadOnly,
  })
  const heads: Database<string, string> | undefined = root.openDB({
    name: 'head',
    encoding: 'string',
  })
  const tables = Object.fromEntries(
    names.map((name) => [name, tableOf(root, name)]),
  ) as unknown as Readonly<Record<T, HeadTable>>
  // LMDB does not: with the file alone, its records would be those of a chain whose head is gone.
  if (isBegun) syncDirectorySync(path)
  const { dev, ino } = statSync(file)
  const read = (): H | undefined => {
    const json = heads?.get('head')
    return json === undefined ? undefined : (JSON.parse(json) as H)
  }
  const move = (head: H) => {
    heads?.put('head', JSON.stringify(head))
  }
  return {
    read() {
      root.resetReadTxn()
      return read()
    },
    transact: (work) => root.transactionSync(() => work({ head: read(), tables, move })),
    isInPlace() {
      const now = statSync(file, { throwIfNoEntry: false })
      return now?.ino === ino && now.dev === dev
    },
    copyTo: (directory) => root.backup(directory, true),
    close: () => root.close(),
  }
}

function tableOf(root: RootDatabase, name: string): HeadTable {
  const table: Database<Buffer, Uint8Array> | undefined = root.openDB({
    name,
    encoding: 'binary',
    keyEncoding: 'binary',
  })
  function* entriesOf(reverse: boolean): Generator<[Uint8Array, Uint8Array]> {
    for (const { key, value } of table?.getRange({ reverse }) ?? []) yield [key, value]
  }
  return {
    forwards: () => entriesOf(false),
    backwards: () => entriesOf(true),
    put: (key, value) => {
      table?.put(key, Buffer.from(value.buffer, value.byteOffset, value.length))
    },
    remove: (key) => {
      table?.remove(key)
    },
  }
}

/**
 * LMDB maps the file of its lock into memory. Where the disk has no room for a page of it, the first touch
 * would end the process, so that all of it is written before. A disk that is full then says so.
 */
function reserveLock(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found !== undefined && found.size >= LOCK_BYTES) return
  const temporary = `${path}.${process.pid}.tmp`
  try {
    writeFileSync(temporary, Buffer.alloc(LOCK_BYTES), { mode: 0o600, flush: true })
    // Unless another process was first, whose lock it is then.
    linkSync(temporary, path)
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code !== 'EEXIST') throw fault
  } finally {
    rmSync(temporary, { force: true })
  }
}

/** More than it takes for all readers. */
const LOCK_BYTES = 64 << 10

const OPTIONS = {
  noSubdir: false,
  encoding: 'binary' as const,
  overlappingSync: false,
  // After a power failure the head may be one move behind. Its records are on disk, and are taken then.
  noMetaSync: true,
  // Not in the types of the library, but in its native part.
  permissionsMode: 0o600,
}
