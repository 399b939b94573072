/**
 * `hickory serve`: the snapshot of a data directory, over HTTP.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { MessageChannel, Worker } from 'node:worker_threads'
import { Command } from 'commander'
import { type Config, type Flags, readConfig } from '../config.js'
import { OperatorError } from '../errors.js'
import { type Acceptor, listen } from '../http/acceptor.js'
import { limits } from '../limits.js'
import { createLog, type Log } from '../log.js'
import type { DrainMessage, FrontData, FrontMessage } from '../pool/messages.js'
import { type ArenaPool, createArenaPool } from '../shard/arena-pool.js'
import { type OpenedSnapshot, openOrFallBack } from '../snapshot/fall-back.js'
import { serveChanges } from '../store/change-port.js'
import { createStore, type MainStore } from '../store/create.js'
import { type Suppressions, startSuppressions } from '../suppressions/suppressions.js'
import { exampleRequest } from './example-request.js'
import { endOnUncaught } from './last-resort.js'
import { print, startProgress } from './output.js'
import { makeSample, needsSample } from './sample.js'
import { LOADER_URL, swapSnapshots } from './swap-snapshots.js'

export function serveCommand(): Command {
  return new Command('serve')
    .description('answer who is inside which shape, over HTTP')
    .option('--data <DIR>', 'data directory (HICKORY_DATA; default ./data/local)')
    .option('--host <ADDRESS>', 'address to listen on (HICKORY_HOST; default 127.0.0.1)')
    .option('--port <PORT>', 'port to listen on, 0 for any free one (HICKORY_PORT; default 8080)')
    .option('--share-port', 'let a second process listen on the same port (HICKORY_SHARE_PORT)')
    .option('--http-threads <N>', 'threads that speak HTTP (HICKORY_HTTP_THREADS)')
    .option('--query-threads <N>', 'query workers, over all HTTP threads (HICKORY_QUERY_THREADS)')
    .option('--cors-origins <LIST>', 'origins whose pages may read answers (HICKORY_CORS_ORIGINS)')
    .option('--log-level <LEVEL>', 'trace, debug, info, warn, error, fatal or silent')
    .option('--config <FILE>', 'JSON file with the same settings (HICKORY_CONFIG)')
    .option('--sample', 'make sample data first if the data directory is empty')
    .option('--crash-query-worker-ms <MS>', 'kill a query worker every so often, for tests only')
    .addHelpText('after', HELP_TAIL)
    .action(serve)
}

const HELP_TAIL = `
A flag wins over its environment variable, that over the configuration file. SIGTERM and SIGINT
stop the service once what it is answering is answered.

Example:
  $ hickory import --data ./data/local --source 1 --label Residents recipients.csv
  $ hickory serve --data ./data/local --port 8080
`

/** What commander gives for flags that have no value. */
type Switches = { readonly sample?: never; readonly sharePort?: never }

async function serve({ sample, sharePort, ...values }: Flags & Switches): Promise<void> {
  const config = readConfig(sharePort === true ? { ...values, sharePort: 'true' } : values)
  const log = createLog(config.logLevel)
  const stopping = stopRequest()
  const address = { host: config.host, port: config.port, exclusive: !config.sharePort }
  // Taken before anything is loaded: until there are fronts, it answers 503 by itself. A port that is
  // shared is taken last, since the other process answers there meanwhile.
  let acceptor = config.sharePort ? undefined : await listen(address)
  let fronts: readonly Front[] = []
  endOnUncaught(log, () => breakOff(acceptor, fronts))
  try {
    const loaded = await load(config, log, stopping, sample === true)
    const { suppressions } = loaded
    // Marks are set while threads start, and before anybody is answered.
    const attached = suppressions.attach(loaded.snapshot)
    attached.catch(() => {})
    fronts = await startFronts(config, loaded)
    await attached
    suppressions.serve(loaded.snapshot.id)
    await suppressions.join()
    if (!stopping.requested) {
      acceptor ??= await listen(address)
      for (const front of fronts) acceptor.addFront(front.descriptor)
      announce(config.host, acceptor.port, loaded)
      log.info({ snapshotId: loaded.snapshot.id, port: acceptor.port }, 'ready')
      await serveSnapshots(config, loaded, fronts, log, stopping)
    }
    log.info('draining')
    await stop(acceptor, fronts)
    await suppressions.stop()
    await loaded.store.close()
  } catch (error) {
    if (!(error instanceof StoppedWhileLoading)) {
      await breakOff(acceptor, fronts)
      throw error
    }
  } finally {
    acceptor?.close()
  }
  log.info('stopped')
}

