import pointInPolygon from 'point-in-polygon-hao'
import t from 'tap'
import { testSeed } from '../../support/random/properties.js'
import { randomShape, shapeKinds } from '../../support/random/shapes.js'
import { randomWorld, seededRandom, worldKinds } from '../../support/random/world.js'
import { byTier } from '../../support/tier.js'
import { insideAny, insidePolygon, prepare } from './exact.js'

const UNITS = 10_000_000

/** A polygon in words: positions are longitude and latitude in degrees, with commas between. */
interface Case {
  readonly name: string
  readonly rings: readonly string[]
  readonly inside: string
  readonly outside: string
}

const square = '0 0, 4 0, 4 4, 0 4, 0 0'

const cases: readonly Case[] = [
  {
    name: 'a square with its corners and sides',
    rings: [square],
    inside: '0 0, 4 0, 4 4, 0 4, 0 0, 2 2, 2 0, 4 1, 3 4, 0 3.9999999',
    outside: '-1 0, 5 0, -1 4, 5 4, 2 -0.0000001, 4.0000001 4, 2 4.0000001',
  },
  {
    name: 'the same the other way round, unclosed, with heights',
    rings: ['0 0 100, 0 4 100, 4 4 100, 4 0 100'],
    inside: '0 0, 4 4, 2 2, 2 0',
    outside: '-1 0, 5 2',
  },
  {
    name: 'a vertex beside the point, touched by the ray from below or above or passed through',
    rings: ['0 0, 2 2, 4 0, 6 2, 8 -2, 3 -1'],
    inside: '2 1, 4 0, 2 2, 1 0, 6 1',
    outside: '0 2, 4 2, 1 2, 0 1, 4 1, -1 0, -1 -2, -1 -1, 7.5 0',
  },
  {
    name: 'steps with horizontal edges at the height of the point',
    rings: ['0 0, 3 0, 3 1, 5 1, 5 2, 1 2, 1 1, 0 1'],
    inside: '0 1, 0.5 1, 1 1, 2 1, 3 1, 4 1, 5 1, 3 0.5, 2 2, 5 2',
    outside: '-1 1, 6 1, 0.5 2, 4 0, 0.5 1.5, 4 0.5, -1 0, -1 2, 6 2',
  },
  {
    name: 'a spike out of a square, and one into it',
    rings: ['0 0, 4 0, 4 2, 9 2, 4 2, 4 4, 2 4, 2 1, 2 4, 0 4'],
    inside: '5 2, 9 2, 2 1, 2 3, 2 0.5, 1 2, 3 2, 4 2',
    outside: '9.0000001 2, 5 2.0000001, 5 1.9999999, -1 2, 2 5',
  },
  {
    name: 'a bow-tie with the point where it crosses itself',
    rings: ['0 0, 4 4, 4 0, 0 4'],
    inside: '2 2, 1 2, 3 2, 0 0, 4 3',
    outside: '2 1, 2 3, 2 0, 2 2.0000001, 2 1.9999999, 5 2, -1 2',
  },
  {
    name: 'a pentagram, even-odd: its middle is outside, the lines around it are not',
    rings: ['0 10, 6 -8, -10 3, 10 3, -6 -8'],
    inside: '0 9, 0 3, 9 3, 5 -6, -9 3, 2 3',
    outside: '0 0, 0 2.9, 8 8, 0 -8',
  },
  {
    name: 'a ring that goes round twice is empty but for its boundary',
    rings: ['0 0, 4 0, 4 4, 0 4, 0 0, 0 0, 4 0, 4 4, 0 4, 0 0'],
    inside: '0 0, 2 0, 4 2',
    outside: '2 2, 5 2',
  },
  {
    name: 'a hole whose boundary is in',
    rings: [square, '1 1, 3 1, 3 3, 1 3, 1 1'],
    inside: '1 1, 3 2, 2 3, 0 0, 0.5 2',
    outside: '2 2, 1.0000001 2, 2 2.9999999, 5 5',
  },
  {
    name: 'a hole that touches its shell along a side',
    rings: [square, '0 1, 2 1, 2 3, 0 3, 0 1'],
    inside: '0 0, 0 1, 0 2, 2 2, 0 3, 3 2, 1 1',
    outside: '1 2, 0.0000001 2',
  },
  {
    name: 'a hole that touches its shell in a vertex',
    rings: [square, '0 2, 2 1, 2 3'],
    inside: '0 2, 1 1, 2 2, 1 2.5',
    outside: '1 2, 0.0000001 2',
  },
  {
    name: 'a hole that leaves its shell, and cuts the boundary it goes over',
    rings: [square, '3 1, 6 1, 6 3, 3 3, 3 1'],
    inside: '3 2, 4 1, 4 3, 4 0.5, 3.5 1',
    outside: '4 2, 3.5 2, 5 2, 6 2, 5 1',
  },
  {
    name: 'a hole outside of its shell',
    rings: [square, '6 1, 8 1, 8 3, 6 3, 6 1'],
    inside: '2 2',
    outside: '7 2, 6 2',
  },
  {
    name: 'overlapping holes, each even-odd by itself',
    rings: [
      square,
      '1 1, 3 1, 3 3, 1 3, 1 1',
      '2 1, 3 1, 3 3, 2 3, 2 1',
      '1 1, 3 1, 3 3, 1 3, 1 1',
    ],
    inside: '1 2, 3 2, 0.5 2',
    outside: '2 2, 2.5 2, 1.5 2',
  },
  {
    name: 'a hole like its shell leaves the boundary',
    rings: [square, square],
    inside: '0 0, 2 0, 4 4',
    outside: '2 2',
  },
  {
    name: 'a spike inside a hole is not cut out',
    rings: [square, '1 1, 3 1, 3 2, 2 2, 3 2, 3 3, 1 3'],
    inside: '2 2, 2.5 2',
    outside: '1.5 2, 2.5 2.0000001',
  },
  {
    name: 'repeated vertices',
    rings: ['0 0, 0 0, 4 0, 4 0, 4 0, 4 4, 0 4, 0 4, 0 0, 0 0'],
    inside: '0 0, 4 0, 0 4, 2 2, 0 2',
    outside: '-1 0, -1 4, 5 0, 2 -1',
  },
  {
    name: 'a sliver of one unit',
    rings: ['0 0, 4 0, 4 0.0000001, 0 0.0000001'],
    inside: '2 0, 2 0.0000001, 0 0, 4 0.0000001',
    outside: '2 0.0000002, 2 -0.0000001, 4.0000001 0',
  },
  {
    name: 'a slanting sliver of one unit',
    rings: ['0 0, 3 1, 3 1.0000001, 0 0.0000001'],
    inside: '0 0, 3 1, 0.0000003 0.0000001, 0.0000001 0.0000001, 1.5 0.5',
    outside: '0.0000004 0.0000001, 1.5 0.4999999, 1.5 0.5000002',
  },
  {
    name: 'one point',
    rings: ['1 1, 1 1, 1 1, 1 1'],
    inside: '1 1',
    outside: '1 1.0000001, 0 1',
  },
  {
    name: 'a line there and back',
    rings: ['0 0, 3 1, 0 0'],
    inside: '0 0, 3 1, 1.5 0.5, 0.0000003 0.0000001',
    outside: '1 0.3333333, 4.5 1.5, -3 -1, 0.0000002 0.0000001',
  },
  { name: 'an empty ring', rings: [''], inside: '', outside: '0 0' },
  { name: 'no ring', rings: [], inside: '', outside: '0 0' },
]

