/**
 * The arenas of a service, which its snapshots use in turn. Shared memory that is merely dropped is
 * not collected while a service is busy, so what one snapshot leaves is kept for the next.
 *
 * @module
 */
import assert from 'node:assert/strict'
import { type Arena, createRooms, isUnowned, type Room } from './arena.js'

export interface ArenaPool {
  /**
   * Room for images of up to the given sizes, in arenas that hold nothing else until they are given
   * back.
   *
   * @throws RangeError  when there is no memory; then nothing is taken
   */
  take(imageBytes: readonly number[]): Room[]
  /** Of all arenas, whether they hold something or not. */
  totalBytes(): number
  /** Takes back the arenas that these rooms lie in; no thread may own a zone of them any more. */
  giveBack(rooms: readonly Pick<Room, 'arena'>[]): void
}

/** @param zoneCount  threads that will select from each arena */
export function createArenaPool(zoneCount: number): ArenaPool {
  let free: Arena[] = []
  const all = new Set<Arena>()
  return {
    take(imageBytes) {
      // The largest first: were a small one to take much, it would grow beside a large one that is
      // free, and memory with it.
      const largestFirst = free.toSorted((a, b) => bytesOf(b) - bytesOf(a))
      const rooms = createRooms(imageBytes, zoneCount, largestFirst)
      const taken = arenasOf(rooms)
      free = free.filter((arena) => !taken.has(arena))
      for (const arena of taken) all.add(arena)
      return rooms
    },
    totalBytes: () => [...all].reduce((sum, arena) => sum + bytesOf(arena), 0),
    giveBack(rooms) {
      for (const arena of arenasOf(rooms)) {
        assert(isUnowned(arena) && !free.includes(arena), 'an arena comes back once, and unused')
        free.push(arena)
      }
    },
  }
}

function arenasOf(rooms: readonly Pick<Room, 'arena'>[]): Set<Arena> {
  return new Set(rooms.map(({ arena }) => arena))
}

function bytesOf({ memory }: Arena): number {
  return memory.buffer.byteLength
}
