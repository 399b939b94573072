/**
 * Makes the directory of a machine one that is of no cluster any more, with all that it has, or a copy of its store.
 *
 * @module
 */
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { OperatorError } from '../errors.js'
import { journalDirectory } from '../journal/files.js'
import { isClusterJournal } from '../journal/reader.js'
import { setJournalLog } from '../journal/seed.js'
import { summaryOfJournal } from '../journal/summary.js'
import type { Log } from '../log.js'
import { audiencesDirectory, listAudienceNames } from '../snapshot/retention/audience-names.js'
import { openTablesToWrite } from '../store/digests.js'
import { type StoreEntries, storeEntries } from '../store/entries.js'
import { createStore, type MainStore } from '../store/store.js'
import { storeDirectory } from '../store/tables.js'
import { assertNobodyRuns, clusterDirectory } from './directory.js'
import { foundedSequenceIn, readState } from './state-file.js'
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
  const isOfCluster = isClusterJournal(directory) || state !== undefined
  if (!isOfCluster && !existsSync(storeDirectory(dataDirectory))) throw ofNoCluster(dataDirectory)
  const store = await createStore(dataDirectory, log)
  try {
    // It is the last to know, where this was interrupted.
    if (!isOfCluster && !store.entries.isClustered()) throw ofNoCluster(dataDirectory)
    assertNobodyRuns(dataDirectory, store.clusterServices)
    // First: what the log did not say again since the power failed is there then, too, also where this was interrupted.
    if (existsSync(directory)) await setJournalLog(directory, undefined)
    await catchUp(dataDirectory, store.entries, log)
    // The cluster may not have heard of all that its founder had before.
    const areShared = state?.isFounder === false || store.entries.areAudiencesShared()
    if (areShared) await removeUnknownAudiences(dataDirectory, store)
    await rm(clusterDirectory(dataDirectory), { recursive: true, force: true })
    // Last: it does not know then what it has of the journal.
    store.entries.end()
    return summaryOfJournal(directory)?.lastSequence ?? 0
  } finally {
    await store.close()
  }
}

export function ofNoCluster(dataDirectory: string): OperatorError {
  const advice = 'name the data directory of a machine of one with --data'
  return new OperatorError('Usage', `${dataDirectory} is of no cluster: ${advice}`)
}

/**
 * Makes a copy of the store of a machine one of no cluster, with all that it has by now. The machine may run.
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
