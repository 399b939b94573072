/**
 * The tasks that the threads of an import carry out for a snapshot that is being made.
 *
 * @module
 */
import { join } from 'node:path'
import { buildShard, type TakeMemory } from '../../shard/build/build.js'
import { type Cell, cutCell, type Orders, rowsOf } from '../../shard/build/partition.js'
import type { RecipientColumns } from '../../shard/columns.js'
import { type Dealing, type DealtPhones, dealPhones } from '../../shard/duplicates/deal-phones.js'
import { findTwins, type TwinSearch } from '../../shard/duplicates/find-twins.js'
import { type Candidates, findCandidates, type Share } from '../../shard/duplicates/shard-look.js'
import { runTasksHere, startTaskThreads, type TaskRunner } from '../../threads/tasks.js'
import type { ManifestShard } from '../format/manifest.js'
import { writeShardFile } from '../format/write-shard-file.js'
import type { IdentitiesFile } from '../identities/list.js'
import { writeIdentitiesFile } from '../identities/write-file.js'
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
  | {
      readonly kind: 'deal'
      readonly place: PhonePlace
      readonly dealing: Dealing
      readonly room: Uint32Array
    }
  | { readonly kind: 'twins'; readonly search: TwinSearch }
  | {
      readonly kind: 'candidates'
      readonly place: PhonePlace
      readonly twins: Int32Array
      readonly share: Share
    }

/** The files of a shard. */
interface WrittenShard {
  readonly shard: ManifestShard
  /** Undefined where the identities of its recipients are not known. */
  readonly identities: IdentitiesFile | undefined
}

type BuildResult = readonly [Cell, Cell] | WrittenShard | string | number | DealtPhones | Candidates

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

/** Builds and writes the shard that a cell is, into a file of this name, and the identities beside it. */
export async function write(threads: BuildThreads, source: SourceTask, cell: Cell, file: string) {
  return (await threads.run({ kind: 'write', source, cell, file })) as WrittenShard
}

/** The SHA-256 of a file, in hexadecimal. */
export async function digest(threads: BuildThreads, path: string) {
  return (await threads.run({ kind: 'digest', path })) as string
}

/** See `dealPhones`. */
export async function deal(
  threads: BuildThreads,
  place: PhonePlace,
  dealing: Dealing,
  room: Uint32Array,
) {
  return (await threads.run({ kind: 'deal', place, dealing, room })) as DealtPhones
}

/** See `findTwins`. */
export async function search(threads: BuildThreads, twinSearch: TwinSearch) {
  return (await threads.run({ kind: 'twins', search: twinSearch })) as number
}

/** See `findCandidates`. */
export async function candidates(
  threads: BuildThreads,
  place: PhonePlace,
  twins: Int32Array,
  share: Share,
) {
  return (await threads.run({ kind: 'candidates', place, twins, share })) as Candidates
}

/** Does a task; for the thread that it is given to. */
export async function runBuildTask(task: BuildTask, takeMemory?: TakeMemory): Promise<BuildResult> {
  switch (task.kind) {
    case 'cut':
      return cutCell(task.source.columns, task.source.orders, task.cell)
    case 'write':
      return await writeShard(task.source, task.cell, task.file, takeMemory)
    case 'digest':
      return await sha256Of(task.path)
    case 'deal':
      return dealPhones(await readPhones(task.place), task.dealing, task.room)
    case 'twins':
      return findTwins(task.search)
    case 'candidates':
      return findCandidates(await readPhones(task.place), task.twins, task.share)
  }
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
): Promise<WrittenShard> {
  const { directory, sourceId, columns, orders } = source
  const rows = rowsOf(orders, cell)
  const shard = buildShard(columns, rows, sourceId, cell.firstShard, takeMemory)
  const digest = await writeShardFile(join(directory, file), shard)
  const { recipientCount, box } = shard
  const { identities } = columns
  return {
    shard: { file, ...digest, recipientCount, box },
    identities: identities && (await writeIdentitiesFile(directory, shard, identities, rows)),
  }
}
