/**
 * A front thread: an HTTP server, the operations, and the query workers behind them. It follows the
 * orders of the main thread, and ends when it is drained.
 *
 * @module
 */
import type { MessagePort } from 'node:worker_threads'
import { LineQueue } from '../access-log/queue.js'
import { startAudiences } from '../audiences/audiences.js'
import { clusteredAudiences, requestSharedAudiences } from '../audiences/clustered.js'
import { auditClient } from '../audit/client.js'
import type { ChangeRules } from '../changes/change.js'
import { type Gazetteer, openVersion } from '../gazetteer/gazetteer.js'
import { AccessLog } from '../http/access-log.js'
import { AuditTrail } from '../http/audit-trail.js'
import { KeyGuard } from '../http/authenticate.js'
import { loadEngine } from '../http/engine/choose.js'
import { watchRoutes } from '../http/events.js'
import { ogcRoutes } from '../http/ogc/routes.js'
import { operationRoutes } from '../http/operation-routes.js'
import { HttpServer } from '../http/server.js'
import { descriptionRoutes, healthRoutes } from '../http/service-routes.js'
import { followKeys } from '../keys/key-ring.js'
import { limits } from '../limits.js'
import { changesClient } from '../live/client.js'
import { createLineLog, createLog, describeFault } from '../log.js'
import { frontPage, slotOf } from '../metrics/memory.js'
import { startVitals } from '../metrics/vitals.js'
import { alertChangeOperations } from '../operations/alerts/alert-changes.js'
import { alertOperations } from '../operations/alerts/alerts.js'
import { areaOperations } from '../operations/areas.js'
import { audienceOperations } from '../operations/audiences.js'
import { type ChangeSink, changeOperations } from '../operations/changes.js'
import { configurationOperations, customerBoundaryOf } from '../operations/configuration.js'
import { startContextWatches } from '../operations/context-watches.js'
import { contextOperations, contextReader } from '../operations/contexts.js'
import { areaCollections } from '../operations/features/areas.js'
import { contextCollections } from '../operations/features/contexts.js'
import { gridOperations } from '../operations/grid.js'
import { startLiveCounts } from '../operations/live-counts.js'
import {
  outlineOperations,
  recipientOperations,
  sourceOperations,
} from '../operations/selections.js'
import { suppressionOperations } from '../operations/suppressions.js'
import { CLIPPING_ENVIRONMENT } from '../outline/outline.js'
import { ClipPool } from '../pool/clip.js'
import { createBoundaryRule } from '../selection/boundary.js'
import type { Catalogue } from '../selection/catalogue.js'
import type { Snapshot } from '../snapshot/snapshot.js'
import { openStore } from '../store/store.js'
import { appliedVersion, effectiveVersion } from '../suppressions/progress.js'
import { callsOver } from '../threads/calls.js'
import { PeerReader } from '../tls/peers.js'
import { readVersion } from '../version.js'
import { freshnessOf, unreadyReason } from './freshness.js'
import { FrontRegions } from './front-regions.js'
import { startSnapshot } from './front-start.js'
import { warmAreas } from './front-warm-areas.js'
import type { DrainTimes, FrontCalls, FrontData, FrontNews } from './messages.js'
import { createCurrent, snapshotCalls } from './served-snapshots.js'

/**
 * Starts the thread, and reports `ready`.
 *
 * @param port  to the main thread; closed when the thread is drained
 */
