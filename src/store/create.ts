/**
 * The store of a data directory, opened by the main thread: made where there is none yet, and
 * checked where there is one.
 *
 * @module
 */
import { type Stats, statSync } from 'node:fs'
import { access, chmod, constants, mkdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { syncDirectory } from '../durable-files.js'
import { OperatorError } from '../errors.js'
import type { Log } from '../log.js'
import { type SharedAudienceReader, sharedAudienceReader } from './audiences.js'
import { settle, settleTaken, type TakenOutcome } from './change-port.js'
import { applyChange, type Change, type ChangeOutcome, makeChange } from './changes.js'
import { checkStore } from './check.js'
import { checked, invalid } from './document-file.js'
import { readDocumentFiles } from './document-files.js'
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
 * Opens the store of a data directory that exists. Into a new one go `configuration.json` and
 * `contexts/*.json` of the directory, where they are.
 *
 * @throws OperatorError  DocumentInvalid, when such a file or the store itself is damaged; Failed,
 *   when it must not be written
 */
export async function createStore(dataDirectory: string, log: Log): Promise<MainStore> {
  const directory = storeDirectory(dataDirectory)
  await createDirectory(directory, dataDirectory)
  if (holdsData(directory)) await checkStore(directory)
  const tables = openWritable(directory)
  const opened = dataFile(directory)
  try {
    const format = tables.meta.get(META.format)
    if (format === undefined) await fill(tables, dataDirectory, log)
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
    throw invalid(directory, `cannot be opened: ${(fault as Error).message}`, fault)
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

async function fill(tables: Tables, dataDirectory: string, log: Log): Promise<void> {
  const changes = readDocumentFiles(dataDirectory)
  const fillOnce = () => {
    // Another process may have been first.
    if (tables.meta.get(META.format) !== undefined) return false
    for (const change of changes) applyChange(tables, change)
    tables.meta.put(META.format, STORE_FORMAT)
    return true
  }
  const isFilled = checked(dataDirectory, () => tables.transact(fillOnce))
  await syncDirectory(storeDirectory(dataDirectory))
  if (!isFilled || changes.length === 0) return
  const contextCount = changes.filter(({ kind }) => kind === 'context').length
  const configurationCount = changes.length - contextCount
  log.info(
    { dataDirectory, configurationCount, contextCount },
    'took configuration.json and contexts/ into the store; from now on they are not read',
  )
}
