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
import { hasAgreedPart } from '../journal/agreed-part.js'
import { JournalDamaged } from '../journal/damaged.js'
import { journalDirectory } from '../journal/files.js'
import { foundJournal } from '../journal/seed.js'
import { verifyJournal } from '../journal/verify.js'
import { limits } from '../limits.js'
import type { Log } from '../log.js'
import { listSnapshots, readCurrent } from '../snapshot/directory.js'
import { createStore, type MainStore } from '../store/create.js'
import { DATA_FILE, storeDirectory } from '../store/tables.js'
import { beginFounding, endFounding, founderOf, isFounding } from './founding.js'
import { lastEpochIn } from './last-epoch.js'
import { removeLent } from './lent-files.js'
import { isTailLost } from './lost-tail.js'
import type { ClusterSettings } from './messages.js'
import type { ClusterNats } from './nats/cluster-nats.js'
import { assertNobodyRuns } from './nobody-runs.js'
import type { NodeReport } from './node-report.js'
import type { NodeAnswers, NodeQuestion } from './questions.js'
import { type Seed, sow } from './seed.js'
import { SharedFiles } from './shared-files.js'
import { repairSnapshot } from './snapshot-files.js'
import {
  type BeginsAnew,
  type ClusterState,
  clusterDirectory,
  readState,
  readTail,
  StateDamaged,
  writeState,
  writeTail,
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
  await removeLent(dataDirectory)
  const known = knownState(options)
  if (known !== undefined) {
    await endFounding(dataDirectory)
    assertSame(known, settings)
    const hasTail = !isTailLost(dataDirectory)
    // It can answer what it knows, whether or not anybody is there.
    if (hasTail && known.beginsAnew === undefined) return known
    if (hasTail && known.beginsAnew === 'suspect' && (await isJournalWhole(dataDirectory))) {
      return await settled(dataDirectory, known)
    }
  }
  const nats = await connected()
  await refuseTwin(nats, name)
  if (known !== undefined && known.beginsAnew === undefined) await assertOthers(options, nats)
  if (known?.beginsAnew === 'snapshot' && (await repairCurrent(options, nats))) {
    return await settled(dataDirectory, known)
  }
  if (known === undefined && (await holdsData(dataDirectory))) {
    if (await isThere(options, nats)) throw ownData(dataDirectory, clusterId)
    return await found(options, nats)
  }
  // With another directory it is another machine: what the one before had promised, it does not know.
  const isNew = known === undefined || known.beginsAnew !== 'gone'
  const state: ClusterState = {
    clusterId,
    name,
    incarnation: isNew ? randomUUID() : known.incarnation,
    epoch: isNew ? 0 : known.epoch,
    isFounder: false,
    beginsAnew: reasonFor(known),
  }
  await writeState(dataDirectory, state)
  if (state.beginsAnew === 'damaged') await setAside(options)
  await beginWithOthers(options, nats)
  return await settled(dataDirectory, state)
}

/** One that was damaged, or of which the rest is gone, is that of a machine that has forgotten what it promised. */
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
    return { clusterId, name, incarnation: '', epoch: 0, isFounder: false, beginsAnew: 'damaged' }
  }
}

