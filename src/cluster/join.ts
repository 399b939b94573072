/**
 * Makes a data directory one of a cluster, before anything of it is open: the first one founds the cluster, and every
 * other one begins with what the cluster has.
 *
 * @module
 */
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { join as joined } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DIRECTORY_MODE } from '../durable-files.js'
import { OperatorError } from '../errors.js'
import { JournalDamaged } from '../journal/damaged.js'
import { journalDirectory } from '../journal/files.js'
import { isClusterJournal, JournalReader } from '../journal/reader.js'
import { verifyJournal } from '../journal/verify.js'
import { limits } from '../limits.js'
import type { Log } from '../log.js'
import { listSnapshots, readCurrent } from '../snapshot/directory.js'
import { DATA_FILE, storeDirectory } from '../store/tables.js'
import { clusterDirectory } from './directory.js'
import { endFounding, found, isFounded } from './founding.js'
import type { ClusterSettings } from './messages.js'
import type { ClusterNats } from './nats/cluster-nats.js'
import type { NodeReport } from './node-report.js'
import type { NodeAnswers, NodeQuestion } from './questions.js'
import { removeSeeds, type Seed, sow } from './seed.js'
import { processSession } from './session.js'
import { SharedFiles } from './shared-files.js'
import { repairSnapshot } from './snapshot-files.js'
import {
  type BeginsAnew,
  type ClusterState,
  readFacts,
  readState,
  StateDamaged,
  writeFacts,
  writeState,
} from './state-file.js'
import type { FileDigest } from './verified-file.js'

interface JoinOptions {
  readonly dataDirectory: string
  readonly settings: ClusterSettings
  /** Connects, however long that takes. */
  readonly connected: () => Promise<ClusterNats>
  readonly log: Log
  readonly signal: AbortSignal
}

/** @throws OperatorError  as a rejection */
export async function join(options: JoinOptions): Promise<ClusterState> {
  const { dataDirectory, settings, connected } = options
  const { clusterId, name } = settings
  await removeSeeds(dataDirectory)
  const known = knownState(options)
  if (known !== undefined) {
    await endFounding(dataDirectory)
    assertSame(known, settings)
    const hasFacts = !areFactsLost(dataDirectory)
    // It can answer what it knows, although no other machine is there.
    if (hasFacts && known.beginsAnew === undefined) {
      const nats = await connectedSoon(connected)
      if (nats !== undefined) await refuseTwin(nats, name)
      return known
    }
    if (hasFacts && known.beginsAnew === 'suspect' && (await isJournalWhole(dataDirectory))) {
      return await settled(dataDirectory, known)
    }
  }
  const nats = await connected()
  await refuseTwin(nats, name)
  if (known !== undefined && known.beginsAnew === undefined) {
    await restoreFacts(options, nats)
    return known
  }
  if (known?.beginsAnew === 'snapshot' && (await repairCurrent(options, nats))) {
    return await settled(dataDirectory, known)
  }
  if (known === undefined && (await holdsData(dataDirectory))) {
    if (await isThere(options, nats)) throw ownData(dataDirectory, clusterId)
    return await found(options, nats)
  }
  // With another directory it is another machine.
  const isNew = known === undefined || known.beginsAnew !== 'gone'
  const state: ClusterState = {
    clusterId,
    name,
    incarnation: isNew ? randomUUID() : known.incarnation,
    isFounder: false,
    beginsAnew: reasonFor(known),
  }
  await writeState(dataDirectory, state)
  const foundedSequence = await beginWithOthers(options, nats, state.beginsAnew === 'damaged')
  return await settled(dataDirectory, { ...state, ...(foundedSequence && { foundedSequence }) })
}

/** One that was damaged, or of which the rest is gone, is that of another machine. */
function knownState({ dataDirectory, settings, log }: JoinOptions): ClusterState | undefined {
  try {
    const state = readState(dataDirectory)
    if (state === undefined || holdsParts(dataDirectory) || isToBegin(state)) return state
    log.error(
      { dataDirectory },
      'the journal or the store is gone: beginning with what other machines have',
    )
    return { ...state, beginsAnew: 'damaged' }
  } catch (fault) {
    if (!(fault instanceof StateDamaged)) throw fault
    log.error({ reason: fault.message }, 'beginning with what other machines have')
    const { clusterId, name } = settings
    return { clusterId, name, incarnation: '', isFounder: false, beginsAnew: 'damaged' }
  }
}

/** Whether both are there, whole or not. */
function holdsParts(dataDirectory: string): boolean {
  const store = joined(storeDirectory(dataDirectory), DATA_FILE)
  return isClusterJournal(journalDirectory(dataDirectory)) && existsSync(store)
}

/** Whether nothing of it is used as it is. */
function isToBegin({ beginsAnew }: ClusterState): boolean {
  return beginsAnew !== undefined && beginsAnew !== 'suspect' && beginsAnew !== 'snapshot'
}

