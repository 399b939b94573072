/**
 * The main thread's end of the thread of changes.
 *
 * @module
 */
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import { OperatorError, type OperatorErrorCode } from '../errors.js'
import { limits } from '../limits.js'
import type { Log } from '../log.js'
import { Questions } from '../questions.js'
import type { Snapshot } from '../snapshot/snapshot.js'
import type { ChangePort } from './desk.js'
import { type DigestJob, DigestJobs } from './digest-jobs.js'
import { createFigures } from './figures.js'
import type { LiveFault, LiveNews, LiveOrder, LiveThreadData } from './messages.js'
import { createWaiting } from './waiting.js'

export interface LiveThread {
  /** For a front thread, which makes a `ChangeDesk` of it. */
  openPort(): ChangePort
  /**
   * Applies the changes behind a snapshot, and all that come; until then, no front may follow it.
   *
   * @throws OperatorError  as a rejection, where the journal does not go on from it
   */
  attach(snapshot: Snapshot): Promise<void>
  /** To be waited for before the memory of a snapshot is used again. */
  detach(snapshotId: string): Promise<void>
  /**
   * Makes digests of a snapshot with all changes up to a batch, which may be one that is still to come.
   *
   * @returns undefined where the snapshot is not attached, or begins behind the batch
   */
  digests(snapshotId: string, sequence: number): DigestJob | undefined
  /** See figures.ts. */
  readonly figures: Float64Array
  /** Rejects when the thread fails; never resolves. */
  readonly failure: Promise<never>
  /** Writes what waits. */
  stop(): Promise<void>
}

interface LiveOptions {
  readonly dataDirectory: string
  /** To the thread that sets marks. */
  readonly marks: MessagePort
  /** Called now and then for as long as a new snapshot should be made of the changes. */
  readonly onDue: () => void
  /** Called now and then while changes of the journal cannot be applied. */
  readonly onStuck?: (snapshotId: string, code: OperatorErrorCode) => void
  /** To the thread of the cluster; undefined on a machine of none. */
  readonly cluster?: MessagePort | undefined
  /** Of a file of the journal; `limits.journalFileBytes` unless given. */
  readonly journalFileBytes?: number
  readonly log: Log
}

/**
 * Resolves when batches are taken.
 *
 * @throws OperatorError  JournalDamaged, as a rejection. A disk that is full is no reason not to start
 */
export async function startLive({
  dataDirectory,
  marks,
  onDue,
  onStuck = () => {},
  cluster,
  journalFileBytes = limits.journalFileBytes,
  log,
}: LiveOptions): Promise<LiveThread> {
  const waiting = createWaiting()
  const figures = createFigures()
  const workerData: LiveThreadData = {
    dataDirectory,
    journalFileBytes,
    waiting,
    figures,
    marks,
    cluster,
  }
  const worker = new Worker(new URL('../../workers/changes.js', import.meta.url), {
    workerData,
    transferList: [marks, ...(cluster === undefined ? [] : [cluster])],
  })
  const questions = new Questions<LiveFault | undefined>()
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
  failure.catch((fault) => questions.fail(fault))
  const openPort = () => {
    const { port1, port2 } = new MessageChannel()
    send({ kind: 'port', port: port1 }, [port1])
    return { port: port2, waiting }
  }
  const jobs = new DigestJobs({ dataDirectory, openChanges: () => openPort().port })
  const stop = async () => {
    isStopping = true
    await jobs.stop()
    send({ kind: 'stop' })
    await ended
  }
  const started = new Promise<void>((resolve, reject) => {
    worker.on('message', (news: LiveNews) => {
      if (news.kind === 'started') resolve()
      else if (news.kind === 'refused') reject(new OperatorError(news.code, news.message))
      else if (news.kind === 'done') questions.settle(news.ticket, news.fault)
      else if (news.kind === 'due') onDue()
      else {
        if (news.kind === 'stuck') onStuck(news.snapshotId, news.code)
        tell(news, log)
      }
    })
  })
  try {
    await Promise.race([started, failure])
  } catch (fault) {
    await stop()
    throw fault
  }
  return {
    openPort,
    async attach(snapshot) {
      const fault = await questions.ask((ticket) => send({ kind: 'attach', ticket, snapshot }))
      if (fault !== undefined) throw new OperatorError(fault.code, fault.message)
      jobs.attached(snapshot)
    },
    async detach(snapshotId) {
      await jobs.detach(snapshotId)
      await questions.ask((ticket) => send({ kind: 'detach', ticket, snapshotId }))
    },
    digests: (snapshotId, sequence) => jobs.start(snapshotId, sequence),
    figures,
    failure,
    stop,
  }
}

type Told = Exclude<LiveNews, { kind: 'started' | 'refused' | 'done' | 'due' }>

function tell(news: Told, log: Log): void {
  if (news.kind === 'failed') {
    const message = 'the journal of changes cannot be written: changes are refused until it can'
    log.error({ reason: news.reason }, message)
  } else if (news.kind === 'recovered') log.warn('the journal of changes can be written again')
  else if (news.kind === 'full') {
    const { snapshotId } = news
    log.error({ snapshotId }, 'there is no room for further changes until there is a new snapshot')
  } else if (news.kind === 'stuck') {
    const { snapshotId, reason, isNew } = news
    if (isNew)
      log.error({ snapshotId, reason }, 'changes of the journal cannot be applied any more')
  } else {
    const { takenBatchCount, cutBytes } = news
    log.warn({ takenBatchCount, cutBytes }, 'a writer of the journal of changes died')
  }
}
