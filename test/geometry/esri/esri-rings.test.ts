import t from 'tap'
import { nestRings } from '../../../src/geometry/esri/esri-rings.js'
import type { UnitRing } from '../../../src/geometry/polygon/antimeridian.js'
import { limits } from '../../../src/limits.js'
import { insideAny, prepare } from '../../oracle/geometry/exact.js'
import { fineUnits } from '../../support/random/fine-coordinates.js'
import { testSeed } from '../../support/random/properties.js'
import { type Random, seededRandom } from '../../support/random/world.js'
import { byTier } from '../../support/tier.js'

type RingPolygon = Exclude<ReturnType<typeof nestRings>, string>[number]

/** Rectangles run clockwise, as Esri has its shells. */
const box = (west: number, south: number, east: number, north: number) => [
  ...[west, south, west, north, east, north, east, south],
]
const reversed = (ring: UnitRing) => pairs(ring).reverse().flat()
const rotated = (ring: UnitRing, count: number) => [
  ...ring.slice(2 * count),
  ...ring.slice(0, 2 * count),
]
const pairs = (ring: UnitRing) =>
  Array.from({ length: ring.length / 2 }, (_, i) => [ring[2 * i], ring[2 * i + 1]])

const outer = box(0, 0, 90, 90)
const middle = box(10, 10, 80, 80)
const inner = box(20, 20, 70, 70)

t.test('no ring is no polygon, and one ring is a shell', async (t) => {
  t.same(nestRings([]), [])
  t.same(nestRings([outer]), [{ shell: outer, holes: [] }])
})

t.test('depth makes shells and holes, whatever the order and the winding', async (t) => {
  for (const rings of orders([outer, middle, inner])) {
    for (let mask = 0; mask < 8; mask++) {
      const wound = rings.map((ring, i) => (mask & (1 << i) ? reversed(ring) : ring))
      const [a, b, c] = [outer, middle, inner].map((ring) => wound[rings.indexOf(ring)])
      const polygons = nestRings(wound)
      t.equal(polygons.length, 2)
      t.has(
        polygons,
        rings.indexOf(outer) < rings.indexOf(inner)
          ? [shell(a, b), shell(c)]
          : [shell(c), shell(a, b)],
      )
    }
  }
})

t.test('rings that touch are still within one another or apart', async (t) => {
  const cases: [name: string, rings: UnitRing[], expected: RingPolygon[]][] = [
    [
      'side by side along an edge',
      [outer, box(90, 0, 180, 90)],
      [shell(outer), shell(box(90, 0, 180, 90))],
    ],
    [
      'side by side along part of an edge',
      [outer, box(90, 30, 180, 60)],
      [shell(outer), shell(box(90, 30, 180, 60))],
    ],
    ['corner to corner', [outer, box(90, 90, 95, 95)], [shell(outer), shell(box(90, 90, 95, 95))]],
    ['a hole along an edge', [outer, box(0, 10, 50, 50)], [shell(outer, box(0, 10, 50, 50))]],
    [
      'a hole with a whole edge of its shell',
      [outer, box(0, 0, 50, 90)],
      [shell(outer, box(0, 0, 50, 90))],
    ],
    [
      'a hole that touches its shell in a vertex',
      [outer, [0, 45, 45, 50, 45, 40]],
      [shell(outer, [0, 45, 45, 50, 45, 40])],
    ],
    [
      'a hole with its vertices on the edges',
      [outer, [0, 45, 45, 90, 90, 45, 45, 0]],
      [shell(outer, [0, 45, 45, 90, 90, 45, 45, 0])],
    ],
    [
      'holes that touch',
      [outer, box(10, 10, 20, 20), box(20, 10, 30, 20)],
      [shell(outer, box(10, 10, 20, 20), box(20, 10, 30, 20))],
    ],
    [
      'an island that fills half of its hole',
      [outer, middle, box(10, 10, 40, 80)],
      [shell(outer, middle), shell(box(10, 10, 40, 80))],
    ],
  ]
  for (const [name, rings, expected] of cases) t.same(nestRings(rings), expected, name)
})

t.test('a ring that repeats another counts once', async (t) => {
  const scribble = [0, 0, 40, 40, 40, 0, 0, 40, 0, 0, 20, 90]
  for (const ring of [outer, scribble]) {
    const repeats = [ring, reversed(ring), rotated(ring, 3), reversed(rotated(ring, 1))]
    for (const repeat of repeats) t.same(nestRings([ring, repeat]), [shell(ring)])
  }
  const finer = [0, 0, 0, 45, 0, 90, 90, 90, 90, 0]
  t.same(nestRings([outer, finer]), [shell(outer)], 'with a vertex more along an edge')
  t.same(nestRings([finer, middle, outer]), [shell(finer, middle)])
  t.same(nestRings([outer, middle, middle]), [shell(outer, middle)])
})

