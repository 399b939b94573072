import t from 'tap'
import { crossesItself } from '../../../src/geometry/polygon/crossing.js'
import { ringBudget } from '../../../src/geometry/ring-budget.js'
import type { Position } from '../../../src/notations/drawn.js'
import { testSeed } from '../../support/random/properties.js'
import { seededRandom } from '../../support/random/world.js'
import { byTier } from '../../support/tier.js'

type Place = readonly [number, number]

const closed = (...places: readonly Place[]): Position[] => [...places, places[0]]
const crosses = (ring: readonly Position[]) => crossesItself(ring, ringBudget())

t.test('a ring that touches itself does not cross itself', async (t) => {
  const rings: [name: string, ring: Position[], expected: boolean][] = [
    ['a square', closed([0, 0], [1, 0], [1, 1], [0, 1]), false],
    ['a bow tie', closed([0, 0], [1, 1], [1, 0], [0, 1]), true],
    ['a bow tie with a vertex in its knot', closed([0, 0], [2, 2], [2, 0], [1, 1], [0, 2]), true],
    [
      'two squares that share a corner',
      closed([0, 0], [1, 0], [1, 1], [2, 1], [2, 2], [1, 2], [1, 1], [0, 1]),
      false,
    ],
    [
      'the same, through the corner',
      closed([0, 0], [1, 0], [1, 1], [1, 2], [2, 2], [2, 1], [1, 1], [0, 1]),
      true,
    ],
    ['a vertex on an edge', closed([0, 0], [4, 0], [4, 4], [2, 0], [0, 4]), false],
    [
      'through an edge by a vertex',
      closed([0, 0], [4, 0], [4, 4], [3, 4], [2, 0], [1, -4], [0, -4]),
      true,
    ],
    ['a spike', closed([0, 0], [4, 0], [4, 4], [4, 8], [4, 4], [0, 4]), false],
    ['a point twice', closed([0, 0], [0, 0], [1, 0], [1, 1], [1, 1]), false],
    ['over the antimeridian', closed([179, 0], [-179, 0], [-179, 1], [179, 1]), false],
    ['crossing at the antimeridian', closed([179, 0], [-179, 1], [-179, 0], [179, 1]), true],
    ['round the pole', closed([0, 80], [90, 80], [180, 80], [-90, 80]), false],
  ]
  for (const [name, ring, expected] of rings) {
    t.equal(crosses(ring), expected, name)
    t.equal(crosses(ring.toReversed()), expected, `${name}, the other way round`)
  }
})

t.test('crossings are those that brute force finds', async (t) => {
  const random = seededRandom(testSeed(t))
  let crossed = 0
  for (let round = 0; round < byTier({ ci: 3_000, soak: 100_000 }); round++) {
    const count = random.between(3, 8)
    const places = Array.from(
      { length: count },
      (): Place => [random.between(0, 6), random.between(0, 6)],
    )
    const ring = closed(...places)
    const expected = crossesByForce(places)
    if (expected) crossed++
    const found = crosses(ring)
    // Where edges only touch, brute force does not look.
    if (expected ? found !== true : found === true && !touches(places)) {
      t.fail(JSON.stringify(ring))
      return
    }
  }
  t.ok(crossed > 100, `${crossed} crossings`)
})

t.test('a ring that is too dense is not looked at for ever', async (t) => {
  const comb = Array.from({ length: 2_000 }, (_, i): Place => [i % 2, i / 1_000_000])
  t.equal(crossesItself(closed(...comb, [0.5, -1]), ringBudget(1_000)), 'TooDense')
})

function edgesOf(places: readonly Place[]): (readonly [Place, Place])[] {
  return places.map((place, i) => [place, places[(i + 1) % places.length]])
}

function side([ax, ay]: Place, [bx, by]: Place, [cx, cy]: Place): number {
  return Math.sign((bx - ax) * (cy - ay) - (by - ay) * (cx - ax))
}

function crossesByForce(places: readonly Place[]): boolean {
  const edges = edgesOf(places)
  return edges.some(([a, b]) =>
    edges.some(([c, d]) => side(a, b, c) * side(a, b, d) < 0 && side(c, d, a) * side(c, d, b) < 0),
  )
}

/** Whether a vertex lies on an edge that does not end in it, or is there twice. */
function touches(places: readonly Place[]): boolean {
  if (new Set(places.map(String)).size < places.length) return true
  return edgesOf(places).some(([a, b]) =>
    places.some((place) => {
      if (String(place) === String(a) || String(place) === String(b)) return false
      const isWithin = [0, 1].every(
        (axis) => (place[axis] - a[axis]) * (place[axis] - b[axis]) <= 0,
      )
      return side(a, b, place) === 0 && isWithin
    }),
  )
}
