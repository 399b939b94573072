/**
 * Entry point of a front thread: an HTTP server and the query workers behind it.
 *
 * @module
 */
import { parentPort, workerData } from 'node:worker_threads'
import { documentRoutes } from '../src/http/documents.js'
import { healthRoutes } from '../src/http/health.js'
import { recipientRoutes } from '../src/http/recipients.js'
import { createHttpServer } from '../src/http/server.js'
import { limits } from '../src/limits.js'
import { createLog } from '../src/log.js'
import type { DrainMessage, FrontData, FrontMessage } from '../src/pool/messages.js'
import { startQueryPool } from '../src/pool/query-pool.js'
import { createDocuments } from '../src/store/documents.js'

const data = workerData as FrontData
const log = createLog(data.logLevel, { thread: 'front' })
const { snapshot, documents, queryThreadCount } = data
let draining = false

process.on('uncaughtException', (error) => {
  log.fatal({ reason: error.message, frames: error.stack }, 'a front thread failed')
  // A thread that ends with a socket open would abort the process before the log is read.
  server?.close()
  post({ kind: 'failed', reason: error.message })
})

const pool = await startQueryPool({
  workerUrl: new URL('./query.js', import.meta.url).href,
  threadCount: queryThreadCount,
  shards: snapshot.shards,
  log,
})
const service = {
  catalogue: { snapshotId: snapshot.id, sources: snapshot.sources, shards: snapshot.shards },
  runner: pool,
  queryThreadCount,
  countMode: documents.countMode,
}
const server = createHttpServer({
  routes: [
    ...recipientRoutes(service),
    ...documentRoutes(createDocuments(documents)),
    ...healthRoutes(() => (draining ? 'draining' : undefined)),
  ],
  log,
})
const crashTimer = startCrashing()

parentPort?.on('message', async (message: DrainMessage) => {
  if (message.kind !== 'drain' || draining) return
  draining = true
  clearInterval(crashTimer)
  const times = { quietMs: limits.drainQuietMs, deadlineMs: limits.drainMs }
  const brokenOffCount = await server.shutDown(times)
  if (brokenOffCount > 0) log.warn({ brokenOffCount }, 'requests were broken off')
  await pool.close()
  parentPort?.close()
})

post({ kind: 'ready', descriptor: server.descriptor() })

function post(message: FrontMessage): void {
  parentPort?.postMessage(message)
}

function startCrashing(): NodeJS.Timeout | undefined {
  if (data.crashQueryWorkerMs === 0) return undefined
  log.warn({ everyMs: data.crashQueryWorkerMs }, 'query workers are crashed on purpose')
  return setInterval(() => void pool.crashWorker(), data.crashQueryWorkerMs)
}
