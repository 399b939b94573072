/**
 * Makes a data directory one of a cluster, before anything of it is open: the first one founds the cluster, and every
 * other one begins with what the cluster has.
 *
 * @module
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, rm } from 'node:fs/promises'
import { join as joined } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeDeadline } from '../deadline.js'
import { createDirectory, DIRECTORY_MODE, replaceFile } from '../durable-files.js'
import { OperatorError, ServiceError } from '../errors.js'
import { JournalDamaged } from '../journal/damaged.js'
import { journalDirectory } from '../journal/files.js'
import { isClusterJournal, JournalReader } from '../journal/reader.js'
import { setJournalLog } from '../journal/seed.js'
import { verifyJournal } from '../journal/verify.js'
import { limits } from '../limits.js'
import type { Log } from '../log.js'
import { listSnapshots, readCurrent, snapshotsDirectory } from '../snapshot/directory.js'
import { createStore } from '../store/store.js'
import { DATA_FILE, storeDirectory } from '../store/tables.js'
import { heardReports } from './client.js'
import { assertNobodyRuns, clusterDirectory, processSession } from './directory.js'
import { NO_FACTS } from './facts.js'
import type { ClusterSettings } from './messages.js'
import type { ClusterNats } from './nats/cluster-nats.js'
import type { AskNode } from './questions.js'
import type { NodeReport } from './reports.js'
import { seedsDirectory, sow } from './seed.js'
import { SharedFiles } from './shared-files.js'
import { SnapshotFiles } from './snapshot-files.js'
import {
  type ClusterState,
  readFacts,
  readState,
  StateDamaged,
  writeFacts,
  writeState,
} from './state-file.js'

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
  await rm(seedsDirectory(dataDirectory), { recursive: true, force: true })
  const known = await knownState(options)
  if (known !== undefined) {
    await rm(begunPath(dataDirectory), { force: true })
    assertSame(known, settings)
  }
  const isWhole = known !== undefined && known.beginsAnew === undefined
  if (isWhole && !areFactsLost(dataDirectory)) {
    // It can answer what it knows, although no other machine is there.
    const nats = await connectedSoon(connected)
    if (nats !== undefined) await refuseTwin(nats, settings.name)
    return known
  }
  const nats = await connected()
  await refuseTwin(nats, settings.name)
  if (isWhole) {
    await restoreFacts(options, nats)
    return known
  }
  if (known?.beginsAnew === 'snapshot' && (await repairCurrent(options, nats))) {
    return await settled(dataDirectory, known)
  }
  if (known === undefined && (await holdsData(dataDirectory))) return await found(options, nats)
  return await begin(options, nats, known)
}

/** One that was damaged, or of which the rest is gone, is that of another machine. */
async function knownState(options: JoinOptions): Promise<ClusterState | undefined> {
  const { dataDirectory, settings, log } = options
  try {
    const state = readState(dataDirectory)
    const { beginsAnew } = state ?? {}
    if (state === undefined || beginsAnew === 'gone' || beginsAnew === 'damaged') return state
    const store = joined(storeDirectory(dataDirectory), DATA_FILE)
    if (!isClusterJournal(journalDirectory(dataDirectory)) || !existsSync(store)) {
      const message = 'the journal or the store is gone: beginning with what other machines have'
      log.error({ dataDirectory }, message)
      return { ...state, beginsAnew: 'damaged' }
    }
    if (beginsAnew !== 'suspect') return state
    if (await isJournalWhole(dataDirectory)) return await settled(dataDirectory, state)
    return { ...state, beginsAnew: 'damaged' }
  } catch (fault) {
    if (!(fault instanceof StateDamaged)) throw fault
    log.error({ reason: fault.message }, 'beginning with what other machines have')
    const { clusterId, name } = settings
    return { clusterId, name, incarnation: '', isFounder: false, beginsAnew: 'damaged' }
  }
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
  try {
    return await beforeDeadline(connected(), performance.now() + limits.clusterCallMs)
  } catch (fault) {
    if (fault instanceof ServiceError) return undefined
    throw fault
  }
}

