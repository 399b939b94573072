import * as mgrs from 'mgrs'
import t from 'tap'
import { limits } from '../../src/limits.js'
import type { DrawnGeometry, Position } from '../../src/notations/drawn.js'
import { readMgrs } from '../../src/notations/mgrs.js'
import { testSeed } from '../support/random/properties.js'
import { type Random, seededRandom } from '../support/random/world.js'
import { type Place, selectedBy } from '../support/selected.js'
import { byTier } from '../support/tier.js'
import { toUtm } from '../support/transverse-mercator.js'

const ROUND_COUNT = byTier({ ci: 1_000, soak: 10_000 })

/** The package is of a kind whose exports Node.js does not know by their names. */
const { forward } = (mgrs as unknown as { default: typeof mgrs }).default

t.test('ten digits are a point, the south-west corner of a square metre', async (t) => {
  const place = readMgrs('15RTN7000090000', 'mgrs')
  t.match(place, { type: 'Point' })
  const [lng, lat] = (place as { coordinates: Position }).coordinates
  t.ok(Math.abs(lng - -95.3776885178) < 1e-9 && Math.abs(lat - 29.7188587043) < 1e-9)
  for (const text of ['15R TN 70000 90000', ' 15 r tn 70000  90000 ', '15RTN 7000090000']) {
    t.same(readMgrs(text, 'mgrs'), place, text)
  }
  t.same(readMgrs(['15RTN7000090000'], 'mgrs'), {
    type: 'GeometryCollection',
    geometries: [place],
  })
  t.same(readMgrs([], 'mgrs'), { type: 'GeometryCollection', geometries: [] })
})

t.test('what is no reference, or contradicts itself, is refused by its place', async (t) => {
  for (const [text, problem] of [
    ['', /must be an MGRS/],
    ['15R', /must be an MGRS/],
    ['15RT', /must be an MGRS/],
    ['15RTN700009000', /as many digits/],
    ['15R TN 7000 90000', /as many digits/],
    ['15R TN 70000 9000', /as many digits/],
    ['15R TN 700000 900000', /must be an MGRS/],
    ['15RTN700000900000', /must be an MGRS/],
    ['15R TN 70 000 90 000', /must be an MGRS/],
    ['15RTN70000.90000', /must be an MGRS/],
    ['RTN7000090000', /must be an MGRS/],
    ['015RTN7000090000', /must be an MGRS/],
    ['00RTN7000090000', /not there/],
    ['61RTN7000090000', /not there/],
    ['15ITN7000090000', /not there/],
    ['15OTN7000090000', /not there/],
    ['32XMH7000090000', /not there/],
    ['15ATN7000090000', /polar/],
    ['15ZTN7000090000', /polar/],
    ['15RAN7000090000', /column/],
    ['15RIN7000090000', /column/],
    ['15RTW7000090000', /row/],
    ['15RTI7000090000', /row/],
    ['15RTA7000090000', /not in its zone and band/],
    ['15STN7000090000', /not in its zone and band/],
    ['15RSN0000090000', /not in its zone and band/],
    ['31VEF0000000000', /not in its zone and band/],
    [`15RTN${' '.repeat(2 ** 20)}x`, /longer/],
  ] as const) {
    const expected = { code: 'InvalidGridReference', status: 400, message: problem }
    t.throws(() => readMgrs(text, 'mgrs'), { ...expected, field: 'mgrs' }, text.slice(0, 40))
    const list = ['15RTN7000090000', text]
    t.throws(() => readMgrs(list, 'mgrs'), { ...expected, field: 'mgrs[1]' }, text.slice(0, 40))
  }
  for (const value of [undefined, null, 5, {}]) {
    t.throws(() => readMgrs(value, 'mgrs'), { code: 'InvalidGridReference', field: 'mgrs' })
  }
  const many = Array(limits.cellCount + 1).fill('15RTN7000090000')
  t.throws(() => readMgrs(many, 'mgrs'), { code: 'InvalidGridReference', field: 'mgrs' })
  const large = Array(limits.cellCount).fill('15RTN')
  t.throws(() => readMgrs(large, 'mgrs'), { code: 'TooManyVertices', field: 'mgrs' })
  // Of 15UTV a sliver is in its zone, and a whole square is drawn to find it.
  const slivers = Array(limits.cellCount).fill('15UTV')
  t.throws(() => readMgrs(slivers.slice(0, 25), 'mgrs'), { code: 'TooManyVertices' })
  t.match(readMgrs(slivers.slice(0, 24), 'mgrs'), { type: 'GeometryCollection' })
  t.match(readMgrs(large.slice(0, 20), 'mgrs'), { type: 'GeometryCollection' })
})

t.test('references that the package mgrs writes are where it wrote them from', async (t) => {
  const random = seededRandom(testSeed(t))
  for (let round = 0; round < ROUND_COUNT; round++) {
    const [lng, lat] = anywhere(random)
    const text = forward([lng, lat], 5)
    // Its own series is off by some centimetres, which may be a metre of its digits.
    const { coordinates } = readMgrs(text, 'mgrs') as { coordinates: Position }
    const east = (((coordinates[0] - lng + 540) % 360) - 180) * Math.cos((lat * Math.PI) / 180)
    const north = coordinates[1] - lat
    const metres = Math.hypot(east, north) * 111_320
    if (!(metres < 2)) t.fail(`${text} is ${metres} m from ${lng}, ${lat}`)
  }
  t.pass(`${ROUND_COUNT} references`)
})

