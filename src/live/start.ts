/**
 * The main thread's end of the thread of changes.
 *
 * @module
 */
import type { MessagePort } from 'node:worker_threads'
import type { OperatorErrorCode } from '../errors.js'
import { limits } from '../limits.js'
import type { Log } from '../log.js'
import type { Snapshot } from '../snapshot/snapshot.js'
import { openPort, startThread } from '../threads/thread.js'
import type { ChangePort } from './client.js'
import { type DigestJob, DigestJobs } from './digest-jobs.js'
import { createFigures } from './figures.js'
import type { LiveCalls, LiveNews, LiveThreadData } from './messages.js'
import { createWaiting } from './waiting.js'

export interface LiveThread {
  /** For a front thread, see client.ts. */
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
  /** Size of a file of the journal; `limits.journalFileBytes` by default. */
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
  const data: LiveThreadData = {
    dataDirectory,
    journalFileBytes,
    waiting,
    figures,
    marks,
    cluster,
  }
  const ports = [marks, ...(cluster === undefined ? [] : [cluster])]
  const own: LiveNews = { ...loggedNews(log, onStuck), due: onDue }
  const thread = startThread<LiveCalls>('changes', {
    title: 'the thread of changes',
    data,
    ports,
    own,
  })
  const { ask, tell, failure } = thread
  const openChanges = () => ({ port: openPort(tell.serve), waiting })
  const jobs = new DigestJobs({ dataDirectory, openChanges })
  const stop = async () => {
    await jobs.stop()
    await thread.stop()
  }
  try {
    await ask.started()
  } catch (fault) {
    await stop()
    throw fault
  }
  return {
    openPort: openChanges,
    async attach(snapshot) {
      await ask.attach(snapshot)
      jobs.attached(snapshot)
    },
    async detach(snapshotId) {
      await jobs.detach(snapshotId)
      await ask.detach(snapshotId)
    },
    digests: (snapshotId, sequence) => jobs.start(snapshotId, sequence),
    figures,
    failure,
    stop,
  }
}

function loggedNews(log: Log, onStuck: NonNullable<LiveOptions['onStuck']>): Omit<LiveNews, 'due'> {
  return {
    failed(reason) {
      const message = 'the journal of changes cannot be written: changes are refused until it can'
      log.error({ reason }, message)
    },
    recovered: () => log.warn('the journal of changes can be written again'),
    full: (snapshotId) =>
      log.error(
        { snapshotId },
        'there is no room for further changes until there is a new snapshot',
      ),
    stuck({ snapshotId, code, reason, isNew }) {
      onStuck(snapshotId, code)
      if (isNew)
        log.error({ snapshotId, reason }, 'changes of the journal cannot be applied any more')
    },
    settled: ({ takenBatchCount, cutBytes }) =>
      log.warn({ takenBatchCount, cutBytes }, 'a writer of the journal of changes died'),
  }
}
