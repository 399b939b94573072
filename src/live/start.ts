/**
 * The main thread's end of the thread of changes.
 *
 * @module
 */
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import { OperatorError } from '../errors.js'
import type { Log } from '../log.js'
import type { ChangePort } from './desk.js'
import type { LiveNews, LiveOrder, LiveThreadData } from './messages.js'
import { createWaiting } from './waiting.js'

export interface LiveThread {
  /** For a front thread, which makes a `ChangeDesk` of it. */
  openPort(): ChangePort
  /** Rejects when the thread fails; never resolves. */
  readonly failure: Promise<never>
  /** Writes what waits. */
  stop(): Promise<void>
}

/**
 * Resolves when batches are taken.
 *
 * @throws OperatorError  JournalDamaged, as a rejection. A disk that is full is no reason not to start
 */
export async function startLive(dataDirectory: string, log: Log): Promise<LiveThread> {
  const waiting = createWaiting()
  const workerData: LiveThreadData = { dataDirectory, waiting }
  const worker = new Worker(new URL('../../workers/changes.js', import.meta.url), { workerData })
  const send = (order: LiveOrder, ports: MessagePort[] = []) => worker.postMessage(order, ports)
  let isStopping = false
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
  const failure = new Promise<never>((_, reject) => {
    const fail = (reason: string) =>
      reject(new OperatorError('Failed', `the thread of changes failed: ${reason}`))
    // Its message could quote what it was working on.
    worker.once('error', ({ name }) => fail(name))
    worker.once('exit', (code) => {
      if (!isStopping) fail(`it ended with code ${code}`)
    })
  })
  failure.catch(() => {})
  const stop = async () => {
    isStopping = true
    send({ kind: 'stop' })
    await ended
  }
  const started = new Promise<void>((resolve, reject) => {
    worker.on('message', (news: LiveNews) => {
      if (news.kind === 'started') resolve()
      else if (news.kind === 'refused') reject(new OperatorError(news.code, news.message))
      else tell(news, log)
    })
  })
  try {
    await Promise.race([started, failure])
  } catch (fault) {
    await stop()
    throw fault
  }
  return {
    openPort() {
      const { port1, port2 } = new MessageChannel()
      send({ kind: 'port', port: port1 }, [port1])
      return { port: port2, waiting }
    },
    failure,
    stop,
  }
}

function tell(news: Exclude<LiveNews, { kind: 'started' | 'refused' }>, log: Log): void {
  if (news.kind === 'failed') {
    const message = 'the journal of changes cannot be written: changes are refused until it can'
    log.error({ reason: news.reason }, message)
  } else if (news.kind === 'recovered') log.warn('the journal of changes can be written again')
  else {
    const { takenBatchCount, cutBytes } = news
    log.warn({ takenBatchCount, cutBytes }, 'a writer of the journal of changes died')
  }
}
