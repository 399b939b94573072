/**
 * The tables of the store, in LMDB below the data directory. Values are JSON or plain text, so that
 * they can be read by any tool, whatever the version of the library.
 *
 * @module
 */
import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { type Database, open } from 'lmdb'
import { ServiceError } from '../errors.js'
import { limits } from '../limits.js'

/** Changes are made within `transact`. */
export interface Table<Value, Key extends string | number>
  extends Pick<Database<Value, Key>, 'getRange' | 'getKeys' | 'getCount'> {
  get(key: Key): Value | undefined
  doesExist(key: Key): boolean
  put(key: Key, value: Value): void
  remove(key: Key): void
}

export interface Tables {
  /** Values by name, see `META`. */
  readonly meta: Table<string, string>
  /** The configuration, as JSON, under the key `configuration`; empty until one is stored. */
  readonly documents: Table<Buffer, string>
  /** Each context as it was written, as JSON, by its id of 32 lower-case hexadecimal digits. */
  readonly contexts: Table<Buffer, string>
  /** A `ContextHeader` of each context, as JSON, by its id. */
  readonly headers: Table<string, string>
  /** The hash of the shape of each area of a context, or null, as a JSON array, by its id. */
  readonly shapes: Table<string, string>
  /** Which contexts have a shape: keys are `<hash>/<context id>`, values mean nothing. */
  readonly uses: Table<string, string>
  /** The recipients inside a shape, `StoredCounts` as JSON, by its hash; only of shapes in use. */
  readonly counts: Table<string, string>
  /** When a phone was put on a suppression list, in milliseconds since 1970, see `listKey`. */
  readonly suppressions: Table<string, string>
  /** How many phones are on each suppression list that is not empty, by its scope. */
  readonly suppressionCounts: Table<string, string>
  /** The latest changes to these lists, `LoggedChange` as JSON, by the version each of them made. */
  readonly suppressionLog: Table<string, number>
  /** The services that run on this data directory, `Registration` as JSON, by process id. */
  readonly services: Table<string, string>
  /** The keys of clients, a record of `src/keys` as JSON, by id. */
  readonly keys: Table<string, string>
  /** The use of each key, as JSON, by its id. */
  readonly keyUses: Table<string, string>
  /** The audiences of a cluster, `SharedAudience` as JSON, by id; expired ones are removed when one is added. */
  readonly audiences: Table<string, string>
  /** Device and inode of the file, which a copy of the store does not share. */
  readonly fileId: string
  /** Reads from now on see all that was written before, by whatever thread or process. */
  refresh(): void
  /** Runs `work` whole or not at all; what it did is on disk when this returns. */
  transact<Result>(work: () => Result): Result
  close(): Promise<void>
}

export const META = {
  /** One of `FORMATS`. */
  format: 'format',
  countMode: 'countMode',
  /** A hash of the stored configuration. */
  configurationVersion: 'configurationVersion',
  /** `Totals` as JSON. */
  totals: 'totals',
  /** `SuppressionState` as JSON. */
  suppressions: 'suppressions',
  /** Grows by one with each change of keys. */
  keysVersion: 'keysVersion',
  /** All entries of a cluster up to this sequence of its journal are in the store. */
  entriesSequence: 'entriesSequence',
  /** Says that a cluster knows the audiences that the directory had before. */
  audiencesShared: 'audiencesShared',
  /** `Digests` as JSON, of a store of a cluster. */
  digests: 'digests',
} as const

export const STORE_FORMAT = '1'

/** From the first suppressed phone on: a program that ignores the lists must not open the store. */
export const SUPPRESSING_FORMAT = '2'

/** From the first key on: a program that ignores keys must not open the store, and serve every client. */
export const KEYED_FORMAT = '3'

/** From the first entry of a cluster on: release 0.1.0 must not open the store, and make changes alone. */
export const CLUSTERED_FORMAT = '4'

/** Each holds what the ones before it may hold. Release 0.1.0 wrote the first three. */
export const FORMATS: readonly string[] = [
  STORE_FORMAT,
  SUPPRESSING_FORMAT,
  KEYED_FORMAT,
  CLUSTERED_FORMAT,
]

/** Raises the format to this one, unless it is a later one. To be called in the transaction that needs it. */
export function raiseFormat({ meta }: Pick<Tables, 'meta'>, format: string): void {
  const before = meta.get(META.format) as string | undefined
  if (before === undefined || FORMATS.indexOf(before) < FORMATS.indexOf(format)) {
    meta.put(META.format, format)
  }
}

