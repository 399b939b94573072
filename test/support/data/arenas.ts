/**
 * Shards in arenas, as a service has them.
 *
 * @module
 */
import { createRooms } from '../../../src/shard/arena.js'
import type { ShardImage } from '../../../src/shard/layout.js'
import { marksIn, roomBytesOf } from '../../../src/snapshot/format/shard-image.js'

/** Copies images into as few arenas as hold them, with nobody marked. */
export function inArenas(images: readonly ShardImage[], zoneCount: number): ShardImage[] {
  const rooms = createRooms(
    images.map(({ image, recipientCount }) => roomBytesOf(image.length, recipientCount)),
    zoneCount,
  )
  return images.map((shard, index) => {
    const { arena, bytes } = rooms[index]
    bytes.set(shard.image)
    const image = bytes.subarray(0, shard.image.length)
    const marks = marksIn(rooms[index], image.length, shard.recipientCount)
    return { ...shard, image, arena, marks }
  })
}