t.test(
  'rings that cross are two shells if both run clockwise, and a fault otherwise',
  async (t) => {
    const [a, b] = [box(0, 0, 50, 50), box(25, 25, 75, 75)]
    t.same(nestRings([a, b]), [shell(a), shell(b)])
    t.equal(nestRings([a, reversed(b)]), 'CrossingRings')
    t.equal(nestRings([reversed(a), reversed(b)]), 'CrossingRings')
    const both = box(30, 30, 40, 40)
    t.same(nestRings([a, b, both]), [shell(a, both), shell(b, both)], 'a hole of both')
    t.equal(nestRings([box(-9, -9, 90, 90), a, b]), 'CrossingRings', 'where holes lie')
    const through = [0, 0, 50, 50, 100, 0, 100, 50]
    t.equal(nestRings([a, reversed(through)]), 'CrossingRings', 'in vertices alone')
    const bowTie = [0, 0, 20, 60, 20, 0, 0, 90]
    t.equal(nestRings([box(10, -10, 50, 50), bowTie]), 'CrossingRings', 'one crosses itself')
  },
)

t.test('a ring that crosses or touches itself takes part', async (t) => {
  const bowTie = [0, 0, 90, 90, 90, 0, 0, 90]
  const lobe = box(70, 40, 80, 50)
  const above = box(40, 70, 50, 80)
  t.same(nestRings([bowTie, lobe, above]), [shell(bowTie, lobe), shell(above)])
  const bridged = [...box(0, 0, 90, 90), 0, 0, 10, 10, 80, 10, 80, 80, 10, 80, 10, 10]
  const filling = box(10, 10, 80, 80)
  t.same(nestRings([bridged, filling]), [shell(bridged), shell(filling)], 'its own hole filled')
  t.equal(nestRings([bridged, reversed(box(2, 4, 8, 6))]), 'CrossingRings', 'across its bridge')
})

t.test('a ring without area holds what lies on it, unless it crosses another', async (t) => {
  const flat = (...line: number[]) => line
  const inside = flat(20, 20, 40, 40, 30, 30)
  t.same(nestRings([outer, inside]), [shell(outer, inside)])
  const outside = flat(-20, 20, -40, 40, -30, 30)
  t.same(nestRings([outer, outside]), [shell(outer), shell(outside)])
  const along = flat(0, 0, 0, 90, 0, 45)
  t.same(nestRings([outer, along]), [shell(outer), shell(along)])
  t.equal(nestRings([outer, flat(-5, 45, 5, 45, 0, 45)]), 'CrossingRings')
})

t.test('rings meet modulo whole turns', async (t) => {
  const degrees = (ring: UnitRing) => ring.map((value) => value * 1e7)
  const [across, hole] = [degrees(box(170, 0, 190, 10)), degrees(box(-178, 2, -172, 8))]
  t.same(nestRings([across, hole]), [shell(across, hole)])
  const elsewhere = degrees(box(-190, 0, -170, 10))
  t.same(nestRings([across, elsewhere]), [shell(across)], 'the same, drawn a turn further west')
})

t.test('more comparisons than the limit are a fault', async (t) => {
  const nested = (count: number) =>
    Array.from({ length: count }, (_, i) => box(-i - 1, -i - 1, i + 1, i + 1))
  t.equal(nestRings(nested(500)).length, 250)
  t.ok(5_000 ** 2 > 4 * limits.ringComparisonCount)
  t.equal(nestRings(nested(5_000)), 'TooManyComparisons')
})

t.test('rectangles on a grid nest as their cells do', async (t) => {
  const random = seededRandom(testSeed(t))
  const seen = { faults: 0, holes: 0, unions: 0 }
  for (let round = 0; round < byTier({ ci: 50, soak: 1_000 }); round++) {
    const rings = Array.from({ length: random.between(2, 5) }, () => randomBox(random))
    const expected = cellsByDepth(rings)
    const actual = nestRings(rings)
    if (typeof actual === 'string') {
      t.equal(actual, expected, JSON.stringify(rings))
      seen.faults++
      continue
    }
    const { contains } = prepare(actual.map(toPolygon))
    const cells = allCells.map(([lng, lat]) => contains(lng, lat))
    t.same(cells, expected, JSON.stringify(rings))
    if (actual.some(({ holes }) => holes.length > 0)) seen.holes++
    if (actual.length > 1) seen.unions++
  }
  t.ok(Math.min(...Object.values(seen)) > byTier({ ci: 1, soak: 10 }), JSON.stringify(seen))
})

