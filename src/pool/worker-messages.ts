/**
 * The messages between a front thread and a query worker.
 *
 * @module
 */
import type { MessagePort } from 'node:worker_threads'
import type { MetricsMemory } from '../metrics/memory.js'
import type { Increment } from '../shard/delta/increment.js'
import type { ShardImage } from '../shard/layout.js'
import type { Mask } from '../shard/mask.js'
import type { EncodedFormat } from '../shard/rows/row-format.js'
import type { Control, Flag } from './control.js'
import type { FlatQueries } from './flat-queries.js'
import type { CellsTask, RowBytesTask } from './messages.js'

/** The data that every worker starts with. */
export interface QueryWorkerData {
  readonly shards: readonly ShardImage[]
  /** All of the snapshot, in its order. */
  readonly sourceIds: readonly number[]
  readonly control: Control
  /** Edge tests that one task may take. */
  readonly edgeTestCount: number
  /** Where all threads count. */
  readonly metrics: MetricsMemory
}

/** The data that a clipping thread starts with. */
export interface ClipWorkerData {
  readonly metrics: MetricsMemory
  /** Of the front thread that it belongs to. */
  readonly frontIndex: number
}

/** The channel to a worker (pool/channel.ts), as the worker gets it. */
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

export interface MaskMessage {
  readonly kind: 'mask'
  readonly mask: Mask
  /** The ids of those that no task needs any more. */
  readonly forgottenIds: readonly number[]
}

/** The tasks that travel as messages. */
export type WorkerTask = QueriesTask | RowsTask | RowBytesTask | CellsTask | CatchUpTask

/** Nothing but to read what was sent before it. */
interface CatchUpTask {
  readonly kind: 'catchUp'
}

export interface CaughtUp {
  readonly isCaughtUp: true
}

interface QueriesTask extends FlatQueries {
  readonly kind: 'queries'
  /** Raised when nobody waits for the findings any more. */
  readonly unwanted: Flag | null
  /** Of the one query, where its kind goes on with runs of each shard. */
  readonly given: readonly Uint32Array[] | null
}

/** Rows of a shard, as many as there is room for. */
interface RowsTask {
  readonly kind: 'rows'
  readonly shardIndex: number
  readonly runs: Uint32Array
  readonly format: EncodedFormat
  /** Shared memory that is nobody else's until the rows are there. */
  readonly into: Uint8Array
}

export interface RowsWritten {
  readonly rowCount: number
  readonly byteCount: number
}

/** Bytes of rows, or cells and their counts. */
export interface Counted {
  readonly counted: number | Float64Array
}

/** What a worker makes of a task; of selections, the findings. */
export type WorkerResult = Uint32Array | RowsWritten | Counted | CaughtUp