for (const { name, rings, inside, outside } of cases)
  t.test(name, async (t) => {
    const polygon = rings.map(positions)
    const holds = ([lng, lat]: number[]) =>
      insidePolygon(Math.round(lng * UNITS), Math.round(lat * UNITS), polygon)
    const missed = positions(inside).filter((point) => !holds(point))
    t.same(missed, [], 'holds all that is inside')
    t.same(positions(outside).filter(holds), [], 'and nothing else')
  })

function positions(text: string): number[][] {
  if (text === '') return []
  return text.split(', ').map((position) => position.split(' ').map(Number))
}

function box(west: number, south: number, east: number, north: number): number[][] {
  return positions(`${west} ${south}, ${east} ${south}, ${east} ${north}, ${west} ${north}`)
}

t.test('a vertex is the decimal that is written, not the double that holds it', async (t) => {
  // As doubles, 0.3 is less than three times 0.1, and the point would be left of the edge.
  for (const third of ['1 0', '-1 0'])
    t.ok(insidePolygon(0.05 * UNITS, 0.15 * UNITS, [positions(`0 0, 0.1 0.3, ${third}`)]))
  t.notOk(insidePolygon(0.05 * UNITS, 0.15 * UNITS + 1, [positions('0 0, 0.1 0.3, 1 0')]))
})

