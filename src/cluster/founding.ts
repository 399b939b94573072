/**
 * Founds a cluster with what a directory has. A machine that is killed meanwhile goes on at the next start.
 *
 * @module
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Link } from '../chain/link.js'
import { createDirectory, replaceFile } from '../durable-files.js'
import { OperatorError } from '../errors.js'
import { journalDirectory } from '../journal/files.js'
import { setJournalLog } from '../journal/seed.js'
import { limits } from '../limits.js'
import type { Log } from '../log.js'
import { readCurrent } from '../snapshot/directory.js'
import { createStore, type MainStore } from '../store/create.js'
import { clusterDirectory } from './directory.js'
import { NO_FACTS } from './facts.js'
import type { ClusterSettings } from './messages.js'
import type { ClusterNats } from './nats/cluster-nats.js'
import { StreamLog } from './nats/stream-log.js'
import { assertNobodyRuns } from './nobody-runs.js'
import { type ClusterState, writeFacts, writeState } from './state-file.js'

interface FoundingOptions {
  readonly dataDirectory: string
  readonly settings: ClusterSettings
  readonly log: Log
  readonly signal: AbortSignal
}

/** Whether NATS has the log of the cluster, by another directory than this one. Resolves when JetStream answers. */
export async function isFounded(options: FoundingOptions, nats: ClusterNats): Promise<boolean> {
  const info = await untilAnswered(options, async () => {
    const { connection } = await nats.openLog()
    return await StreamLog.infoIfThere(connection, nats.names)
  })
  return info !== undefined && info.generation !== (await begunGeneration(options))
}

/** @throws OperatorError */
export async function found(options: FoundingOptions, nats: ClusterNats): Promise<ClusterState> {
  const { dataDirectory, log } = options
  if ((await readCurrent(dataDirectory)) === undefined) {
    throw new OperatorError(
      'SnapshotMissing',
      `${dataDirectory} has no snapshot that a cluster could begin with: import recipients first, or name an empty ` +
        'directory, and the machine waits for a cluster',
    )
  }
  // From now on, a directory without a store has lost it.
  const store = await createStore(dataDirectory, log)
  try {
    // One that runs alone would go on with changes of which no other machine hears.
    assertNobodyRuns(dataDirectory, store.services)
    return await foundIn(options, nats, store)
  } finally {
    await store.close()
  }
}

export async function endFounding(dataDirectory: string): Promise<void> {
  await rm(begunPath(dataDirectory), { force: true })
}

async function foundIn(
  options: FoundingOptions,
  nats: ClusterNats,
  { entries }: MainStore,
): Promise<ClusterState> {
  const { dataDirectory, settings, log } = options
  const { clusterId, name } = settings
  const journal = journalDirectory(dataDirectory)
  const generation = (await begunGeneration(options)) ?? randomBytes(8).toString('hex')
  await createDirectory(clusterDirectory(dataDirectory))
  await replaceFile(begunPath(dataDirectory), generation)
  // What a writer left that died is settled.
  const base = await setJournalLog(journal, undefined)
  await untilAnswered(options, () => foundLog(nats, { generation, founder: name, base }))
  await setJournalLog(journal, { generation, place: 0 })
  entries.apply([], base.sequence)
  const own = { clusterId, name, incarnation: randomUUID() }
  const state = { ...own, isFounder: true, foundedSequence: base.sequence }
  await writeFacts(dataDirectory, { ...NO_FACTS, sequence: base.sequence })
  await writeState(dataDirectory, state)
  await endFounding(dataDirectory)
  log.info({ clusterId, dataDirectory }, 'founded a cluster with what this directory has')
  return state
}

/** @throws OperatorError  Usage, where another machine was faster */
async function foundLog(
  nats: ClusterNats,
  founding: { readonly generation: string; readonly founder: string; readonly base: Link },
): Promise<void> {
  const { connection } = await nats.openLog()
  const there = await StreamLog.infoIfThere(connection, nats.names)
  if (there !== undefined && there.generation !== founding.generation) {
    const who = there.founder ?? 'another program'
    throw new OperatorError('Usage', `${who} has founded the cluster meanwhile`)
  }
  await StreamLog.found(connection, nats.names, founding)
}

const begunPath = (dataDirectory: string) => join(clusterDirectory(dataDirectory), 'founding')

/** Of the log with which this directory was about to found a cluster. */
async function begunGeneration({ dataDirectory }: FoundingOptions): Promise<string | undefined> {
  const text = await readFile(begunPath(dataDirectory), 'utf8').catch(() => undefined)
  return text === undefined || text === '' ? undefined : text
}

/** A server of NATS whose disk was full may not answer until it is started again. */
async function untilAnswered<Answer>(
  { log, signal }: FoundingOptions,
  ask: () => Promise<Answer>,
): Promise<Answer> {
  for (let hasTold = false; ; hasTold = true) {
    try {
      return await ask()
    } catch (fault) {
      if (fault instanceof OperatorError || signal.aborted) throw fault
      const reason = (fault as Error).message
      if (!hasTold) log.warn({ reason }, 'waiting for JetStream of NATS')
    }
    await sleep(limits.natsRetryMs, undefined, { signal })
  }
}
