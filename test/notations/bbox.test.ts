import t from 'tap'
import { readBbox } from '../../src/notations/bbox.js'
import { testSeed } from '../support/random/properties.js'
import { type Random, seededRandom } from '../support/random/world.js'
import { type Place, selectedBy } from '../support/selected.js'
import { byTier } from '../support/tier.js'

type Box = readonly [west: number, south: number, east: number, north: number]

const DEGREE = 10_000_000
const TURN = 360 * DEGREE

t.test('a box is a ring, and over the antimeridian two', async (t) => {
  t.same(readBbox([-95.5, 29, -95, 30], 'bbox'), {
    type: 'Polygon',
    coordinates: [
      [
        [-95.5, 29],
        [-95.25, 29],
        [-95, 29],
        [-95, 30],
        [-95.25, 30],
        [-95.5, 30],
        [-95.5, 29],
      ],
    ],
  })
  for (const same of ['-95.5,29,-95,30', ' -95.5, 29.0 ,-9.5e1,+30', [-95.5, 29, 7, -95, 30, 8]]) {
    t.same(readBbox(same, 'bbox'), readBbox([-95.5, 29, -95, 30], 'bbox'))
  }
  t.same(readBbox(['-95.5', '29', '-95', '30'], 'bbox'), readBbox([-95.5, 29, -95, 30], 'bbox'))
  t.match(readBbox([170, -20, -170, -10], 'bbox'), {
    type: 'GeometryCollection',
    geometries: [{ type: 'Polygon' }, { type: 'Polygon' }],
  })
})

t.test('what is no box is refused', async (t) => {
  for (const value of [
    undefined,
    null,
    5,
    {},
    '',
    [],
    [1, 2, 3],
    [1, 2, 3, 4, 5],
    [1, 2, 3, 4, 5, 6, 7],
    [1, 2, 3, null],
    [1, 2, 3, 'x'],
    [1, 2, 3, ''],
    [1, 2, 3, [4]],
    [1, 2, 'x', 3, 4, 5],
    '1,2,3',
    '1,2,3,4,5',
    '1,2,3,4,',
    '1 2 3 4',
    '1,2,3,0x4',
    '1,2,3,Infinity',
    '1,2,3,1e999',
    `${'1'.repeat(4 * 2 ** 20)}x,2,3,4`,
    ','.repeat(4 * 2 ** 20),
    [1, 2, Number.NaN, 4],
    [1, 2, Number.POSITIVE_INFINITY, 4],
    [0, 5, 1, 4],
    [190, 0, -170, 1],
    [-170, 0, -190, 1],
    [400, 0, 390, 1],
  ]) {
    t.throws(
      () => readBbox(value, 'bbox'),
      { code: 'InvalidBbox', field: 'bbox' },
      `${value}`.slice(0, 40),
    )
  }
  const message = /the order is west, south, east, north/
  for (const value of [
    [29, -95.5, 30, -95],
    [0, -91, 1, 4],
    [0, 0, 1, 90.0000001],
  ]) {
    t.throws(() => readBbox(value, 'bbox'), { code: 'LatitudeOutOfRange', field: 'bbox', message })
  }
})

t.test('a box of any width is read into a few positions', async (t) => {
  for (const value of [[-1e300, 0, 1e300, 1], [0, 0, 1e12, 0], '-1e9,-90,1e9,90']) {
    const { coordinates } = readBbox(value, 'bbox') as unknown as { coordinates: unknown[][] }
    t.ok(coordinates[0].length <= 11)
    // What is wider than three turns is a mistake, and refused where all rings are.
    t.throws(() => selectedBy(readBbox(value, 'bbox'), [[0, 0]]))
  }
})

t.test('a box selects whoever is in it, as its numbers say', async (t) => {
  const random = seededRandom(testSeed(t))
  const kinds = new Map<string, number>()
  for (let round = 0; round < byTier({ ci: 500, soak: 10_000 }); round++) {
    const box = randomBox(random)
    const places = placesAround(box, random)
    const value = spelled(box, random)
    const expected = places.map((place) => isIn(box, place))
    const geometry = readBbox(value, 'bbox')
    t.same(selectedBy(geometry, places), expected, JSON.stringify(value))
    const width = box[2] - box[0]
    const kind = width < 0 ? 'over' : width === 0 ? 'line' : width > TURN / 2 ? 'wide' : 'narrow'
    for (const each of [kind, ...(expected.includes(true) ? [`${kind} hit`] : [])]) {
      kinds.set(each, (kinds.get(each) ?? 0) + 1)
    }
  }
  for (const kind of ['over', 'line', 'wide', 'narrow']) {
    t.ok((kinds.get(`${kind} hit`) ?? 0) > 20, `${kind}: ${kinds.get(`${kind} hit`)}`)
  }
})

