/**
 * Batches on a machine of a cluster: what came together goes into the log of all machines as one group, and is answered when
 * this machine has read it back.
 *
 * @module
 */
import type { MessagePort } from 'node:worker_threads'
import { sentBatch } from '../journal/batch.js'
import type { BatchOutcome } from '../journal/outcomes.js'
import { limits } from '../limits.js'
import { callsOver, type OtherThread } from '../threads/calls.js'
import { nextGroup, type TakenBatch } from './batch-writing.js'
import type { ChangesCalls, LogCalls } from './cluster-messages.js'
import type { LiveNews } from './messages.js'

interface ClusteredOptions {
  /** To the thread of the cluster. */
  readonly port: MessagePort
  /** For further changes. */
  readonly roomCount: () => number
  readonly onWritten: (group: readonly TakenBatch[], outcomes: readonly BatchOutcome[]) => void
  readonly tell: Pick<LiveNews, 'failed' | 'recovered'>
}

export class ClusteredBatches {
  readonly #options: ClusteredOptions
  #queue: TakenBatch[] = []
  readonly #sent = new Set<readonly TakenBatch[]>()
  readonly #log: OtherThread<LogCalls>
  #isScheduled = false
  #hasFailed = false

  constructor(options: ClusteredOptions) {
    this.#options = options
    const own: ChangesCalls = { failed: (reason) => this.#noteFailure(reason) }
    this.#log = callsOver<LogCalls>(options.port, own)
  }

  take(taken: TakenBatch): void {
    this.#queue.push(taken)
    if (this.#isScheduled) return
    this.#isScheduled = true
    // After all that has come by now.
    setImmediate(() => this.write())
  }

  /** Sends what has come, unless enough is on its way: then it waits, and goes together. */
  write(): void {
    this.#isScheduled = false
    while (this.#queue.length > 0 && this.#sent.size < limits.logGroupsSentCount) {
      const group = nextGroup(this.#queue, this.#roomCount())
      if (group.length > 0) void this.#send(group)
      else this.#refuseChanges()
    }
  }

  close(): void {
    this.#options.port.close()
  }

  /** Changes on their way take up room, too. */
  #roomCount(): number {
    let room = this.#options.roomCount()
    for (const group of this.#sent) {
      for (const { batch } of group) room -= batch.changeCount
    }
    return room
  }

  async #send(group: readonly TakenBatch[]): Promise<void> {
    this.#queue = this.#queue.slice(group.length)
    this.#sent.add(group)
    const outcomes = await this.#log.ask.append(group.map(({ batch }) => sentBatch(batch)))
    this.#sent.delete(group)
    if (outcomes === undefined) for (const taken of group) taken.answer({ mayBeStored: true })
    else {
      this.#options.onWritten(group, outcomes)
      for (const [at, taken] of group.entries()) taken.answer({ outcome: outcomes[at] })
    }
    this.write()
  }

  /** For which there is no room; entries of the cluster need none. */
  #refuseChanges(): void {
    const taken = this.#queue
    this.#queue = taken.filter(({ batch }) => batch.changeCount === 0)
    for (const each of taken) if (each.batch.changeCount > 0) each.answer({ isFull: true })
  }

  #noteFailure(reason: string | undefined): void {
    if (reason !== undefined) this.#options.tell.failed(reason)
    else if (this.#hasFailed) this.#options.tell.recovered()
    this.#hasFailed = reason !== undefined
  }
}