export async function runFront(port: MessagePort, data: FrontData): Promise<void> {
  const { dataDirectory, queryThreadCount, workerArgs, corsOrigins, unknownMembers } = data
  const { suppressionProgress, metrics, frontIndex } = data
  const page = frontPage(metrics, frontIndex)
  const vitals = startVitals(page)
  const log = createLog(data.logLevel, { thread: 'front' })
  // The main thread calls nothing before it is ready.
  const own: Partial<FrontCalls> = {}
  const main = callsOver<FrontNews>(port, own)
  let closeServer = () => {}
  let isDraining = false
  let { news } = data
  const { socket } = data
  let tls = socket?.news
  let areasNews = data.areas

  process.on('uncaughtException', (error) => {
    log.fatal(describeFault(error), 'a front thread failed')
    // A thread that ends with a socket open would abort the process before the log is read.
    closeServer()
    main.tell.threadFailed(error.name)
  })

  const areas = new FrontAreas(dataDirectory)
  if (areasNews.version !== undefined) areas.take(areasNews.version)
  const store = openStore(dataDirectory, data.changes)
  const keys = data.keys && followKeys({ keys: store.keys, ...data.keys, log })
  const countMode = onceATurn(store.countMode)
  const boundaryRule = createBoundaryRule(
    onceATurn(customerBoundaryOf(store)),
    data.clipsRecipients,
  )
  const freshness =
    data.cluster && freshnessOf(data.cluster, () => data.cluster?.applied[frontIndex] ?? 0)
  const regions =
    data.cluster && freshness && new FrontRegions({ ...data.cluster, frontIndex, freshness, log })
  const changes = changesClient(data.batches)
  let noteApplied = () => {}
  const start = (snapshot: Snapshot) =>
    startSnapshot(snapshot, {
      workerUrl: QUERY_WORKER,
      workerArgs,
      queryThreadCount,
      countMode,
      boundaryRule,
      unknownMembers,
      freshness,
      areas: () => areas.current(),
      // This machine does not know how far other machines have marked the recipients that they hold.
      suppressionVersion:
        regions === undefined ? () => effectiveVersion(suppressionProgress) : undefined,
      metrics,
      page,
      follow: changes.follow,
      onApplied: () => noteApplied(),
      regions,
      log,
    })
  const current = createCurrent(await start(data.snapshot))
  const catalogueOf = () => current.newest.service.catalogue
  noteApplied = () => {
    if (data.cluster !== undefined) data.cluster.applied[frontIndex] = catalogueOf().sequence
  }
  noteApplied()
  const snapshots = snapshotCalls({ current, start, onSwitched: () => noteApplied(), log })
  const clipPool = new ClipPool({
    workerUrl: CLIP_WORKER,
    workerArgs,
    environment: CLIPPING_ENVIRONMENT,
    workerData: { metrics, frontIndex },
    page,
    log,
  })
  const counts = startLiveCounts({ store, current, suppressionProgress, log })
  const read = contextReader(store, counts, freshness)
  const watches = startContextWatches({
    store,
    counts,
    read,
    freshness,
    log,
    onSent: () => page[WATCH_EVENTS]++,
  })
  const ownAudiences = startAudiences({
    dataDirectory,
    isShared: data.cluster !== undefined,
    log,
  })
  const audiences =
    data.cluster === undefined
      ? ownAudiences
      : clusteredAudiences({
          own: ownAudiences,
          shared: requestSharedAudiences(data.cluster.audiences),
          isLagging: () => freshness?.lagSeconds() !== undefined,
        })
  const sink: ChangeSink = {
    append: changes.append,
    absentCountOf: changes.absentCountOf,
    sourceOf: (id) => changeableSource(catalogueOf(), id),
  }
  const executors = {
    ...configurationOperations(store, unknownMembers),
    ...contextOperations(store, read, unknownMembers),
    ...alertOperations({
      store,
      read,
      areas: () => areas.current(),
      runner: clipPool,
      unknownMembers,
    }),
    ...alertChangeOperations({ store, current, unknownMembers }),
    ...recipientOperations(current),
    ...gridOperations(current),
    ...audienceOperations({
      audiences,
      current,
      // Another machine may have marked less of what it holds: then the first look at an audience is at all changes.
      suppressionVersion: () => (regions === undefined ? appliedVersion(suppressionProgress) : 0),
      unknownMembers,
    }),
    ...sourceOperations(current),
    ...areaOperations(() => areas.current(), unknownMembers),
    ...changeOperations(sink),
    ...suppressionOperations(store, () => catalogueOf().sources),
    ...outlineOperations({
      get catalogue() {
        return catalogueOf()
      },
      runner: clipPool,
      areas: () => areas.current(),
      boundaryRule,
      unknownMembers,
    }),
  }
  const { trail, accessLog, flush } = frontRecords(data)
  const server = new HttpServer({
    engine: await loadEngine(data.httpEngine),
    page,
    routes: [
      ...descriptionRoutes(readVersion(), data.publicUrl),
      ...watchRoutes(watches, unknownMembers),
      ...ogcRoutes({
        version: readVersion(),
        publicUrl: data.publicUrl,
        collections: [
          areaCollections({ current, areas: () => areas.current() }),
          contextCollections(store, read),
        ],
        freshness,
        trail,
      }),
      ...operationRoutes(executors, trail),
      ...healthRoutes(
        () => unreadyReason(isDraining, freshness),
        () => ({
          snapshotId: catalogueOf().snapshotId,
          ...news,
          areas: areasNews.refused && areasNews,
          boundaryFault: boundaryRule.fault(),
          tls,
        }),
      ),
    ],
    log,
    admission: {
      keys: keys && new KeyGuard({ keys, log, page }),
      takesWrites: data.takesWrites,
      publicOrigin: data.publicUrl === undefined ? undefined : new URL(data.publicUrl).origin,
    },
    corsOrigins,
    trail,
    accessLog,
    watcherCount: () => watches.watcherCount,
    isFull: (bodyBytes) => current.newest.pool.isFull(bodyBytes),
    peers: socket && new PeerReader(socket.peers),
  })
  if (socket !== undefined) await server.listenOnPath(socket.path)
  closeServer = () => server.close()
  const crashTimer = startCrashing()
  const heldTimer = setInterval(() => {
    page[HELD_BODY_BYTES] = server.heldBodyBytes
    page[WATCHERS] = watches.watcherCount
    page[MASK_BYTES] = current.newest.views.keptMaskBytes()
  }, limits.heldToldMs).unref()

  // In a cluster, this would ask other machines for the recipients that they hold.
  const stopWarming =
    regions === undefined ? warmAreas({ current, areas: () => areas.current(), log }) : () => {}

  const calls: FrontCalls = {
    ...snapshots,
    knowSnapshots(known) {
      news = known
    },
    knowCertificate(known) {
      tls = known
    },
    knowAreas(known) {
      areasNews = known
    },
    takeAreas(next) {
      areas.take(next.version ?? '')
      areasNews = next
    },
    async listen(address) {
      await server.listen(address)
    },
    stop: drain,
  }
  Object.assign(own, calls)
  main.tell.ready(server.descriptor())

  async function drain({ quietMs, deadlineMs }: DrainTimes): Promise<void> {
    if (isDraining) return
    isDraining = true
    for (const name of Object.keys(calls)) Object.assign(own, { [name]: unanswered })
    clearInterval(crashTimer)
    clearInterval(heldTimer)
    vitals.stop()
    watches.stop()
    stopWarming()
    const brokenOffCount = await server.shutDown({ quietMs, deadlineMs })
    if (brokenOffCount > 0) log.warn({ brokenOffCount }, 'requests were broken off')
    flush()
    counts.stop()
    keys?.stop()
    regions?.end()
    await Promise.all([snapshots.close(), clipPool.close(), audiences.close(), areas.close()])
    await regions?.close()
    await store.close()
    port.close()
  }

  function startCrashing(): NodeJS.Timeout | undefined {
    const everyMs = data.crashQueryWorkerMs
    if (everyMs === 0) return undefined
    log.warn({ everyMs }, 'query workers are crashed on purpose')
    return setInterval(() => void current.newest.pool.crashWorker(), everyMs)
  }
}

