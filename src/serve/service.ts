/**
 * The main thread of a running service. It listens, loads a snapshot, starts the front threads, serves
 * this snapshot and the next ones, and drains when it is told to stop.
 *
 * @module
 */
import { MessageChannel } from 'node:worker_threads'
import { type AccessLogThread, startAccessLog } from '../access-log/thread.js'
import type { AdminListener } from '../admin/listener.js'
import { auditFigures } from '../audit/counters.js'
import { entryOf } from '../audit/entry.js'
import { type AuditThread, startAudit } from '../audit/thread.js'
import { compactionRank } from '../cluster/status.js'
import type { Config } from '../config.js'
import { OperatorError, withoutAdvice } from '../errors.js'
import { bestEngine, loadEngine } from '../http/engine/choose.js'
import type { Engine } from '../http/engine/engine.js'
import { limits } from '../limits.js'
import { startCompaction } from '../live/compaction.js'
import type { Log } from '../log.js'
import {
  createMetricsMemory,
  type MetricSlots,
  type MetricsMemory,
  mainPage,
} from '../metrics/memory.js'
import { startVitals } from '../metrics/vitals.js'
import type { Snapshot } from '../snapshot/snapshot.js'
import { serveChanges } from '../store/change-port.js'
import type { MainStore, Store } from '../store/store.js'
import { readVersion } from '../version.js'
import { refuseForeignAddress } from './access-policy.js'
import { startAdmin } from './admin.js'
import {
  createDealtEntrance,
  createPlainEntrance,
  dealtFrontCount,
  type Entrance,
} from './entrance.js'
import { breakOffFronts, drainFronts, type Front, startFront, workersOfFront } from './fronts.js'
import { type Loaded, type LoadOptions, load, stopLoaded } from './load.js'
import { keepAudiences } from './service-audiences.js'
import { type ServiceCluster, startServiceCluster, type Takers } from './service-cluster.js'
import { type PortShare, sharePort } from './shared-port.js'
import { switchSnapshots } from './snapshot-switch.js'
import { type ServiceState, startingState } from './state.js'
import {
  endOnUncaught,
  StoppedWhileLoading,
  type StopRequest,
  stopRequest,
} from './stop-request.js'
import { createTlsEntrance } from './tls-entrance.js'

interface ServiceOptions extends LoadOptions {
  /** Called when requests are answered. */
  readonly onReady: (service: ReadyService) => void
}

export interface ReadyService {
  readonly port: number
  readonly snapshot: Snapshot
  readonly store: Store
}

/**
 * Serves a data directory until SIGTERM or SIGINT.
 *
 * @throws OperatorError  when it cannot start or go on
 */
export async function runService(options: ServiceOptions): Promise<void> {
  const stopping = stopRequest(options.log)
  let breakOff = async () => {}
  endOnUncaught(options.log, () => breakOff())
  await refuseForeignAddress(options.config)
  const onBegun = (release: () => Promise<void>) => {
    breakOff = release
  }
  // A machine of a cluster may have to begin with what others have, and nothing of its directory may be open then.
  while (await serveOnce(options, stopping, onBegun)) options.log.warn('starting again')
  options.log.info('stopped')
}

