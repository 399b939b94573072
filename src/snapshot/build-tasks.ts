/**
 * What the threads of an import do for a snapshot that is being made.
 *
 * @module
 */
import { join } from 'node:path'
import { buildShard, type TakeMemory } from '../shard/build.js'
import type { RecipientColumns } from '../shard/columns.js'
import { type Cell, cutCell, type Orders, rowsOf } from '../shard/partition.js'
import { runTasksHere, startTaskThreads, type TaskRunner } from '../task-threads.js'
import type { ManifestShard } from './manifest.js'
import { sha256Of } from './sha256.js'
import { writeShardFile } from './shard-file.js'

/** A source that is being written; columns and orders are in shared memory. */
export interface SourceTask {
  readonly directory: string
  readonly sourceId: number
  readonly columns: RecipientColumns
  readonly orders: Orders
}

type BuildTask =
  | { readonly kind: 'cut'; readonly source: SourceTask; readonly cell: Cell }
  | {
      readonly kind: 'write'
      readonly source: SourceTask
      readonly cell: Cell
      readonly file: string
    }
  | { readonly kind: 'digest'; readonly path: string }
type BuildResult = readonly [Cell, Cell] | ManifestShard | string

export type BuildThreads = TaskRunner<BuildTask, BuildResult>

/** @param threadCount  0 to work on this thread */
export function startBuildThreads(threadCount: number): BuildThreads {
  if (threadCount === 0) return runTasksHere((task) => runBuildTask(task))
  return startTaskThreads(new URL('../../workers/build.js', import.meta.url), threadCount)
}

/** Cuts a cell of several shards in two. */
export async function cut(threads: BuildThreads, source: SourceTask, cell: Cell) {
  return (await threads.run({ kind: 'cut', source, cell })) as [Cell, Cell]
}

/** Builds and writes the shard that a cell is, into a file of this name. */
export async function write(threads: BuildThreads, source: SourceTask, cell: Cell, file: string) {
  return (await threads.run({ kind: 'write', source, cell, file })) as ManifestShard
}

/** The SHA-256 of a file, in hexadecimal. */
export async function digest(threads: BuildThreads, path: string) {
  return (await threads.run({ kind: 'digest', path })) as string
}

/** Does a task; for the thread that it is given to. */
export async function runBuildTask(task: BuildTask, takeMemory?: TakeMemory): Promise<BuildResult> {
  if (task.kind === 'digest') return await sha256Of(task.path)
  const { source, cell } = task
  if (task.kind === 'cut') return cutCell(source.columns, source.orders, cell)
  return await writeShard(source, cell, task.file, takeMemory)
}

/** Memory for one image after the other, for a thread that does one task at a time. */
export function reusedMemory(): TakeMemory {
  let memory = new ArrayBuffer(0)
  return (byteLength) => {
    if (byteLength > memory.byteLength) memory = new ArrayBuffer(byteLength + (byteLength >>> 3))
    else new Uint8Array(memory).fill(0)
    return memory
  }
}

async function writeShard(
  source: SourceTask,
  cell: Cell,
  file: string,
  takeMemory?: TakeMemory,
): Promise<ManifestShard> {
  const { directory, sourceId, columns, orders } = source
  const shard = buildShard(columns, rowsOf(orders, cell), sourceId, cell.firstShard, takeMemory)
  const digest = await writeShardFile(join(directory, file), shard)
  return { file, ...digest, recipientCount: shard.recipientCount, box: shard.box }
}
