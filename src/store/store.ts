/**
 * The store of a data directory: configuration, contexts, suppression lists and keys in memory that all threads and
 * processes share. The main thread opens it first, and makes all changes.
 *
 * @module
 */
import { existsSync, readdirSync, type Stats, statSync } from 'node:fs'
import { access, chmod, constants, mkdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { MessagePort } from 'node:worker_threads'
import { syncDirectory } from '../durable-files.js'
import { OperatorError } from '../errors.js'
import type { Contact, MapContextSummary } from '../interface/context.js'
import type { CountMode } from '../interface/count-mode.js'
import type { Log } from '../log.js'
import { type SharedAudienceReader, sharedAudienceReader } from './audiences.js'
import {
  type AppliedOutcome,
  type ChangeRequests,
  type ChangeSuppressions,
  type MakeChange,
  requestChanges,
  settle,
  settleApplied,
} from './change-port.js'
import { type Change, type ChangeOutcome, makeChange, readTotals } from './changes.js'
import { checkStore } from './check.js'
import { openTablesToWrite } from './digests.js'
import { builtInConfiguration, type ContextHeader, HeaderCache } from './documents.js'
import { type StoreEntries, storeEntries } from './entries.js'
import { type KeyReader, type KeyWriter, keyReader, keyWriter } from './keys.js'
import {
  IN_CLUSTER,
  KEYS_APPLIED,
  type ServiceRegistry,
  SUPPRESSIONS_APPLIED,
  serviceRegistry,
} from './services.js'
import {
  makeSuppressions,
  type SuppressionChange,
  type SuppressionReader,
  type SuppressionsOutcome,
  suppressionReader,
} from './suppressions.js'
import { DATA_FILE, META, openTables, STORE_FORMAT, storeDirectory, type Tables } from './tables.js'

export interface Store {
  /** How recipients count where a request does not say. */
  countMode(): CountMode
  configuration(): StoredDocument
  /** The hash of the configuration, without reading that. */
  configurationVersion(): string
  /** Undefined if there is no such context. */
  contextVersion(id: string): string | undefined
  context(id: string): StoredContext | undefined
  /** The headers of the contexts whose ids are from `start` to before `end`, in their order. */
  headers(start: string, end: string): readonly KnownContext[]
  /** Contexts in the order of their ids. */
  page(skipCount: number, takeCount: number): ContextPage
  /** The stored counts of each shape, by its hash. */
  counts(shapeHashes: readonly string[]): (StoredCounts | undefined)[]
  readonly suppressions: SuppressionReader
  readonly keys: KeyReader
  readonly change: MakeChange
  readonly suppress: ChangeSuppressions
  close(): Promise<void>
}

interface StoredDocument {
  /** A hash of the document. */
  readonly version: string
  /** UTF-8 JSON. */
  readonly json: Uint8Array
}

export interface StoredContext extends StoredDocument {
  /** The hash of the shape of each area; null for an area without one. */
  readonly shapeHashes: readonly (string | null)[]
}

export interface KnownContext {
  readonly id: string
  readonly header: ContextHeader
}

interface ContextPage {
  /** All contexts. */
  readonly totalCount: number
  readonly summaries: readonly MapContextSummary[]
}

/** The recipients that were inside a shape. */
export interface StoredCounts {
  readonly snapshotId: string
  /** All batches of the journal up to here were counted, and maybe later ones. Release 0.1.0 wrote none, which is 0. */
  readonly sequence?: number
  readonly countMode: CountMode
  /** The version of the suppression lists by which it was counted, or a later one. */
  readonly suppressionVersion: number
  /** The boundary beyond which no recipient was counted; left out if there was none. */
  readonly boundaryKey?: string | undefined
  /** Undefined for a shape that cannot be read. */
  readonly contacts: readonly Contact[] | undefined
}

/** The store for a front thread, whose changes the main thread makes. That must open it first, and close it last. */
export function openStore(dataDirectory: string, changes: MessagePort): Store {
  return storeOf(openTables(storeDirectory(dataDirectory), 'read'), requestChanges(changes))
}

/**
 * The store for the main thread, which makes the changes of all threads. Its `suppress` only stores: a service applies the
 * change, too (see `src/suppressions`).
 */
export interface MainStore extends Store {
  makeChange(change: Change): ChangeOutcome
  /** Each whole or not at all, see `makeSuppressions`. */
  makeSuppressions(changes: readonly SuppressionChange[]): SuppressionsOutcome[]
  /** The version of the suppression lists that each service has applied. */
  readonly services: ServiceRegistry
  readonly keys: KeyWriter
  /** The version of the keys that each service has applied. */
  readonly keyServices: ServiceRegistry
  /** The entries of a cluster. */
  readonly entries: StoreEntries
  readonly audiences: SharedAudienceReader
  /** The service of a cluster, of which there is at most one on a data directory. */
  readonly clusterServices: ServiceRegistry
  /** Whether its path leads to another store by now, as after a restore in the place of its directory. */
  isReplaced(): Promise<boolean>
}

/**
 * Opens the store of a data directory, which must exist: checks it, or makes it if there is none.
 *
 * @throws OperatorError  DocumentInvalid, if it is damaged; Failed, if it may not be written; see `checkStore`
 */
export async function createStore(dataDirectory: string, log: Log): Promise<MainStore> {
  const directory = storeDirectory(dataDirectory)
  await createDirectory(directory, dataDirectory)
  if ((dataFile(directory)?.size ?? 0) > 0) await checkStore(directory)
  const tables = openWritable(directory)
  const opened = dataFile(directory)
  try {
    const format = tables.meta.get(META.format)
    if (format === undefined) await begin(tables, dataDirectory)
    const make = (change: Change) => makeChange(tables, change, log)
    const makeSuppressed = (changes: readonly SuppressionChange[]) =>
      makeSuppressions(tables, changes, log)
    const store = storeOf(tables, {
      change: async (change) => settle(make(change)),
      suppress: async (change) => settleApplied(storedOnly(makeSuppressed([change])[0])),
    })
    return {
      ...store,
      makeChange: make,
      makeSuppressions: makeSuppressed,
      services: serviceRegistry(tables, SUPPRESSIONS_APPLIED),
      keys: keyWriter(tables),
      keyServices: serviceRegistry(tables, KEYS_APPLIED),
      entries: storeEntries(tables, log),
      audiences: sharedAudienceReader(tables),
      clusterServices: serviceRegistry(tables, IN_CLUSTER),
      async isReplaced() {
        // If nothing can be read now, the store that is open is the only one.
        const now = await stat(join(directory, DATA_FILE)).catch(() => undefined)
        return now !== undefined && (now.ino !== opened?.ino || now.dev !== opened.dev)
      },
    }
  } catch (fault) {
    await tables.close()
    throw fault
  }
}

/** Without a service, no recipient could have the phones. */
function storedOnly(outcome: SuppressionsOutcome): AppliedOutcome {
  return outcome.isMade
    ? { isMade: true, applied: { ...outcome.changed, recipientCount: 0 } }
    : outcome
}

function dataFile(directory: string): Stats | undefined {
  return statSync(join(directory, DATA_FILE), { throwIfNoEntry: false })
}

function openWritable(directory: string): Tables {
  try {
    return openTablesToWrite(directory)
  } catch (fault) {
    const problem = `${directory}: cannot be opened: ${(fault as Error).message}`
    throw new OperatorError('DocumentInvalid', problem, { cause: fault })
  }
}

/** @throws OperatorError  Failed, so that a store that may not be written is told from a damaged one */
async function createDirectory(directory: string, dataDirectory: string): Promise<void> {
  try {
    await mkdir(directory, { mode: 0o700 }).catch(ignore('EEXIST'))
    await chmod(directory, 0o700)
    for (const name of [DATA_FILE, 'lock.mdb']) {
      await access(join(directory, name), constants.R_OK | constants.W_OK).catch(ignore('ENOENT'))
    }
    await syncDirectory(dataDirectory)
  } catch (fault) {
    const problem = `${directory} must be a directory of this user, who may write its files`
    throw new OperatorError('Failed', `${problem} (${(fault as NodeJS.ErrnoException).code})`, {
      cause: fault,
    })
  }
}

function ignore(code: string) {
  return (fault: NodeJS.ErrnoException) => {
    if (fault.code !== code) throw fault
  }
}

async function begin(tables: Tables, dataDirectory: string): Promise<void> {
  refuseDocumentFiles(dataDirectory)
  tables.transact(() => {
    // Another process may have been first.
    if (tables.meta.get(META.format) === undefined) tables.meta.put(META.format, STORE_FORMAT)
  })
  await syncDirectory(storeDirectory(dataDirectory))
}

/** Programs before release 0.1.0 had documents in files, which that release took in. A new store must not hide that they are not read. */
function refuseDocumentFiles(dataDirectory: string): void {
  const contexts = join(dataDirectory, 'contexts')
  const hasContexts =
    existsSync(contexts) && readdirSync(contexts).some((name) => /^[^.].*\.json$/.test(name))
  const configuration = join(dataDirectory, 'configuration.json')
  const path = existsSync(configuration) ? configuration : hasContexts ? contexts : undefined
  if (path === undefined) return
  throw new OperatorError(
    'DocumentInvalid',
    `${path}: found documents from before there was a store, which are not read: move them away, start the service, ` +
      'and send them to POST /api/configuration and /api/contexts; or restore a backup into another directory',
  )
}

function storeOf(tables: Tables, requests: ChangeRequests): Store {
  const { meta, documents, contexts, headers, shapes, counts, refresh } = tables
  const builtIn = builtInConfiguration()
  const cache = new HeaderCache()
  // An answer reads all that it needs without a pause, and so at one moment.
  return {
    countMode() {
      refresh()
      return (meta.get(META.countMode) as CountMode | undefined) ?? builtIn.countMode
    },
    configuration() {
      refresh()
      const version = meta.get(META.configurationVersion)
      const json = documents.get('configuration')
      return version === undefined || json === undefined ? builtIn : { version, json }
    },
    configurationVersion() {
      refresh()
      return (meta.get(META.configurationVersion) as string | undefined) ?? builtIn.version
    },
    contextVersion(id) {
      refresh()
      return parsed<ContextHeader>(headers.get(id))?.version
    },
    context(id) {
      refresh()
      const header = parsed<ContextHeader>(headers.get(id))
      const json = contexts.get(id)
      const shapeHashes = parsed<(string | null)[]>(shapes.get(id))
      if (header === undefined || json === undefined || shapeHashes === undefined) return undefined
      return { version: header.version, json, shapeHashes }
    },
    headers(start, end) {
      refresh()
      const range = headers.getRange({ start, end })
      return Array.from(range, ({ key, value }) => ({ id: key, header: cache.parsed(key, value) }))
    },
    page(skipCount, takeCount) {
      refresh()
      const totalCount = readTotals(tables).contextCount
      if (takeCount === 0 || skipCount >= totalCount) return { totalCount, summaries: [] }
      const range = headers.getRange({ offset: skipCount, limit: takeCount })
      return { totalCount, summaries: Array.from(range, ({ key, value }) => summary(key, value)) }
    },
    counts(shapeHashes) {
      refresh()
      return shapeHashes.map((hash) => parsed<StoredCounts>(counts.get(hash)))
    },
    suppressions: suppressionReader(tables),
    keys: keyReader(tables),
    ...requests,
    close: () => tables.close(),
  }
}

function summary(id: string, headerJson: string): MapContextSummary {
  const { name, areaCount } = JSON.parse(headerJson) as ContextHeader
  return { Id: id, ...(name !== undefined && { ContextName: name }), AreaCount: areaCount }
}

function parsed<Value>(json: string | undefined): Value | undefined {
  return json === undefined ? undefined : (JSON.parse(json) as Value)
}
