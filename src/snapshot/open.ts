/**
 * Opens a snapshot: every byte of it is verified before any of it is used.
 *
 * @module
 */
import { join } from 'node:path'
import { OperatorError } from '../errors.js'
import type { Room } from '../shard/arena.js'
import { type ArenaPool, createArenaPool } from '../shard/arena-pool.js'
import type { ShardImage } from '../shard/layout.js'
import { readCurrent, snapshotsDirectory } from './directory.js'
import { type Manifest, type ManifestShard, type ManifestSource, readManifest } from './manifest.js'
import { readShardFile, roomBytesOf } from './shard-file.js'
import type { Snapshot, SnapshotSource } from './snapshot.js'

/** Called with the bytes that are read so far, and with all there are; what it throws ends the work. */
export type OnProgress = (doneBytes: number, totalBytes: number) => void

export interface OpenOptions {
  /** Where it is put; in arenas of its own for one thread unless given. */
  readonly arenas?: ArenaPool
  readonly onProgress?: OnProgress
}

/**
 * Loads the current snapshot into shared memory.
 *
 * @throws OperatorError `SnapshotMissing` or `SnapshotCorrupt`
 */
export async function openSnapshot(
  dataDirectory: string,
  { arenas = createArenaPool(1), onProgress }: OpenOptions = {},
): Promise<Snapshot> {
  const id = await readCurrent(dataDirectory)
  if (id === undefined) {
    throw new OperatorError(
      'SnapshotMissing',
      `there is no snapshot in ${dataDirectory}: make one with ` +
        `\`hickory import --data ${dataDirectory} --source 1 --label NAME FILE…\``,
    )
  }
  const rooms = arenas.take(await shardRoomBytes(dataDirectory, id))
  return await loadSnapshot(dataDirectory, id, rooms, onProgress)
}

/**
 * The room that each shard of a snapshot needs.
 *
 * @throws OperatorError `SnapshotCorrupt`
 */
export async function shardRoomBytes(dataDirectory: string, id: string): Promise<number[]> {
  return filesOf(await readManifest(dataDirectory, id)).map(({ shard }) =>
    roomBytesOf(shard.byteLength, shard.recipientCount),
  )
}

/**
 * Loads a snapshot.
 *
 * @param rooms  one for each file
 * @throws OperatorError `SnapshotCorrupt`
 */
export async function loadSnapshot(
  dataDirectory: string,
  id: string,
  rooms: readonly Room[],
  onProgress?: OnProgress,
): Promise<Snapshot> {
  const manifest = await readManifest(dataDirectory, id)
  const files = filesOf(manifest)
  const totalBytes = files.reduce((sum, { shard }) => sum + shard.byteLength, 0)
  let doneBytes = 0
  const onRead = (pieceBytes: number) => {
    doneBytes += pieceBytes
    onProgress?.(doneBytes, totalBytes)
  }
  const shards: ShardImage[] = []
  for (const [at, { source, shard }] of files.entries()) {
    const path = join(snapshotsDirectory(dataDirectory), id, shard.file)
    shards.push(await openShard(path, source, shard, rooms[at], onRead))
  }
  return {
    id,
    createdAt: manifest.createdAt,
    sources: manifest.sources.map(summary),
    shards,
  }
}

/** The sources of the current snapshot by its manifest alone; none if there is no snapshot. */
export async function listSources(dataDirectory: string): Promise<SnapshotSource[]> {
  const id = await readCurrent(dataDirectory)
  if (id === undefined) return []
  return (await readManifest(dataDirectory, id)).sources.map(summary)
}

function filesOf({ sources }: Manifest) {
  return sources.flatMap((source) => source.shards.map((shard) => ({ source, shard })))
}

/** Reads a file and checks that it is the one that the manifest means. */
async function openShard(
  path: string,
  source: ManifestSource,
  entry: ManifestShard,
  room: Room,
  onRead: (pieceBytes: number) => void,
): Promise<ShardImage> {
  const { byteLength, headerCrc32 } = entry
  const { contactCount } = source
  const file = await readShardFile(path, byteLength, contactCount, room, onRead)
  const { shard, headerCrc32: found } = file
  // The header has the sums of all sections, so this tells any other shard from the right one.
  if (found !== headerCrc32) {
    throw new OperatorError(
      'SnapshotCorrupt',
      `${path}: found the shard with header CRC-32 ${found}, expected ${headerCrc32}`,
    )
  }
  if (shard.sourceId !== source.id || shard.recipientCount !== entry.recipientCount) {
    throw new OperatorError(
      'SnapshotCorrupt',
      `${path}: found ${shard.recipientCount} recipients of source ${shard.sourceId}, ` +
        `expected ${entry.recipientCount} of source ${source.id}`,
    )
  }
  return shard
}

function summary({ id, label, recipientCount, contactCount }: ManifestSource): SnapshotSource {
  return { id, label, recipientCount, contactCount }
}
