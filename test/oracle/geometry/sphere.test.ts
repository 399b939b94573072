import t from 'tap'
import { testSeed } from '../../support/random/properties.js'
import { type Random, seededRandom } from '../../support/random/world.js'
import { nearPart } from './margin.js'
import {
  arcDistanceMetres,
  distanceMetres,
  EARTH_RADIUS_METRES,
  HALF_WAY_ROUND_METRES,
  type Place,
  placeAt,
  straightLengthMetres,
} from './sphere.js'

const DEGREE_METRES = HALF_WAY_ROUND_METRES / 180
const at = (lng: number, lat: number) => placeAt([lng, lat])
const isNear = (actual: number, expected: number, metres: number) =>
  Math.abs(actual - expected) <= metres

t.test('known distances', async (t) => {
  const cases: [from: Place, to: Place, metres: number][] = [
    [at(0, 0), at(0, 1), DEGREE_METRES],
    [at(0, 0), at(90, 0), 90 * DEGREE_METRES],
    [at(10, 20), at(10, 20.0000001), DEGREE_METRES / 1e7],
    [at(-71.1234567, 42), at(-71.1234567, 42), 0],
    [at(12, 90), at(-170, 90), 0],
    [at(12, 90), at(50, -90), 180 * DEGREE_METRES],
    [at(30, 40), at(-150, -40), 180 * DEGREE_METRES],
    [at(30, 40), at(-150, -39.9999999), 180 * DEGREE_METRES - DEGREE_METRES / 1e7],
    [at(180, 7), at(-180, 7), 0],
    [at(179.9999999, 0), at(-179.9999999, 0), DEGREE_METRES / 5e6],
    [at(540, 3), at(180, 4), DEGREE_METRES],
    [at(0, 60), at(180, 60), 60 * DEGREE_METRES],
    // The side of an octant and the middle of it: cos = 1/sqrt(3).
    [at(45, 35.26438968275), at(0, 0), Math.acos(1 / Math.sqrt(3)) * EARTH_RADIUS_METRES],
  ]
  for (const [from, to, metres] of cases) {
    t.ok(isNear(distanceMetres(from, to), metres, 1e-6), `${distanceMetres(from, to)} is ${metres}`)
    t.equal(distanceMetres(from, to), distanceMetres(to, from))
  }
})

t.test('the haversine formula agrees with vectors', async (t) => {
  const random = seededRandom(testSeed(t))
  for (let round = 0; round < 5_000; round++) {
    const [a, b] = [anywhere(random), anywhere(random)]
    const [u, v] = [unit(a), unit(b)]
    const angle = Math.atan2(Math.hypot(...cross(u, v)), dot(u, v))
    if (!isNear(distanceMetres(a, b), angle * EARTH_RADIUS_METRES, 1e-6)) t.fail(text({ a, b }))
  }
})

t.test('known distances to arcs', async (t) => {
  const cases: [point: Place, from: Place, to: Place, metres: number][] = [
    [at(5, 1), at(0, 0), at(10, 0), DEGREE_METRES],
    [at(5, -1), at(10, 0), at(0, 0), DEGREE_METRES],
    [at(12, 0), at(0, 0), at(10, 0), 2 * DEGREE_METRES],
    [at(-3, 0), at(0, 0), at(10, 0), 3 * DEGREE_METRES],
    [at(5, 90), at(0, 0), at(10, 0), 90 * DEGREE_METRES],
    [at(-175, 0), at(0, 0), at(10, 0), 175 * DEGREE_METRES],
    // Over the antimeridian, over a pole, and the short way round.
    [at(180, 1), at(170, 0), at(-170, 0), DEGREE_METRES],
    [at(90, 90), at(0, 80), at(180, 80), 0],
    [at(90, 80), at(0, 80), at(180, 80), 10 * DEGREE_METRES],
    [at(0, 0), at(0, 300 - 360), at(0, 60), 0],
    [at(-30, 0), at(0, 0), at(300, 0), 0],
    [at(30, 0), at(0, 0), at(300, 0), 30 * DEGREE_METRES],
    // One unit long, and nothing.
    [at(0.00000005, 1), at(0, 0), at(0.0000001, 0), DEGREE_METRES],
    [at(3, 4), at(3, 5), at(3, 5), DEGREE_METRES],
    [at(3, 90), at(3, 90), at(80, 90), 0],
  ]
  for (const [point, from, to, metres] of cases) {
    const actual = arcDistanceMetres(point, from, to)
    t.ok(isNear(actual, metres, 1e-6), `${actual} is ${metres}`)
  }
})

t.test('distances to arcs agree with a search along them', async (t) => {
  const random = seededRandom(testSeed(t))
  for (let round = 0; round < 3_000; round++) {
    const from = anywhere(random)
    const reach = 10 ** random.between(0, 9)
    const [to, point] = [beside(from, reach, random), beside(from, 3 * reach, random)]
    if (distanceMetres(from, to) > 0.95 * HALF_WAY_ROUND_METRES) continue
    const searched = searchArc(point, from, to)
    const actual = arcDistanceMetres(point, from, to)
    // The search knows places on the arc to some nanometres, tiny arcs among them.
    if (!isNear(actual, searched, 1e-6)) t.fail(text({ point, from, to, actual, searched }))
  }
})

