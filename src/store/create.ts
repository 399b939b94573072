/**
 * The store of a data directory, opened by the main thread: made where there is none yet, and
 * checked where there is one.
 *
 * @module
 */
import { existsSync, readdirSync, type Stats, statSync } from 'node:fs'
import { access, chmod, constants, mkdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { syncDirectory } from '../durable-files.js'
import { OperatorError } from '../errors.js'
import type { Log } from '../log.js'
import { type SharedAudienceReader, sharedAudienceReader } from './audiences.js'
import { settle, settleTaken, type TakenOutcome } from './change-port.js'
import { type Change, type ChangeOutcome, makeChange } from './changes.js'
import { checkStore } from './check.js'
import { type StoreEntries, storeEntries } from './entries.js'
import { type KeyWriter, keyWriter } from './keys.js'
import {
  IN_CLUSTER,
  KEYS_TAKEN,
  type ServiceRegistry,
  SUPPRESSIONS_TAKEN,
  serviceRegistry,
} from './services.js'
import { type Store, storeOf } from './store.js'
import { makeSuppressions, type SuppressionChange, type SuppressionsOutcome } from './suppress.js'
import { DATA_FILE, META, STORE_FORMAT, storeDirectory, type Tables } from './tables.js'
import { openTablesToWrite } from './write-tables.js'

/**
 * A store that also makes changes for other threads. What it does of `suppress` is to store: whoever
 * runs beside a service waits for that (see `src/suppressions`).
 */
export interface MainStore extends Store {
  makeChange(change: Change): ChangeOutcome
  /** Each whole or not at all, see `makeSuppressions`. */
  makeSuppressions(changes: readonly SuppressionChange[]): SuppressionsOutcome[]
  /** What each service has taken of the suppression lists. */
  readonly services: ServiceRegistry
  readonly keys: KeyWriter
  /** What each service that asks for keys has taken of them. */
  readonly keyServices: ServiceRegistry
  /** Of a cluster. */
  readonly entries: StoreEntries
  readonly audiences: SharedAudienceReader
  /** Of which there is at most one on a data directory. */
  readonly clusterServices: ServiceRegistry
  /** Whether its path leads to another one by now, as where a backup was restored in the place of its directory. */
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
  if (holdsData(directory)) await checkStore(directory)
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
      suppress: async (change) => settleTaken(storedOnly(makeSuppressed([change])[0])),
    })
    return {
      ...store,
      makeChange: make,
      makeSuppressions: makeSuppressed,
      services: serviceRegistry(tables, SUPPRESSIONS_TAKEN),
      keys: keyWriter(tables),
      keyServices: serviceRegistry(tables, KEYS_TAKEN),
      entries: storeEntries(tables, log),
      audiences: sharedAudienceReader(tables),
      clusterServices: serviceRegistry(tables, IN_CLUSTER),
      async isReplaced() {
        // Where nothing can be read now, the store that is open is the only one.
        const now = await stat(join(directory, DATA_FILE)).catch(() => undefined)
        return now !== undefined && (now.ino !== opened?.ino || now.dev !== opened.dev)
      },
    }
  } catch (fault) {
    await tables.close()
    throw fault
  }
}

/** Without a service, there are no recipients that could have the phones. */
function storedOnly(outcome: SuppressionsOutcome): TakenOutcome {
  return outcome.isMade
    ? { isMade: true, taken: { ...outcome.changed, recipientCount: 0 } }
    : outcome
}

/** Whether a store was begun here. */
function holdsData(directory: string): boolean {
  return (dataFile(directory)?.size ?? 0) > 0
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

/** A store that must not be written is told from one that is damaged. */
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

/** Programs before release 0.1.0 had documents in files. A new store must not hide that these are not read. */
function refuseDocumentFiles(dataDirectory: string): void {
  const contexts = join(dataDirectory, 'contexts')
  const hasContexts =
    existsSync(contexts) && readdirSync(contexts).some((name) => name.endsWith('.json'))
  const configuration = join(dataDirectory, 'configuration.json')
  const path = existsSync(configuration) ? configuration : hasContexts ? contexts : undefined
  if (path === undefined) return
  throw new OperatorError(
    'DocumentInvalid',
    `${path}: found documents from before there was a store, which are not read: move them away, start the service, ` +
      'and send them to POST /api/configuration and /api/contexts; or restore a backup into another directory',
  )
}
