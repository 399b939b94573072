/**
 * A snapshot into memory: its files into rooms, verified, and what belongs together put together.
 *
 * @module
 */
import assert from 'node:assert/strict'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { limits } from '../../limits.js'
import type { Room } from '../../shard/arena.js'
import type { ArenaPool } from '../../shard/arena-pool.js'
import type { Repeats } from '../../shard/duplicates/find-repeats.js'
import { attachShard, type ShardImage } from '../../shard/layout.js'
import { findSharedContacts, type SharedContacts } from '../../shard/ties/contact-use.js'
import { snapshotsDirectory } from '../directory.js'
import { filesOf, type Manifest, type ManifestSource, readManifest } from '../format/manifest.js'
import { marksIn, roomBytesOf, tiedSetsIn } from '../format/shard-image.js'
import { readIdentities } from '../identities/list.js'
import type { Snapshot, SnapshotSource } from '../snapshot.js'
import { type LoadRunner, runHere } from './load-piece.js'
import { runOnThreads } from './load-threads.js'
import { planRepeats, planShard } from './plan-piece.js'

/** Called with the bytes that are read so far, and with all there are. */
type OnProgress = (doneBytes: number, totalBytes: number) => void

export interface LoadOptions {
  readonly onProgress?: OnProgress | undefined
  /** Of the compiled workers/load.ts, to load on several threads; on this one unless given. */
  readonly loaderUrl?: URL
  /** To give up soon. */
  readonly stopping?: AbortSignal | undefined
  /**
   * Whether a damaged list of identities is damage of the snapshot, since another machine has a whole one. Not unless
   * given: then answers are without the changes behind the snapshot.
   */
  readonly needsIdentities?: boolean | undefined
}

/**
 * Loads a snapshot into arenas of the pool, which are given back if that fails.
 *
 * @throws OperatorError `SnapshotCorrupt`
 */
export async function loadSnapshot(
  dataDirectory: string,
  id: string,
  arenas: ArenaPool,
  options: LoadOptions = {},
): Promise<Snapshot> {
  const manifest = await readManifest(dataDirectory, id)
  const rooms = arenas.take(roomBytesFor(manifest))
  let runner: LoadRunner | undefined
  try {
    runner = runnerFor(manifest, options)
    const snapshot = await load(
      join(snapshotsDirectory(dataDirectory), id),
      manifest,
      rooms,
      runner,
    )
    const sources = await withIdentities(dataDirectory, snapshot, options)
    await runner.close()
    return { ...snapshot, sources }
  } catch (error) {
    await runner?.close()
    arenas.giveBack(rooms)
    throw error
  }
}

export function summaryOf(source: ManifestSource): SnapshotSource {
  const { id, label, recipientCount, contactCount } = source
  return { id, label, recipientCount, contactCount }
}

/** Where the list of identities is damaged, all answers are as without it; who verifies is told. */
async function withIdentities(
  dataDirectory: string,
  { id, sources }: Pick<Snapshot, 'id' | 'sources'>,
  { needsIdentities = false }: LoadOptions,
): Promise<SnapshotSource[]> {
  const known = await readIdentities(dataDirectory, id).catch((fault: unknown) => {
    if (needsIdentities) throw fault
    return []
  })
  return sources.map((source) => {
    const identities = known.find((each) => each.id === source.id)
    if (identities === undefined) return source
    const { hasKeys, appliedSequence } = identities
    return { ...source, hasKeys, ...(appliedSequence !== undefined && { appliedSequence }) }
  })
}

/** One for each shard, then one for the repeats if they are in a file. */
function roomBytesFor(manifest: Manifest): number[] {
  const shards = shardsOf(manifest).map(({ entry }) =>
    roomBytesOf(entry.byteLength, entry.recipientCount),
  )
  return 'repeats' in manifest ? [...shards, manifest.repeats.byteLength] : shards
}

function shardsOf({ sources }: Manifest) {
  return sources.flatMap((source) => source.shards.map((entry) => ({ source, entry })))
}

