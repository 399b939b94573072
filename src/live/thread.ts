/**
 * The thread of changes: it takes batches from all front threads, writes to the journal what came together,
 * with one sync, and answers.
 *
 * @module
 */
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { MessagePort } from 'node:worker_threads'
import { OperatorError } from '../errors.js'
import { journalDirectory } from '../journal/files.js'
import { recordBytes } from '../journal/record.js'
import { JournalWriter } from '../journal/writer.js'
import { limits } from '../limits.js'
import type { BatchOrder, BatchReply, LiveNews, LiveOrder, LiveThreadData } from './messages.js'
import { Waiting } from './waiting.js'

/** @param main  to the main thread */
export function serveLive(main: MessagePort, data: LiveThreadData): void {
  const directory = journalDirectory(data.dataDirectory)
  const tell = (news: LiveNews) => main.postMessage(news)
  const writer = new JournalWriter({
    directory,
    onSettled: (settled) => tell({ kind: 'settled', ...settled }),
  })
  const waiting = new Waiting(data.waiting)
  /** What was not written yet, in the order in which it came. */
  let queue: Sent[] = []
  let isScheduled = false
  let failure: string | undefined
  let retryTimer: NodeJS.Timeout | undefined

  main.on('message', async (order: LiveOrder) => {
    if (order.kind === 'port') order.port.on('message', (own) => take(own, order.port))
    else await stop()
  })
  start()

  /** A journal that is not there is begun with the first batch. */
  function start(): void {
    try {
      if (existsSync(directory)) writer.prepare()
    } catch (fault) {
      if (fault instanceof OperatorError) {
        tell({ kind: 'refused', code: fault.code, message: fault.message })
        return
      }
      fails(fault)
    }
    tell({ kind: 'started' })
  }

  function take(order: BatchOrder, port: MessagePort): void {
    queue.push({ ...order, port, bytes: recordBytes(order.batch) })
    if (isScheduled) return
    isScheduled = true
    // After all that has come by now.
    setImmediate(write)
  }

  function write(): void {
    isScheduled = false
    while (queue.length > 0) {
      // Until the next attempt, nobody waits for what will not be.
      if (retryTimer !== undefined) refuseAll()
      else writeGroup()
    }
  }

  function writeGroup(): void {
    const group = nextGroup(queue)
    try {
      const outcomes = writer.append(group.map(({ batch }) => batch))
      queue = queue.slice(group.length)
      for (const [at, sent] of group.entries()) answer(sent, { outcome: outcomes[at] })
      goesOn()
    } catch (fault) {
      fails(fault)
    }
  }

  function answer({ number, port, bytes }: Sent, reply: Omit<BatchReply, 'number'>): void {
    waiting.leave(bytes)
    port.postMessage({ number, ...reply } satisfies BatchReply)
  }

  function refuseAll(): void {
    for (const sent of queue) answer(sent, {})
    queue = []
  }

  function fails(fault: unknown): void {
    const { code, message } = fault as NodeJS.ErrnoException
    const reason = fault instanceof OperatorError ? message : (code ?? message)
    if (failure !== reason) tell({ kind: 'failed', reason })
    failure = reason
    refuseAll()
    retryTimer = setTimeout(async () => {
      await writer.release().catch(() => {})
      retryTimer = undefined
      tryAgain()
    }, limits.journalRetryMs)
  }

  /** Also where nothing waits, so that no batch has to be refused to find out. */
  function tryAgain(): void {
    if (queue.length > 0) return
    try {
      writer.prepare()
      goesOn()
    } catch (fault) {
      fails(fault)
    }
  }

  function goesOn(): void {
    if (failure === undefined) return
    failure = undefined
    tell({ kind: 'recovered' })
  }

  async function stop(): Promise<void> {
    // What front threads have sent may not be here yet.
    await sleep(1)
    write()
    clearTimeout(retryTimer)
    await writer.release().catch(() => {})
    process.exit()
  }
}

interface Sent extends BatchOrder {
  readonly port: MessagePort
  /** In the journal. */
  readonly bytes: number
}

/** As much as is written together. */
function nextGroup(queue: readonly Sent[]): readonly Sent[] {
  let bytes = 0
  const end = queue.findIndex((sent) => {
    bytes += sent.bytes
    return bytes > limits.journalGroupBytes
  })
  return end < 0 ? queue : queue.slice(0, end)
}
