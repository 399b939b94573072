import t from 'tap'
import { doubleArea, simpleLoops } from '../../../src/geometry/polygon/simple-loops.js'
import { fineUnits } from '../../support/random/fine-coordinates.js'
import { distanceToEdges, isInOdd } from '../../support/random/flat-rings.js'
import { testSeed } from '../../support/random/properties.js'
import { seededRandom } from '../../support/random/world.js'

const random = seededRandom(testSeed(t))

t.test(
  'a place is in a ring by the even-odd rule where it is in an odd number of loops',
  async (t) => {
    let testedCount = 0
    let insideCount = 0
    let selfMeetingCount = 0
    for (let round = 0; round < 3_000; round++) {
      // Few corners make vertices and edges meet; many make crossings.
      const cell = random.pick([1_000, 1_000, 1])
      const reach = cell === 1 ? 1_000_000 : random.pick([2, 4, 10])
      const isFine = random.unit() < 0.4
      const coordinate = () => {
        const units = cell * random.between(-reach, reach)
        return isFine ? fineUnits(units, random) : units
      }
      const ring = Array.from({ length: 2 * random.between(3, 14) }, coordinate)
      const loops = simpleLoops(ring)
      if (loops.length > 1) selfMeetingCount++
      for (let sample = 0; sample < 20; sample++) {
        const lng = random.between(-reach * cell, reach * cell)
        const lat = random.between(-reach * cell, reach * cell)
        if (distanceToEdges([ring], lng, lat) < 2) continue
        testedCount++
        const isInside = isInOdd([ring], lng, lat)
        if (isInside) insideCount++
        if (isInOdd(loops, lng, lat) !== isInside) t.fail(`${lng} ${lat} in ${ring}`)
      }
    }
    t.ok(insideCount > testedCount / 10, `${insideCount} of ${testedCount} places inside`)
    t.ok(selfMeetingCount > 500, `${selfMeetingCount} rings meet themselves`)
  },
)

t.test('no loop crosses itself or comes back to a vertex', async (t) => {
  for (let round = 0; round < 300; round++) {
    const ring = Array.from({ length: 2 * random.between(4, 12) }, () => random.between(-1e6, 1e6))
    for (const loop of simpleLoops(ring)) {
      t.equal(simpleLoops(loop).length, 1, String(ring))
    }
  }
})

const cases = [
  { what: 'a square', ring: [0, 0, 9, 0, 9, 9, 0, 9], areas: [162] },
  { what: 'a figure of eight', ring: [0, 0, 8, 8, 8, 0, 0, 8], areas: [-32, 32] },
  { what: 'twice round', ring: [0, 0, 9, 0, 0, 9, 0, 0, 9, 0, 0, 9], areas: [] },
  { what: 'a spike', ring: [0, 0, 9, 0, 20, 0, 9, 0, 9, 9, 0, 9], areas: [162] },
  { what: 'a line there and back', ring: [0, 0, 5, 5, 9, 0, 5, 5], areas: [] },
  { what: 'a line that crosses itself', ring: [0, 0, 9, 9, 9, 0, 0, 7, 9, 0, 9, 9], areas: [] },
  { what: 'a point', ring: [3, 3], areas: [] },
  { what: 'a flat ring', ring: [0, 0, 6, 6, 3, 3], areas: [] },
  {
    what: 'two squares that touch',
    ring: [0, 0, 5, 0, 5, 5, 9, 5, 9, 9, 5, 9, 5, 5, 0, 5],
    areas: [32, 50],
  },
  { what: 'the least triangle', ring: [0, 0, 1, 0, 0, 1], areas: [1] },
]
for (const { what, ring, areas } of cases) {
  t.test(`loops of ${what}`, async (t) => {
    const found = simpleLoops(ring).map(doubleArea)
    t.same(
      found.map(Math.abs).sort((a, b) => a - b),
      areas.map(Math.abs).sort((a, b) => a - b),
    )
  })
}

t.test(
  'where three edges cross in one place, no loop is lost for an area of nothing',
  async (t) => {
    const ring = [
      [-1000, 2000, -2000, -1000, 1000, -1000, 0, 2000, -2000, -1000, -2000, 2000],
      [2000, 0, 2000, -2000, 0, 2000, 2000, 2000, 0, 0, 2000, -1000],
    ].flat()
    const loops = simpleLoops(ring)
    for (const [lng, lat] of [
      [1871, -271],
      [1923, 1991],
      [1465, 1975],
    ]) {
      t.ok(isInOdd([ring], lng, lat) && isInOdd(loops, lng, lat), `${lng} ${lat}`)
    }
  },
)