/** Serves this snapshot and those that follow, until somebody wishes it to stop. */
async function serveSnapshots(
  { dataDirectory }: Config,
  { snapshot: first, refused, arenas, suppressions: marks }: Loaded,
  fronts: readonly Front[],
  log: Log,
  stopping: StopRequest,
): Promise<void> {
  const workers = fronts.map(({ worker }) => worker)
  const options = { dataDirectory, first, refused, arenas, fronts: workers, marks, log }
  const swaps = swapSnapshots(options)
  try {
    const failures = [marks.failure, ...fronts.map((front) => front.failure)]
    await Promise.race([stopping.promise, ...failures])
  } finally {
    swaps.stop()
  }
}

interface StopRequest {
  readonly requested: boolean
  readonly signal: AbortSignal
  readonly promise: Promise<void>
}

/** SIGTERM or SIGINT, as soon as it comes; a second one ends the process at once. */
function stopRequest(): StopRequest {
  const stopping = new AbortController()
  const { signal } = stopping
  const request = { requested: false, signal, promise: Promise.resolve() }
  request.promise = new Promise((resolve) => {
    const signals = ['SIGTERM', 'SIGINT'] as const
    const stop = () => {
      // Whichever of them comes next does what it does by itself.
      for (const signal of signals) process.off(signal, stop)
      request.requested = true
      stopping.abort()
      resolve()
    }
    for (const signal of signals) process.on(signal, stop)
  })
  return request
}

/** Thrown out of long work when it is no longer wanted. */
class StoppedWhileLoading extends Error {}

interface Loaded extends OpenedSnapshot {
  /** What the snapshot lies in, and those that follow. */
  readonly arenas: ArenaPool
  readonly store: MainStore
  readonly suppressions: Suppressions
}

async function load(
  { dataDirectory, queryThreadCount }: Config,
  log: Log,
  stopping: StopRequest,
  sampleWanted: boolean,
): Promise<Loaded> {
  const goOn = () => {
    if (stopping.requested) throw new StoppedWhileLoading()
  }
  if (sampleWanted && needsSample(dataDirectory)) await makeSample(dataDirectory, log, goOn)
  const arenas = createArenaPool(queryThreadCount)
  try {
    const opened = await open(dataDirectory, arenas, log, stopping.signal)
    goOn()
    const store = await createStore(dataDirectory, log)
    const suppressions = startSuppressions({ dataDirectory, store, log })
    return { ...opened, arenas, store, suppressions }
  } catch (error) {
    // Loading that was given up is a failure like any other.
    goOn()
    throw error
  }
}

async function open(
  dataDirectory: string,
  arenas: ArenaPool,
  log: Log,
  stopping: AbortSignal,
): Promise<OpenedSnapshot> {
  let progress: ReturnType<typeof startProgress> | undefined
  const onProgress = (doneBytes: number, totalBytes: number) => {
    progress ??= startProgress(log, 'loading the snapshot', totalBytes, 'bytes')
    progress.update(doneBytes)
  }
  try {
    const options = { arenas, log, loaderUrl: LOADER_URL, stopping, onProgress }
    return await openOrFallBack(dataDirectory, options)
  } finally {
    progress?.stop()
  }
}

