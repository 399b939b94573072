/**
 * The tasks that the threads of an import carry out for a snapshot that is being made.
 *
 * @module
 */
import { join } from 'node:path'
import { buildShard, type TakeMemory } from '../../shard/build/build.js'
import { type Cell, cutCell, type Orders, rowsOf } from '../../shard/build/partition.js'
import type { RecipientColumns } from '../../shard/columns.js'
import {
  type Candidates,
  findCandidates,
  markPhones,
  type Share,
} from '../../shard/duplicates/shard-look.js'
import { runTasksHere, startTaskThreads, type TaskRunner } from '../../task-threads.js'
import type { ManifestShard } from '../format/manifest.js'
import { writeShardFile } from '../format/write-shard-file.js'
import { type PhonePlace, readPhones } from '../load/read-phones.js'
import { sha256Of } from '../load/sha256.js'

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
  | ({ readonly kind: 'mark' } & SlotsTask)
  | ({ readonly kind: 'candidates'; readonly share: Share } & SlotsTask)
type BuildResult = readonly [Cell, Cell] | ManifestShard | string | number | Candidates

/** The phones of a shard file, and the slots of all of them in shared memory. */
interface SlotsTask {
  readonly place: PhonePlace
  readonly slots: Uint32Array
}

export type BuildThreads = TaskRunner<BuildTask, BuildResult>

/** @param threadCount  0 to work on this thread */
export function startBuildThreads(threadCount: number): BuildThreads {
  if (threadCount === 0) return runTasksHere((task) => runBuildTask(task))
  return startTaskThreads(new URL('../../../workers/build.js', import.meta.url), threadCount)
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

/** See `markPhones`. */
export async function mark(threads: BuildThreads, place: PhonePlace, slots: Uint32Array) {
  return (await threads.run({ kind: 'mark', place, slots })) as number
}

/** See `findCandidates`. */
export async function candidates(
  threads: BuildThreads,
  place: PhonePlace,
  slots: Uint32Array,
  share: Share,
) {
  return (await threads.run({ kind: 'candidates', place, slots, share })) as Candidates
}

/** Does a task; for the thread that it is given to. */
export async function runBuildTask(task: BuildTask, takeMemory?: TakeMemory): Promise<BuildResult> {
  if (task.kind === 'digest') return await sha256Of(task.path)
  if (task.kind === 'mark' || task.kind === 'candidates') {
    const column = await readPhones(task.place)
    return task.kind === 'mark'
      ? markPhones(column, task.slots)
      : findCandidates(column, task.slots, task.share)
  }
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