function reasonFor(known: ClusterState | undefined): BeginsAnew {
  if (known === undefined) return 'new'
  return known.beginsAnew === 'gone' || known.beginsAnew === 'new' ? known.beginsAnew : 'damaged'
}

async function settled(dataDirectory: string, state: ClusterState): Promise<ClusterState> {
  const { beginsAnew: _, ...begun } = state
  await writeState(dataDirectory, begun)
  return begun
}

async function isJournalWhole(dataDirectory: string): Promise<boolean> {
  try {
    await verifyJournal(journalDirectory(dataDirectory))
    return true
  } catch (fault) {
    if (fault instanceof JournalDamaged) return false
    throw fault
  }
}

/** Whether it is lost what was kept of the journal, and the journal says it no more. */
function areFactsLost(dataDirectory: string): boolean {
  const reader = new JournalReader(journalDirectory(dataDirectory))
  try {
    return readFacts(dataDirectory).sequence < reader.head().first.after.sequence
  } catch (fault) {
    // The next one that reads the journal says what is to be done.
    if (fault instanceof JournalDamaged) return false
    throw fault
  } finally {
    reader.close()
  }
}

/** @throws OperatorError  where there is no other machine that could know them */
async function restoreFacts(
  { dataDirectory, settings }: JoinOptions,
  nats: ClusterNats,
): Promise<void> {
  const question: NodeQuestion = { kind: 'hello' }
  for (const { name } of await heardReports(nats, limits.clusterHeardMs)) {
    const answer = await nats.calls.ask(name, question, limits.clusterCallMs).catch(() => undefined)
    const facts = (answer as NodeAnswers['hello'] | undefined)?.facts
    if (facts !== undefined) return await writeFacts(dataDirectory, facts)
  }
  throw new OperatorError(
    'Failed',
    `cluster/facts.json of ${dataDirectory} is lost, so that this machine does not know the others: start another one of ` +
      `${settings.clusterId} first, and this one asks it; where there is none, make the directory one of no cluster with ` +
      'hickory cluster leave',
  )
}

/** @returns whether it is known what the current snapshot should be */
async function repairCurrent(options: JoinOptions, nats: ClusterNats): Promise<boolean> {
  const { dataDirectory, log, signal } = options
  const { announced: snapshot } = readFacts(dataDirectory)
  const current = await readCurrent(dataDirectory).catch(() => undefined)
  if (snapshot === undefined || snapshot.id !== current) return false
  // By the digests that this machine knows: whoever has the files, level or not, alone or not.
  await untilGiven(
    options,
    () => sourceOf(nats, () => true),
    async (source) => {
      const { get } = filesFrom(options, nats, source)
      const replacedCount = await repairSnapshot(dataDirectory, snapshot, get)
      log.warn({ snapshotId: current, replacedCount }, 'fetched what was damaged of a snapshot')
    },
  )
  return !signal.aborted
}

function assertSame(state: ClusterState, { clusterId, name }: ClusterSettings): void {
  if (state.clusterId === clusterId && state.name === name) return
  throw new OperatorError(
    'Usage',
    `the data directory is that of ${state.name} in the cluster ${state.clusterId}, and the service is ${name} in ` +
      `${clusterId}: name another directory, or start it with --name ${state.name} --cluster-id ${state.clusterId}`,
  )
}

/** Undefined where NATS is away. */
async function connectedSoon(
  connected: JoinOptions['connected'],
): Promise<ClusterNats | undefined> {
  const over = new AbortController()
  const late = sleep(limits.clusterCallMs, undefined, over).catch(() => undefined)
  const nats = await Promise.race([connected(), late])
  over.abort()
  return nats
}

/** Two machines of one name would promise different things. */
async function refuseTwin(nats: ClusterNats, name: string): Promise<void> {
  const answer = await nats.calls
    .ask(name, { kind: 'hello' } satisfies NodeQuestion, limits.clusterCallMs)
    .catch(() => undefined)
  if (answer === undefined || (answer as NodeAnswers['hello']).session === processSession) return
  throw new OperatorError(
    'Usage',
    `there is a machine ${name} in the cluster already: give this one another --name, or stop that one`,
  )
}

async function holdsData(dataDirectory: string): Promise<boolean> {
  if (!existsSync(dataDirectory)) return false
  const current = await readCurrent(dataDirectory)
  return current !== undefined || existsSync(storeDirectory(dataDirectory))
}

/** Whether there is a cluster: NATS has its log, or one of its machines is heard. */
async function isThere(options: JoinOptions, nats: ClusterNats): Promise<boolean> {
  // First, since these answer also where JetStream does not.
  if ((await heardReports(nats, limits.clusterHeardMs)).length > 0) return true
  return await isFounded(options, nats)
}

