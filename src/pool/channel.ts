/**
 * The way of a front thread to one query worker, and back. Tasks of small selections go through shared
 * memory (pool/channel-memory.ts), so that neither thread makes or reads a message for them. Others go
 * as messages, each with a slot for its place in the order. While a thread is awake nobody wakes it: the
 * worker takes the next task by itself, and the front looks for what is done (pool/scheduler.ts).
 *
 * @module
 */
import assert from 'node:assert/strict'
import { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import { limits } from '../limits.js'
import type { Increment } from '../shard/delta/increment.js'
import type { Mask } from '../shard/mask.js'
import {
  BY_MESSAGE,
  type ChannelMemory,
  CLOSE,
  createChannelBuffer,
  hasDoneMore,
  layOutChannel,
  next,
  publish,
  type Slot,
  slotOf,
  wakeWorker,
  wantToBeTold,
} from './channel-memory.js'
import { QueryWriter } from './flat-queries.js'
import { SentMasks } from './sent-masks.js'
import {
  type ChannelEnd,
  WAKE,
  type WorkerMessage,
  type WorkerResult,
  type WorkerTask,
} from './worker-messages.js'

/** Gets one call for each task. */
interface TaskEnd {
  /**
   * @param result  of a batch, the findings of its queries, in memory that is used again when this
   *   returns
   * @param tookMs  the time for which the worker did nothing else
   */
  ended(result: WorkerResult, tookMs: number): void
  /** The worker died. */
  failed(error: Error): void
}

export class Channel {
  /** For the worker. Its port is to be transferred. */
  readonly workerEnd: ChannelEnd
  readonly #memory: ChannelMemory
  readonly #writers: readonly QueryWriter[]
  readonly #port: MessagePort
  readonly #masks = new SentMasks()
  /** Results that came as messages before their slots were looked at. */
  readonly #arrived: WorkerResult[] = []
  /** Of the tasks that are not done, in order. */
  readonly #ends: TaskEnd[] = []
  #publishedCount = 0
  #drainedCount = 0
  #isOver = false
  #look: NodeJS.Timeout | undefined

  constructor() {
    const buffer = createChannelBuffer()
    this.#memory = layOutChannel(buffer)
    this.#writers = this.#memory.slots.map(({ words, floats }) => new QueryWriter(words, floats))
    const { port1, port2 } = new MessageChannel()
    this.workerEnd = { buffer, port: port2 }
    this.#port = port1
    port1.on('message', (message) => {
      if (message !== WAKE) this.#arrived.push(message)
      this.drain()
    })
    // The port alone must not keep the process alive.
    port1.unref()
  }

  /** Where the next batch is written. */
  get batch(): QueryWriter {
    return this.#writers[slotOf(this.#publishedCount)]
  }

  /** Lets the worker have a mask, before a task that needs it is written or sent. */
  bring(mask: Mask): void {
    const message = this.#masks.messageFor(mask)
    if (message !== undefined) this.#post(message)
  }

  /** Lets the worker know what came since the last increment, or since the snapshot. */
  tell(increment: Increment): void {
    if (!this.#isOver) this.#post({ kind: 'increment', increment })
  }

  /** Sends what was written into the batch. */
  sendBatch(end: TaskEnd): void {
    this.#publish(this.batch.queryCount, end)
  }

  sendTask(task: WorkerTask, end: TaskEnd): void {
    // Before its slot is published, so that the worker finds it.
    this.#post(task)
    this.#publish(BY_MESSAGE, end)
  }

  /**
   * Ends the tasks that the worker has done.
   *
   * @returns whether there were any
   */
  drain(): boolean {
    const before = this.#drainedCount
    while (
      !this.#isOver &&
      this.#ends.length > 0 &&
      hasDoneMore(this.#memory, this.#drainedCount)
    ) {
      const slot = this.#memory.slots[slotOf(this.#drainedCount)]
      this.#drainedCount = next(this.#drainedCount)
      const end = this.#ends.shift() as TaskEnd
      end.ended(this.#resultIn(slot), slot.head[1] / 1_000)
    }
    return this.#drainedCount !== before
  }

  /**
   * The front is about to sleep: has the worker wake it when it has done another task. To be called once
   * all is drained; who does not call it drains again soon.
   */
  letWake(): void {
    while (!this.#isOver && this.#ends.length > 0) {
      if (wantToBeTold(this.#memory, this.#drainedCount)) {
        this.#lookLater()
        return
      }
      this.drain()
    }
  }

  /**
   * Looks again after a while, whether or not the worker has woken anybody, and wakes the worker once
   * more. Of two threads that both sleep, each would wait for the other until the request is given up.
   */
  #lookLater(): void {
    this.#look ??= setTimeout(() => {
      this.#look = undefined
      if (this.#isOver || this.#ends.length === 0) return
      wakeWorker(this.#memory)
      if (!this.drain()) this.#lookLater()
    }, limits.channelLookMs).unref()
  }

  /** The worker is dead: ends what it has done, and fails what it has not. */
  fail(error: Error): void {
    this.drain()
    this.#isOver = true
    this.#port.close()
    for (const end of this.#ends.splice(0)) end.failed(error)
  }

  /** Lets the worker do what it was sent, and then end. */
  close(): void {
    if (!this.#isOver) this.#publish(CLOSE)
  }

  #post(message: WorkerMessage): void {
    this.#port.postMessage(message)
  }

  #publish(head: number, end?: TaskEnd): void {
    this.#memory.slots[slotOf(this.#publishedCount)].head[0] = head
    if (end !== undefined) this.#ends.push(end)
    this.#publishedCount = next(this.#publishedCount)
    this.batch.clear()
    publish(this.#memory, this.#publishedCount)
  }

  /** A result that is a message was posted before its task was counted as done. */
  #resultIn({ findings }: Slot): WorkerResult {
    if (findings[0] !== BY_MESSAGE) return findings
    const arrived = this.#arrived.shift()
    if (arrived !== undefined) return arrived
    for (;;) {
      const received = receiveMessageOnPort(this.#port)
      assert(received, 'a result was posted before its task was counted as done')
      if (received.message !== WAKE) return received.message
    }
  }
}
