/**
 * Entry point of a front thread: an HTTP server and the query workers behind it.
 *
 * @module
 */
import { parentPort, workerData } from 'node:worker_threads'
import { descriptionRoutes } from '../src/http/descriptions.js'
import { healthRoutes } from '../src/http/health.js'
import { operationRoutes } from '../src/http/operation-routes.js'
import { createHttpServer } from '../src/http/server.js'
import { createLog, describeFault } from '../src/log.js'
import { configurationOperations, customerBoundaryOf } from '../src/operations/configuration.js'
import { contextOperations } from '../src/operations/contexts.js'
import { frontSwap } from '../src/operations/front-swap.js'
import { startLiveCounts } from '../src/operations/live-counts.js'
import { outlineOperations } from '../src/operations/outline.js'
import { recipientOperations } from '../src/operations/recipients.js'
import { startSnapshot } from '../src/operations/start-snapshot.js'
import { suppressionOperations } from '../src/operations/suppressions.js'
import { CLIPPING_ENVIRONMENT } from '../src/outline/guards.js'
import { createClipPool } from '../src/pool/clip-pool.js'
import type { DrainMessage, FrontData, FrontMessage } from '../src/pool/messages.js'
import type { SwapOrder, SwapReport } from '../src/pool/swap-messages.js'
import { createCurrent } from '../src/selection/current.js'
import type { SnapshotNews } from '../src/snapshot/watch.js'
import { openStore } from '../src/store/open.js'
import { readVersion } from '../src/version.js'

const data = workerData as FrontData
const log = createLog(data.logLevel, { thread: 'front' })
const { queryThreadCount, corsOrigins } = data
let draining = false
let news: SnapshotNews = data.news
let closeServer = () => {}

process.on('uncaughtException', (error) => {
  log.fatal(describeFault(error), 'a front thread failed')
  // A thread that ends with a socket open would abort the process before the log is read.
  closeServer()
  post({ kind: 'failed', reason: error.name })
})

const store = openStore(data.dataDirectory, data.changes)
const start = (snapshot: FrontData['snapshot']) =>
  startSnapshot(snapshot, {
    workerUrl: new URL('./query.js', import.meta.url).href,
    queryThreadCount,
    countMode: store.countMode,
    log,
  })
const current = createCurrent(await start(data.snapshot))
const swap = frontSwap({ current, start, report: post, log })
const catalogueOf = () => current.newest.service.catalogue
const clipPool = createClipPool({
  workerUrl: new URL('./clip.js', import.meta.url).href,
  environment: CLIPPING_ENVIRONMENT,
  log,
})
const { suppressionProgress } = data
const counts = startLiveCounts({ store, current, suppressionProgress, log })
const executors = {
  ...configurationOperations(store),
  ...contextOperations(store, counts),
  ...recipientOperations(current),
  ...suppressionOperations(store, () => catalogueOf().sources),
  ...outlineOperations({
    get catalogue() {
      return catalogueOf()
    },
    runner: clipPool,
    boundary: customerBoundaryOf(store),
  }),
}
const server = createHttpServer({
  routes: [
    ...descriptionRoutes(readVersion()),
    ...operationRoutes(executors, corsOrigins),
    ...healthRoutes(
      () => (draining ? 'draining' : undefined),
      () => ({ snapshotId: catalogueOf().snapshotId, ...news }),
    ),
  ],
  log,
  corsOrigins,
  isFull: (bodyBytes) => current.newest.pool.isFull(bodyBytes),
})
closeServer = () => server.close()
const crashTimer = startCrashing()

parentPort?.on('message', async (message: DrainMessage | SwapOrder) => {
  // What is prepared is discarded with everything else.
  if (draining) return
  if (message.kind === 'drain') await drain(message)
  else if (message.kind === 'news') news = message.news
  else await swap.carryOut(message)
})

post({ kind: 'ready', descriptor: server.descriptor() })

async function drain(times: DrainMessage): Promise<void> {
  draining = true
  clearInterval(crashTimer)
  const brokenOffCount = await server.shutDown(times)
  if (brokenOffCount > 0) log.warn({ brokenOffCount }, 'requests were broken off')
  counts.stop()
  await Promise.all([swap.close(), clipPool.close()])
  await store.close()
  parentPort?.close()
}

function post(message: FrontMessage | SwapReport): void {
  parentPort?.postMessage(message)
}

function startCrashing(): NodeJS.Timeout | undefined {
  if (data.crashQueryWorkerMs === 0) return undefined
  log.warn({ everyMs: data.crashQueryWorkerMs }, 'query workers are crashed on purpose')
  return setInterval(() => void current.newest.pool.crashWorker(), data.crashQueryWorkerMs)
}
