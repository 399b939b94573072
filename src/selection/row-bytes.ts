/**
 * How many bytes the recipients of a list take, before any of them is encoded. Query workers count a
 * piece at a time, so that none is held for long.
 *
 * @module
 */
import { limits } from '../limits.js'
import type { Caller, QueryRunner, RowBytesTask } from '../pool/tasks.js'
import type { RowFormat } from '../shard/rows/row-format.js'
import type { ShardRuns } from './merge.js'
import { piecesOf } from './pieces.js'
import { commaBytes, readerOf } from './write-rows.js'

/** The rows of one source. */
export interface SourceRows {
  readonly shards: readonly ShardRuns[]
  readonly format: RowFormat
}

/**
 * The bytes that `writeRows` writes of some sources together.
 *
 * @throws ServiceError  as a rejection
 */
export async function rowBytesOf(
  runner: QueryRunner,
  sources: readonly SourceRows[],
  caller: Caller,
): Promise<number> {
  const tasks = tasksOf(sources)
  // What these tasks wait is no part of the time that the selection has waited.
  const reader = readerOf(caller, caller.deadlineMs)
  let byteCount = 0
  // When one of them fails, there are no more tasks for the others.
  const countOn = async () => {
    for (const task of tasks) {
      const pieceBytes = await runner.run<'rowBytes'>(task, reader)
      byteCount += pieceBytes
    }
  }
  await Promise.all(Array.from({ length: limits.piecesMeasuredCount }, countOn))
  return byteCount - firstCommaBytesOf(sources)
}

function* tasksOf(sources: readonly SourceRows[]): Generator<RowBytesTask> {
  for (const { shards, format } of sources) {
    for (const { shardIndex, runs } of piecesOf(shards, () => limits.rowsMeasuredCount)) {
      yield { kind: 'rowBytes', shardIndex, runs, format }
    }
  }
}

function firstCommaBytesOf(sources: readonly SourceRows[]): number {
  let byteCount = 0
  for (const { shards, format } of sources) {
    if (shards.some(({ runs }) => runs.length > 0)) byteCount += commaBytes(format)
  }
  return byteCount
}
