/**
 * The tables of the store, in LMDB below the data directory. Values are JSON or plain text, so that
 * they can be read by any tool, whatever the version of the library.
 *
 * @module
 */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { type Database, open } from 'lmdb'
import { ServiceError } from '../errors.js'
import { limits } from '../limits.js'

/** Of keys and values; what is changed is changed within `transact`. */
export interface Table<Value, Key extends string | number>
  extends Pick<Database<Value, Key>, 'getRange' | 'getKeys' | 'getCount'> {
  get(key: Key): Value | undefined
  doesExist(key: Key): boolean
  put(key: Key, value: Value): void
  remove(key: Key): void
}

export interface Tables {
  /** Some values by name, see `META`. */
  readonly meta: Table<string, string>
  /** The configuration, as JSON, under the key `configuration`; empty until one is stored. */
  readonly documents: Table<Buffer, string>
  /** What was written of each context, as JSON, by its id of 32 lower-case hexadecimal digits. */
  readonly contexts: Table<Buffer, string>
  /** A `ContextHeader` of each context, as JSON, by its id. */
  readonly headers: Table<string, string>
  /** The hash of the shape of each area of a context, or null, as a JSON array, by its id. */
  readonly shapes: Table<string, string>
  /** Which contexts have a shape: keys are `<hash>/<context id>`, values mean nothing. */
  readonly uses: Table<string, string>
  /** Who is inside a shape, `StoredCounts` as JSON, by its hash; only of shapes in use. */
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
  /** How much each key was used, as JSON, by its id. */
  readonly keyUses: Table<string, string>
  /** The audiences of a cluster, `SharedAudience` as JSON, by id; also those that have expired since the last one came. */
  readonly audiences: Table<string, string>
  /** Tells the file of the store from a copy of it: its device and inode. */
  readonly fileId: string
  /** Reads from now on see all that was written before, by whatever thread or process. */
  refresh(): void
  /** Runs `work` whole or not at all; what it did is on disk when this returns. */
  transact<Result>(work: () => Result): Result
  close(): Promise<void>
}

export const META = {
  /** Of the tables; another one is not understood. */
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
  /** Of the journal: all entries of a cluster up to here are in the store. */
  entriesSequence: 'entriesSequence',
  /** Says that a cluster knows the audiences that the directory had before. */
  audiencesShared: 'audiencesShared',
  /** `Digests` as JSON, of a store of a cluster. */
  digests: 'digests',
} as const

export const STORE_FORMAT = '1'

/**
 * From the first phone on a suppression list on, so that no release that does not know of such
 * lists opens the store.
 */
export const SUPPRESSING_FORMAT = '2'

/**
 * From the first key on, so that no release that does not know of keys opens the store, and serves to
 * everybody what is for some.
 */
export const KEYED_FORMAT = '3'

/**
 * From the first entry of a cluster on, so that no release that does not know of clusters opens the store, and goes on
 * alone.
 */
export const CLUSTERED_FORMAT = '4'

/** Those that this release understands, each of which holds what the ones before it may hold. */
export const FORMATS: readonly string[] = [
  STORE_FORMAT,
  SUPPRESSING_FORMAT,
  KEYED_FORMAT,
  CLUSTERED_FORMAT,
]

/** Makes it this format, or leaves it a later one. To be called in the transaction that needs it. */
export function raiseFormat({ meta }: Pick<Tables, 'meta'>, format: string): void {
  const before = meta.get(META.format) as string | undefined
  if (before === undefined || FORMATS.indexOf(before) < FORMATS.indexOf(format)) {
    meta.put(META.format, format)
  }
}

/**
 * To be called in each transaction that changes something, but for entries: machines that change their stores by themselves
 * differ.
 *
 * @throws ServiceError  Unavailable, of a store of a machine of a cluster
 */
export function assertOfNoCluster({ meta }: Pick<Tables, 'meta'>): void {
  if (meta.get(META.format) !== CLUSTERED_FORMAT) return
  throw new ServiceError(
    'Unavailable',
    'the store is that of a machine of a cluster, whose service makes changes on all machines: send it the change',
  )
}

/** The name that LMDB gives to the file of a store, in its directory. */
export const DATA_FILE = 'data.mdb'

/** How many tables `openTables` makes. */
export const TABLE_COUNT = 14

/** The directory of the store. */
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
      // What it returned may be a promise, as of `put`, for whose end the engine would keep the transaction open.
      root.transactionSync(() => {
        result = work()
      })
      return result as ReturnType<typeof work>
    },
    close: () => root.close(),
  }
}

const openedHere = new Set<string>()

/** Whether this thread has opened the tables of a directory, be it that it has closed them again. */
export function wereOpenedHere(directory: string): boolean {
  return openedHere.has(directory)
}

/** The ids of the processes that live and have read the tables of a directory, each as it is in its own container. */
export async function readerIds(directory: string): Promise<ReadonlySet<number>> {
  const root = open(directory, { ...OPTIONS, readOnly: true })
  try {
    // Those that are dead leave the list, but for one that had the id of this process.
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

/** The format of the tables of a directory, which may be one that this release does not know. Changes nothing. */
export async function readFormat(directory: string): Promise<string | undefined> {
  const root = open(directory, { ...OPTIONS, readOnly: true })
  try {
    // Undefined where the store was begun, and has no tables yet.
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
  // Set here once, since a map that grows while it is read is one thing more that can go wrong.
  mapSize: limits.storeMapBytes,
  maxReaders: limits.storeReaderCount,
  maxDbs: 32,
  // Not in the types of the library, but in its native part.
  permissionsMode: 0o600,
}
