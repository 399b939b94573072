/**
 * Where packs lie while others come and go.
 *
 * @module
 */
import t from 'tap'
import { PackRoom } from '../../../src/shard/delta/pack-room.js'
import { attachPack, buildPack } from '../../../src/shard/delta/packs.js'
import { kernelFor } from '../../../src/shard/descent/kernel.js'
import type { Pack } from '../../../src/shard/layout.js'
import { testSeed } from '../../support/random/properties.js'
import { type Random, seededRandom } from '../../support/random/world.js'

t.test('packs keep their positions whatever lies before them', async (t) => {
  const random = seededRandom(testSeed(t))
  const room = new PackRoom()
  let packs: readonly Pack[] = []
  let keptCount = 0
  for (let round = 0; round < 100; round++) {
    const start = random.between(0, packs.length)
    const end = random.between(start, packs.length)
    const fresh = Array.from({ length: random.between(0, 3) }, () => randomPack(random))
    const next = [...packs.slice(0, start), ...fresh, ...packs.slice(end)]
    packs = room.layOut(next)
    keptCount += packs.filter((pack, at) => pack === next[at]).length
    const isRight = packs.every(
      ({ shard, coords }, at) =>
        coords === next[at].coords &&
        bytesOf(shard.coords).equals(bytesOf(coords)) &&
        shard.arena === packs[0].shard.arena,
    )
    t.ok(isRight, `round ${round}`)
  }
  t.ok(keptCount > 0, `${keptCount} stayed where they were`)
})

t.test('the kernel reaches packs that were laid out', async (t) => {
  const random = seededRandom(testSeed(t))
  const own = randomPack(random)
  const [placed] = new PackRoom().layOut([own])
  t.equal(own.shard.arena, null)
  t.not(kernelFor(placed.shard, 10), kernelFor(own.shard, 10))
})

t.test('no packs take no memory', async (t) => {
  t.same(new PackRoom().layOut([]), [])
})

function bytesOf({ buffer, byteOffset, byteLength }: Int32Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}

function randomPack(random: Random): Pack {
  const count = random.between(1, 5_000)
  const coords = Int32Array.from({ length: 2 * count }, () => random.between(-9e8, 9e8))
  return attachPack(buildPack(1, coords, 0, count))
}
