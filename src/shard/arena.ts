/**
 * Arenas: shared memory that holds the images of many shards, and beside them a scratch zone for
 * each thread that selects from them, so that the kernel reaches all of it by one kind of address.
 *
 *   zone 0 | zone 1 | … | image | image | …
 *
 * A zone is owned by one thread, from its first use until that thread has ended for certain. Who
 * finds none free does without: it is slower then, but never in another's way.
 *
 * @module
 */
import assert from 'node:assert/strict'
import { threadId } from 'node:worker_threads'
import { limits } from '../limits.js'

/** An arena as it crosses threads. */
export interface Arena {
  readonly memory: WebAssembly.Memory
  /** One Int32 a zone: FREE, or the mark of the thread that owns it. */
  readonly zoneOwners: Int32Array
}

/** Where one image may be put. */
export interface Room {
  readonly arena: Arena
  readonly bytes: Uint8Array
}

/**
 * Makes room for images of up to the given sizes, in as few arenas as hold them in this order.
 *
 * @param zoneCount  threads that will select from them
 */
export function createRooms(imageBytes: readonly number[], zoneCount: number): Room[] {
  const rooms: Room[] = []
  for (let first = 0; first < imageBytes.length; first = rooms.length) {
    let end = first
    let arenaBytes = 0
    do arenaBytes += aligned(imageBytes[end++])
    while (
      end < imageBytes.length &&
      arenaBytes + aligned(imageBytes[end]) <= limits.arenaImageBytes
    )
    const arena = createArena(arenaBytes, Math.min(zoneCount, limits.scratchZoneCount))
    let byteOffset = arena.zoneOwners.length * limits.scratchZoneBytes
    for (const byteLength of imageBytes.slice(first, end)) {
      rooms.push({ arena, bytes: new Uint8Array(arena.memory.buffer, byteOffset, byteLength) })
      byteOffset += aligned(byteLength)
    }
  }
  return rooms
}

/** The first byte of a zone of this thread's own, for good; undefined if all are taken. */
export function claimZone({ zoneOwners }: Arena): number | undefined {
  for (let zone = 0; zone < zoneOwners.length; zone++) {
    if (Atomics.compareExchange(zoneOwners, zone, FREE, markOf(threadId)) === FREE) {
      return zone * limits.scratchZoneBytes
    }
  }
  return undefined
}

/** Frees what a thread owned. Only for a thread that has ended: until then it may still write. */
export function releaseZones({ zoneOwners }: Arena, endedThreadId: number): void {
  for (let zone = 0; zone < zoneOwners.length; zone++) {
    Atomics.compareExchange(zoneOwners, zone, markOf(endedThreadId), FREE)
  }
}

const FREE = 0
const PAGE_BYTES = 65_536
const IMAGE_ALIGNMENT_BYTES = 64

/** The main thread has the id 0, and no id is ever given again. */
function markOf(id: number): number {
  return id + 1
}

function createArena(imageBytes: number, zoneCount: number): Arena {
  const pageCount = Math.ceil((zoneCount * limits.scratchZoneBytes + imageBytes) / PAGE_BYTES)
  const memory = new WebAssembly.Memory({ initial: pageCount, maximum: pageCount, shared: true })
  return { memory, zoneOwners: new Int32Array(new SharedArrayBuffer(4 * zoneCount)) }
}

function aligned(byteLength: number): number {
  return Math.ceil(byteLength / IMAGE_ALIGNMENT_BYTES) * IMAGE_ALIGNMENT_BYTES
}

assert.equal(limits.scratchZoneBytes % PAGE_BYTES, 0)
