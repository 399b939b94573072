/**
 * The channel between a front thread and one query worker. Tasks of small selections go through a ring in
 * shared memory, so that neither thread makes or reads a message for them. Other tasks go as messages, each
 * with a slot of the ring for its place in the order. A thread that is awake is not woken: the worker
 * takes the next task by itself, and the front polls for results (pool/scheduler.ts).
 *
 * The front has a `Channel`. The worker (pool/worker.ts) has the other end, and the functions below.
 *
 * @module
 */
import assert from 'node:assert/strict'
import { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import { limits } from '../limits.js'
import type { MetricsMemory } from '../metrics/memory.js'
import type { Increment } from '../shard/delta/increment.js'
import type { ShardImage } from '../shard/layout.js'
import { type Mask, maskBytes } from '../shard/mask.js'
import type { EncodedFormat } from '../shard/rows/row-format.js'
import { type FlatQueries, QueryWriter } from './codec.js'
import type { CellsTask, RowBytesTask } from './tasks.js'

/** The data that every worker starts with. */
export interface QueryWorkerData {
  readonly shards: readonly ShardImage[]
  /** All of the snapshot, in its order. */
  readonly sourceIds: readonly number[]
  /** Edge tests that one task may take. */
  readonly edgeTestCount: number
  readonly metrics: MetricsMemory
}

/** The end of a worker. */
export interface ChannelEnd {
  readonly buffer: SharedArrayBuffer
  readonly port: MessagePort
}

/** The message that only wakes a thread. */
export const WAKE = 0

/** All messages to a worker but `WAKE`: masks and increments come before the first task that needs them. */
export type WorkerMessage = WorkerTask | MaskMessage | IncrementMessage

interface IncrementMessage {
  readonly kind: 'increment'
  readonly increment: Increment
}

interface MaskMessage {
  readonly kind: 'mask'
  readonly mask: Mask
  /** The ids of masks that no task needs any more. */
  readonly forgottenIds: readonly number[]
}

/** The tasks that travel as messages. */
export type WorkerTask = QueriesTask | RowsTask | RowBytesTask | CellsTask | CatchUpTask

/** Only reads what was sent before it. */
interface CatchUpTask {
  readonly kind: 'catchUp'
}

interface QueriesTask extends FlatQueries {
  readonly kind: 'queries'
  readonly cancelFlag: CancelFlag | null
  /** Runs of each shard, for the one query of a kind that continues from them. */
  readonly given: readonly Uint32Array[] | null
}

/** Rows of a shard, as many as there is room for. */
interface RowsTask {
  readonly kind: 'rows'
  readonly shardIndex: number
  readonly runs: Uint32Array
  readonly format: EncodedFormat
  /** Shared memory that no other task uses until the rows are written. */
  readonly into: Uint8Array
}

export interface RowsResult {
  readonly rowCount: number
  readonly byteCount: number
}

/** Bytes of rows, or cells and their counts. */
export interface CountResult {
  readonly counted: number | Float64Array
}

export interface CatchUpResult {
  readonly isCaughtUp: true
}

/** The result of a task; of selections, the findings. */
type WorkerResult = Uint32Array | RowsResult | CountResult | CatchUpResult

/** Gets one call for each task. */
interface TaskListener {
  /**
   * @param result  of a batch, the findings of its queries, in memory that is used again when this
   *   returns
   * @param tookMs  the time for which the worker did nothing else
   */
  done(result: WorkerResult, tookMs: number): void
  /** The worker died. */
  failed(error: Error): void
}

/** The end of the front thread. */
export class Channel {
  /** For the worker. Its port is to be transferred. */
  readonly workerEnd: ChannelEnd
  readonly #memory: ChannelMemory
  readonly #writers: readonly QueryWriter[]
  readonly #port: MessagePort
  readonly #masks = new SentMasks()
  /** Results that came as messages before their slots were read. */
  readonly #arrived: WorkerResult[] = []
  /** The listeners of tasks that are not done, in order. */
  readonly #listeners: TaskListener[] = []
  #publishedCount = 0
  #drainedCount = 0
  #isDead = false
  #pollTimer: NodeJS.Timeout | undefined

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

  /** To be called before a task that needs the mask is written or sent. */
  sendMask(mask: Mask): void {
    const message = this.#masks.messageFor(mask)
    if (message !== undefined) this.#post(message)
  }

  /** @param increment  what came since the last one, or since the snapshot */
  sendIncrement(increment: Increment): void {
    if (!this.#isDead) this.#post({ kind: 'increment', increment })
  }

  /** Sends what was written into the batch. */
  sendBatch(listener: TaskListener): void {
    this.#publish(this.batch.queryCount, listener)
  }

  sendTask(task: WorkerTask, listener: TaskListener): void {
    // Before its slot is published, so that the worker finds it.
    this.#post(task)
    this.#publish(BY_MESSAGE, listener)
  }

  /**
   * Ends the tasks that the worker has done.
   *
   * @returns whether there were any
   */
  drain(): boolean {
    const before = this.#drainedCount
    while (
      !this.#isDead &&
      this.#listeners.length > 0 &&
      hasDoneMore(this.#memory, this.#drainedCount)
    ) {
      const slot = this.#memory.slots[slotOf(this.#drainedCount)]
      this.#drainedCount = next(this.#drainedCount)
      const listener = this.#listeners.shift() as TaskListener
      listener.done(this.#resultIn(slot), slot.head[1] / 1_000)
    }
    return this.#drainedCount !== before
  }

  /**
   * The front is about to sleep: the worker is to wake it when it has done another task. To be called
   * once all is drained, unless the front drains again soon.
   */
  requestNotify(): void {
    while (!this.#isDead && this.#listeners.length > 0) {
      if (requestNotify(this.#memory, this.#drainedCount)) {
        this.#pollLater()
        return
      }
      this.drain()
    }
  }

  /**
   * Polls after a while, notified or not, and wakes the worker once more. Of two threads that both sleep,
   * each would wait for the other until the request times out.
   */
  #pollLater(): void {
    this.#pollTimer ??= setTimeout(() => {
      this.#pollTimer = undefined
      if (this.#isDead || this.#listeners.length === 0) return
      wakeWorker(this.#memory)
      if (!this.drain()) this.#pollLater()
    }, limits.channelLookMs).unref()
  }

  /** The worker is dead: ends what it has done, and fails what it has not. */
  fail(error: Error): void {
    this.drain()
    this.#isDead = true
    this.#port.close()
    for (const listener of this.#listeners.splice(0)) listener.failed(error)
  }

  /** The worker does what it was sent, and then ends. */
  close(): void {
    if (!this.#isDead) this.#publish(CLOSE)
  }

  #post(message: WorkerMessage): void {
    this.#port.postMessage(message)
  }

  #publish(head: number, listener?: TaskListener): void {
    this.#memory.slots[slotOf(this.#publishedCount)].head[0] = head
    if (listener !== undefined) this.#listeners.push(listener)
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

/**
 * The masks that a worker has. A mask goes to a worker once, with its first task there, so that the
 * worker that replaces a dead one gets it as well.
 */
class SentMasks {
  /** Least recently used first. */
  readonly #bytesById = new Map<number, number>()
  #bytes = 0

  /** @returns undefined where the worker has the mask */
  messageFor(mask: Mask): MaskMessage | undefined {
    const { id } = mask
    const sentBytes = this.#bytesById.get(id)
    const bytes = sentBytes ?? maskBytes(mask)
    this.#bytesById.delete(id)
    this.#bytesById.set(id, bytes)
    if (sentBytes !== undefined) return undefined
    this.#bytes += bytes
    return { kind: 'mask', mask, forgottenIds: this.#evict() }
  }

  /** Never evicts the newest one. */
  #evict(): number[] {
    const evictedIds: number[] = []
    for (const [id, bytes] of this.#bytesById) {
      const isFull =
        this.#bytesById.size > limits.masksKeptCount || this.#bytes > limits.masksKeptBytes
      if (!isFull || this.#bytesById.size === 1) break
      this.#bytesById.delete(id)
      this.#bytes -= bytes
      evictedIds.push(id)
    }
    return evictedIds
  }
}

/**
 * The ring: the front writes a task into the next slot and publishes it. The worker takes tasks in their
 * order, and leaves its findings in the slot of the task. Two counters say how far each of them is; they
 * overflow and begin again.
 */
interface ChannelMemory {
  /** Only the functions of this file use it. */
  readonly control: Int32Array
  readonly slots: readonly Slot[]
}

export interface Slot {
  /** The count of queries, or `BY_MESSAGE`, or `CLOSE`; and, when done, microseconds that it took. */
  readonly head: Uint32Array
  readonly words: Uint32Array
  readonly floats: Float64Array
  /** As `writeFindings` leaves them, or `BY_MESSAGE` in the first word. */
  readonly findings: Uint32Array
}

/** What is too long for a slot travels as a message beside it. */
export const BY_MESSAGE = 0xffff_ffff

/** Not a task: no task follows. */
export const CLOSE = 0xffff_fffe

/** A power of two, and more than the tasks that a worker has at a time (`placeFor`). */
const SLOT_COUNT = 8
const CONTROL_BYTES = 256
const HEAD_BYTES = 64
const SLOT_BYTES =
  HEAD_BYTES +
  8 * limits.slotFloatCount +
  4 * limits.slotWordCount +
  4 * limits.slotFindingWordCount

/** Places in `control`. Words that different threads write are on different cache lines. */
const AT = {
  /** Tasks that the front has published. The worker sleeps on this word. */
  published: 0,
  /** Tasks that the worker has done. */
  done: 16,
  /** 1 if the worker sleeps, or is about to. */
  sleeps: 17,
  /** 1 if the front is to be notified when a task is done. */
  wanted: 32,
} as const

export function createChannelBuffer(): SharedArrayBuffer {
  return new SharedArrayBuffer(CONTROL_BYTES + SLOT_COUNT * SLOT_BYTES)
}

export function layOutChannel(buffer: SharedArrayBuffer): ChannelMemory {
  const slots = Array.from({ length: SLOT_COUNT }, (_, slot): Slot => {
    const headAt = CONTROL_BYTES + slot * SLOT_BYTES
    const floatsAt = headAt + HEAD_BYTES
    const wordsAt = floatsAt + 8 * limits.slotFloatCount
    const findingsAt = wordsAt + 4 * limits.slotWordCount
    return {
      head: new Uint32Array(buffer, headAt, 2),
      floats: new Float64Array(buffer, floatsAt, limits.slotFloatCount),
      words: new Uint32Array(buffer, wordsAt, limits.slotWordCount),
      findings: new Uint32Array(buffer, findingsAt, limits.slotFindingWordCount),
    }
  })
  return { control: new Int32Array(buffer, 0, CONTROL_BYTES / 4), slots }
}

/** A counter when one more task is counted. */
export function next(count: number): number {
  return (count + 1) | 0
}

/** The slot of the task that follows so many others. */
export function slotOf(count: number): number {
  return count & (SLOT_COUNT - 1)
}

/** The worker sleeps until a task follows so many others. */
export function waitForTask({ control }: ChannelMemory, doneCount: number): void {
  while (Atomics.load(control, AT.published) === doneCount) {
    Atomics.store(control, AT.sleeps, 1)
    // The front reads `sleeps` after it has published: one of the two sees what the other did.
    Atomics.wait(control, AT.published, doneCount)
    Atomics.store(control, AT.sleeps, 0)
  }
}

/**
 * The worker has done so many tasks.
 *
 * @returns whether the front is to be notified
 */
export function countDone({ control }: ChannelMemory, doneCount: number): boolean {
  Atomics.store(control, AT.done, doneCount)
  return Atomics.exchange(control, AT.wanted, 0) === 1
}

/** The front has published so many tasks. */
function publish({ control }: ChannelMemory, publishedCount: number): void {
  Atomics.store(control, AT.published, publishedCount)
  if (Atomics.load(control, AT.sleeps) === 1) Atomics.notify(control, AT.published)
}

/** The worker, if it sleeps, looks once more whether there is a task. */
function wakeWorker({ control }: ChannelMemory): void {
  Atomics.notify(control, AT.published)
}

/** Whether more tasks are done than the front has drained. */
function hasDoneMore({ control }: ChannelMemory, drainedCount: number): boolean {
  return Atomics.load(control, AT.done) !== drainedCount
}

/** @returns false when more tasks are done already: the front may not be notified of them */
function requestNotify({ control }: ChannelMemory, drainedCount: number): boolean {
  Atomics.store(control, AT.wanted, 1)
  // The worker reads `wanted` after it has counted: one of the two sees what the other did.
  return Atomics.load(control, AT.done) === drainedCount
}

/** Cancels a task while the worker is busy with it. */
export type CancelFlag = Int32Array

export function createCancelFlag(): CancelFlag {
  return new Int32Array(new SharedArrayBuffer(4))
}

export function cancel(flag: CancelFlag): void {
  Atomics.store(flag, 0, 1)
}

export function isCancelled(flag: CancelFlag): boolean {
  return Atomics.load(flag, 0) === 1
}