/**
 * To be called in each transaction that makes a change other than an entry: the stores of a cluster must stay the same.
 *
 * @throws ServiceError  Unavailable, for the store of a machine of a cluster
 */
export function assertOfNoCluster({ meta }: Pick<Tables, 'meta'>): void {
  if (meta.get(META.format) !== CLUSTERED_FORMAT) return
  throw new ServiceError(
    'Unavailable',
    'the store is that of a machine of a cluster, whose service makes changes on all machines: send it the change',
  )
}

/** The name that LMDB gives to the file of a store. */
export const DATA_FILE = 'data.mdb'

/** How many tables `openTables` makes. */
export const TABLE_COUNT = 14

/** 128 bits of SHA-256, as 32 hexadecimal digits: the version of a document, and the key of a shape. */
export function hashOf(text: string | Uint8Array): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32)
}

export const storeDirectory = (dataDirectory: string) => join(dataDirectory, 'store')

/**
 * Opens the tables of a directory that exists.
 *
 * To write takes the main thread: a thread that is ended within a transaction keeps its lock, and
 * every other one then waits for ever. Threads that only read may end at any time, but they must
 * open the tables after the main thread has.
 */
export function openTables(directory: string, mode: 'read' | 'write'): Tables {
  const root = open(directory, { ...OPTIONS, readOnly: mode === 'read' })
  openedHere.add(directory)
  const texts = (name: string) => root.openDB<string, string>({ name, encoding: 'string' })
  const bytes = (name: string) => root.openDB<Buffer, string>({ name, encoding: 'binary' })
  const { dev, ino } = statSync(join(directory, DATA_FILE), { bigint: true })
  return {
    meta: texts('meta'),
    documents: bytes('documents'),
    contexts: bytes('contexts'),
    headers: texts('headers'),
    shapes: texts('shapes'),
    uses: texts('uses'),
    counts: texts('counts'),
    suppressions: texts('suppressions'),
    suppressionCounts: texts('suppressionCounts'),
    suppressionLog: root.openDB<string, number>({ name: 'suppressionLog', encoding: 'string' }),
    services: texts('services'),
    keys: texts('keys'),
    keyUses: texts('keyUses'),
    audiences: texts('audiences'),
    fileId: `${dev}:${ino}`,
    refresh: () => root.resetReadTxn(),
    transact(work) {
      let result: ReturnType<typeof work> | undefined
      // The engine would keep the transaction open for a promise that `work` returns, such as that of `put`.
      root.transactionSync(() => {
        result = work()
      })
      return result as ReturnType<typeof work>
    },
    close: () => root.close(),
  }
}

const openedHere = new Set<string>()

/** Whether this thread has opened the tables of a directory, and closed them again or not. */
export function wereOpenedHere(directory: string): boolean {
  return openedHere.has(directory)
}

/** The ids of running processes that have read the tables of a directory, each as in its own container. */
export async function readerIds(directory: string): Promise<ReadonlySet<number>> {
  const root = open(directory, { ...OPTIONS, readOnly: true })
  try {
    // Removes dead ones from the list, but for one that had the id of this process.
    root.readerCheck()
    return new Set(
      root
        .readerList()
        .match(/^ *\d+(?= )/gm)
        ?.map(Number),
    )
  } finally {
    await root.close()
  }
}

/** The format of the tables of a directory, which may be a later one. Changes nothing. */
export async function readFormat(directory: string): Promise<string | undefined> {
  const root = open(directory, { ...OPTIONS, readOnly: true })
  try {
    // Undefined if the store was begun, and has no tables yet.
    const meta: { get(key: string): string | undefined } | undefined = root.openDB<string, string>({
      name: 'meta',
      encoding: 'string',
    })
    return meta?.get(META.format)
  } finally {
    await root.close()
  }
}

/** Copies the tables, as they are at one moment, into an empty directory. Others may go on to write. */
export async function copyTables(directory: string, target: string): Promise<void> {
  const root = open(directory, { ...OPTIONS, readOnly: true })
  try {
    // Without the pages that are free, so that what was deleted is not in it.
    await root.backup(target, true)
  } finally {
    await root.close()
  }
}

const OPTIONS = {
  noSubdir: false,
  encoding: 'binary' as const,
  // Each commit is on disk before it is acknowledged, and before a later one can build on it.
  overlappingSync: false,
  mapSize: limits.storeMapBytes,
  maxReaders: limits.storeReaderCount,
  maxDbs: 32,
  // Missing in the types of the library.
  permissionsMode: 0o600,
}
