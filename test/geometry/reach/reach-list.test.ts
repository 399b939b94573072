import t from 'tap'
import { FARTHEST_METRES, haversineMetres } from '../../../src/geometry/great-circle.js'
import { ReachList } from '../../../src/geometry/reach/reach-list.js'
import {
  createReachTable,
  fillReachTable,
  STRIDE,
  squaredChord,
} from '../../../src/geometry/reach/reach-table.js'
import { RADIANS_PER_UNIT } from '../../../src/geometry/units.js'
import { limits } from '../../../src/limits.js'
import { testSeed } from '../../support/random/properties.js'
import { seededRandom } from '../../support/random/world.js'

t.test('the arcs of a straight line nowhere leave it by more than a centimetre', async (t) => {
  const random = seededRandom(testSeed(t))
  for (let round = 0; round < 200; round++) {
    const size = random.pick([1e4, 1e6, 1e8, 1e9])
    const [lng1, lat1] = [random.between(-1.8e9, 1.8e9), random.between(-9e8, 9e8)]
    const lng2 = lng1 + random.between(-size, size)
    const lat2 = Math.max(-9e8, Math.min(9e8, lat1 + random.between(-size, size) / 2))
    const list = new ReachList()
    t.equal(list.addStraight(lng1, lat1, lng2, lat2, 100), undefined)
    const table = createReachTable()
    fillReachTable(table, list.reaches())
    const count = list.arcCount
    let farthest = 0
    for (let sample = 0; sample < 50; sample++) {
      const arc = random.between(0, count - 1)
      const share = (arc + random.unit()) / count
      const lng = (lng1 + share * (lng2 - lng1)) * RADIANS_PER_UNIT
      const lat = (lat1 + share * (lat2 - lat1)) * RADIANS_PER_UNIT
      if (table.isCircle[arc] === 1) continue
      const [x, y] = [Math.cos(lat) * Math.cos(lng), Math.cos(lat) * Math.sin(lng)]
      const square = squaredChord(table.rows, arc * STRIDE, x, y, Math.sin(lat))
      farthest = Math.max(farthest, Math.sqrt(square) * 6_371_000)
    }
    t.ok(farthest <= 0.0101, `${count} arcs, ${farthest} m`)
  }
})

t.test('a line to the opposite side of the Earth is a fault', async (t) => {
  t.equal(new ReachList().addCorridor([0, 1e8, 1.8e9, -1e8], 1), 'AntipodalVertices')
  t.equal(new ReachList().addCorridor([5e7, 9e8, 0, -9e8], 1), 'AntipodalVertices')
  t.equal(new ReachList().addCorridor([0, 1e8, 1.8e9, -1e8 + 200], 1), undefined)
})

t.test('arcs are bounded', async (t) => {
  const list = new ReachList()
  for (let i = 0; i < limits.arcCount; i++) list.addCircle(0, 0, 1)
  t.equal(list.arcCount, limits.arcCount)
  t.equal(list.addCircle(0, 0, 1), 'TooManyArcs')
  t.equal(new ReachList().addStraight(-1.8e9, 8e8, 1.8e9, 1e8, 1), undefined)
})

t.test('distances along a great circle', async (t) => {
  t.equal(haversineMetres(0, 0, 1.8e9, 0), FARTHEST_METRES)
  t.ok(Math.abs(haversineMetres(-1.795e9, 0, 1.795e9, 0) - 111_194.927) < 0.001)
  t.equal(haversineMetres(1e7, 2e7, 1e7, 2e7), 0)
})
