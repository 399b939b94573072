/**
 * The head of the chain of an audit directory: which line is the last one, and where it ends. It is kept
 * beside the files, in LMDB, so that a file that was cut short is found. Its write transaction is the
 * lock between processes that write to one directory, which the system takes back when one of them dies.
 *
 * @module
 */
import { existsSync, linkSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Database, open, type RootDatabase } from 'lmdb'
import { limits } from '../limits.js'
import { BEGINNING, type Link } from './chain.js'
import { auditFileNumbers, type FileNumber, headDirectory } from './files.js'

export interface Head extends Link {
  /** The file of the last line; 0 before the first one. */
  readonly file: FileNumber
  /** Where the last line ends in it. */
  readonly bytes: number
  /** The UTC day on which the file was begun, such as `2026-11-22`. */
  readonly day: string
  /** The first file that is kept, and the line before it. */
  readonly first: { readonly file: FileNumber; readonly after: Link }
}

const NO_HEAD: Head = {
  ...BEGINNING,
  file: 0,
  bytes: 0,
  day: '',
  first: { file: 1, after: BEGINNING },
}

/** The files of a chain whose head is gone: nobody can say any more whether they are all. */
export class HeadMissing extends Error {}

export interface HeadStore {
  /** The head as it is now, whoever moved it. */
  read(): Head
  /** Moves the head; no other process can meanwhile. Nothing is changed if `work` throws. */
  move(work: (head: Head) => Head): Head
  /** Whether it is still what its path leads to. */
  isInPlace(): boolean
  close(): Promise<void>
}

/**
 * Opens the head of an audit directory that exists.
 *
 * @param mode  `write` begins a chain where there is none yet
 * @throws HeadMissing
 */
export function openHead(directory: string, mode: 'read' | 'write'): HeadStore {
  const path = headDirectory(directory)
  const file = join(path, 'data.mdb')
  if (!existsSync(file)) {
    const isNew = mode === 'write' && auditFileNumbers(directory).length === 0
    if (!isNew) throw new HeadMissing(`${path} has no head of the chain`)
    mkdirSync(path, { recursive: true, mode: 0o700 })
  }
  if (mode === 'write') reserveLock(join(path, 'lock.mdb'))
  const root: RootDatabase = open(path, { ...OPTIONS, readOnly: mode === 'read' })
  const table: Database<string, string> | undefined = root.openDB({
    name: 'head',
    encoding: 'string',
  })
  const { dev, ino } = statSync(file)
  const read = (): Head => {
    const json = table?.get('head')
    return json === undefined ? NO_HEAD : (JSON.parse(json) as Head)
  }
  return {
    read() {
      root.resetReadTxn()
      return read()
    },
    move: (work) =>
      root.transactionSync(() => {
        const head = work(read())
        table?.put('head', JSON.stringify(head))
        return head
      }),
    isInPlace() {
      const now = statSync(file, { throwIfNoEntry: false })
      return now?.ino === ino && now.dev === dev
    },
    close: () => root.close(),
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
  // After a power failure the head may be one move behind. Its lines are on disk, and are taken then.
  noMetaSync: true,
  mapSize: limits.auditHeadMapBytes,
  maxReaders: limits.auditHeadReaderCount,
  maxDbs: 1,
  // Not in the types of the library, but in its native part.
  permissionsMode: 0o600,
}