/** Whether both are there, whole or not. */
function holdsParts(dataDirectory: string): boolean {
  const store = joined(storeDirectory(dataDirectory), DATA_FILE)
  return hasAgreedPart(journalDirectory(dataDirectory)) && existsSync(store)
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

/** @throws OperatorError  where there is no other machine that could know who the members are */
async function assertOthers(
  { dataDirectory, settings }: JoinOptions,
  nats: ClusterNats,
): Promise<void> {
  if ((await heardReports(nats, limits.clusterHeardMs)).length > 0) return
  throw new OperatorError(
    'Failed',
    `cluster/tail.json of ${dataDirectory} is lost, so that nobody here knows the members of the cluster: start another ` +
      `machine of ${settings.clusterId} first, and this one begins with what that has; where there is none, make the ` +
      'directory one of no cluster with hickory cluster leave',
  )
}

/** @returns whether it is known what the current snapshot should be */
async function repairCurrent(options: JoinOptions, nats: ClusterNats): Promise<boolean> {
  const { dataDirectory, log, signal } = options
  const { snapshot } = readTail(dataDirectory)
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

/** Two machines of one name would promise different things. */
async function refuseTwin(nats: ClusterNats, name: string): Promise<void> {
  const answer = await nats.calls
    .ask(name, { kind: 'hello' } satisfies NodeQuestion, limits.clusterCallMs)
    .catch(() => undefined)
  if (answer === undefined || (answer as { pid: number }).pid === process.pid) return
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

/** Whether there is a cluster: NATS knows of it, or one of its machines is heard. */
async function isThere(options: JoinOptions, nats: ClusterNats): Promise<boolean> {
  // First, since these answer also where JetStream does not.
  if ((await heardReports(nats, limits.clusterHeardMs)).length > 0) return true
  const { dataDirectory, settings } = options
  const founder = await founderOf(options, nats)
  return founder !== undefined && !(founder === settings.name && isFounding(dataDirectory))
}

function ownData(dataDirectory: string, clusterId: string): OperatorError {
  return new OperatorError(
    'Usage',
    `${dataDirectory} has data of its own, and the cluster ${clusterId} has others: name an empty directory, and the ` +
      'machine begins with what the cluster has',
  )
}

async function found(options: JoinOptions, nats: ClusterNats): Promise<ClusterState> {
  const { dataDirectory, settings, log } = options
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
    await beginFounding(options, nats, settings.name)
    return await foundIn(options, store)
  } finally {
    await store.close()
  }
}

async function foundIn(
  { dataDirectory, settings, log }: JoinOptions,
  { entries }: MainStore,
): Promise<ClusterState> {
  const { clusterId, name } = settings
  const { sequence } = await foundJournal(journalDirectory(dataDirectory))
  // Where the directory was of a cluster before: its epochs are over, and its members are not those of this one.
  const epoch = lastEpochIn(dataDirectory)
  const epochs = epoch === 0 ? [] : [{ sequence, epoch }]
  await writeTail(dataDirectory, { sequence, epochs, members: [], membersSequence: sequence })
  entries.apply([], sequence)
  const own = { clusterId, name, incarnation: randomUUID(), epoch }
  const state = { ...own, isFounder: true, foundedSequence: sequence }
  await writeState(dataDirectory, state)
  await endFounding(dataDirectory)
  log.info({ clusterId, dataDirectory }, 'founded a cluster with what this directory has')
  return state
}

/** What contradicts the cluster is kept for whoever wants to look at it. */
async function setAside({ dataDirectory, log }: JoinOptions): Promise<void> {
  const time = new Date().toISOString().replaceAll(/[:.]/g, '-')
  const aside = joined(clusterDirectory(dataDirectory), `set-aside-${time}`)
  await mkdir(aside, { recursive: true, mode: DIRECTORY_MODE })
  for (const path of [journalDirectory(dataDirectory), storeDirectory(dataDirectory)]) {
    if (existsSync(path)) await rename(path, joined(aside, path.slice(dataDirectory.length + 1)))
  }
  log.error({ aside }, 'set the journal and the store of this machine aside')
}

async function beginWithOthers(options: JoinOptions, nats: ClusterNats): Promise<void> {
  const { dataDirectory, log } = options
  await untilGiven(
    options,
    () => sourceOf(nats, isLevel),
    async (source) => {
      log.info({ from: source }, 'asking a machine what to begin with')
      const question: NodeQuestion = { kind: 'seed' }
      const seed = (await nats.calls.ask(source, question, limits.seedMs)) as Seed
      await sow(dataDirectory, seed, filesFrom(options, nats, source).get, progressOf(log))
      await removeOthers(dataDirectory, seed.snapshot.id)
      const { sequence } = seed.beginning
      log.info({ from: source, sequence, snapshotId: seed.snapshot.id }, 'begins with the cluster')
    },
  )
}

/** Takes something from another machine, however long it takes until there is one. */
async function untilGiven(
  { log, signal }: JoinOptions,
  find: () => Promise<string | undefined>,
  take: (source: string) => Promise<void>,
): Promise<void> {
  let told: string | undefined
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
      }
    }
    await sleep(limits.natsRetryMs, undefined, { signal })
  }
}

/** A machine that has something, and of which it is so, best the one that writes. */
async function sourceOf(
  nats: ClusterNats,
  isSo: (report: NodeReport) => boolean,
): Promise<string | undefined> {
  const reports = await heardReports(nats, limits.clusterHeardMs)
  const able = reports.filter((report) => report.snapshotId !== undefined && isSo(report))
  const best = able.find(({ agreement }) => agreement.isWriter) ?? able[0]
  return best?.agreement.name
}

const isLevel = ({ levelMs }: NodeReport) => levelMs > 0

async function heardReports(nats: ClusterNats, waitMs: number): Promise<NodeReport[]> {
  const heard = new Map<string, NodeReport>()
  const stop = nats.hear((report) => heard.set(report.agreement.name, report))
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
    machines: () => [source],
    async askPiece(name, file, offset) {
      const question: NodeQuestion = { kind: 'piece', file, offset }
      const answer = await nats.calls.ask(name, question, limits.filePieceMs)
      return (answer as NodeAnswers['piece']).bytes
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
