import t from 'tap'
import { polygonsOf, toPolygons } from '../../../src/geometry/polygon/polygons.js'
import { including, type Shapes } from '../../../src/geometry/shapes.js'
import { limits } from '../../../src/limits.js'
import { BudgetSpent } from '../../../src/shard/budget.js'
import type { RecipientColumns } from '../../../src/shard/columns.js'
import { kernelFor } from '../../../src/shard/descent/kernel.js'
import { attachShard, type Shard } from '../../../src/shard/layout.js'
import { countInside, selectInside } from '../../../src/shard/select.js'
import { inArenas } from '../../support/data/arenas.js'
import { randomPen } from '../../support/random/fine-coordinates.js'
import { testSeed } from '../../support/random/properties.js'
import { randomShape, shapeKinds } from '../../support/random/shapes.js'
import { randomWorld, seededRandom, worldKinds } from '../../support/random/world.js'
import { shardsOf } from '../../support/service/local-service.js'
import { byTier } from '../../support/tier.js'

const plenty = () => ({ edgeTestCount: 1e12 })
const without = (shards: readonly Shard[]) => shards.map((shard) => ({ ...shard, arena: null }))

t.test('both kernels give the same runs and counts, whatever the world and the shape', (t) => {
  const random = seededRandom(testSeed(t))
  for (const world of worldKinds) {
    const columns = randomWorld(world, 6_000, random)
    const shards = inTwoArenas(columns, 1_100)
    for (const kind of shapeKinds) {
      for (let round = 0; round < byTier({ ci: 8, soak: 100 }); round++) {
        const row = random.between(0, columns.recipientCount - 1)
        const [include, exclude] = [kind, random.pick(shapeKinds)].map((kind) =>
          polygonsOf(
            randomShape(kind, random, columns.lngs[row], columns.lats[row], randomPen(random)),
          ),
        )
        const shapes = { ...including(include), excluded: including(exclude).included }
        t.ok(agree(shards, including(include)), `${world} ${kind} ${round}`)
        if (round % 4 === 0) t.ok(agree(shards, shapes), `${world} ${kind} ${round}, excluding`)
      }
    }
  }
  t.end()
})

t.test('more runs than its buffer holds come out whole', (t) => {
  const columns = randomWorld('uniform', 90_000, seededRandom(testSeed(t)))
  const shards = inTwoArenas(columns, 45_000)
  const shapes = including(comb(columns, 1_000))
  for (const runs of selectInside(shards, shapes, plenty())) {
    t.ok(runs.length > 16_384, `${runs.length} bounds`)
  }
  t.ok(agree(shards, shapes))
  t.end()
})

t.test('a table that is too large for a zone is for the other kernel, and only that one', (t) => {
  const columns = randomWorld('uniform', 300, seededRandom(testSeed(t)))
  const [shard] = inTwoArenas(columns, 300)
  const { scratchEdgeCount } = limits
  const isInZone = (edgeCount: number) =>
    kernelFor(shard, edgeCount).table.lowLngs.buffer === shard.arena?.memory.buffer
  for (const edgeCount of [scratchEdgeCount, scratchEdgeCount + 1, 4, scratchEdgeCount]) {
    t.equal(isInZone(edgeCount), edgeCount <= scratchEdgeCount)
    t.ok(agree([shard], including(comb(columns, edgeCount / 4))), `${edgeCount} edges`)
  }
  t.end()
})

t.test('a shard of more levels than a zone has lists for is for the other kernel', (t) => {
  const [shard] = inTwoArenas(randomWorld('grid', 100, seededRandom(1)), 100)
  const isInZone = (nodeSize: number, recipientCount: number) =>
    kernelFor({ ...shard, nodeSize, recipientCount }, 4).table.lowLngs.buffer ===
    shard.arena?.memory.buffer
  for (const nodeSize of [2, 64]) {
    t.ok(isInZone(nodeSize, nodeSize * 2 ** 20))
    t.notOk(isInZone(nodeSize, nodeSize * 2 ** 20 + 1))
  }
  t.end()
})

t.test('a shard that is in no arena is for the other kernel', (t) => {
  const columns = randomWorld('grid', 100, seededRandom(1))
  const [image] = shardsOf(columns, 1, 100)
  const shard = attachShard(image)
  t.equal(kernelFor(shard, 4).table.lowLngs.buffer instanceof SharedArrayBuffer, false)
  t.end()
})

t.test('a budget ends the work within one leaf of where it is spent', (t) => {
  const random = seededRandom(testSeed(t))
  const columns = randomWorld('uniform', 20_000, random)
  const shards = inTwoArenas(columns, 20_000)
  const edgeCount = 400
  const shapes = including(comb(columns, edgeCount / 4))
  const left = plenty()
  const expected = countInside(shards, shapes, left)
  const cost = plenty().edgeTestCount - left.edgeTestCount
  t.same(countInside(shards, shapes, { edgeTestCount: cost }), expected)
  for (let round = 0; round < byTier({ ci: 30, soak: 200 }); round++) {
    const budget = { edgeTestCount: round === 0 ? cost - 1 : random.between(1, cost - 1) }
    t.ok(isSpent(() => countInside(shards, shapes, budget)))
    t.ok(budget.edgeTestCount >= -129 * edgeCount, `${budget.edgeTestCount}`)
  }
  t.end()
})

function isSpent(work: () => unknown): boolean {
  try {
    work()
    return false
  } catch (error) {
    return error instanceof BudgetSpent
  }
}

/** Some shards in one arena and some in another, so that a table is filled for each. */
function inTwoArenas(columns: RecipientColumns, shardRecipientCount: number): Shard[] {
  const images = shardsOf(columns, 1, shardRecipientCount)
  const half = Math.ceil(images.length / 2)
  const arenas = [images.slice(0, half), images.slice(half)]
  return arenas.flatMap((images) => inArenas(images, 1)).map(attachShard)
}

function agree(shards: readonly Shard[], shapes: Shapes): boolean {
  const plain = without(shards)
  const runs = selectInside(shards, shapes, plenty()).map(String)
  const counts = countInside(shards, shapes, plenty())
  return (
    runs.join(';') === selectInside(plain, shapes, plenty()).map(String).join(';') &&
    counts.join() === countInside(plain, shapes, plenty()).join()
  )
}

/** A comb across the world with a tooth for every four vertices. */
function comb({ lngs, lats }: RecipientColumns, toothCount: number) {
  const west = lngs.reduce((min, lng) => Math.min(min, lng))
  const south = lats.reduce((min, lat) => Math.min(min, lat))
  const width = 10_000_000 / toothCount
  const vertices: number[] = []
  for (let tooth = 0; tooth < Math.ceil(toothCount); tooth++) {
    const from = west + tooth * width
    const to = from + width / 2
    vertices.push(from, south + 5_000, from, south + 9e6, to, south + 9e6, to, south + 5_000)
  }
  vertices.length = 8 * toothCount
  return toPolygons(vertices, [0, vertices.length / 2], [0, 1])
}
