/**
 * The main thread's end of the thread of a cluster.
 *
 * @module
 */
import type { MessagePort } from 'node:worker_threads'
import { OperatorError } from '../errors.js'
import type { LogLevel } from '../log.js'
import { openPort, startThread, type Thread } from '../threads/thread.js'
import { createFigures } from './figures.js'
import type {
  ClusterCalls,
  ClusterSettings,
  ClusterStatus,
  ClusterThreadData,
  Everywhere,
  MainCalls,
} from './messages.js'
import type { BeginsAnew } from './state-file.js'

export interface ClusterThread
  extends Pick<
      Thread<ClusterCalls>['tell'],
      'answersBy' | 'damaged' | 'knowAudiences' | 'serves' | 'storedBy'
    >,
    Pick<Thread<ClusterCalls>['ask'], 'bringAudience' | 'putAudience' | 'untilAudienceKept'>,
    Pick<Thread<ClusterCalls>, 'failure' | 'stop'> {
  /** See figures.ts. */
  readonly figures: Float64Array
  /** Undefined before it runs. */
  status(): ClusterStatus | undefined
  /** Makes the end of what leads from the thread of changes to this one. */
  openChanges(): MessagePort
  /** Resolves when all machines that are level answer by an entry, or not in time. Never rejects. */
  untilEverywhere(sequence: number, waitMs: number): Promise<Everywhere>
  /** What the thread calls from now on. */
  answer(own: Partial<MainCalls>): void
  /** Says what the service cannot start with; resolves with whether its next start can. */
  recover(reason: BeginsAnew): Promise<boolean>
  /** Resolves, with the reason, when the directory must be begun anew. */
  readonly beginAnew: Promise<string>
}

interface StartOptions {
  readonly dataDirectory: string
  readonly settings: ClusterSettings
  readonly version: string
  /** Size of a file of the journal. */
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
  const data: ClusterThreadData = { ...rest, figures }
  let status: ClusterStatus | undefined
  let beginAnew: (reason: string) => void = () => {}
  const begunAnew = new Promise<string>((resolve) => {
    beginAnew = resolve
  })
  const own: MainCalls = {
    status(told) {
      status = told
    },
    beginAnew,
    wanted() {},
    repaired() {},
    keepStored: () => undefined,
    digests: () => ({ kind: 'waiting', reason: 'it is starting' }),
    async enter() {
      throw new OperatorError('Failed', 'the machine is starting')
    },
  }
  const title = 'the thread of the cluster'
  const thread = startThread<ClusterCalls>('cluster', { title, data, own })
  const { ask, tell, failure, ended, stop } = thread
  const stopped = new Promise<never>((_, reject) => {
    const stopping = () => reject(new OperatorError('Failed', 'stopped'))
    signal.addEventListener('abort', stopping, { once: true })
  })
  try {
    await Promise.race([ask.begun(), stopped])
  } catch (fault) {
    await stop()
    throw fault
  }
  return {
    figures,
    status: () => status,
    openChanges: () => openPort(tell.run),
    storedBy: tell.storedBy,
    answersBy: tell.answersBy,
    serves: tell.serves,
    damaged: tell.damaged,
    knowAudiences: tell.knowAudiences,
    untilEverywhere: (sequence, waitMs) =>
      ask.everywhere(sequence, waitMs).catch(() => ({ isEverywhere: false, waitingFor: [] })),
    putAudience: ask.putAudience,
    untilAudienceKept: ask.untilAudienceKept,
    bringAudience: ask.bringAudience,
    answer: (more) => Object.assign(own, more),
    recover: (reason) => Promise.race([ask.recover(reason), ended.then(() => false)]),
    beginAnew: begunAnew,
    failure,
    stop,
  }
}
