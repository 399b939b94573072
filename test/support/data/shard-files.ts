/**
 * Shard files, read as a service reads them: the head first, then the rest into its room.
 *
 * @module
 */
import { createRooms, type Room } from '../../../src/shard/arena.js'
import type { ShardImage } from '../../../src/shard/layout.js'
import type { ManifestShard, ManifestSource } from '../../../src/snapshot/format/manifest.js'
import { roomBytesOf } from '../../../src/snapshot/format/shard-image.js'
import { loadShard } from '../../../src/snapshot/load/load-piece.js'
import { planShard } from '../../../src/snapshot/load/plan-piece.js'

export async function loadShardFile(
  directory: string,
  source: Pick<ManifestSource, 'id' | 'contactCount'>,
  shard: ManifestShard,
  room = roomFor(shard),
): Promise<ShardImage> {
  return loadShard(await planShard(directory, source, shard, room), () => undefined)
}

export function roomFor({
  byteLength,
  recipientCount,
}: Pick<ManifestShard, 'byteLength' | 'recipientCount'>): Room {
  return createRooms([roomBytesOf(byteLength, recipientCount)], 1)[0]
}