/** @returns whether the service is to start again */
async function serveOnce(
  options: ServiceOptions,
  stopping: StopRequest,
  onBegun: (breakOff: () => Promise<void>) => void,
): Promise<boolean> {
  const { log, onReady } = options
  const { engine, config } = await startEngine(options.config, log)
  const entrance = createEntrance(engine, config, log)
  const state = startingState()
  state.certificateExpires = entrance.certificateExpires
  const memory = createMetricsMemory(config.httpThreadCount, config.queryThreadCount)
  const page = mainPage(memory)
  const vitals = startVitals(page)
  let fronts: readonly Front[] = []
  let audit: ServiceAudit | undefined
  let accessLog: AccessLogThread | undefined
  const { dataDirectory, auditDirectory } = config
  const compaction = startCompaction({
    dataDirectory,
    auditDirectory,
    log,
    // In a cluster, one machine makes the snapshots of all.
    rank() {
      const status = state.cluster?.status()
      if (status !== undefined) return compactionRank(status)
      return config.cluster === undefined ? 0 : undefined
    },
  })
  let admin: AdminListener | undefined
  let cluster: ServiceCluster | undefined
  let takers: Takers | undefined
  let loaded: Loaded | undefined
  let share: PortShare | undefined
  let isToStartAgain = false
  onBegun(() => breakOff(entrance, fronts))
  const hangUp = { reopen: () => accessLog?.reopen(), fronts: () => fronts }
  const stopReloading = reloadOnHangUp(entrance, hangUp, log)
  /** When no request is answered any more. */
  const stopThreads = async () => {
    await audit?.stopped()
    await accessLog?.stop()
    await cluster?.stop()
    state.store = undefined
    if (loaded !== undefined) await stopLoaded(loaded)
  }
  try {
    // Taken before anything is loaded: until there are fronts, it answers 503 by itself. A port that is
    // shared is taken last, since the other process answers there meanwhile.
    if (!config.sharePort) await entrance.listen()
    admin = await startAdmin({ config, memory, state, log })
    cluster = await startServiceCluster(config, state, () => takers, stopping)
    loaded = await load({ ...options, config }, stopping, { memory, compaction, cluster })
    const { snapshot, refused, store, suppressions, live, keys } = loaded
    state.store = store
    state.arenas = loaded.arenas
    state.suppressionProgress = suppressions.progress
    state.changeFigures = live.figures
    state.news = refused === undefined ? {} : { refused }
    audit = startServiceAudit(config, log)
    state.auditCounters = audit?.thread.counters
    if (config.accessLog !== undefined) accessLog = startAccessLog(config.accessLog, log)
    state.accessLogCounters = accessLog?.counters
    // Before anybody is answered.
    await suppressions.attach(snapshot)
    await live.attach(snapshot)
    fronts = await startFronts(config, loaded, {
      engine,
      entrance,
      metrics: memory,
      audit: audit?.thread,
      accessLog,
      cluster,
    })
    suppressions.serve(snapshot.id)
    state.served = { snapshot, sinceMs: Date.now() }
    await suppressions.join()
    keys?.join()
    takers = { suppressions, keys }
    cluster?.join()
    if (!stopping.requested) {
      if (config.sharePort) {
        share = await sharePort(config)
        await entrance.listen()
      }
      await entrance.open(fronts)
      state.phase = 'ready'
      const { port } = entrance
      onReady({ port, snapshot, store })
      log.info({ snapshotId: snapshot.id, port, httpEngine: engine.name }, 'ready')
      audit?.started({ port, snapshot, store })
      const serving = { config, loaded, fronts, entrance, state, page, log, audit: audit?.thread }
      isToStartAgain = await serveSnapshots({ ...serving, cluster }, stopping)
    }
    state.phase = 'draining'
    log.info('draining')
    const compacted = compaction.stop()
    await entrance.stopListening()
    await drainFronts(fronts)
    await compacted
    await stopThreads()
  } catch (error) {
    if (!(error instanceof StoppedWhileLoading)) {
      await breakOff(entrance, fronts)
      if (!(await cluster?.recovers(error))) throw error
      log.error(
        { reason: withoutAdvice((error as Error).message) },
        'this machine begins with what the others have, and needs no backup',
      )
      isToStartAgain = true
      await stopThreads()
    }
  } finally {
    vitals.stop()
    await compaction.stop()
    admin?.close()
    stopReloading()
    await cluster?.stop()
    await entrance.close()
    share?.release()
  }
  return isToStartAgain && !stopping.requested
}

async function breakOff(entrance: Entrance, fronts: readonly Front[]): Promise<void> {
  await Promise.all([entrance.close(), breakOffFronts(fronts)])
}