t.test('Norway and Svalbard have the zones that they have', async (t) => {
  for (const [lng, lat, zone] of [
    [4, 60, '32V'],
    [2.9, 60, '31V'],
    [4, 64.1, '31W'],
    [8, 75, '31X'],
    [10, 75, '33X'],
    [20, 75, '33X'],
    [22, 75, '35X'],
    [34, 75, '37X'],
  ] as const) {
    const text = forward([lng, lat], 5)
    t.equal(text.slice(0, 3), zone)
    t.match(readMgrs(text, 'mgrs'), { type: 'Point' })
  }
})

t.test('fewer digits are a square, as far as it is in its zone', async (t) => {
  const random = seededRandom(testSeed(t))
  let hitCount = 0
  let cutCount = 0
  for (let round = 0; round < byTier({ ci: 200, soak: 10_000 }); round++) {
    const zone = zoneAt(...anywhere(random))
    const digitCount = random.between(0, 4)
    const side = 10 ** (5 - digitCount)
    const south = zone.south < 0
    const [easting, northing] = toUtm(...zone.place, zone.number, south)
    const [west, base] = [easting, northing].map((metres) => Math.floor(metres / side) * side)
    const text = referenceOf(zone, west, base, digitCount)
    const geometry = readMgrs(text, 'mgrs')
    const places = Array.from({ length: 30 }, () => placeNear(geometry, zone.place, random))
    const found = selectedBy(geometry, places)
    for (const [index, [lngUnits, latUnits]] of places.entries()) {
      const [lng, lat] = [lngUnits / 1e7, latUnits / 1e7]
      const [x, y] = toUtm(lng, lat, zone.number, south)
      const margins = [x - west, west + side - x, y - base, base + side - y]
      const isInZone =
        lng >= zone.west && lng <= zone.east && lat >= zone.south && lat <= zone.north
      const inward = Math.min(...margins)
      // Sides are drawn to the centimetre.
      if (isInZone && Math.abs(inward) < 0.01) continue
      if (found[index]) hitCount++
      if (inward > 0.01 && !isInZone) cutCount++
      if (found[index] !== (isInZone && inward > 0)) {
        t.fail(`${text} at ${lng}, ${lat}: ${inward} m inside`)
      }
    }
  }
  t.ok(hitCount > 1_000, `${hitCount} hits`)
  t.ok(cutCount > 10, `${cutCount} places of squares beyond their zones`)
})

interface Zone {
  readonly number: number
  readonly band: string
  readonly west: number
  readonly east: number
  readonly south: number
  readonly north: number
  readonly place: readonly [lng: number, lat: number]
}

function anywhere(random: Random): [lng: number, lat: number] {
  const lat = random.pick([
    164 * random.unit() - 80,
    8 * random.between(-9, 10) + (random.unit() - 0.5) / 5,
    56 + 28 * random.unit(),
  ])
  const lng = random.pick([
    360 * random.unit() - 180,
    6 * random.between(-29, 29) + random.pick([0.2, 2e-3]) * (random.unit() - 0.5),
    42 * random.unit(),
    random.pick([-1, 1]) * (180 - random.unit() / 5),
  ])
  return [lng, lat]
}

/** By the words of the standard: even zones, but for Norway and Svalbard. */
function zoneAt(lng: number, lat: number): Zone {
  const index = Math.min(19, Math.floor((lat + 80) / 8))
  const band = 'CDEFGHJKLMNPQRSTUVWX'[index]
  const south = 8 * index - 80
  const north = band === 'X' ? 84 : south + 8
  const lats = { band, south, north, place: [lng, lat] } as const
  if (band === 'V' && lng >= 0 && lng < 3) return { ...lats, number: 31, west: 0, east: 3 }
  if (band === 'V' && lng >= 3 && lng < 12) return { ...lats, number: 32, west: 3, east: 12 }
  if (band === 'X' && lng >= 0 && lng < 42) {
    const [number, west, east] = ([
      [31, 0, 9],
      [33, 9, 21],
      [35, 21, 33],
      [37, 33, 42],
    ].find(([, , end]) => lng < end) ?? []) as [number, number, number]
    return { ...lats, number, west, east }
  }
  const number = Math.floor((lng + 180) / 6) + 1
  return { ...lats, number, west: 6 * number - 186, east: 6 * number - 180 }
}

function referenceOf(zone: Zone, west: number, base: number, digitCount: number): string {
  const columns = ['STUVWXYZ', 'ABCDEFGH', 'JKLMNPQR'][zone.number % 3]
  const column = columns[Math.floor(west / 100_000) - 1]
  const first = zone.number % 2 === 0 ? 5 : 0
  const row = 'ABCDEFGHJKLMNPQRSTUV'[(Math.floor(base / 100_000) + first) % 20]
  const digits = [west, base].map((metres) =>
    String(metres % 100_000)
      .padStart(5, '0')
      .slice(0, digitCount),
  )
  return `${zone.number}${zone.band}${column}${row}${digits.join('')}`
}

/** On its outline or beside it, or beside where it was made from. */
function placeNear(geometry: DrawnGeometry, from: readonly number[], random: Random): Place {
  const [ring] = (geometry as unknown as { coordinates: Position[][] }).coordinates
  const [corner, other] = [random.pick(ring), random.pick(ring)]
  const part = random.pick([0, random.unit(), 1.1])
  const near = (value: number) => value + random.pick([0, 1e-5, -1e-5, 1e-3]) * random.unit()
  const [lng, lat] = random.pick([
    from,
    [corner[0] + part * (other[0] - corner[0]), corner[1] + part * (other[1] - corner[1])],
  ])
  const lngUnits = Math.round(near(lng) * 1e7)
  return [
    Math.max(-1.8e9, Math.min(1.8e9, lngUnits)),
    Math.max(-9e8, Math.min(9e8, Math.round(near(lat) * 1e7))),
  ]
}
