/**
 * Digests of snapshots, each made by a thread of its own: it takes a processor for a second for each few million
 * recipients, which nobody else is to wait for.
 *
 * @module
 */
import { type MessagePort, Worker } from 'node:worker_threads'
import { OperatorError } from '../errors.js'
import { hasColumns } from '../shard/layout.js'
import { baseSequenceOf } from '../snapshot/applied-sequence.js'
import { recipientCountOf, type Snapshot } from '../snapshot/snapshot.js'
import type { DigestNews, DigestThreadData, SnapshotDigests } from './digest-messages.js'

/** Digests that are being made. */
export interface DigestJob {
  readonly doneCount: number
  /** About, in recipients. */
  readonly totalCount: number
  /** Rejects when it cannot be made, or the snapshot goes. */
  readonly result: Promise<SnapshotDigests>
  /** Nobody wants it any more. */
  end(): void
}

interface JobsOptions {
  readonly dataDirectory: string
  /** Opens a way to the thread of changes. */
  readonly openChanges: () => MessagePort
}

export class DigestJobs {
  readonly #options: JobsOptions
  readonly #snapshots = new Map<string, Snapshot>()
  readonly #running = new Map<Worker, string>()

  constructor(options: JobsOptions) {
    this.#options = options
  }

  /** The thread of changes has it. */
  attached(snapshot: Snapshot): void {
    this.#snapshots.set(snapshot.id, snapshot)
  }

  /** Resolves when no thread touches its memory any more. */
  async detach(snapshotId: string): Promise<void> {
    this.#snapshots.delete(snapshotId)
    const workers = [...this.#running].filter(([, id]) => id === snapshotId)
    await Promise.all(workers.map(([worker]) => worker.terminate()))
  }

  async stop(): Promise<void> {
    for (const id of [...this.#snapshots.keys()]) await this.detach(id)
  }

  /** @returns undefined where the snapshot is not there, or begins behind the batch */
  start(snapshotId: string, sequence: number): DigestJob | undefined {
    const snapshot = this.#snapshots.get(snapshotId)
    if (snapshot === undefined) return undefined
    const moment = sequence - baseSequenceOf(snapshot.sources)
    return moment < 0 ? undefined : this.#begin(snapshot, moment)
  }

  #begin(snapshot: Snapshot, moment: number): DigestJob {
    const { dataDirectory, openChanges } = this.#options
    const changes = openChanges()
    const workerData: DigestThreadData = { dataDirectory, snapshot, moment, changes }
    const url = new URL('../../workers/digests.js', import.meta.url)
    const worker = new Worker(url, { workerData, transferList: [changes] })
    this.#running.set(worker, snapshot.id)
    let doneCount = 0
    const result = new Promise<SnapshotDigests>((resolve, reject) => {
      worker.on('message', (news: DigestNews) => {
        if (news.kind === 'done') resolve({ regions: news.regions, changedPart: news.changedPart })
        else doneCount = news.doneCount
      })
      const fail = (reason: string) =>
        reject(new OperatorError('Failed', `the digests could not be made: ${reason}`))
      // Its message could quote what it was working on.
      worker.once('error', ({ name }) => fail(name))
      worker.once('exit', () => {
        this.#running.delete(worker)
        fail('the thread has ended')
      })
    })
    // Nobody may be there to hear of it any more.
    result.catch(() => {})
    return {
      get doneCount() {
        return doneCount
      },
      totalCount: recipientCountOf(snapshot.shards.filter(hasColumns)),
      result,
      end: () => void worker.terminate(),
    }
  }
}