const asking =
  (nats: ClusterNats): AskNode =>
  async (name, question, waitMs = limits.clusterCallMs) =>
    (await nats.calls.ask(name, question, waitMs)) as never

/** Two machines of one name would promise different things. */
async function refuseTwin(nats: ClusterNats, name: string): Promise<void> {
  const answer = await asking(nats)<'hello'>(name, { kind: 'hello' }).catch(() => undefined)
  if (answer === undefined || answer.session === processSession) return
  throw new OperatorError(
    'Usage',
    `there is a machine ${name} in the cluster already: give this one another --name, or stop that one`,
  )
}

/** @throws OperatorError  where there is no other machine that could know them */
async function restoreFacts(
  { dataDirectory, settings }: JoinOptions,
  nats: ClusterNats,
): Promise<void> {
  for (const { name } of await heardReports(nats, limits.clusterHeardMs)) {
    const answer = await asking(nats)<'hello'>(name, { kind: 'hello' }).catch(() => undefined)
    if (answer !== undefined) return await writeFacts(dataDirectory, answer.facts)
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
  const { dataDirectory, log } = options
  const { announced: snapshot } = readFacts(dataDirectory)
  const current = await readCurrent(dataDirectory).catch(() => undefined)
  if (snapshot === undefined || snapshot.id !== current) return false
  // By the digests that this machine knows: one that has the files, level or not, alone or not.
  await untilGiven(
    options,
    nats,
    () => true,
    async (_, files) => {
      await new SnapshotFiles({ dataDirectory, files, log }).repair(snapshot)
    },
  )
  return true
}

async function holdsData(dataDirectory: string): Promise<boolean> {
  if (!existsSync(dataDirectory)) return false
  const current = await readCurrent(dataDirectory)
  return current !== undefined || existsSync(storeDirectory(dataDirectory))
}

/**
 * Founds a cluster with what the directory has. A machine that is killed meanwhile goes on at the next start.
 *
 * @throws OperatorError  Usage, where there is a cluster: NATS has its log, or one of its machines is heard
 */
async function found(options: JoinOptions, nats: ClusterNats): Promise<ClusterState> {
  const { dataDirectory, settings, log } = options
  const { clusterId, name } = settings
  const journal = journalDirectory(dataDirectory)
  const begun = await readFile(begunPath(dataDirectory), 'utf8').catch(() => '')
  const generation = begun === '' ? randomBytes(8).toString('hex') : begun
  const ownData = () =>
    new OperatorError(
      'Usage',
      `${dataDirectory} has data of its own, and the cluster ${clusterId} has others: name an empty directory, and the ` +
        'machine begins with what the cluster has',
    )
  const streamOfNone = async () => {
    const { stream } = await nats.openLog()
    const there = await stream.info()
    if (there !== undefined && there.generation !== generation) throw ownData()
    return stream
  }
  // First, since these answer also where JetStream does not.
  if ((await heardReports(nats, limits.clusterHeardMs)).length > 0) throw ownData()
  await untilAnswered(options, streamOfNone)
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
    await createDirectory(clusterDirectory(dataDirectory))
    await replaceFile(begunPath(dataDirectory), generation)
    // What a writer left that died is settled.
    const base = await setJournalLog(journal, undefined)
    await untilAnswered(options, async () => {
      const stream = await streamOfNone()
      await stream.found({ generation, founder: name, base })
    })
    await setJournalLog(journal, { generation, place: 0 })
    store.entries.apply([], base.sequence)
    const own = { clusterId, name, incarnation: randomUUID() }
    const state = { ...own, isFounder: true, foundedSequence: base.sequence }
    await writeFacts(dataDirectory, { ...NO_FACTS, sequence: base.sequence })
    await writeState(dataDirectory, state)
    await rm(begunPath(dataDirectory), { force: true })
    log.info({ clusterId, dataDirectory }, 'founded a cluster with what this directory has')
    return state
  } finally {
    await store.close()
  }
}

