/**
 * The main thread's end of the thread of a cluster.
 *
 * @module
 */
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import { OperatorError } from '../errors.js'
import type { LogLevel } from '../log.js'
import { Questions } from '../questions.js'
import { type AudienceAsks, audienceAsks } from './audience-asks.js'
import { createFigures } from './figures.js'
import type { DigestsAnswer, DigestsQuestion, LocalDigests } from './machine-digests.js'
import type {
  ClusterNews,
  ClusterOrder,
  ClusterSettings,
  ClusterStatus,
  ClusterThreadData,
  EnteredReply,
  Everywhere,
  ServedSnapshots,
} from './messages.js'
import type { BeginsAnew } from './state-file.js'

export interface ClusterThread {
  /** See figures.ts. */
  readonly figures: Float64Array
  /** Undefined before it runs. */
  status(): ClusterStatus | undefined
  /** Makes the end of what leads from the thread of changes to this one. */
  openChanges(): MessagePort
  /** Answers are by all entries of the store up to here. */
  storedBy(sequence: number): void
  /** Answers are by all that is up to here. */
  answersBy(sequence: number): void
  /** Resolves when all machines that are level answer by an entry, or not in time. Never rejects. */
  untilEverywhere(sequence: number, waitMs: number): Promise<Everywhere>
  readonly audiences: Pick<AudienceAsks, 'ask' | 'know'>
  /** Says which snapshot is served, and which one could be. */
  serves(served: ServedSnapshots): void
  /** Has what is damaged of a snapshot fetched. */
  damaged(snapshotId: string): void
  /** `keep` has the store note how far it is, and says that; undefined where it cannot be written. */
  onKeepStored(keep: () => number | undefined): void
  /** `enter` makes an entry of a command. */
  onEnter(enter: (entry: Uint8Array) => Promise<EnteredReply>): void
  onSnapshots(listener: (news: SnapshotNews) => void): void
  /** Answers whoever compares machines. */
  onDigests(answer: (question: DigestsQuestion) => DigestsAnswer<LocalDigests>): void
  /** Says what the service cannot start with; resolves with whether its next start can. */
  recover(reason: BeginsAnew): Promise<boolean>
  /** Resolves, with the reason, when the directory must be begun anew. */
  readonly beginAnew: Promise<string>
  /** Rejects when the thread fails; never resolves. */
  readonly failure: Promise<never>
  stop(): Promise<void>
}

/** What the thread says of snapshots. */
type SnapshotNews = Extract<ClusterNews, { kind: 'wanted' | 'repaired' }>

interface StartOptions {
  readonly dataDirectory: string
  readonly settings: ClusterSettings
  readonly version: string
  /** Of a file of the journal. */
  readonly journalFileBytes: number
  readonly logLevel: LogLevel
  /** Gives up. */
  readonly signal: AbortSignal
}

/**
 * Resolves when the directory is one of the cluster.
 *
 * @throws OperatorError  as a rejection
 */
export async function startCluster(options: StartOptions): Promise<ClusterThread> {
  const { signal, ...rest } = options
  const figures = createFigures()
  const workerData: ClusterThreadData = { ...rest, figures }
  const worker = new Worker(new URL('../../workers/cluster.js', import.meta.url), { workerData })
  const questions = new Questions<Everywhere>()
  const send = (order: ClusterOrder, ports: MessagePort[] = []) => worker.postMessage(order, ports)
  const audiences = audienceAsks(send)
  const listeners = new Set<(news: SnapshotNews) => void>()
  let answerDigests: ((question: DigestsQuestion) => DigestsAnswer<LocalDigests>) | undefined
  let status: ClusterStatus | undefined
  let isStopping = false
  let recovers: (canRecover: boolean) => void = () => {}
  let beginAnew: (reason: string) => void = () => {}
  let keepStored: () => number | undefined = () => undefined
  let enter: ((entry: Uint8Array) => Promise<EnteredReply>) | undefined
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
  const failure = new Promise<never>((_, reject) => {
    const fail = (reason: string) =>
      reject(new OperatorError('Failed', `the thread of the cluster failed: ${reason}`))
    // Its message could quote what it was working on.
    worker.once('error', ({ name }) => fail(name))
    worker.once('exit', (code) => {
      if (!isStopping) fail(`it ended with code ${code}`)
    })
  })
  failure.catch((fault) => questions.fail(fault))
  failure.catch((fault) => audiences.fail(fault))
  const begunAnew = new Promise<string>((resolve) => {
    beginAnew = resolve
  })
  const stop = async () => {
    if (!isStopping) send({ kind: 'stop' })
    isStopping = true
    await ended
  }
  const joined = new Promise<void>((resolve, reject) => {
    worker.on('message', (news: ClusterNews) => {
      if (news.kind === 'joined') resolve()
      else if (news.kind === 'refused') reject(new OperatorError(news.code, news.message))
      else if (news.kind === 'everywhere') questions.settle(news.number, news)
      else if (news.kind === 'audience') audiences.settle(news)
      else if (news.kind === 'status') status = news.status
      else if (news.kind === 'recovers') recovers(news.canRecover)
      else if (news.kind === 'beginAnew') beginAnew(news.reason)
      else if (news.kind === 'keepStored') {
        send({ kind: 'stored', number: news.number, sequence: keepStored() })
      } else if (news.kind === 'digests') {
        const { number } = news
        send({ kind: 'digests', number, answer: answerDigests?.(news) ?? STARTING })
      } else if (news.kind === 'enter') void entered(news)
      else for (const listener of listeners) listener(news)
    })
    signal.addEventListener('abort', () => reject(new OperatorError('Failed', 'stopped')), {
      once: true,
    })
  })
  const entered = async ({ number, entry }: Extract<ClusterNews, { kind: 'enter' }>) => {
    const reply = (await enter?.(entry)) ?? { fault: 'the machine is starting' }
    send({ kind: 'entered', number, ...reply })
  }
  try {
    await Promise.race([joined, failure])
  } catch (fault) {
    await stop()
    throw fault
  }
  return {
    figures,
    status: () => status,
    openChanges() {
      const { port1, port2 } = new MessageChannel()
      send({ kind: 'run', changes: port1 }, [port1])
      return port2
    },
    storedBy: (sequence) => send({ kind: 'storedBy', sequence }),
    answersBy: (sequence) => send({ kind: 'answersBy', sequence }),
    async untilEverywhere(sequence, waitMs) {
      try {
        return await questions.ask((number) =>
          send({ kind: 'everywhere', number, sequence, waitMs }),
        )
      } catch {
        return { isEverywhere: false, waitingFor: [] }
      }
    },
    audiences,
    serves: (served) => send({ kind: 'snapshots', ...served }),
    damaged: (snapshotId) => send({ kind: 'damaged', snapshotId }),
    onKeepStored(keep) {
      keepStored = keep
    },
    onEnter(given) {
      enter = given
    },
    onSnapshots: (listener) => listeners.add(listener),
    onDigests(answer) {
      answerDigests = answer
    },
    async recover(reason) {
      const known = new Promise<boolean>((resolve) => {
        recovers = resolve
      })
      send({ kind: 'recover', reason })
      return await Promise.race([known, ended.then(() => false)])
    },
    beginAnew: begunAnew,
    failure,
    stop,
  }
}

const STARTING = { kind: 'waiting', reason: 'it is starting' } as const