t.test('decimals beyond the seventh decide', async (t) => {
  const roof = (lat: number) => [box(0, 0, 2, lat)]
  t.ok(insidePolygon(UNITS, UNITS, roof(1)))
  t.ok(insidePolygon(UNITS, UNITS, roof(1.0000000000000002)))
  t.notOk(insidePolygon(UNITS, UNITS, roof(0.9999999999999999)))
  t.ok(insidePolygon(UNITS, 1, roof(1.00000000000001e-7)), 'with an exponent')
  t.notOk(insidePolygon(UNITS, 1, roof(9.9999999999999e-8)))
  t.notOk(insidePolygon(UNITS, 1, roof(5e-324)))
  t.ok(insidePolygon(UNITS, 0, roof(5e-324)))
})

t.test('a point next to a long edge is decided exactly', async (t) => {
  // The edge passes less than 0.003 units above (1, 1); its ends have more than 7 decimals.
  const rings = [positions('-180 -180.00000005, 180 180.00000005, 180 -90')]
  t.notOk(insidePolygon(UNITS, UNITS + 1, rings))
  t.ok(insidePolygon(UNITS, UNITS, rings))
  t.notOk(insidePolygon(-UNITS, -UNITS, rings))
  t.ok(insidePolygon(0, 0, rings))
})

t.test('sizes beyond any globe are no trouble', async (t) => {
  const rings = [box(-1e300, -1e300, 1e300, 1e300)]
  t.ok(insidePolygon(0, 0, rings))
  t.ok(insidePolygon(0, 0, [box(-1.7e308, -1e21, 0, 1.7e308)]))
  t.notOk(insidePolygon(1, 0, [box(-1.7e308, -1e21, 0, 1.7e308)]))
})

t.test('several polygons hold what any of them holds', async (t) => {
  const polygons = [[positions(square)], [box(3, 3, 6, 6), box(3.5, 3.5, 5, 5)], []]
  const holds = (lng: number, lat: number) => insideAny(lng * UNITS, lat * UNITS, polygons)
  t.ok(holds(1, 1) && holds(6, 6) && holds(3.7, 3.7))
  t.notOk(holds(4.5, 4.5) || holds(7, 7) || holds(0, 5))
  t.notOk(insideAny(0, 0, []))
  const { minLng, minLat, maxLng, maxLat } = prepare(polygons).bounds[1]
  t.same([minLng, minLat, maxLng, maxLat], [3 * UNITS, 3 * UNITS, 6 * UNITS, 6 * UNITS])
})

t.test('what is not a number or a whole point is refused', async (t) => {
  for (const value of [Number.NaN, Infinity, -Infinity])
    t.throws(() => insidePolygon(0, 0, [box(0, 0, value, 1)]), /finite/)
  t.throws(() => insidePolygon(0, 0, [[[0], [1, 0], [1, 1]]]), /finite/)
  t.throws(() => insidePolygon(0.5, 0, [positions(square)]), /whole units/)
})

const ROUND_COUNT = byTier({ ci: 75, soak: 2_000 })