t.test('rings that do not cross hold what an odd number of them holds', async (t) => {
  const random = seededRandom(testSeed(t))
  let nestedCount = 0
  for (let round = 0; round < byTier({ ci: 75, soak: 1_500 }); round++) {
    const rings = Array.from({ length: random.between(2, 5) }, () => randomStar(random))
    // Of counter-clockwise rings no two that cross have a meaning.
    const actual = nestRings(rings)
    if (typeof actual === 'string') continue
    nestedCount++
    const { contains } = prepare(actual.map(toPolygon))
    for (let point = 0; point < 20; point++) {
      const [lng, lat] = [random.between(-40, 40), random.between(-40, 40)]
      const places = rings.map((ring) => placeIn(ring, lng, lat))
      const isOdd = places.filter((place) => place === 'interior').length % 2 === 1
      const expected = places.includes('boundary') || isOdd
      t.equal(contains(lng, lat), expected, JSON.stringify({ rings, lng, lat }))
    }
  }
  t.ok(nestedCount > byTier({ ci: 5, soak: 20 }), `${nestedCount} lists of rings do not cross`)
})

function shell(ring: UnitRing, ...holes: UnitRing[]): RingPolygon {
  return { shell: ring, holes }
}

/** A rectangle of some cells of a grid, of either winding. Its cells are two units wide. */
function randomBox(random: Random): UnitRing {
  const [west, south] = [random.between(0, CELLS - 1), random.between(0, CELLS - 1)]
  const [east, north] = [random.between(west + 1, CELLS), random.between(south + 1, CELLS)]
  const ring = box(2 * west, 2 * south, 2 * east, 2 * north)
  return random.unit() < 0.3 ? reversed(ring) : ring
}

const CELLS = 7

/** The middles of all cells. */
const allCells = Array.from({ length: CELLS * CELLS }, (_, i): [lng: number, lat: number] => [
  2 * (i % CELLS) + 1,
  2 * Math.floor(i / CELLS) + 1,
])

/** Which cells rectangles hold, from the rules and the sets of their cells alone. */
function cellsByDepth(rings: readonly UnitRing[]): boolean[] | 'CrossingRings' {
  const sets = rings.map((ring) => ({
    cells: allCells.map(([lng, lat]) => placeIn(ring, lng, lat) === 'interior'),
    isClockwise: ring[0] < ring[4],
  }))
  const areas = sets.filter(
    ({ cells }, i) => sets.findIndex((other) => other.cells.join() === cells.join()) === i,
  )
  const within = (a: boolean[], b: boolean[]) => a.every((isIn, i) => !isIn || b[i])
  const level = (cells: boolean[]): number =>
    Math.max(
      -1,
      ...areas
        .filter((a) => a.cells !== cells && within(cells, a.cells))
        .map((a) => level(a.cells)),
    ) + 1
  for (const a of areas) {
    for (const b of areas) {
      const overlap = a.cells.some((isIn, i) => isIn && b.cells[i])
      if (!overlap || within(a.cells, b.cells) || within(b.cells, a.cells)) continue
      if (!a.isClockwise || level(a.cells) % 2 === 1) return 'CrossingRings'
      if (!b.isClockwise || level(b.cells) % 2 === 1) return 'CrossingRings'
    }
  }
  return allCells.map((_, i) =>
    areas.some((a) => {
      const depth = level(a.cells)
      if (depth % 2 === 1 || !a.cells[i]) return false
      const holes = areas.filter((b) => level(b.cells) === depth + 1 && within(b.cells, a.cells))
      return !holes.some((hole) => hole.cells[i])
    }),
  )
}

/** Three to six vertices once round a place, counter-clockwise, near enough to others to touch. */
function randomStar(random: Random): UnitRing {
  const radius = random.pick([2, 4, 8, 16, 24])
  const [lng, lat] = [random.between(-12, 12), random.between(-12, 12)]
  const count = random.between(3, 6)
  const isFine = random.unit() < 0.4
  return Array.from({ length: count }, (_, i) => {
    const angle = (2 * Math.PI * (i + 0.4 * random.unit())) / count
    const [x, y] = [Math.cos(angle), Math.sin(angle)].map((unit) => Math.round(radius * unit))
    return isFine ? [fineUnits(lng + x, random), fineUnits(lat + y, random)] : [lng + x, lat + y]
  }).flat()
}

const everywhere = box(-1e4, -1e4, 1e4, 1e4)

function placeIn(ring: UnitRing, lng: number, lat: number): 'interior' | 'boundary' | 'outside' {
  if (!insideAny(lng, lat, [[toRing(ring)]])) return 'outside'
  return insideAny(lng, lat, [[everywhere, ring].map(toRing)]) ? 'boundary' : 'interior'
}

function toPolygon({ shell, holes }: RingPolygon): number[][][] {
  return [shell, ...holes].map(toRing)
}

function toRing(ring: UnitRing): number[][] {
  return pairs(ring).map(([lng, lat]) => [lng / 1e7, lat / 1e7])
}

function orders<T>(items: readonly T[]): T[][] {
  if (items.length <= 1) return [[...items]]
  return items.flatMap((item) =>
    orders(items.filter((other) => other !== item)).map((rest) => [item, ...rest]),
  )
}
