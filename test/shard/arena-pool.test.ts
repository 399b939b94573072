import t from 'tap'
import { limits } from '../../src/limits.js'
import { type Room, zoneOf } from '../../src/shard/arena.js'
import { type ArenaPool, createArenaPool } from '../../src/shard/arena-pool.js'

const MiB = 2 ** 20
const GiB = 2 ** 30
const ZONE_COUNT = 2

/** One each, in the order of the rooms. */
function memoriesOf(rooms: readonly Room[]): WebAssembly.Memory[] {
  return [...new Set(rooms.map(({ arena }) => arena.memory))]
}

function bytesOf(memories: Iterable<WebAssembly.Memory>): number {
  return [...memories].reduce((sum, { buffer }) => sum + buffer.byteLength, 0)
}

t.test('what was given back is used again, and grows', async (t) => {
  const pool = createArenaPool(ZONE_COUNT)
  const first = pool.take([1000])
  first[0].bytes.fill(1)
  const second = pool.take([1000])
  t.not(second[0].arena, first[0].arena, 'two at a time share nothing')
  pool.giveBack(first)
  const third = pool.take([MiB, 3 * MiB, 5])
  t.same(memoriesOf(third), memoriesOf(first))
  const all = new Set([...memoriesOf(second), ...memoriesOf(third)])
  t.equal(pool.totalBytes(), bytesOf(all), 'all arenas, once each')
  for (const [value, { bytes }] of third.entries()) bytes.fill(value + 2)
  third.forEach(({ bytes }, at) => {
    t.ok(
      bytes.every((byte) => byte === at + 2),
      `image ${at} shares no byte with another`,
    )
  })
  t.ok(second[0].bytes.every((byte) => byte === 0))
})

t.test('over any number of swaps there is as much memory as two of the largest take', async (t) => {
  const pool = createArenaPool(ZONE_COUNT)
  const all = new Set<WebAssembly.Memory>()
  // The first two fill two arenas and more; what is not touched takes no memory.
  const sizes = [[GiB, GiB, GiB], [GiB, GiB, 900 * MiB], [10], [GiB, GiB, GiB], [10], [2 * GiB]]
  const zoneBytes = 2 * ZONE_COUNT * limits.scratchZoneBytes
  let served: Room[] = []
  for (let swap = 0; swap < 30; swap++) {
    const next = pool.take(sizes[swap % sizes.length])
    for (const memory of memoriesOf(next)) all.add(memory)
    pool.giveBack(served)
    served = next
  }
  t.equal(all.size, 4)
  t.ok(bytesOf(all) <= 2 * (3 * GiB + zoneBytes), `${bytesOf(all) / MiB} MiB`)
})

t.test('an arena comes back once, and not while a thread owns a zone of it', async (t) => {
  const pool = createArenaPool(ZONE_COUNT)
  const rooms = pool.take([100])
  pool.giveBack(rooms)
  t.throws(() => pool.giveBack(rooms))
  const again = pool.take([100])
  zoneOf(again[0].arena)
  t.throws(() => pool.giveBack(again))
  t.not(takenMemory(pool), again[0].arena.memory)
})

t.test('where there is no memory nothing is taken', async (t) => {
  const pool = createArenaPool(ZONE_COUNT)
  const rooms = pool.take([100])
  pool.giveBack(rooms)
  t.throws(() => pool.take([limits.arenaImageBytes, 5 * GiB]), RangeError)
  t.equal(takenMemory(pool), rooms[0].arena.memory)
})

function takenMemory(pool: ArenaPool): WebAssembly.Memory {
  return pool.take([100])[0].arena.memory
}