interface Front {
  readonly worker: Worker
  readonly descriptor: number
  /** Rejects when the thread fails; never resolves. */
  readonly failure: Promise<never>
  readonly ended: Promise<void>
}

function startFronts(config: Config, loaded: Loaded): Promise<Front[]> {
  const { snapshot, refused, store, suppressions } = loaded
  const { httpThreadCount, queryThreadCount, dataDirectory } = config
  const { makeChange } = store
  return Promise.all(
    Array.from({ length: httpThreadCount }, (_, index) => {
      const { port1, port2: changes } = new MessageChannel()
      serveChanges(port1, { makeChange, takeSuppressions: suppressions.take })
      return startFront({
        snapshot,
        news: refused === undefined ? {} : { refused },
        dataDirectory,
        changes,
        suppressionProgress: suppressions.progress,
        // Dealt out one by one, so that the first fronts get what does not divide evenly.
        queryThreadCount: Math.ceil((queryThreadCount - index) / httpThreadCount),
        corsOrigins: config.corsOrigins,
        crashQueryWorkerMs: config.crashQueryWorkerMs,
        logLevel: config.logLevel,
      })
    }),
  )
}

async function startFront(workerData: FrontData): Promise<Front> {
  const worker = new Worker(new URL('../../workers/front.js', import.meta.url), {
    workerData,
    transferList: [workerData.changes],
  })
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
  let fail: (error: Error) => void = () => {}
  const failure = new Promise<never>((_, reject) => {
    fail = (error) => reject(new OperatorError('Failed', `a front thread failed: ${error.message}`))
  })
  failure.catch(() => {})
  const descriptor = await new Promise<number>((resolve, reject) => {
    failure.catch(reject)
    worker.once('error', fail)
    worker.once('exit', (code) => fail(new Error(`it ended with code ${code}`)))
    worker.on('message', (message: FrontMessage) => {
      if (message.kind === 'ready') resolve(message.descriptor)
      if (message.kind === 'failed') fail(new Error(message.reason))
    })
  })
  return { worker, descriptor, failure, ended }
}

async function stop(acceptor: Acceptor | undefined, fronts: readonly Front[]): Promise<void> {
  await acceptor?.stopListening()
  const times = { quietMs: limits.drainQuietMs, deadlineMs: limits.drainMs }
  if (await end(fronts, times, limits.stopMs)) return
  throw new OperatorError('Failed', `front threads did not end in ${limits.stopMs} ms`)
}

/** Closes all connections at once: a thread that ends with one open aborts the process. */
async function breakOff(acceptor: Acceptor | undefined, fronts: readonly Front[]): Promise<void> {
  acceptor?.close()
  await end(fronts, { quietMs: 0, deadlineMs: 0 }, limits.breakOffMs)
}

/** @returns whether all have ended in time */
async function end(
  fronts: readonly Front[],
  times: Omit<DrainMessage, 'kind'>,
  waitMs: number,
): Promise<boolean> {
  const drain: DrainMessage = { kind: 'drain', ...times }
  for (const { worker } of fronts) worker.postMessage(drain)
  const ended = Promise.all(fronts.map((front) => front.ended)).then(() => true)
  return await Promise.race([ended, sleep(waitMs, false, { ref: false })])
}

function announce(host: string, port: number, { snapshot, store }: Loaded): void {
  const recipients = snapshot.sources.reduce((sum, source) => sum + source.recipientCount, 0)
  const address = `http://${host.includes(':') ? `[${host}]` : host}:${port}`
  print(
    `Hickory serves ${recipients} recipients of ${snapshot.sources.length} sources at ${address}`,
  )
  print(`(snapshot ${snapshot.id}). Try:`)
  print()
  const body = JSON.stringify(exampleRequest(snapshot, store))
  print(`curl -s ${address}/api/recipients -H 'Content-Type: application/json' -d '${body}'`)
  print()
}