/** Has the generation of the log with which this directory was about to found a cluster. */
const begunPath = (dataDirectory: string) => joined(clusterDirectory(dataDirectory), 'founding')

/** A server of NATS whose disk was full may not answer until it is started again. */
async function untilAnswered(
  { log, signal }: JoinOptions,
  ask: () => Promise<unknown>,
): Promise<void> {
  for (let hasTold = false; ; hasTold = true) {
    try {
      await ask()
      return
    } catch (fault) {
      if (fault instanceof OperatorError || signal.aborted) throw fault
      const reason = (fault as Error).message
      if (!hasTold) log.warn({ reason }, 'waiting for JetStream of NATS')
    }
    await sleep(limits.natsRetryMs, undefined, { signal })
  }
}

/** Begins with what other machines have. */
async function begin(
  options: JoinOptions,
  nats: ClusterNats,
  known: ClusterState | undefined,
): Promise<ClusterState> {
  const { dataDirectory, settings, log } = options
  const { clusterId, name } = settings
  const isGone = known?.beginsAnew === 'gone'
  const isDamaged = known !== undefined && !isGone
  // With another directory it is another machine.
  const incarnation = isGone ? known.incarnation : randomUUID()
  const state = { clusterId, name, incarnation, isFounder: false }
  await writeState(dataDirectory, { ...state, beginsAnew: isDamaged ? 'damaged' : 'gone' })
  let isAside = !isDamaged
  const { foundedSequence } = await untilGiven(options, nats, isLevel, async (from, files) => {
    log.info({ from }, 'asking a machine what to begin with')
    const seed = await asking(nats)<'seed'>(from, { kind: 'seed' }, limits.seedMs)
    // Not before: where no machine has what is needed, all of them could lose what they have.
    if (!isAside) await setAside(options)
    isAside = true
    await sow(dataDirectory, seed, files, log)
    const { beginning, snapshot } = seed
    // What changes go on from other snapshots that were here before is not known.
    for (const id of await listSnapshots(dataDirectory)) {
      if (id !== snapshot.id)
        await rm(joined(snapshotsDirectory(dataDirectory), id), { recursive: true })
    }
    const begun = { from, sequence: beginning.sequence, snapshotId: snapshot.id }
    log.info(begun, 'begins with the cluster')
    return seed
  })
  return await settled(dataDirectory, { ...state, foundedSequence })
}

const isLevel = ({ levelMs }: NodeReport) => levelMs > 0

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

/**
 * Takes something from another machine that has a snapshot, however long it takes until there is one; from one after the
 * other, since what is damaged on one may be whole on the next.
 *
 * @param isSo  which of them may be asked
 */
async function untilGiven<Taken>(
  { dataDirectory, log, signal }: JoinOptions,
  nats: ClusterNats,
  isSo: (report: NodeReport) => boolean,
  take: (source: string, files: SharedFiles) => Promise<Taken>,
): Promise<Taken> {
  let told: string | undefined
  let waitMs: number = limits.natsRetryMs
  for (let attempt = 0; ; attempt++) {
    signal.throwIfAborted()
    const reports = await heardReports(nats, limits.clusterHeardMs)
    const having = reports.filter(({ snapshotId }) => snapshotId !== undefined)
    const asked = having.filter(isSo)
    const source = asked[attempt % asked.length]?.name
    let reason = 'no machine is there that has something'
    if (source !== undefined) {
      const files = new SharedFiles({
        dataDirectory,
        nats,
        others: () => having.map(({ name }) => name),
        log,
      })
      try {
        return await take(source, files)
      } catch (fault) {
        reason = (fault as Error).message
        // It may have copied all of its store.
        waitMs = Math.min(2 * waitMs, limits.fetchRetryMs)
      }
    }
    if (told !== reason) log.warn({ reason }, 'waiting for the cluster')
    told = reason
    await sleep(waitMs, undefined, { signal })
  }
}
