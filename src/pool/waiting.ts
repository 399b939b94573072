/**
 * A task of a request while it waits for a worker, and until it is settled.
 *
 * @module
 */
import { performance } from 'node:perf_hooks'
import type { InLine } from './line.js'
import type {
  Caller,
  CellsTask,
  EncodeTask,
  RowBytesTask,
  SelectionKind,
  SelectionTask,
  Task,
  TaskResults,
} from './messages.js'
import type { Lane } from './placement.js'

/** The result of a task of any kind. */
export type Result = TaskResults[Task['kind']]

export class Waiting implements InLine<Waiting> {
  before: Waiting | undefined
  behind: Waiting | undefined
  readonly task: Task
  readonly lane: Lane
  readonly caller: Caller
  readonly enteredMs = performance.now()
  readonly resolve: (result: Result) => void
  readonly reject: (error: Error) => void
  attemptCount = 0
  isSettled = false

  constructor(
    task: Task,
    caller: Caller,
    resolve: (result: Result) => void,
    reject: (error: Error) => void,
  ) {
    this.task = task
    this.lane = laneOf(task)
    this.caller = caller
    this.resolve = resolve
    this.reject = reject
  }
}

export type WaitingSelection = Waiting & { readonly task: SelectionTask<SelectionKind> }
export type WaitingRows = Waiting & { readonly task: EncodeTask }
export type WaitingRowBytes = Waiting & { readonly task: RowBytesTask }
export type WaitingCells = Waiting & { readonly task: CellsTask }

/** A task that has failed before travels alone. */
export function mayFollow(waiting: Waiting, batch: readonly Waiting[]): boolean {
  return batch.length === 0 || (waiting.attemptCount === 0 && batch[0].attemptCount === 0)
}

export function laneOf(task: Task): Lane {
  if ('shardIndex' in task) return 'rows'
  // What is given travels by message alone.
  return task.isLarge || task.given !== undefined ? 'large' : 'small'
}
