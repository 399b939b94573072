/**
 * The thread of a cluster: it makes the directory one of the cluster, and then keeps it so.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { MessagePort } from 'node:worker_threads'
import { OperatorError } from '../errors.js'
import { JournalDamaged } from '../journal/damaged.js'
import { limits } from '../limits.js'
import type { ChangesCalls, LogCalls } from '../live/cluster-messages.js'
import { createLog, describeFault } from '../log.js'
import { listSnapshots, readCurrent, writeCurrent } from '../snapshot/directory.js'
import { callsOver, type OtherThread } from '../threads/calls.js'
import { join } from './join.js'
import { behindSnapshot } from './journal.js'
import type { ClusterCalls, ClusterThreadData, MainCalls } from './messages.js'
import { ClusterNats } from './nats/cluster-nats.js'
import { SyncGuard } from './nats/sync-proof.js'
import { ClusterNode } from './node.js'
import { type NodeQuestion, operatorKinds } from './questions.js'
import {
  type BeginsAnew,
  type ClusterState,
  isDirectoryOf,
  noteConnection,
  readFacts,
  writeState,
} from './state-file.js'

/** @param main  to the main thread */
export function serveCluster(main: MessagePort, data: ClusterThreadData): void {
  const { dataDirectory, settings, version, journalFileBytes, figures } = data
  const log = createLog(data.logLevel, { thread: 'cluster' })
  const over = new AbortController()
  const { signal } = over
  let connecting: Promise<ClusterNats> | undefined
  let node: ClusterNode | undefined
  let starting: Promise<ClusterNode | undefined> | undefined
  let guard: SyncGuard | undefined
  /** To the thread of changes. */
  let changes: OtherThread<ChangesCalls> | undefined
  let hasToldDenial = false
  let timer: NodeJS.Timeout | undefined
  let isLost = false
  let endWaiting: () => void = () => {}
  const lost = new Promise<void>((resolve) => {
    endWaiting = resolve
  })
  const serves = { machine: serve, operator: serveOperator }
  /** For the node, which is not there yet. */
  const early: ((node: ClusterNode) => void)[] = []

  process.on('uncaughtException', (fault) => {
    log.fatal(describeFault(fault), 'the thread of the cluster failed')
    process.exit(1)
  })

  const joined = begin()
  joined.then(started, () => {})
  const whenThere = (work: (node: ClusterNode) => void) => {
    if (node === undefined) early.push(work)
    else work(node)
  }
  const audiences = () => {
    if (node === undefined) throw new OperatorError('Failed', 'the machine is starting')
    return node.audiences
  }
  const calls: ClusterCalls = {
    begun: async () => void (await joined),
    run: takeChanges,
    storedBy: (sequence) => whenThere((node) => node.storedBy(sequence)),
    answersBy: (sequence) => whenThere((node) => node.answersBy(sequence)),
    serves: (served) => whenThere((node) => node.serves(served)),
    knowAudiences: (upTo, all) => whenThere((node) => node.audiences.know(upTo, all)),
    damaged: (id) =>
      whenThere(async (node) => {
        if (await node.repair(id)) tell.repaired(id)
      }),
    everywhere: async (sequence, waitMs) =>
      (await node?.untilEverywhere(sequence, waitMs)) ?? { isEverywhere: false, waitingFor: [] },
    putAudience: async (made) => await audiences().put(made),
    untilAudienceKept: async (sequence, file) => await audiences().untilKept(sequence, file),
    bringAudience: async (...args) => await audiences().bring(...args),
    recover,
    stop,
  }
  const { ask, tell } = callsOver<MainCalls>(main, calls)

  /** Resolves when the service can open what is in the directory. */
  async function begin(): Promise<ClusterState> {
    const state = await join({ dataDirectory, settings, connected, log, signal })
    await noteConnection(dataDirectory, settings)
    await nameSwitched(dataDirectory)
    const behind = await behindSnapshot(dataDirectory)
    if (behind === undefined) return state
    // After a power failure the log says again what the journal lacks.
    const isKept = behind.kept >= behind.needed
    const reason = isKept ? KEPT : 'its journal ends before, and the log has the rest'
    log.warn({ ...behind, reason }, 'waiting for what the current snapshot goes on from')
    const running = await started(state)
    // One that must be begun anew never has it.
    if (running !== undefined) await Promise.race([running.untilReached(behind.needed), lost])
    return state
  }

  /** One connection, however long it takes: a machine that has nothing yet can only wait. */
  function connected(): Promise<ClusterNats> {
    connecting ??= connect()
    return connecting
  }

  async function connect(): Promise<ClusterNats> {
    const { clusterId, name, nats } = settings
    let hasFailed = false
    for (;;) {
      try {
        return await ClusterNats.open({
          settings: nats,
          clusterId,
          name,
          onChange,
          onDenied,
          serves,
        })
      } catch (fault) {
        if (fault instanceof OperatorError && fault.code === 'Usage') throw fault
        if (!hasFailed) log.warn({ reason: (fault as Error).message }, 'waiting for NATS')
        hasFailed = true
        await sleep(limits.natsRetryMs, undefined, { signal })
      }
    }
  }

  function onChange(isUp: boolean): void {
    hasToldDenial = false
    log.warn(isUp ? 'NATS is there again' : 'NATS is gone')
  }

  /** Once for a connection: what is denied is tried several times a second. */
  function onDenied(reason: string): void {
    if (hasToldDenial) return
    hasToldDenial = true
    log.error({ reason }, 'NATS does not let this machine do what it must')
  }

  async function serve(question: unknown): Promise<unknown> {
    if (node === undefined) throw new Error('the machine is starting')
    return await node.answer(question as NodeQuestion)
  }

  async function serveOperator(question: unknown): Promise<unknown> {
    const { kind } = question as NodeQuestion
    if (operatorKinds.some((each) => each === kind)) return await serve(question)
    throw new Error(`an operator may not ask for ${kind}`)
  }

  function takeChanges(port: MessagePort): void {
    // A group may be too long for the messages of these servers.
    const append: LogCalls['append'] = async (batches) =>
      await node?.append(batches).catch(() => undefined)
    changes = callsOver<ChangesCalls>(port, { append })
  }

  function started(state: ClusterState): Promise<ClusterNode | undefined> {
    starting ??= startNode(state)
    return starting
  }

  async function startNode(state: ClusterState): Promise<ClusterNode | undefined> {
    const nats = await connected()
    const { stream, connection } = await untilOpen(nats)
    if (signal.aborted) return undefined
    guard = new SyncGuard(connection, settings.natsMonitors, (doubt) => {
      if (doubt === undefined) log.info('NATS syncs what it acknowledges')
      else log.warn({ reason: doubt }, 'this machine writes nothing')
    })
    node = opened({
      dataDirectory,
      settings,
      version,
      journalFileBytes,
      figures,
      state,
      facts: readFacts(dataDirectory),
      nats,
      stream,
      guard,
      log,
      stored,
      digests: ask.digests,
      enter: ask.enter,
      onWanted: (wanted) => {
        tell.wanted(wanted)
        tellStatus()
      },
      onFailure: (reason) => changes?.tell.failed(reason),
      onLost: (reason) => void beginAnew(reason, state),
    })
    if (node === undefined) {
      await beginAnew('suspect', state)
      return undefined
    }
    for (const work of early.splice(0)) work(node)
    tellStatus()
    timer = setInterval(tellStatus, limits.clusterStatusMs)
    return node
  }

  function tellStatus(): void {
    if (node !== undefined) tell.status(node.status())
  }

  async function untilOpen(nats: ClusterNats) {
    for (;;) {
      try {
        return await nats.openLog()
      } catch {
        await sleep(limits.natsRetryMs, undefined, { signal })
      }
    }
  }

  async function stored(): Promise<number> {
    const sequence = await ask.keepStored()
    if (sequence !== undefined) return sequence
    throw new OperatorError('Failed', 'the store of this machine cannot be written')
  }

  /** Undefined where the journal is damaged and others have it: where the service reads it no more, it starts all the same. */
  function opened(options: ConstructorParameters<typeof ClusterNode>[0]) {
    try {
      return new ClusterNode(options)
    } catch (fault) {
      if (fault instanceof JournalDamaged && areOthers()) return undefined
      throw fault
    }
  }

  /** Alone, nobody has what could be begun with. */
  function areOthers(): boolean {
    return (node?.members ?? readFacts(dataDirectory).members).length > 1
  }

  /** What the service could not start with. */
  async function recover(reason: BeginsAnew): Promise<boolean> {
    if (!areOthers()) return false
    try {
      await beginAnew(reason, await joined)
      return true
    } catch (fault) {
      // The service ends with what it could not start with.
      log.error(describeFault(fault), 'cannot note that this machine is to begin anew')
      return false
    }
  }

  /** Noted first, so that the next start does so, whatever comes in between. */
  async function beginAnew(reason: BeginsAnew, state: ClusterState): Promise<void> {
    if (signal.aborted || isLost) return
    isLost = true
    if (reason !== 'gone' && node !== undefined && !areOthers()) {
      throw new OperatorError(
        'Failed',
        'the directory is lost, and no other machine has what was in it',
      )
    }
    log.error(
      { reason },
      'this machine cannot go on with its directory: beginning with what others have',
    )
    await noted({ ...state, beginsAnew: reason })
    tell.beginAnew(reason)
    endWaiting()
  }

  /** Where the directory is still being removed, what is noted goes with it: it is noted again until it stays. */
  async function noted(state: ClusterState): Promise<void> {
    do {
      await writeState(dataDirectory, state).catch((fault: NodeJS.ErrnoException) => {
        if (fault.code !== 'ENOENT') throw fault
      })
      await sleep(limits.wipedMs)
    } while (!signal.aborted && !isDirectoryOf(dataDirectory, state))
  }

  async function stop(): Promise<void> {
    over.abort()
    clearInterval(timer)
    guard?.stop()
    await node?.stop()
    const nats = connecting && (await Promise.race([connecting, sleep(0)]).catch(() => undefined))
    if (nats !== undefined) await (nats as ClusterNats).close().catch(() => {})
    process.exit()
  }
}

/** What a command has made current, and the cluster has not taken, is not to be served at a start. */
async function nameSwitched(dataDirectory: string): Promise<void> {
  const { switchedId } = readFacts(dataDirectory)
  if (switchedId === undefined || (await readCurrent(dataDirectory)) === switchedId) return
  const isHere = (await listSnapshots(dataDirectory)).includes(switchedId)
  if (isHere) await writeCurrent(dataDirectory, switchedId)
}

const KEPT =
  'all of it is on disk here, and counts when the log has said it again, since its end could be lost: NATS must be there'
