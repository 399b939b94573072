import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { limits } from '../../src/limits.js'
import { type Arena, createRooms, releaseZones, zoneOf } from '../../src/shard/arena.js'

const ZONE_BYTES = limits.scratchZoneBytes

t.test('images lie side by side behind the zones, and a full arena is followed by another', (t) => {
  const half = limits.arenaImageBytes / 2
  const rooms = createRooms([1, 100, half - 192, half, 1, half * 2, half * 2 + 1, 5], 3)
  const arenas = [...new Set(rooms.map(({ arena }) => arena))]
  t.same(
    rooms.map(({ arena }) => arenas.indexOf(arena)),
    [0, 0, 0, 0, 1, 2, 3, 4],
  )
  for (const arena of arenas) {
    let end = 3 * ZONE_BYTES
    for (const { bytes } of rooms.filter((room) => room.arena === arena)) {
      t.equal(bytes.buffer, arena.memory.buffer)
      t.equal(bytes.byteOffset % 64, 0)
      t.ok(bytes.byteOffset >= end, 'no two share a byte')
      end = bytes.byteOffset + bytes.length
    }
  }
  t.same(createRooms([], 3), [])
  t.end()
})

t.test('there are no more zones than an arena has addresses for', (t) => {
  const [{ arena }] = createRooms([limits.arenaImageBytes], limits.scratchZoneCount + 1)
  t.equal(arena.zoneOwners.length, limits.scratchZoneCount)
  t.equal(arena.memory.buffer.byteLength, 4 * 1024 ** 3)
  t.end()
})

t.test(
  'no two live threads own a zone, and what a thread owned is free once it ended',
  async (t) => {
    const [{ arena }] = createRooms([64], 5)
    t.equal(zoneOf(arena), 0, 'this thread takes part as well')
    t.equal(zoneOf(arena), 0, 'and keeps what it owns')
    const claimers = Array.from({ length: 8 }, () => startClaimer(t, arena))
    const zones = await Promise.all(claimers.map((claimer) => claimer.claim()))
    const given = zones.filter((zone) => zone !== undefined)
    t.same(
      given.toSorted((a, b) => a - b),
      [1, 2, 3, 4].map((zone) => zone * ZONE_BYTES),
    )
    const owner = claimers[zones.indexOf(given[0])]
    const [waiting, other] = claimers.filter((_, at) => zones[at] === undefined)
    const { threadId } = owner.worker
    await owner.worker.terminate()
    t.equal(await waiting.claim(), undefined, 'a death alone frees nothing')
    releaseZones(arena, threadId)
    t.equal(await waiting.claim(), given[0])
    releaseZones(arena, threadId)
    t.equal(
      await other.claim(),
      undefined,
      'releasing the dead again takes nothing from the living',
    )
  },
)

function startClaimer(t: Test, arena: Arena) {
  const url = new URL('./fixtures/claim.js', import.meta.url)
  const worker = new Worker(url, { workerData: arena })
  t.teardown(() => worker.terminate())
  return {
    worker,
    async claim(): Promise<number | undefined> {
      worker.postMessage('claim')
      const [zone] = await once(worker, 'message')
      return zone
    },
  }
}
