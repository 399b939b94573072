/**
 * Makes the directory of a machine one that is of no cluster any more, with what was committed, or a copy of its store.
 *
 * @module
 */
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { OperatorError } from '../errors.js'
import { endAgreedPart, hasAgreedPart } from '../journal/agreed-part.js'
import { journalDirectory } from '../journal/files.js'
import { JournalReader } from '../journal/reader.js'
import { JournalWriter } from '../journal/writer.js'
import type { Log } from '../log.js'
import { audiencesDirectory, listAudienceNames } from '../snapshot/retention/audience-names.js'
import { createStore, type MainStore } from '../store/create.js'
import { type StoreEntries, storeEntries } from '../store/entries.js'
import { storeDirectory } from '../store/tables.js'
import { openTablesToWrite } from '../store/write-tables.js'
import { assertNobodyRuns } from './nobody-runs.js'
import { clusterDirectory, readState, StateDamaged } from './state-file.js'
import { StoreFollower } from './store-follower.js'

/**
 * May be called again when it was interrupted.
 *
 * @returns the sequence of the last batch that stays
 * @throws OperatorError  Usage, where the directory is of no cluster, or a service runs on it
 */
export async function leaveCluster(dataDirectory: string, log: Log): Promise<number> {
  const directory = journalDirectory(dataDirectory)
  const state = readState(dataDirectory)
  const isOfCluster = hasAgreedPart(directory) || state !== undefined
  if (!isOfCluster && !existsSync(storeDirectory(dataDirectory))) throw ofNoCluster(dataDirectory)
  const store = await createStore(dataDirectory, log)
  try {
    // It is the last to know, where this was interrupted.
    if (!isOfCluster && !store.entries.isClustered()) throw ofNoCluster(dataDirectory)
    assertNobodyRuns(dataDirectory, store.clusterServices)
    const sequence = await cutToCommitted(directory)
    await catchUp(dataDirectory, store.entries, log)
    // The cluster may not have heard of all that its founder had before.
    const areShared = state?.isFounder === false || store.entries.areAudiencesShared()
    if (areShared) await removeUnknownAudiences(dataDirectory, store)
    await endAgreedPart(directory)
    await rm(clusterDirectory(dataDirectory), { recursive: true, force: true })
    // Last: it does not know then what it has of the journal.
    store.entries.end()
    return sequence
  } finally {
    await store.close()
  }
}

export function ofNoCluster(dataDirectory: string): OperatorError {
  const advice = 'name the data directory of a machine of one with --data'
  return new OperatorError('Usage', `${dataDirectory} is of no cluster: ${advice}`)
}

/**
 * Makes a copy of the store of a machine one of no cluster, with all that is committed by now. The machine may run.
 *
 * @param copyDirectory  with the tables alone; nobody else has them open
 * @throws OperatorError
 */
export async function endClusterInCopy(
  dataDirectory: string,
  copyDirectory: string,
  log: Log,
): Promise<void> {
  const tables = openTablesToWrite(copyDirectory)
  try {
    const entries = storeEntries(tables, log)
    await catchUp(dataDirectory, entries, log)
    entries.end()
  } finally {
    await tables.close()
  }
}

/** Puts what the journal of a directory has into a store. */
async function catchUp(dataDirectory: string, entries: StoreEntries, log: Log): Promise<void> {
  const follower = new StoreFollower({
    directory: journalDirectory(dataDirectory),
    entries,
    foundedSequence: foundedSequenceIn(dataDirectory),
    append: () => Promise.reject(new Error('nothing is appended')),
    onApplied() {},
    onCompared() {},
    log,
  })
  try {
    follower.catchUp()
  } finally {
    await follower.stop()
  }
}

function foundedSequenceIn(dataDirectory: string): number | undefined {
  try {
    return readState(dataDirectory)?.foundedSequence
  } catch (fault) {
    if (!(fault instanceof StateDamaged)) throw fault
    return undefined
  }
}

/** From here on all that are on the disk are there: also what a crash has left of one that was deleted. */
async function removeUnknownAudiences(
  dataDirectory: string,
  { audiences }: MainStore,
): Promise<void> {
  for (const { id, name } of await listAudienceNames(dataDirectory)) {
    if (audiences.find(id, Date.now()) !== undefined) continue
    await rm(join(audiencesDirectory(dataDirectory), name), { force: true })
  }
}

async function cutToCommitted(directory: string): Promise<number> {
  const reader = new JournalReader(directory)
  const { sequence } = reader.head()
  reader.close()
  if (!hasAgreedPart(directory)) return sequence
  const writer = new JournalWriter({ directory, isClustered: true })
  writer.prepare()
  await writer.cutBack(sequence)
  return sequence
}