function startFronts(
  config: Config,
  loaded: Loaded,
  { engine, entrance, metrics, audit, accessLog, cluster }: Shared,
): Promise<Front[]> {
  const { snapshot, refused, store, suppressions, live, keys } = loaded
  const { httpThreadCount, queryThreadCount, dataDirectory } = config
  const { makeChange } = cluster ?? store
  return Promise.all(
    Array.from({ length: httpThreadCount }, (_, index) => {
      const { port1, port2: changes } = new MessageChannel()
      const socket = entrance.socketOf(index)
      serveChanges(port1, { makeChange, changeSuppressions: suppressions.change })
      return startFront({
        httpEngine: engine.name,
        snapshot,
        news: refused === undefined ? {} : { refused },
        dataDirectory,
        areas: loaded.areas.news,
        changes,
        batches: live.openPort(),
        suppressionProgress: suppressions.progress,
        queryThreadCount: workersOfFront(queryThreadCount, httpThreadCount, index),
        clipsRecipients: config.clipsRecipientsToBoundary,
        corsOrigins: config.corsOrigins,
        keys: keys && { memory: keys.memory, frontIndex: index },
        takesWrites: config.takesWrites,
        publicUrl: config.publicUrl,
        unknownMembers: config.unknownMembers,
        accessLog: accessLog && {
          port: accessLog.openPort(),
          counters: accessLog.counters,
          rules: { sample: config.accessLogSample, slowMs: config.accessLogSlowMs },
        },
        audit: audit && {
          port: audit.openPort(),
          counters: audit.counters,
          hasCounts: config.auditCounts,
          hasDigests: config.auditDigests,
        },
        cluster: cluster && config.cluster && cluster.forFront(config.cluster),
        crashQueryWorkerMs: config.crashQueryWorkerMs,
        workerArgs: config.workerArgs,
        ...(socket !== undefined && { socket }),
        logLevel: config.logLevel,
        metrics,
        frontIndex: index,
      })
    }),
  )
}

/** What all front threads share. */
interface Shared {
  readonly engine: Engine
  readonly entrance: Entrance
  readonly metrics: MetricsMemory
  readonly audit: AuditThread | undefined
  readonly accessLog: AccessLogThread | undefined
  readonly cluster: ServiceCluster | undefined
}

interface Serving {
  readonly config: Config
  readonly loaded: Loaded
  readonly fronts: readonly Front[]
  readonly entrance: Entrance
  readonly state: ServiceState
  /** The metrics of the main thread. */
  readonly page: MetricSlots
  readonly log: Log
  readonly audit: AuditThread | undefined
  readonly cluster: ServiceCluster | undefined
}

/**
 * Serves this snapshot and those that follow, until the service is told to stop.
 *
 * @returns whether it is to start again
 */
async function serveSnapshots(
  { config, loaded, fronts, entrance, state, page, log, audit, cluster }: Serving,
  stopping: StopRequest,
): Promise<boolean> {
  const { snapshot: first, refused, arenas, suppressions: marks, live } = loaded
  const { dataDirectory } = config
  const gate = cluster?.snapshots
  const machine = config.cluster?.name
  const shared = { dataDirectory, machine, first, refused, arenas, fronts, marks, live, gate }
  const switching = switchSnapshots({ ...shared, state, page, log })
  loaded.areas.follow(fronts)
  cluster?.snapshots.serves(first)
  cluster?.snapshots.onRepaired(switching.retry)
  const stopKeeping = keepAudiences(dataDirectory, cluster?.audiences().knownIds, log)
  // A machine of a cluster begins anew by itself.
  const ownStore = cluster === undefined ? watchStore(loaded.store, dataDirectory) : undefined
  try {
    const optional = [audit, cluster, ownStore].flatMap((part) => part ?? [])
    const parts = [marks, live, switching, entrance, ...fronts, ...optional]
    const begunAnew = cluster === undefined ? [] : [cluster.beginAnew.then(() => true)]
    const ends = [stopping.promise.then(() => false), ...begunAnew]
    return await Promise.race([...ends, ...parts.map(({ failure }) => failure)])
  } finally {
    ownStore?.stop()
    stopKeeping()
    switching.stop()
  }
}