function runnerFor(manifest: Manifest, options: LoadOptions): LoadRunner {
  const { onProgress, loaderUrl, stopping } = options
  const totalBytes = filesOf(manifest).reduce((sum, { byteLength }) => sum + byteLength, 0)
  let doneBytes = 0
  const onRead = (pieceBytes: number) => {
    doneBytes += pieceBytes
    onProgress?.(doneBytes, totalBytes)
  }
  const threadCount = Math.min(
    availableParallelism(),
    limits.loadThreadCount,
    shardsOf(manifest).length,
  )
  return loaderUrl === undefined || threadCount === 0
    ? runHere(onRead, stopping)
    : runOnThreads(loaderUrl, threadCount, onRead, stopping)
}

async function load(
  directory: string,
  manifest: Manifest,
  rooms: readonly Room[],
  runner: LoadRunner,
): Promise<Snapshot> {
  const entries = shardsOf(manifest)
  const reading: Promise<ShardImage>[] = []
  // Heads are read one after the other, as there may be more files than may be open.
  for (const [at, { source, entry }] of entries.entries()) {
    const image = runner.loadShard(await planShard(directory, source, entry, rooms[at]))
    // A fault is noticed further down.
    image.catch(() => {})
    reading.push(image)
  }
  const read = await loadRepeats(directory, manifest, rooms, runner)
  const shards = (await Promise.all(reading)).map((shard, at) => inRoom(shard, rooms[at]))
  const repeats: Repeats = read ?? (await runner.loadRepeats({ kind: 'findRepeats', shards }))
  return {
    id: manifest.id,
    createdAt: manifest.createdAt,
    sources: manifest.sources.map(summaryOf),
    shards: await tieAll(shards, repeats, rooms, runner),
    arenas: [...new Set(rooms.map(({ arena }) => arena))],
  }
}

/** Ties the recipients of all shards, now that all contacts and all repeats are known. */
async function tieAll(
  shards: readonly ShardImage[],
  repeats: Repeats,
  rooms: readonly Room[],
  runner: LoadRunner,
): Promise<ShardImage[]> {
  const bySource = new Map<number, Promise<SharedContacts>>()
  for (const { sourceId } of shards) {
    if (bySource.has(sourceId)) continue
    const found = findShared(
      shards.filter((shard) => shard.sourceId === sourceId),
      runner,
    )
    // A fault is noticed further down.
    found.catch(() => {})
    bySource.set(sourceId, found)
  }
  return await Promise.all(
    shards.map(async (shard, at) => {
      const { contacts } = attachShard(shard)
      const sharedContacts = (await bySource.get(shard.sourceId)) ?? assert.fail()
      const sets = tiedSetsIn(rooms[at], shard.image.length, shard.recipientCount)
      const own = repeats.shards[at]
      const piece = { kind: 'tie', contacts, sharedContacts, repeats: own, ...sets } as const
      const ids = contacts.subarray(0, await runner.tie(piece))
      const { byContact, byPhone } = sets
      return {
        ...shard,
        contactTies: { set: byContact, isInArena: true, ids, idEnd: sharedContacts.count },
        phoneTies: {
          set: byPhone,
          isInArena: true,
          ids: own.phoneIds,
          idEnd: repeats.phoneCount,
        },
      }
    }),
  )
}

/** @param shards  of one source */
async function findShared(
  shards: readonly ShardImage[],
  runner: LoadRunner,
): Promise<SharedContacts> {
  const [{ contactCount }] = shards
  const columns = shards.map((shard) => attachShard(shard).contacts)
  const partCount = Math.min(runner.threadCount, shards.length)
  const parts = Array.from({ length: partCount }, (_, part) =>
    columns.filter((_, at) => at % partCount === part),
  )
  const uses = await Promise.all(
    parts.map((columns) => runner.note({ kind: 'note', columns, contactCount })),
  )
  return findSharedContacts(uses)
}

async function loadRepeats(
  directory: string,
  manifest: Manifest,
  rooms: readonly Room[],
  runner: LoadRunner,
): Promise<Repeats | undefined> {
  if (!('repeats' in manifest)) return undefined
  const shardCounts = shardsOf(manifest).map(({ entry }) => entry.recipientCount)
  const room = rooms[shardCounts.length]
  return await runner.loadRepeats(await planRepeats(directory, manifest.repeats, shardCounts, room))
}

/** The image in its own room: an image from another thread has the same bytes, but not these objects. */
function inRoom(shard: ShardImage, room: Room): ShardImage {
  const image = room.bytes.subarray(0, shard.image.length)
  const marks = marksIn(room, image.length, shard.recipientCount)
  return { ...shard, arena: room.arena, image, marks }
}
