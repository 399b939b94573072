/**
 * How many of those who are selected are in each cell of a grid. Query workers count a piece of a list at a time
 * and give cells and counts, so that nobody's place leaves them, and none is held for long.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import { limits } from '../limits.js'
import type { Caller, CellsTask, QueryRunner } from '../pool/tasks.js'
import type { Grid } from '../shard/grid/grid.js'
import type { ShardRuns, SourceSelection } from './merge.js'
import { piecesOf } from './pieces.js'
import { readerOf } from './write-rows.js'

/**
 * Cells with somebody in them, and how many. On a tile, whoever is beyond it is in none.
 *
 * @param selections  with their runs
 * @throws ServiceError  TooManyRecipients or TooManyCells, as a rejection
 */
export async function countOnGrid(
  runner: QueryRunner,
  selections: readonly SourceSelection[],
  grid: Grid,
  caller: Caller,
): Promise<Map<number, number>> {
  const selectedCount = selections.reduce((sum, { count }) => sum + count, 0)
  if (selectedCount > limits.gridRecipientCount) throw tooManyRecipients()
  const counts = new Map<number, number>()
  const tasks = tasksOf(
    selections.flatMap(({ shards }) => shards),
    grid,
  )
  // What these tasks wait is no part of the time that the selection has waited.
  const reader = readerOf(caller, caller.deadlineMs)
  // When one of them fails, there are no more tasks for the others.
  const countOn = async () => {
    for (const task of tasks) add(await runner.run<'cells'>(task, reader), counts)
  }
  await Promise.all(Array.from({ length: limits.piecesMeasuredCount }, countOn))
  return counts
}

function* tasksOf(shards: readonly ShardRuns[], grid: Grid): Generator<CellsTask> {
  const pieceCount = grid.kind === 'tile' ? limits.tilePieceCount : limits.gridPieceCount
  for (const { shardIndex, runs } of piecesOf(shards, () => pieceCount)) {
    yield { kind: 'cells', shardIndex, runs, grid }
  }
}

/** @param pairs  cells and counts in turn */
function add(pairs: Float64Array, counts: Map<number, number>): void {
  for (let at = 0; at < pairs.length; at += 2) {
    counts.set(pairs[at], (counts.get(pairs[at]) ?? 0) + pairs[at + 1])
  }
  if (counts.size > limits.gridCellCount) throw tooManyCells()
}

function tooManyRecipients(): ServiceError {
  const most = limits.gridRecipientCount.toLocaleString('en-US')
  return new ServiceError(
    'TooManyRecipients',
    `more than ${most} recipients are selected: ask with smaller shapes, or for fewer sources`,
  )
}

function tooManyCells(): ServiceError {
  const most = limits.gridCellCount.toLocaleString('en-US')
  return new ServiceError(
    'TooManyCells',
    `recipients are in more than ${most} cells: take a lower h3Resolution, or smaller shapes`,
    'h3Resolution',
  )
}