function ownData(dataDirectory: string, clusterId: string): OperatorError {
  return new OperatorError(
    'Usage',
    `${dataDirectory} has data of its own, and the cluster ${clusterId} has others: name an empty directory, and the ` +
      'machine begins with what the cluster has',
  )
}

/** What is damaged is kept for an operator who wants to look at it. */
async function setAside({ dataDirectory, log }: JoinOptions): Promise<void> {
  const time = new Date().toISOString().replaceAll(/[:.]/g, '-')
  const aside = joined(clusterDirectory(dataDirectory), `set-aside-${time}`)
  await mkdir(aside, { recursive: true, mode: DIRECTORY_MODE })
  for (const path of [journalDirectory(dataDirectory), storeDirectory(dataDirectory)]) {
    if (existsSync(path)) await rename(path, joined(aside, path.slice(dataDirectory.length + 1)))
  }
  log.error(
    { aside },
    'set the journal and the store of this machine aside: they may be removed once it is ready again',
  )
}

/** @returns where the cluster was founded */
async function beginWithOthers(
  options: JoinOptions,
  nats: ClusterNats,
  isToSetAside: boolean,
): Promise<number | undefined> {
  const { dataDirectory, log } = options
  let isAside = !isToSetAside
  return await untilGiven(
    options,
    () => sourceOf(nats, isLevel),
    async (source) => {
      log.info({ from: source }, 'asking a machine what to begin with')
      const question: NodeQuestion = { kind: 'seed' }
      const seed = (await nats.calls.ask(source, question, limits.seedMs)) as Seed
      // Not before: where no machine has what is needed, all of them could lose what they have.
      if (!isAside) await setAside(options)
      isAside = true
      await sow(dataDirectory, seed, filesFrom(options, nats, source).get, progressOf(log))
      await removeOthers(dataDirectory, seed.snapshot.id)
      const { sequence } = seed.beginning
      log.info({ from: source, sequence, snapshotId: seed.snapshot.id }, 'begins with the cluster')
      return seed.foundedSequence
    },
  )
}

/** Takes something from another machine, however long it takes until there is one. */
async function untilGiven<Taken>(
  { log, signal }: JoinOptions,
  find: () => Promise<string | undefined>,
  take: (source: string) => Promise<Taken>,
): Promise<Taken> {
  let told: string | undefined
  let waitMs: number = limits.natsRetryMs
  const tell = (reason: string) => {
    if (told !== reason) log.warn({ reason }, 'waiting for the cluster')
    told = reason
  }
  for (;;) {
    signal.throwIfAborted()
    const source = await find()
    if (source === undefined) tell('no machine is there that has something')
    else {
      try {
        return await take(source)
      } catch (fault) {
        tell((fault as Error).message)
        // It may have copied all of its store.
        waitMs = Math.min(2 * waitMs, limits.fetchRetryMs)
      }
    }
    await sleep(waitMs, undefined, { signal })
  }
}

/** A machine that has something, and of which it is so. */
async function sourceOf(
  nats: ClusterNats,
  isSo: (report: NodeReport) => boolean,
): Promise<string | undefined> {
  const reports = await heardReports(nats, limits.clusterHeardMs)
  return reports.find((report) => report.snapshotId !== undefined && isSo(report))?.name
}

const isLevel = ({ levelMs }: NodeReport) => levelMs > 0

async function heardReports(nats: ClusterNats, waitMs: number): Promise<NodeReport[]> {
  const heard = new Map<string, NodeReport>()
  const stop = nats.hear((report) => heard.set(report.name, report))
  await sleep(waitMs)
  stop()
  return [...heard.values()]
}

function filesFrom(
  { dataDirectory, log }: JoinOptions,
  nats: ClusterNats,
  source: string,
): SharedFiles {
  return new SharedFiles({
    dataDirectory,
    files: nats.files,
    log,
    async offered(file: FileDigest) {
      const question: NodeQuestion = { kind: 'offer', file }
      const answer = await nats.calls.ask(source, question, limits.fileOfferedMs)
      return (answer as { isDone: boolean }).isDone
    },
  })
}

function progressOf(log: Log): (doneBytes: number, totalBytes: number) => void {
  let toldMs = performance.now()
  return (doneBytes, totalBytes) => {
    if (performance.now() - toldMs < limits.fetchToldMs) return
    toldMs = performance.now()
    const percent = Math.floor((100 * doneBytes) / totalBytes)
    log.info({ percent, doneBytes, totalBytes }, 'fetching the snapshot to begin with')
  }
}

/** Of snapshots that were here before, nobody knows what changes go on from them. */
async function removeOthers(dataDirectory: string, id: string): Promise<void> {
  for (const other of await listSnapshots(dataDirectory)) {
    if (other === id) continue
    await rm(joined(dataDirectory, 'snapshots', other), { recursive: true })
  }
}