t.test('agrees with point-in-polygon-hao on valid polygons, off the boundary', async (t) => {
  const random = seededRandom(testSeed(t))
  let insideCount = 0
  for (let round = 0; round < ROUND_COUNT; round += 1) {
    const [lng, lat] = [random.between(-1.7e9, 1.7e9), random.between(-8e8, 8e8)]
    const [[shell]] = randomShape('drawn', random, lng, lat)
    // A smaller copy around the middle of a star lies within it.
    const shrink = ([x, y]: number[]) => [
      lng / UNITS + (x - lng / UNITS) * 0.37,
      lat / UNITS + (y - lat / UNITS) * 0.37,
    ]
    const rings = random.unit() < 0.5 ? [shell] : [shell, shell.map(shrink)]
    const prepared = prepare([rings])
    const [{ minLng, minLat, maxLng, maxLat }] = prepared.bounds
    for (let count = 0; count < 100; count += 1) {
      const point = [random.between(minLng, maxLng), random.between(minLat, maxLat)]
      const expected = pointInPolygon([point[0] / UNITS, point[1] / UNITS], rings)
      if (expected === 0) continue
      const actual = prepared.contains(point[0], point[1])
      if (actual) insideCount += 1
      if (actual !== expected) t.fail(`${JSON.stringify({ point, rings, expected })}`)
    }
  }
  const share = insideCount / (100 * ROUND_COUNT)
  t.ok(share > 0.2 && share < 0.8, `${share} inside`)
})

t.test('doubles never decide otherwise than exact arithmetic', async (t) => {
  const random = seededRandom(testSeed(t))
  let insideCount = 0
  for (const shapeKind of shapeKinds)
    for (const worldKind of worldKinds) {
      const { lngs, lats } = randomWorld(worldKind, 300, random)
      for (let round = 0; round < byTier({ ci: 5, soak: 50 }); round += 1) {
        const middle = random.between(0, 299)
        // Every other shape has vertices of 9 decimals, just beside what they were.
        const nudge = (degrees: number) =>
          round % 2 === 0 ? degrees : Math.round(degrees * 1e9 + random.between(-1, 1)) / 1e9
        const polygons = randomShape(shapeKind, random, lngs[middle], lats[middle]).map((rings) =>
          rings.map((ring) => ring.map((vertex) => vertex.map(nudge))),
        )
        const prepared = prepare(polygons)
        for (let row = 0; row < 300; row += 1) {
          const expected = polygons.some((rings) => slowly(lngs[row], lats[row], rings))
          if (expected) insideCount += 1
          if (prepared.contains(lngs[row], lats[row]) !== expected)
            t.fail(`${JSON.stringify({ lng: lngs[row], lat: lats[row], polygons })}`)
        }
      }
    }
  t.ok(insideCount > 1_000, `${insideCount} inside`)
})

/** The definition once more, for vertices of 9 decimals, without a double or a short cut. */
function slowly(lng: number, lat: number, rings: number[][][]): boolean {
  const places = rings.map((ring) => {
    const exact = (degrees: number) => BigInt(Math.round(degrees * 1e9))
    const vertices = ring.map(([x, y]) => [exact(x), exact(y)])
    const [px, py] = [BigInt(lng) * 100n, BigInt(lat) * 100n]
    let crossings = 0
    for (let b = 0; b < vertices.length; b += 1) {
      const [[ax, ay], [bx, by]] = [vertices.at(b - 1) ?? [], vertices[b]]
      const cross = (bx - ax) * (py - ay) - (by - ay) * (px - ax)
      const dot = (ax - px) * (bx - px) + (ay - py) * (by - py)
      if (cross === 0n && dot <= 0n) return 'boundary'
      if (ay > py !== by > py && cross > 0n === by > ay) crossings += 1
    }
    return crossings % 2 === 1 ? 'interior' : 'outside'
  })
  return places[0] !== 'outside' && !places.slice(1).includes('interior')
}