/** A prepared snapshot is discarded with everything else. */
const unanswered = () => new Promise<never>(() => {})

const HELD_BODY_BYTES = slotOf('hickory_held_body_bytes')
const MASK_BYTES = slotOf('hickory_mask_bytes')
const WATCHERS = slotOf('hickory_watchers')
const WATCH_EVENTS = slotOf('hickory_watch_events_total')

const QUERY_WORKER = new URL('../../workers/query.js', import.meta.url).href
const CLIP_WORKER = new URL('../../workers/clip.js', import.meta.url).href

/** @returns undefined where there is no such source */
function changeableSource(
  { sources }: Pick<Catalogue, 'sources'>,
  id: number,
): { readonly rules: ChangeRules | undefined; readonly recipientCount: number } | undefined {
  const source = sources.find((each) => each.id === id)
  if (source === undefined) return undefined
  const { hasKeys, recipientCount = 0 } = source
  if (hasKeys === undefined) return { rules: undefined, recipientCount }
  // A snapshot does not say how its numbers were normalized, so that they are taken as they come.
  return { rules: { hasKeys, allowsNullIsland: false, numbers: undefined }, recipientCount }
}

/**
 * The gazetteer as a front thread has it.
 */
class FrontAreas {
  readonly #dataDirectory: string
  readonly #releaseMs: number
  #current: Gazetteer | undefined
  /** Replaced, and perhaps still read by requests that began with them. */
  readonly #old = new Map<Gazetteer, NodeJS.Timeout>()

