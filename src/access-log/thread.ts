/**
 * The main thread's end of the thread that writes an access log.
 *
 * @module
 */
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import type { Log } from '../log.js'
import type { LogNews, LogThreadData, LogThreadOrder } from './messages.js'
import { createLogCounters, type LogCounters } from './queue.js'

export interface AccessLogThread {
  readonly counters: LogCounters
  /** For another thread, which makes a `LineQueue` of it. */
  openPort(): MessagePort
  /** Opens the file of this name anew. */
  reopen(): void
  /** Writes what can be written soon. */
  stop(): Promise<void>
}

/**
 * Starts it. Nothing that becomes of it ends the service.
 *
 * @param target  a path, or `-` for standard output
 */
export function startAccessLog(target: string, log: Log): AccessLogThread {
  const counters = createLogCounters()
  const workerData: LogThreadData = { target, counters }
  const worker = new Worker(new URL('../../workers/access-log.js', import.meta.url), { workerData })
  const send = (order: LogThreadOrder, ports: MessagePort[] = []) =>
    worker.postMessage(order, ports)
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
  worker.on('message', ({ failure }: LogNews) => {
    if (failure === undefined) log.info('the access log can be written again')
    else
      log.warn(
        { reason: failure },
        'the access log cannot be written: lines wait, then are dropped',
      )
  })
  worker.once('error', ({ name }) =>
    log.error({ fault: name }, 'the thread of the access log failed'),
  )
  return {
    counters,
    openPort() {
      const { port1, port2 } = new MessageChannel()
      send({ kind: 'port', port: port1 }, [port1])
      return port2
    },
    reopen: () => send({ kind: 'reopen' }),
    async stop() {
      send({ kind: 'stop' })
      await ended
    },
  }
}