t.test('boxes of the globe, of a cap and without an area are exact', async (t) => {
  const all: Place[] = []
  for (let lng = -180; lng <= 180; lng += 15) {
    for (const lat of [-90, -89.9999999, -45, 0, 30, 89.9999999, 90]) {
      all.push([lng * DEGREE, Math.round(lat * DEGREE)])
    }
  }
  const count = (value: unknown, properties = {}) =>
    selectedBy(readBbox(value, 'bbox'), all, properties).filter(Boolean).length
  t.equal(count([-180, -90, 180, 90]), all.length)
  t.equal(count([0, -90, 360, 90]), all.length)
  t.equal(count([-360, -90, 0, 90]), all.length)
  t.equal(count([-180, 90, 180, 90]), 25, 'the north pole')
  t.equal(count([-180, 30, 180, 90]), 75, 'a cap')
  t.equal(count([179.9999999, -90, -179.9999999, 90]), 14, 'both sides of the antimeridian')
  t.equal(count([180, -90, -180, 90]), 14, 'the antimeridian alone')
  t.equal(count([-165, -90, 165, 90]), 23 * 7, 'all but 30 degrees')
  t.equal(count([15, -90, 14.9999999, 90]), all.length, 'all but less than the least')
  t.equal(count([15, 30, 15, 30]), 1, 'a place')
  t.equal(count([15, 30, 15, 30], { radius: 1 }), 1, 'and around it')
  t.equal(count([15, 0, 15, 90]), 4, 'a meridian')
  t.equal(count([0, 0, 15, 0]), 2, 'a parallel')
})

t.test('a box without height keeps to its parallel when a margin is drawn', async (t) => {
  const box = readBbox([0, 60, 80, 60], 'bbox')
  const on: Place = [40 * DEGREE, 60 * DEGREE]
  const greatCircle: Place = [40 * DEGREE, 661_000_000]
  t.same(selectedBy(box, [on, greatCircle], { radius: 1_000 }), [true, false])
})

/** In whole units; west is greater than east where it crosses the antimeridian. */
function randomBox(random: Random): Box {
  const lng = () =>
    random.pick([
      () => random.between(-TURN / 2, TURN / 2),
      () => random.between(-180, 180) * DEGREE,
      () => random.pick([-180, -90, 0, 90, 180]) * DEGREE + random.between(-1, 1),
    ])()
  const lat = () =>
    random.pick([
      () => random.between(-90, 90) * DEGREE,
      () => random.between(-90 * DEGREE, 90 * DEGREE),
    ])()
  const within = (value: number) => Math.max(-TURN / 2, Math.min(TURN / 2, value))
  const [west, east] = [within(lng()), within(lng())]
  const lats = [lat(), lat()]
  const [south, north] = [Math.min(...lats), Math.max(...lats)]
  const isLine = random.between(0, 5) === 0
  return [west, south, isLine ? west : east, random.between(0, 5) === 0 ? south : north]
}

/** By definition, in whole units. */
function isIn([west, south, east, north]: Box, [lng, lat]: Place): boolean {
  if (lat < south || lat > north) return false
  const width = east < west ? east - west + TURN : east - west
  const past = (((lng - west) % TURN) + TURN) % TURN
  return past <= width
}

function placesAround([west, south, east, north]: Box, random: Random): Place[] {
  const lngs = [west, east, (west + east) / 2, -TURN / 2, TURN / 2, 0]
  const lats = [south, north, (south + north) / 2, -90 * DEGREE, 90 * DEGREE, 0]
  return Array.from({ length: 40 }, () => {
    const lng = Math.round(random.pick(lngs)) + random.between(-1, 1)
    const lat = Math.round(random.pick(lats)) + random.between(-1, 1)
    const isAnywhere = random.between(0, 3) === 0
    return [
      Math.max(
        -TURN / 2,
        Math.min(TURN / 2, isAnywhere ? random.between(-TURN / 2, TURN / 2) : lng),
      ),
      Math.max(-90 * DEGREE, Math.min(90 * DEGREE, lat)),
    ]
  })
}

function spelled([west, south, east, north]: Box, random: Random): unknown {
  const sides = [west, south, east, north].map((units) => units / DEGREE)
  // With longitudes from 0 to 360, too, where the box does not cross 0.
  const isPast = west < 0 && east < 0 && west <= east && random.between(0, 1) === 0
  const drawn = isPast
    ? [(west + TURN) / DEGREE, sides[1], (east + TURN) / DEGREE, sides[3]]
    : sides
  return random.pick([drawn, drawn.join(), [...drawn.slice(0, 2), 0, ...drawn.slice(2), 5]])
}
