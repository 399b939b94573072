/**
 * Memory for the positions of packs that the kernel reaches: an arena that one thread has for itself, and
 * that it takes when the first pack comes. A snapshot's own arenas are of its size, and shared.
 *
 * @module
 */
import { type Arena, createRooms, type Room } from '../arena.js'
import type { Pack } from '../layout.js'

/** The kernel reads four positions at a time, up to three of them behind a shard. An image has more than that behind it. */
const BYTES_READ_BEHIND = 24

export class PackRoom {
  #arena: Arena | undefined

  /**
   * Puts packs one behind the other; those that are in their place stay as they are. All others that it gave
   * before are overwritten. Where there is no memory, packs stay as they are.
   */
  layOut(packs: readonly Pack[]): readonly Pack[] {
    if (packs.length === 0) return packs
    const free = this.#arena === undefined ? [] : [this.#arena]
    const sizes = packs.map(({ coords }) => coords.byteLength + BYTES_READ_BEHIND)
    let rooms: readonly Room[]
    try {
      rooms = createRooms(sizes, 1, free)
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      return packs
    }
    this.#arena = rooms[0].arena
    return packs.map((pack, at) => {
      const { arena, bytes } = rooms[at]
      const { shard, coords } = pack
      if (shard.arena === arena && shard.coords.byteOffset === bytes.byteOffset) return pack
      const placed = new Int32Array(bytes.buffer, bytes.byteOffset, coords.length)
      placed.set(coords)
      return { ...pack, shard: { ...shard, arena, coords: placed } }
    })
  }
}
