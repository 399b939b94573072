/**
 * The plan for loading one file of a snapshot: its head is read, and known to be the one that the
 * manifest means, before a thread is given the rest.
 *
 * @module
 */
import { join } from 'node:path'
import type { Room } from '../../shard/arena.js'
import { readRepeatsHead } from '../duplicates/file.js'
import type { ManifestFile, ManifestShard, ManifestSource } from '../format/manifest.js'
import { readShardHead } from '../format/shard-file.js'
import { corrupt } from '../open-file.js'
import type { AlonePiece } from './load-alone.js'
import type { RepeatsPiece, ShardPiece } from './load-piece.js'

/** Into a room, to be selected from. */
export async function planShard(
  directory: string,
  source: Pick<ManifestSource, 'id' | 'contactCount'>,
  entry: ManifestShard,
  room: Room,
): Promise<ShardPiece> {
  return { kind: 'shard', ...(await planAlone(directory, source, entry)), room }
}

/**
 * @param directory  of the snapshot
 * @throws OperatorError `SnapshotCorrupt`
 */
export async function planAlone(
  directory: string,
  { id: sourceId, contactCount }: Pick<ManifestSource, 'id' | 'contactCount'>,
  { file, byteLength, headerCrc32, recipientCount }: ManifestShard,
): Promise<AlonePiece> {
  const path = join(directory, file)
  const head = await readShardHead(path, byteLength)
  // The header has the sums of the whole image, so this tells any other shard from the right one.
  if (head.headerCrc32 !== headerCrc32) {
    const found = `found the shard with header CRC-32 ${head.headerCrc32}`
    throw corrupt(path, `${found}, expected ${headerCrc32}`)
  }
  const { header } = head
  if (header.sourceId !== sourceId || header.recipientCount !== recipientCount) {
    throw corrupt(
      path,
      `found ${header.recipientCount} recipients of source ${header.sourceId}, ` +
        `expected ${recipientCount} of source ${sourceId}`,
    )
  }
  return { path, byteLength, head, contactCount }
}

/**
 * @param shardCounts  recipients of each shard
 * @throws OperatorError `SnapshotCorrupt`
 */
export async function planRepeats(
  directory: string,
  entry: ManifestFile,
  shardCounts: readonly number[],
  room: Room,
): Promise<RepeatsPiece> {
  const path = join(directory, entry.file)
  const head = await readRepeatsHead(path, entry)
  return { kind: 'repeats', path, byteLength: entry.byteLength, head, shardCounts, room }
}
