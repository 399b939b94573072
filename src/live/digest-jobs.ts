/**
 * Digests of snapshots, each made by a thread of its own: it takes a processor for a second for each few million
 * recipients, which no other work is to wait for.
 *
 * @module
 */
import { OperatorError } from '../errors.js'
import { hasColumns } from '../shard/layout.js'
import { baseSequenceOf } from '../snapshot/applied-sequence.js'
import { recipientCountOf, type Snapshot } from '../snapshot/snapshot.js'
import { startThread, type Thread } from '../threads/thread.js'
import type { ChangePort } from './client.js'
import type { DigestCalls, DigestNews, DigestThreadData, SnapshotDigests } from './make-digests.js'

/** Digests that are being made. */
export interface DigestJob {
  readonly doneCount: number
  /** About, in recipients. */
  readonly totalCount: number
  /** Rejects when it cannot be made, or the snapshot goes. */
  readonly result: Promise<SnapshotDigests>
  /** Gives it up. */
  end(): void
}

interface JobsOptions {
  readonly dataDirectory: string
  /** Opens a way to the thread of changes. */
  readonly openChanges: () => ChangePort
}

export class DigestJobs {
  readonly #options: JobsOptions
  readonly #snapshots = new Map<string, Snapshot>()
  readonly #running = new Map<Thread<DigestCalls>, string>()

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
    const threads = [...this.#running].filter(([, id]) => id === snapshotId)
    await Promise.all(threads.map(([thread]) => thread.terminate()))
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
    const data: DigestThreadData = { dataDirectory, snapshot, moment, changes }
    let doneCount = 0
    const own: DigestNews = {
      progress(count) {
        doneCount = count
      },
    }
    const title = 'the thread of digests'
    const thread = startThread<DigestCalls>('digests', { title, data, ports: [changes.port], own })
    this.#running.set(thread, snapshot.id)
    void thread.ended.then(() => this.#running.delete(thread))
    const result = made(thread)
    // The caller may be gone by now.
    result.catch(() => {})
    return {
      get doneCount() {
        return doneCount
      },
      totalCount: recipientCountOf(snapshot.shards.filter(hasColumns)),
      result,
      end: () => void thread.terminate(),
    }
  }
}

async function made(thread: Thread<DigestCalls>): Promise<SnapshotDigests> {
  try {
    return await thread.ask.make()
  } catch (fault) {
    throw new OperatorError('Failed', `the digests could not be made: ${(fault as Error).message}`)
  } finally {
    void thread.stop()
  }
}