  constructor(dataDirectory: string, releaseMs = limits.gazetteerReleaseMs) {
    this.#dataDirectory = dataDirectory
    this.#releaseMs = releaseMs
  }

  /** A request asks once, and keeps what it gets. Undefined without a gazetteer. */
  current(): Gazetteer | undefined {
    return this.#current
  }

  /**
   * Opens a version that the main thread has verified, and answers from it.
   *
   * @throws  where it cannot be opened; the one before stays then
   */
  take(version: string): void {
    const last = this.#current
    if (last?.version === version) return
    this.#current = openVersion(this.#dataDirectory, version)
    if (last === undefined) return
    const timer = setTimeout(() => {
      this.#old.delete(last)
      void last.close()
    }, this.#releaseMs)
    this.#old.set(last, timer.unref())
  }

  async close(): Promise<void> {
    for (const timer of this.#old.values()) clearTimeout(timer)
    const all = [...this.#old.keys(), ...(this.#current === undefined ? [] : [this.#current])]
    this.#old.clear()
    await Promise.all(all.map((each) => each.close()))
  }
}

interface FrontRecords {
  readonly trail: AuditTrail | undefined
  readonly accessLog: AccessLog | undefined
  /** Sends what has gathered; to be called when no request follows. */
  flush(): void
}

/** What a front thread records of requests, for the audit and for the access log. */
function frontRecords({
  audit,
  accessLog,
  suppressionProgress,
}: Pick<FrontData, 'audit' | 'accessLog' | 'suppressionProgress'>): FrontRecords {
  const queue = accessLog && new LineQueue(accessLog.port, accessLog.counters)
  return {
    trail:
      audit &&
      new AuditTrail({
        client: auditClient(audit.port, audit.counters),
        hasCounts: audit.hasCounts,
        hasDigests: audit.hasDigests,
        suppressionVersion: () => appliedVersion(suppressionProgress),
      }),
    accessLog:
      queue &&
      accessLog &&
      new AccessLog(
        createLineLog((line) => queue.add(line)),
        accessLog.rules,
      ),
    flush: () => queue?.flush(),
  }
}

/** Asks again in the next turn of the event loop, in which a change is seen early enough. */
function onceATurn<Value>(ask: () => Value): () => Value {
  let known: { readonly value: Value } | undefined
  const forget = () => {
    known = undefined
  }
  return () => {
    if (known === undefined) {
      known = { value: ask() }
      setImmediate(forget)
    }
    return known.value
  }
}
