/**
 * Shards in arenas, as a service has them.
 *
 * @module
 */
import { createRooms } from '../../src/shard/arena.js'
import type { ShardImage } from '../../src/shard/layout.js'

/** Copies images into as few arenas as hold them. */
export function inArenas(images: readonly ShardImage[], zoneCount: number): ShardImage[] {
  const rooms = createRooms(
    images.map(({ image }) => image.length),
    zoneCount,
  )
  return images.map((shard, index) => {
    const { arena, bytes } = rooms[index]
    bytes.set(shard.image)
    return { ...shard, image: bytes, arena }
  })
}
