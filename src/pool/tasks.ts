/**
 * The tasks that the stages of a request give to query workers and to the clipping thread, and their
 * results: plain data, typed arrays.
 *
 * @module
 */
import { performance } from 'node:perf_hooks'
import type { Shapes } from '../geometry/shapes.js'
import type { Grid } from '../shard/grid/grid.js'
import type { Mask } from '../shard/mask.js'
import type { EncodedFormat, RowFormat } from '../shard/rows/row-format.js'
import type { CountMode } from '../shard/select.js'

export type SelectionKind = 'count' | 'select' | 'cover' | GivenKind

/** The tasks that continue from runs that were found before, on this machine or on others. */
type GivenKind = 'offer' | 'firsts'

/**
 * How many recipients of each shard the shapes select (`count`), or which (`select`), or which the included layers
 * cover, suppressed or not (`cover`, whose work is bounded for each shard).
 *
 * Where shards of one source are on several machines, two more: which recipients of some shards may be among the
 * nearest of all (`offer`; the shards are of one source), and which of the selected ones count (`firsts`).
 */
export interface SelectionTask<Kind extends SelectionKind> {
  readonly kind: Kind
  /** Indexes into the shards of the snapshot, ascending. */
  readonly shardIndexes: readonly number[]
  readonly shapes: Shapes
  readonly countMode: CountMode
  /** Whether each phone counts once over all shards of the task. */
  readonly isDistinct: boolean
  /** The recipients that the request may select; null for all. */
  readonly mask: Mask | null
  /** How many batches of changes since the snapshot are applied. */
  readonly moment: number
  /** For `cover`: of recipients that were added since the snapshot, only those after this moment, or a few more. */
  readonly since?: number
  /** Runs of each shard: recipients that are taken already (`offer`), or that were selected (`firsts`). */
  readonly given?: readonly Uint32Array[]
  /** Receives unreachable shards if partial results are allowed. */
  readonly missing?: MissingShards | undefined
  /** May take milliseconds or more: others should not wait for it. */
  readonly isLarge: boolean
}

/** The indexes of shards. */
export type MissingShards = Set<number>

/** The bytes of the first of some recipients of one shard. */
export interface EncodeTask {
  readonly kind: 'encode'
  readonly shardIndex: number
  /** [start, end) pairs of recipient indexes. */
  readonly runs: Uint32Array
  readonly format: EncodedFormat
}

/** How many bytes some recipients of one shard take. */
export interface RowBytesTask extends Omit<EncodeTask, 'kind' | 'format'> {
  readonly kind: 'rowBytes'
  readonly format: RowFormat
}

/** How many of some recipients of one shard are in each cell of a grid. No position leaves the worker. */
export interface CellsTask extends Omit<EncodeTask, 'kind' | 'format'> {
  readonly kind: 'cells'
  readonly grid: Grid
}

export type Task =
  | SelectionTask<'count'>
  | SelectionTask<'select'>
  | SelectionTask<'cover'>
  | SelectionTask<'offer'>
  | SelectionTask<'firsts'>
  | EncodeTask
  | RowBytesTask
  | CellsTask

/** Milliseconds by a clock that all threads of the process share; `performance.now` is not. */
export function sharedClockMs(): number {
  return performance.timeOrigin + performance.now()
}

/** The results of tasks. Of a selection, one entry a shard in the order of `shardIndexes`. */
export interface TaskResults {
  readonly count: readonly number[]
  readonly select: readonly Uint32Array[]
  readonly cover: readonly Uint32Array[]
  /** See shard/offer-words.ts. */
  readonly offer: readonly Uint32Array[]
  readonly firsts: readonly Uint32Array[]
  readonly encode: EncodedRows
  readonly rowBytes: number
  /** Cells and their counts in turn (shard/grid/grid.ts). */
  readonly cells: Float64Array
}

/** The first of the requested rows, as many as there was room for. */
export interface EncodedRows {
  readonly rowCount: number
  /** In memory that is used again after `release`, which must be called once. */
  readonly bytes: Uint8Array
  release(): void
}

/** Why a worker has no result. Faults are values, since an error loses its code between threads. */
export type QueryFault = 'TooComplex' | 'Unavailable'

/** The caller of a task: a request, or the service itself. */
export interface Caller {
  /** When to give up, by the clock of `performance.now()`. */
  readonly deadlineMs: number
  /** Whether its client has disconnected. Its tasks need not begin then. */
  readonly gone: boolean
  /** Whether a task of the caller was accepted: its other tasks are not refused for want of room. */
  isLetIn?: boolean
  /** A snapshot that is held for the caller until it is over (`CurrentService.hold`). */
  held?: object | undefined
  /** Calls back once, when the caller has all of its answer or has disconnected. */
  whenOver(listener: () => void): void
  /** A task has waited for so long when it goes to a thread; for callers that measure it. */
  waited?(ms: number): void
  /** The answer has got so many recipients; for callers that count them. */
  rowsSent?(count: number): void
}

/** Why a task of a caller that has gone fails. */
export const CLIENT_DISCONNECTED = 'the client has disconnected'

/** A caller within the service, which waits until the deadline. */
export function callerUntil(deadlineMs: number): Caller {
  return { deadlineMs, gone: false, whenOver: () => {} }
}

/** Runs tasks on query workers, of this machine or also of others. */
export interface QueryRunner {
  /**
   * Runs one task on any worker.
   *
   * @throws ServiceError  TooComplex, Overloaded or Unavailable
   */
  run<Kind extends Task['kind']>(
    task: Extract<Task, { kind: Kind }>,
    caller: Caller,
  ): Promise<TaskResults[Kind]>
}

/** The outcome of a task on a clipping thread, which may run for ever or take all memory. */
export type ClipOutcome = { readonly value: unknown } | { readonly failure: ClipFailure }

export type ClipFailure = 'TookTooLong' | 'OutOfMemory' | 'Failed'

export interface ClipRunner {
  /**
   * Runs one task, and terminates its thread if it takes too much.
   *
   * @param otherwise  makes a task for the remaining time when the first one fails
   * @throws ServiceError  Overloaded or Unavailable
   */
  run(
    task: unknown,
    caller: Caller,
    otherwise?: (failure: ClipFailure) => unknown,
  ): Promise<ClipOutcome>
}
