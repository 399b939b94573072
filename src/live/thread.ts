/**
 * The thread of changes: it takes batches from all front threads, writes to the journal what came together,
 * with one sync, and answers.
 *
 * @module
 */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { MessagePort } from 'node:worker_threads'
import { OperatorError } from '../errors.js'
import { journalDirectory } from '../journal/files.js'
import { recordBytes } from '../journal/record.js'
import { JournalWriter } from '../journal/writer.js'
import { limits } from '../limits.js'
import { Questions } from '../questions.js'
import type { Increment } from '../shard/delta/increment.js'
import type { Snapshot } from '../snapshot/snapshot.js'
import type { ChangedRecipients } from '../suppressions/changed-recipients.js'
import { AttachedSnapshot } from './attached-snapshot.js'
import { writeFigures } from './figures.js'
import type {
  BatchOrder,
  BatchReply,
  FrontMessage,
  IncrementNews,
  LiveFault,
  LiveNews,
  LiveOrder,
  LiveThreadData,
} from './messages.js'
import { Waiting } from './waiting.js'

/** @param main  to the main thread */
export function serveLive(main: MessagePort, data: LiveThreadData): void {
  const directory = journalDirectory(data.dataDirectory)
  const tell = (news: LiveNews) => main.postMessage(news)
  const writer = new JournalWriter({
    directory,
    // Of the newest snapshot: the others are on their way out.
    leastSequence: () => [...attached.values()].at(-1)?.knownSequence ?? 0,
    onSettled: (settled) => tell({ kind: 'settled', ...settled }),
  })
  const waiting = new Waiting(data.waiting)
  const marking = new Questions<undefined>()
  data.marks.on('message', (number: number) => marking.settle(number, undefined))
  /** By id, in the order in which they were attached. */
  const attached = new Map<string, AttachedSnapshot>()
  /** What was not written yet, in the order in which it came. */
  let queue: Sent[] = []
  /** Batches that this thread wrote, and perhaps has not applied yet. */
  let unapplied: { readonly sequence: number; readonly changeCount: number }[] = []
  let isScheduled = false
  let failure: string | undefined
  let retryTimer: NodeJS.Timeout | undefined

  main.on('message', async (order: LiveOrder) => {
    switch (order.kind) {
      case 'port':
        return serveFront(order.port)
      case 'attach':
        return done(order.ticket, () => attach(order.snapshot))
      case 'detach':
        return done(order.ticket, () => detach(order.snapshotId))
      case 'stop':
        return stop()
    }
  })
  start()

  async function done(ticket: number, work: () => Promise<void>): Promise<void> {
    try {
      await work()
      tell({ kind: 'done', ticket })
    } catch (fault) {
      tell({ kind: 'done', ticket, fault: liveFault(fault) })
    }
  }

  async function attach(snapshot: Snapshot): Promise<void> {
    const own = new AttachedSnapshot({
      dataDirectory: data.dataDirectory,
      snapshot,
      mark: (snapshotId, increment) => mark(snapshotId, increment, snapshot),
      onTold: noteFigures,
      onFull: (snapshotId) => tell({ kind: 'full', snapshotId }),
      onDue: () => tell({ kind: 'due' }),
    })
    try {
      await own.open()
    } catch (fault) {
      await own.close()
      throw fault
    }
    const isSwitch = attached.size > 0
    attached.set(snapshot.id, own)
    noteFigures()
    let stuck: string | undefined
    own.follow((fault) => {
      const { message: reason } = liveFault(fault)
      if (stuck !== reason) tell({ kind: 'stuck', snapshotId: snapshot.id, reason })
      stuck = reason
      noteFigures()
    })
    // The one before it goes on meanwhile. At a start answers come first.
    if (isSwitch) await own.prepare()
  }

  /** Of the newest snapshot: the others are on their way out. */
  function noteFigures(): void {
    const newest = [...attached.values()].at(-1)
    if (newest !== undefined) writeFigures(data.figures, newest)
  }

  async function detach(snapshotId: string): Promise<void> {
    const own = attached.get(snapshotId)
    attached.delete(snapshotId)
    await own?.close()
    noteFigures()
  }

  async function mark(
    snapshotId: string,
    { shards, deltas }: Increment,
    { sources }: Snapshot,
  ): Promise<void> {
    await marking.ask((number) =>
      data.marks.postMessage({
        number,
        snapshotId,
        shards: shards.map(({ shardIndex, gone }) => ({ shardIndex, gone: gone.recipients })),
        deltas: deltas.map(({ sourceIndex, come, gone, marks }) => ({
          sourceId: sources[sourceIndex].id,
          phones: come.phones,
          phoneEnds: come.phoneEnds,
          gone: gone.recipients,
          marks,
        })),
      } satisfies ChangedRecipients),
    )
  }

  function serveFront(port: MessagePort): void {
    const listeners = new Map<string, (increments: readonly Increment[]) => void>()
    port.on('message', (message: FrontMessage) => {
      if (message.kind === 'batch') return take(message, port)
      const { snapshotId } = message
      const own = attached.get(snapshotId)
      const before = listeners.get(snapshotId)
      if (before !== undefined) own?.ignore(before)
      listeners.delete(snapshotId)
      if (message.kind === 'ignore') return
      assert(own, 'a snapshot is attached before a front follows it')
      const listener = (increments: readonly Increment[]) =>
        port.postMessage({ kind: 'increments', snapshotId, increments } satisfies IncrementNews)
      listeners.set(snapshotId, listener)
      own.listen(listener)
    })
  }

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
    const group = nextGroup(queue, roomCount())
    if (group.length === 0) {
      refuseAll({ isFull: true })
      return
    }
    try {
      const outcomes = writer.append(group.map(({ batch }) => batch))
      for (const [at, { batch }] of group.entries()) {
        const { kind, sequence } = outcomes[at]
        if (kind === 'written') unapplied.push({ sequence, changeCount: batch.changeCount })
      }
      queue = queue.slice(group.length)
      for (const [at, sent] of group.entries()) answer(sent, { outcome: outcomes[at] })
      goesOn()
    } catch (fault) {
      fails(fault)
    }
  }

  function answer({ number, port, bytes }: Sent, reply: Reply): void {
    waiting.leave(bytes)
    port.postMessage({ kind: 'reply', number, ...reply } satisfies BatchReply)
  }

  function refuseAll(reply: Reply = {}): void {
    for (const sent of queue) answer(sent, reply)
    queue = []
  }

  /** For further changes, in the newest snapshot: the others are on their way out. */
  function roomCount(): number {
    const newest = [...attached.values()].at(-1)
    if (newest === undefined) return Number.POSITIVE_INFINITY
    unapplied = unapplied.filter(({ sequence }) => sequence > newest.sequence)
    return unapplied.reduce((room, { changeCount }) => room - changeCount, newest.roomCount)
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
    const giveUpMs = performance.now() + limits.changesStopMs
    do {
      // What front threads have sent may not be here yet.
      await sleep(1)
      write()
    } while (waiting.count > 0 && performance.now() < giveUpMs)
    clearTimeout(retryTimer)
    await Promise.all([...attached.values()].map((own) => own.close()))
    await writer.release().catch(() => {})
    process.exit()
  }
}

type Reply = Omit<BatchReply, 'kind' | 'number'>

function liveFault(fault: unknown): LiveFault {
  const { code, message } = fault as NodeJS.ErrnoException
  if (fault instanceof OperatorError) return { code: fault.code, message }
  return { code: 'Failed', message: code ?? message }
}

interface Sent extends BatchOrder {
  readonly port: MessagePort
  /** In the journal. */
  readonly bytes: number
}

/** As much as is written together; nothing where there is no room for the first one. */
function nextGroup(queue: readonly Sent[], roomCount: number): readonly Sent[] {
  let bytes = 0
  let changeCount = 0
  const end = queue.findIndex((sent) => {
    bytes += sent.bytes
    changeCount += sent.batch.changeCount
    return bytes > limits.journalGroupBytes || changeCount > roomCount
  })
  return end < 0 ? queue : queue.slice(0, end)
}
