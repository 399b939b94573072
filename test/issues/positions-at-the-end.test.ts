/**
 * A request failed now and then while changes came: the kernel reads four positions at a time, and the last ones of the
 * last pack may end where memory does.
 */
import t from 'tap'
import { polygonsOf } from '../../src/geometry/polygon/polygons.js'
import { including } from '../../src/geometry/shapes.js'
import { PackRoom } from '../../src/shard/delta/pack-room.js'
import { attachPack, buildPack } from '../../src/shard/delta/packs.js'
import { countInside } from '../../src/shard/select.js'
import { testSeed } from '../support/random/properties.js'
import { seededRandom } from '../support/random/world.js'

/** A page of memory, as WebAssembly has it. */
const PAGE_BYTES = 65_536

t.test('packs that fill memory to its end are searched to their end', async (t) => {
  const random = seededRandom(testSeed(t))
  // Halved again and again, its second half has no multiple of four.
  const count = 1_000
  const before = PAGE_BYTES / 8 - count
  const coords = Int32Array.from({ length: 2 * count }, () => random.between(-1e7, 1e7))
  const packs = [
    buildPack(1, new Int32Array(2 * before), 0, before),
    buildPack(1, coords, 0, count),
  ]
  const [, { shard }] = new PackRoom().layOut(packs.map(attachPack))
  const { byteOffset, byteLength } = shard.coords
  const memoryBytes = Number(shard.arena?.memory.buffer.byteLength)
  t.ok(memoryBytes - byteOffset - byteLength >= 24, 'three positions may be read behind them')
  for (let from = count - 40; from < count; from++) {
    const west = shard.coords[2 * from] - 1_000
    const south = shard.coords[2 * from + 1] - 1_000
    const ring = [
      [west, south],
      [2e7, south],
      [2e7, 2e7],
      [west, 2e7],
      [west, south],
    ]
    const polygons = polygonsOf([[ring.map((corner) => corner.map((units) => units / 1e7))]])
    let expected = 0
    for (let at = 0; at < count; at++) {
      if (coords[2 * at] >= west && coords[2 * at + 1] >= south) expected++
    }
    const budget = { edgeTestCount: 1e9 }
    t.same([...countInside([shard], including(polygons), budget)], [expected], `from ${from}`)
  }
})
