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
 * @param free  arenas to use first, which grow as need be; of as many zones
 * @throws RangeError  when there is no memory
 */
export function createRooms(
  imageBytes: readonly number[],
  zoneCount: number,
  free: readonly Arena[] = [],
): Room[] {
  const rooms: Room[] = []
  const unused = [...free]
  for (let first = 0; first < imageBytes.length; first = rooms.length) {
    let end = first
    let arenaBytes = 0
    do arenaBytes += aligned(imageBytes[end++])
    while (
      end < imageBytes.length &&
      arenaBytes + aligned(imageBytes[end]) <= limits.arenaImageBytes
    )
    const arena = unused.shift() ?? createArena(arenaBytes, zoneCount)
    growTo(arena, arenaBytes)
    let byteOffset = arena.zoneOwners.length * limits.scratchZoneBytes
    for (const byteLength of imageBytes.slice(first, end)) {
      rooms.push({ arena, bytes: new Uint8Array(arena.memory.buffer, byteOffset, byteLength) })
      byteOffset += aligned(byteLength)
    }
  }
  return rooms
}

/** The first byte of the zone that this thread owns, for good; undefined while all are taken. */
export function zoneOf(arena: Arena): number | undefined {
  const owned = ownedZones.get(arena.memory)
  if (owned !== undefined) return owned
  const claimed = claimZone(arena)
  if (claimed !== undefined) ownedZones.set(arena.memory, claimed)
  return claimed
}

/** Frees what a thread owned. Only for a thread that has ended: until then it may still write. */
export function releaseZones({ zoneOwners }: Arena, endedThreadId: number): void {
  for (let zone = 0; zone < zoneOwners.length; zone++) {
    Atomics.compareExchange(zoneOwners, zone, markOf(endedThreadId), FREE)
  }
}

/** Whether no thread owns any zone of it, so that it may hold something else. */
export function isUnowned({ zoneOwners }: Arena): boolean {
  return zoneOwners.every((_, zone) => Atomics.load(zoneOwners, zone) === FREE)
}

/** Of this thread. */
const ownedZones = new WeakMap<WebAssembly.Memory, number>()

function claimZone({ zoneOwners }: Arena): number | undefined {
  for (let zone = 0; zone < zoneOwners.length; zone++) {
    if (Atomics.compareExchange(zoneOwners, zone, FREE, markOf(threadId)) === FREE) {
      return zone * limits.scratchZoneBytes
    }
  }
  return undefined
}

const FREE = 0
const PAGE_BYTES = 65_536
/** All that 32-bit addresses reach. A reserved page costs nothing until it is grown into. */
const PAGE_COUNT_MAX = 65_536
const IMAGE_ALIGNMENT_BYTES = 64

/** The main thread has the id 0, and no id is ever given again. */
function markOf(id: number): number {
  return id + 1
}

function createArena(imageBytes: number, threadCount: number): Arena {
  const zoneCount = Math.min(threadCount, limits.scratchZoneCount)
  const initial = pageCountOf(imageBytes, zoneCount)
  const memory = new WebAssembly.Memory({ initial, maximum: PAGE_COUNT_MAX, shared: true })
  return { memory, zoneOwners: new Int32Array(new SharedArrayBuffer(4 * zoneCount)) }
}

/** An arena keeps the memory that it once took: no part of it can be given back. */
function growTo({ memory, zoneOwners }: Arena, imageBytes: number): void {
  const pageCount = memory.buffer.byteLength / PAGE_BYTES
  const missingCount = pageCountOf(imageBytes, zoneOwners.length) - pageCount
  if (missingCount > 0) memory.grow(missingCount)
}

function pageCountOf(imageBytes: number, zoneCount: number): number {
  return Math.ceil((zoneCount * limits.scratchZoneBytes + imageBytes) / PAGE_BYTES)
}

function aligned(byteLength: number): number {
  return Math.ceil(byteLength / IMAGE_ALIGNMENT_BYTES) * IMAGE_ALIGNMENT_BYTES
}

assert.equal(limits.scratchZoneBytes % PAGE_BYTES, 0)
