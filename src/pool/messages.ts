/**
 * The tasks that the stages of a request give to query workers, and the answers: plain data, typed
 * arrays.
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

/** The tasks that go on with what was found before, on this machine or on others. */
type GivenKind = 'offer' | 'firsts'

/**
 * How many of each shard do the shapes select (`count`), or which of them (`select`)? Or whom do the
 * included layers cover, suppressed or not (`cover`)? The work of that is bounded for each shard.
 *
 * Where shards of one source lie on several machines, two more: who of some shards may be among the nearest of all
 * (`offer`; the shards are of one source), and who of those that were selected counts (`firsts`).
 */
export interface SelectionTask<Kind extends SelectionKind> {
  readonly kind: Kind
  /** Indexes into the shards of the snapshot, ascending. */
  readonly shardIndexes: readonly number[]
  readonly shapes: Shapes
  readonly countMode: CountMode
  /** Whether each phone counts once over all shards of the task. */
  readonly isDistinct: boolean
  /** Who is there for the request; null where everybody is. */
  readonly mask: Mask | null
  /** Of what came since the snapshot: how many batches of changes. */
  readonly moment: number
  /** Of a task `cover`: of those who came since the snapshot only who came behind this moment, or a few more. */
  readonly since?: number
  /** Of the kinds that go on with it: runs of each shard. Who is taken (`offer`), or who was selected (`firsts`). */
  readonly given?: readonly Uint32Array[]
  /** Takes the shards that could not be reached, where an answer without them will do. */
  readonly missing?: MissingShards | undefined
  /** May take milliseconds or more, so that others should not have to wait for it. */
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

/** How many of some recipients of one shard are in each cell of a grid: no position leaves the worker. */
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

/** As many of the rows that were asked for as there was room for. */
export interface EncodedRows {
  readonly rowCount: number
  /** In memory that is used again after `release`, which must be called once. */
  readonly bytes: Uint8Array
  release(): void
}

/** Why a worker does not answer; faults are values, since an error loses its code between threads. */
export type QueryFault = 'TooComplex' | 'Unavailable'

/** The one who waits for an answer. */
export interface Caller {
  /** When to give up, by the clock of `performance.now()`. */
  readonly deadlineMs: number
  /** True once nobody waits any more; what is not begun then need not be. */
  readonly gone: boolean
  /** Whether a task of the caller was let in: its others are not refused for want of room. */
  isLetIn?: boolean
  /** A snapshot that is held for the caller until it is over (`CurrentService.hold`). */
  held?: object | undefined
  /** Calls back once, when the caller has all of its answer or has gone. */
  whenOver(listener: () => void): void
  /** Told how long a task waited for a thread, as it goes there; left out where nobody measures. */
  waited?(ms: number): void
  /** Told how many recipients its answer has got; left out where nobody counts. */
  rowsSent?(count: number): void
}

/** A caller within the service, who stays until the deadline and keeps nothing afterwards. */
export function callerUntil(deadlineMs: number): Caller {
  return { deadlineMs, gone: false, whenOver: () => {} }
}

/** The pool, as selection sees it. */
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

/** The outcome of a task that may run for ever or take all memory. */
export type ClipOutcome = { readonly value: unknown } | { readonly failure: ClipFailure }

export type ClipFailure = 'TookTooLong' | 'OutOfMemory' | 'Failed'

/** A thread for such tasks, as others see it. */
export interface ClipRunner {
  /**
   * Runs one task, and ends its thread if it takes too much.
   *
   * @param otherwise  a task for what is left of the time when the first one fails
   * @throws ServiceError  Overloaded or Unavailable
   */
  run(
    task: unknown,
    caller: Caller,
    otherwise?: (failure: ClipFailure) => unknown,
  ): Promise<ClipOutcome>
}
