import t from 'tap'
import { RINGS_PER_TABLE } from '../../src/geometry/polygon/edges.js'
import { polygonsOf } from '../../src/geometry/polygon/polygons.js'
import { including } from '../../src/geometry/shapes.js'
import { BudgetSpent } from '../../src/shard/budget.js'
import type { RecipientColumns } from '../../src/shard/columns.js'
import { attachShard } from '../../src/shard/layout.js'
import { countInside, selectInside } from '../../src/shard/select.js'
import { prepare } from '../oracle/geometry/exact.js'
import { without } from '../oracle/verdict.js'
import { randomPen } from '../support/random/fine-coordinates.js'
import { testSeed } from '../support/random/properties.js'
import { type MultiPolygonCoordinates, randomShape } from '../support/random/shapes.js'
import { GRID_UNITS, type Random, randomWorld, seededRandom } from '../support/random/world.js'
import { shardsOf } from '../support/service/local-service.js'

const plenty = () => ({ edgeTestCount: 1e9 })
const shapesOf = (shape: MultiPolygonCoordinates) => including(polygonsOf(shape))

t.test('every number of recipients around the size of a leaf is selected exactly', async (t) => {
  const random = seededRandom(testSeed(t))
  const [{ nodeSize }] = shardsOf(randomWorld('grid', 1, random), 1, 1).map(attachShard)
  const sizes = [1, 2, 3, nodeSize - 1, nodeSize, nodeSize + 1, nodeSize + 2]
  for (const size of [...sizes, ...sizes.map((size) => 2 * size), 1_000]) {
    const columns = randomWorld('grid', size, random)
    for (let round = 0; round < 20; round++) {
      const [lng, lat] = [columns.lngs[0], columns.lats[0]]
      const shape = randomShape('grid', random, lng, lat, randomPen(random))
      t.ok(agrees(columns, shape), `${size} recipients, round ${round}`)
    }
  }
})

t.test('holes are taken away however many there are', async (t) => {
  const random = seededRandom(testSeed(t))
  const columns = randomWorld('grid', 3_000, random)
  const counts = [1, RINGS_PER_TABLE - 2, RINGS_PER_TABLE - 1, RINGS_PER_TABLE, RINGS_PER_TABLE + 1]
  for (const holeCount of [...counts, 3 * RINGS_PER_TABLE]) {
    const holes = Array.from({ length: holeCount }, () => gridRing(columns, random, 4))
    const shape = [[gridRing(columns, random, 40), ...holes], [gridRing(columns, random, 6)]]
    t.ok(agrees(columns, shape), `${holeCount} holes`)
  }
})

t.test('what is excluded is taken away from what is included', async (t) => {
  const random = seededRandom(testSeed(t))
  const columns = randomWorld('grid', 3_000, random)
  const shards = shardsOf(columns, 1, 700).map(attachShard)
  for (let round = 0; round < 100; round++) {
    const [include, exclude] = [0, 1].map(() => [[gridRing(columns, random, 20)]])
    const shapes = {
      ...including(polygonsOf(include)),
      excluded: including(polygonsOf(exclude)).included,
    }
    const [included, excluded] = [include, exclude].map(prepare)
    const verdicts = Array.from(columns.lngs, (lng, row) =>
      without(included.verdict(lng, columns.lats[row]), excluded.verdict(lng, columns.lats[row])),
    )
    const least = verdicts.filter((verdict) => verdict === 'inside').length
    const most = verdicts.filter((verdict) => verdict !== 'outside').length
    const counts = countInside(shards, shapes, plenty())
    const count = counts.reduce((sum, count) => sum + count, 0)
    t.ok(count >= least && count <= most, `round ${round}`)
  }
})

t.test('a selection that costs more than its budget is given up', async (t) => {
  const columns = randomWorld('uniform', 5_000, seededRandom(1))
  const shards = shardsOf(columns, 1, 5_000).map(attachShard)
  const shape = randomShape('drawn', seededRandom(2), columns.lngs[0], columns.lats[0])
  for (const inside of [countInside, selectInside]) {
    const left = plenty()
    inside(shards, shapesOf(shape), left)
    const cost = plenty().edgeTestCount - left.edgeTestCount
    t.ok(cost > 10)
    inside(shards, shapesOf(shape), { edgeTestCount: cost })
    try {
      inside(shards, shapesOf(shape), { edgeTestCount: cost - 1 })
      t.fail('one test less is not enough')
    } catch (error) {
      t.ok(error instanceof BudgetSpent)
    }
  }
})

function agrees(columns: RecipientColumns, shape: MultiPolygonCoordinates): boolean {
  const [shard] = shardsOf(columns, 1, columns.recipientCount).map(attachShard)
  const { verdict } = prepare(shape)
  const [runs] = selectInside([shard], shapesOf(shape), plenty())
  const selected = new Set<number>()
  for (let i = 0; i < runs.length; i += 2) {
    for (let index = runs[i]; index < runs[i + 1]; index++) selected.add(index)
  }
  const [count] = countInside([shard], shapesOf(shape), plenty())
  if (count !== selected.size) return false
  for (let index = 0; index < shard.recipientCount; index++) {
    const expected = verdict(shard.coords[2 * index], shard.coords[2 * index + 1])
    if (expected !== 'either' && selected.has(index) !== (expected === 'inside')) return false
  }
  return true
}

/** A ring with corners on the grid of a `grid` world, anywhere in it. */
function gridRing(columns: RecipientColumns, random: Random, cells: number): number[][] {
  const row = random.between(0, columns.recipientCount - 1)
  const pen = randomPen(random)
  const corner = () =>
    pen([
      columns.lngs[row] + random.between(-cells, cells) * GRID_UNITS,
      columns.lats[row] + random.between(-cells, cells) * GRID_UNITS,
    ])
  return Array.from({ length: random.between(3, 7) }, corner)
}