/** In a directory that took the place of ours, CURRENT would be followed, and suppressions, keys and contexts not. */
function watchStore(store: MainStore, dataDirectory: string) {
  let timer: NodeJS.Timeout | undefined
  const failure = new Promise<never>((_, reject) => {
    let isLooking = false
    timer = setInterval(async () => {
      // A disk that hangs is not asked again.
      if (isLooking) return
      isLooking = true
      const isReplaced = await store.isReplaced()
      isLooking = false
      if (!isReplaced) return
      const problem = `${dataDirectory} is another data directory than the one that is served: start the service again`
      reject(new OperatorError('Failed', problem))
    }, limits.snapshotPollMs).unref()
  })
  return { failure, stop: () => clearInterval(timer) }
}

/**
 * @returns the engine, and the configuration with as many HTTP threads as can listen by it
 * @throws OperatorError  when it is not there
 */
async function startEngine(config: Config, log: Log): Promise<{ engine: Engine; config: Config }> {
  const { httpEngine, httpThreadCount, tls } = config
  const engine = httpEngine === 'auto' ? await bestEngine() : await loadEngine(httpEngine)
  if (httpEngine === 'auto' && engine.name === 'node') {
    const node = process.version
    log.info({ node }, 'uWebSockets.js has no binary here, so that node:http serves, more slowly')
  }
  const frontCount = dealtFrontCount(engine, httpThreadCount, tls !== undefined)
  if (frontCount === httpThreadCount) return { engine, config }
  log.warn({ frontCount, httpThreadCount }, 'HTTP threads cannot share a port here: there is one')
  return { engine, config: { ...config, httpThreadCount: frontCount } }
}

function createEntrance(engine: Engine, config: Config, log: Log): Entrance {
  const { tls } = config
  if (tls !== undefined) return createTlsEntrance(engine, { ...config, tls }, log)
  return engine.name === 'uws'
    ? createPlainEntrance(engine, config)
    : createDealtEntrance(engine, config)
}

/**
 * Reads the files of the entrance again on SIGHUP, which ends nothing where there are none, either.
 *
 * @returns stops to do so
 */
function reloadOnHangUp(
  entrance: Entrance,
  { reopen, fronts }: { readonly reopen: () => void; readonly fronts: () => readonly Front[] },
  log: Log,
): () => void {
  const reload = () => {
    reopen()
    const news = entrance.reload()
    if (news === undefined) log.info('there is no certificate that could be read again')
    else for (const { tell } of fronts()) tell.knowCertificate(news)
  }
  process.on('SIGHUP', reload)
  return () => process.off('SIGHUP', reload)
}

/**
 * The audit of a running service, with the lines of its start and its end.
 */
interface ServiceAudit {
  readonly thread: AuditThread
  started(served: {
    readonly port: number
    readonly snapshot: Snapshot
    readonly store: Store
  }): void
  /** Resolves when all is written. */
  stopped(): Promise<void>
}

/**
 * Starts it, if the configuration asks for one.
 *
 * @throws OperatorError  when there is no such directory, and none can be made
 */
function startServiceAudit(config: Config, log: Log): ServiceAudit | undefined {
  const { auditDirectory: directory, auditKeepDays: keepDays, dataDirectory, host } = config
  if (directory === undefined) return undefined
  const thread = startAudit({ directory, keepDays, log })
  const service = { pid: process.pid, version: readVersion(), dataDirectory }
  return {
    thread,
    started({ port, snapshot, store }) {
      const suppressionVersion = store.suppressions.version()
      const served = { host, port, snapshotId: snapshot.id, suppressionVersion }
      thread.client.note(entryOf({ event: 'service', phase: 'started', ...service, ...served }))
    },
    async stopped() {
      // Behind all that the front threads noted; if it cannot be written, the log says so.
      await thread.client
        .record([entryOf({ event: 'service', phase: 'stopped', ...service })])
        .catch(() => {})
      await thread.stop()
      const { writtenCount, lostCount, refusedCount } = auditFigures(thread.counters)
      log.info({ writtenCount, lostCount, refusedCount }, 'the audit is closed')
    },
  }
}