t.test('known distances to straight edges', async (t) => {
  const cases: [point: Place, from: Place, to: Place, metres: number][] = [
    // Along a parallel, not along the great circle, which runs far north of it.
    [at(0, 61), at(-40, 60), at(40, 60), DEGREE_METRES],
    [at(0, 59), at(-40, 60), at(40, 60), DEGREE_METRES],
    [at(180, 59), at(140, 60), at(220, 60), DEGREE_METRES],
    [at(-180, 59), at(140, 60), at(220, 60), DEGREE_METRES],
    [at(7, 88), at(-180, 90), at(180, 90), 2 * DEGREE_METRES],
    [at(7, -30), at(7, -30), at(7, -30), 0],
    // As written from -180 to 180: the whole parallel.
    [at(33, 1), at(-180, 0), at(180, 0), DEGREE_METRES],
  ]
  for (const [point, from, to, metres] of cases) {
    t.equal(nearPart(point, [from, to], metres + 0.05), 'inside')
    t.equal(nearPart(point, [from, to], metres), 'either')
    t.equal(nearPart(point, [from, to], metres - 0.05), 'outside')
  }
})

t.test('distances to straight edges agree with sampling', async (t) => {
  const random = seededRandom(testSeed(t))
  for (let round = 0; round < 300; round++) {
    const from = anywhere(random)
    const reach = 10 ** random.between(2, 9)
    const to = beside(from, reach, random)
    const point = beside(from, 3 * reach, random)
    const shares = Array.from({ length: 2_001 }, (_, i) => i / 2_000)
    const least = Math.min(
      ...shares.map((share) => distanceMetres(point, between(from, to, share))),
    )
    const slack = straightLengthMetres(from, to) / 4_000 + 0.05
    const edge = [from, to] as const
    if (nearPart(point, edge, least + 0.05) !== 'inside') t.fail(text({ point, edge, least }))
    if (least > slack && nearPart(point, edge, least - slack) !== 'outside') {
      t.fail(text({ point, edge, least, slack }))
    }
  }
})

/** By golden section along the arc, where the distance falls and then rises unless an end is best. */
function searchArc(point: Place, from: Place, to: Place): number {
  const [a, b] = [unit(from), unit(to)]
  const angle = distanceMetres(from, to) / EARTH_RADIUS_METRES
  const p = unit(point)
  const metres = (share: number) => {
    const weights =
      angle < 1e-6
        ? [1 - share, share]
        : [Math.sin((1 - share) * angle), Math.sin(share * angle)].map((s) => s / Math.sin(angle))
    const on = a.map((value, axis) => weights[0] * value + weights[1] * b[axis])
    const chord = Math.hypot(...on.map((value, axis) => value - p[axis]))
    const antipodal = Math.hypot(...on.map((value, axis) => value + p[axis]))
    return 2 * EARTH_RADIUS_METRES * Math.atan2(chord, antipodal)
  }
  const golden = (Math.sqrt(5) - 1) / 2
  let [low, high] = [0, 1]
  for (let step = 0; step < 80; step++) {
    const [left, right] = [high - golden * (high - low), low + golden * (high - low)]
    if (metres(left) < metres(right)) high = right
    else low = left
  }
  return Math.min(metres(0), metres(1), metres((low + high) / 2))
}

function between(from: Place, to: Place, share: number): Place {
  return {
    lngUnits: from.lngUnits + share * (to.lngUnits - from.lngUnits),
    latUnits: from.latUnits + share * (to.latUnits - from.latUnits),
  }
}

function anywhere(random: Random): Place {
  const pole = random.unit() < 0.1
  return {
    lngUnits: random.between(-1.8e9, 1.8e9),
    latUnits: pole ? random.pick([-9e8, 9e8]) : random.between(-9e8, 9e8),
  }
}

function beside({ lngUnits, latUnits }: Place, reach: number, random: Random): Place {
  const lat = latUnits + random.between(-reach, reach)
  return {
    lngUnits: lngUnits + random.between(-reach, reach),
    latUnits: Math.max(-9e8, Math.min(9e8, lat)),
  }
}

function unit({ lngUnits, latUnits }: Place): number[] {
  const [lng, lat] = [lngUnits, latUnits].map((units) => (units / 1e7) * (Math.PI / 180))
  return [Math.cos(lat) * Math.cos(lng), Math.cos(lat) * Math.sin(lng), Math.sin(lat)]
}

function dot(a: number[], b: number[]): number {
  return a.reduce((sum, value, axis) => sum + value * b[axis], 0)
}

function cross(a: number[], b: number[]): number[] {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

function text(value: unknown): string {
  return JSON.stringify(value)
}
