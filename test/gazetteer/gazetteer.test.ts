/**
 * Areas are found by name, by text and by place, and are what was drawn.
 *
 * @module
 */
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { globeBoxOf } from '../../src/gazetteer/area-bounds.js'
import { decodeArea, encodeArea } from '../../src/gazetteer/area-record.js'
import type { Gazetteer } from '../../src/gazetteer/gazetteer.js'
import { contains } from '../../src/geometry/polygon/contains.js'
import { validate } from '../../src/selection/validate.js'
import { readGeometry } from '../oracle/geometry/geometry.js'
import { layerOf, squareArea, writtenGazetteer } from '../support/data/areas.js'
import { temporaryDirectory } from '../support/service/hickory.js'
import { byTier } from '../support/tier.js'

const seed = Number(process.env.HICKORY_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))
t.comment(`seed ${seed}`)
const run = { seed, numRuns: byTier({ ci: 60, soak: 300 }) }

/** Few different places, so that edges cross, touch and repeat; some beyond the antimeridian, some fine. */
const degrees = (from: number, to: number) =>
  fc.oneof(
    fc.integer({ min: 4 * from, max: 4 * to }).map((quarter) => quarter / 4),
    // Not as fine as that the products of two differences vanish.
    fc.double({ min: from, max: to, noNaN: true }).map((value) => Math.round(value * 1e9) / 1e9),
  )
const ring = (west: number) =>
  fc.array(fc.tuple(degrees(west, west + 4), degrees(-2, 2)), { minLength: 3, maxLength: 8 })
const polygonAt = (west: number) => fc.array(ring(west), { minLength: 1, maxLength: 3 })
const multiPolygon = fc
  .array(fc.constantFrom(-182, -2, 178, 300).chain(polygonAt), { minLength: 1, maxLength: 3 })
  .map((coordinates) => ({ type: 'MultiPolygon', coordinates }))
  .filter((geometry) => {
    try {
      validate({ geoJSON: geometry })
      return true
    } catch {
      return false
    }
  })

const drawn = (geometry: object) => validate({ geoJSON: geometry }).shapes.included[0].polygons

t.test('an area is what the same shape in a request is', async (t) => {
  const geometries = fc.sample(multiPolygon, run)
  const areas = geometries.map((geometry, i) => squareArea(`k${i}`, 0, 0, { geometry }))
  const gazetteer = await writtenGazetteer(t, temporaryDirectory(t), layerOf('random', ...areas))
  for (const [i, geometry] of geometries.entries()) {
    const found = gazetteer.find(`random:k${i}`)
    t.same(found?.polygons, drawn(geometry), JSON.stringify(geometry))
    t.equal(found?.id, `random:k${i}`)
  }
})

t.test('a record reads back as it was written, and no bit of it can change', async (t) => {
  fc.assert(
    fc.property(multiPolygon, fc.nat(), (geometry, bit) => {
      const stored = { id: 'a:b', name: 'Ä', aliases: ['c:d'], polygons: drawn(geometry) }
      const record = encodeArea(stored)
      if (!t.same(decodeArea(record), stored)) return false
      record[(bit >> 3) % record.length] ^= 1 << (bit & 7)
      t.throws(() => decodeArea(record))
      return true
    }),
    run,
  )
})

t.test('places are in areas exactly as the oracle says', async (t) => {
  const geometries = fc.sample(multiPolygon, run)
  const areas = geometries.map((geometry, i) => squareArea(`k${i}`, 0, 0, { geometry }))
  const gazetteer = await writtenGazetteer(t, temporaryDirectory(t), layerOf('random', ...areas))
  const regions = geometries.map((geometry) => readGeometry(geometry, undefined))
  const places = [-182, -2, 178, 300]
    .flatMap((west) => [0, 0.25, 0.5, 1, 1.75, 2, 2.5, 4].map((east) => west + east))
    .flatMap((lng) => [-2, -1, -0.25, 0, 0.25, 0.7, 1.5, 2].map((lat) => [lng, lat]))
  let insideCount = 0
  for (const [lng, lat] of places) {
    const [lngUnits, latUnits] = [onGlobe(lng) * 1e7, lat * 1e7]
    const found = gazetteer.at(lngUnits, latUnits).map(({ key }) => key)
    const expected = regions.flatMap((region, i) =>
      region(lngUnits, latUnits) === 'inside' ? [`k${i}`] : [],
    )
    t.same(found.sort(), expected.sort(), `${lng}, ${lat}`)
    insideCount += expected.length
  }
  t.ok(insideCount > 0, `${insideCount} times inside`)
})

const onGlobe = (lng: number) => (lng > 180 ? lng - 360 : lng < -180 ? lng + 360 : lng)

t.test('a boundary is inside, that of a hole too', async (t) => {
  const coordinates = [box(0, 0, 4), box(1, 1, 2)]
  const polygons = drawn({ type: 'Polygon', coordinates })
  const isIn = (lng: number, lat: number) => contains(polygons, lng * 1e7, lat * 1e7)
  for (const [lng, lat] of [
    [0, 0],
    [4, 4],
    [2, 0],
    [0, 3],
    [1, 1],
    [1, 2],
    [3, 3],
    [0.5, 2],
  ]) {
    t.ok(isIn(lng, lat), `${lng}, ${lat}`)
  }
  for (const [lng, lat] of [
    [2, 2],
    [1.0000001, 2],
    [4.0000001, 2],
    [-1, 2],
    [2, -1],
    [2, 5],
  ]) {
    t.notOk(isIn(lng, lat), `${lng}, ${lat}`)
  }
})

const box = (lng: number, lat: number, size: number) => [
  [lng, lat],
  [lng + size, lat],
  [lng + size, lat + size],
  [lng, lat + size],
]

async function towns(t: Test): Promise<Gazetteer> {
  return await writtenGazetteer(
    t,
    temporaryDirectory(t),
    layerOf(
      'Towns',
      squareArea('TX1', 0, 0, { name: 'San José', aliases: ['SAME:0001', 'UGC:TXC001'] }),
      squareArea('TX2', 10, 0, { name: 'Thousand Oaks' }),
      squareArea('TX3', 20, 0, { name: 'Santa Ana' }),
      squareArea('x.4', 30, 0, { name: 'Östersund' }),
    ),
    layerOf('zones', squareArea('1', 0, 0, { name: 'Sand' })),
  )
}

t.test('names are found in any letter case, keys as they are', async (t) => {
  const gazetteer = await towns(t)
  const idOf = (name: string) => gazetteer.find(name)?.id
  for (const name of ['Towns:TX1', 'towns:TX1', 'SAME:0001', 'same:0001', 'UGC:TXC001']) {
    t.equal(idOf(name), 'Towns:TX1', name)
    t.equal(idOf(name), 'Towns:TX1', `${name}, once more`)
  }
  for (const name of [
    'towns:tx1',
    'SAME:1',
    'TX1',
    '',
    ':',
    'towns:',
    ':TX1',
    'a:b:c',
    'zones:é',
  ]) {
    t.equal(idOf(name), undefined, name)
  }
  t.same(gazetteer.nearest('towns:tx1'), ['Towns:TX1'])
  t.same(gazetteer.nearest('town:TX1'), ['Towns:TX1'])
  t.same(gazetteer.nearest('zones:TX3'), ['Towns:TX3', 'zones:1'])
  t.same(gazetteer.nearest('nothing'), [])
  t.same(gazetteer.nearest('TX1'), ['Towns:TX1'], 'a key alone')
  t.same(gazetteer.nearest('towns/TX1'), ['Towns:TX1'])
  t.same(gazetteer.nearest('san jose'), ['Towns:TX1'], 'what one area is called')
  t.same(gazetteer.nearest('san'), [], 'what several are called')
  t.same(gazetteer.nearest(''), [])
  t.same(
    gazetteer.layers().map(({ layer, areaCount }) => [layer, areaCount]),
    [
      ['Towns', 4],
      ['zones', 1],
    ],
  )
})

t.test('texts are found without accents, the beginnings of words first', async (t) => {
  const gazetteer = await towns(t)
  const found = (q: string, layer?: string) =>
    gazetteer.search({ q, layer, limit: 10 }).areas.map(({ name }) => name)
  t.same(found('san'), ['San José', 'Sand', 'Santa Ana', 'Thousand Oaks'])
  t.same(found('SAN JOSE'), ['San José'])
  t.same(found('oster'), ['Östersund'])
  t.same(found('ana'), ['Santa Ana'])
  t.same(found('tx2'), ['Thousand Oaks'], 'by key')
  t.same(found('x.4'), ['Östersund'])
  t.same(found('san', 'TOWNS'), ['San José', 'Santa Ana', 'Thousand Oaks'])
  t.same(found('san', 'none'), [])
  t.same(found('!!'), [], 'what is no letter is in no name')
  t.equal(found('').length, 5)
})

t.test('pages have each area once, in one order', async (t) => {
  const letters = ['a', 'b', 'ba', ' ']
  const names = fc.array(
    fc
      .array(fc.constantFrom(...letters), { minLength: 1, maxLength: 4 })
      .map((parts) => `n${parts.join('')}`),
    { minLength: 1, maxLength: 30 },
  )
  const wholes = fc.sample(fc.tuple(names, fc.constantFrom('a', 'b', 'ba', 'n', '')), {
    seed,
    numRuns: byTier({ ci: 10, soak: 40 }),
  })
  for (const [list, q] of wholes) {
    const areas = list.map((name, i) => squareArea(`k${i}`, i, 0, { name }))
    const gazetteer = await writtenGazetteer(t, temporaryDirectory(t), layerOf('random', ...areas))
    const whole = gazetteer.search({ q, limit: 1_000 }).areas.map(({ id }) => id)
    const expected = list.flatMap((name, i) => (name.includes(q) ? [`random:k${i}`] : []))
    t.same([...whole].sort(), expected.sort(), `${q} in ${list}`)
    const paged: string[] = []
    for (let after: string | undefined; ; ) {
      const { areas: page, next } = gazetteer.search({ q, limit: 2, after })
      paged.push(...page.map(({ id }) => id))
      if (next === undefined) break
      after = next
    }
    t.same(paged, whole)
  }
  const gazetteer = await towns(t)
  t.throws(() => gazetteer.search({ limit: 1, after: 'zones:9' }), /^after must be the NextAfter/)
})

t.test('the box of an area leaves out the widest gap', async (t) => {
  const boxOf = (...rings: number[][][]) => {
    const coordinates = rings.map((each) => [each])
    return globeBoxOf(drawn({ type: 'MultiPolygon', coordinates })).map((units) => units / 1e7)
  }
  t.same(boxOf(box(1, 2, 3)), [1, 2, 4, 5])
  t.same(boxOf(box(178, 0, 4)), [178, 0, -178, 4], 'over the antimeridian')
  t.same(boxOf(box(170, 0, 10), box(-180, 0, 10)), [170, 0, -170, 10])
  t.same(boxOf(box(-100, 0, 1), box(100, 0, 1)), [100, 0, -99, 1])
  t.same(boxOf(box(-20, 0, 1), box(20, 0, 1)), [-20, 0, 21, 1])
  const east = (from: number, to: number) => [
    [from, 0],
    [to, 0],
    [to, 1],
    [from, 1],
    [from, 0],
  ]
  t.same(boxOf(east(27, 191), east(-175, -174)), [27, 0, -169, 1], 'an island within')
  t.same(boxOf(east(120, 290), east(-150, -140)), [120, 0, -70, 1])
  t.same(boxOf(east(176, 182), east(-179, -178.5)), [176, 0, -178, 1])
  t.same(boxOf(east(176, 182), east(-170, -165)), [176, 0, -165, 1])
  const cap = [-170, -60, 60, 170, -170].map((lng) => [lng, 60])
  t.same(boxOf(cap), [-180, 60, 180, 90], 'round a pole')
  t.same(boxOf(cap.map(([lng, lat]) => [lng, -lat])), [-180, -90, 180, -60])
})

t.test('the box of an area has all that is drawn, and no narrower one has', async () => {
  const quarters = (min: number, max: number) =>
    fc.integer({ min: 4 * min, max: 4 * max }).map((quarter) => quarter / 4)
  const spansOf = fc.array(fc.tuple(quarters(-180, 180), quarters(1, 300)), {
    minLength: 1,
    maxLength: 5,
  })
  fc.assert(
    fc.property(spansOf, (spans) => {
      // Beyond 180 rings are taken as they are drawn; before it an edge may not be wide.
      fc.pre(spans.every(([west, width]) => width < 180 || west + width > 180))
      const rings = spans.map(([west, width]) => [
        [
          [west, 0],
          [west + width, 0],
          [west + width, 1],
          [west, 0],
        ],
      ])
      const box = globeBoxOf(drawn({ type: 'MultiPolygon', coordinates: rings }))
      const [west, , east] = box.map((units) => units / 1e7)
      const width = east - west + (east < west ? 360 : 0)
      const isIn = (lng: number) => (lng - west + 720) % 360 <= width
      const isAllIn = spans.every(([start, width]) =>
        [0, 0.25, 0.5, 0.75, 1].every((part) => isIn(start + part * width)),
      )
      // By brute force: the widest gap begins at an end that no other span goes over.
      const gaps = spans.map(([start, width]) => {
        const end = start + width
        const turns = [-360, 0, 360]
        const isWithin = spans.some(([other, width]) =>
          turns.some((turn) => end + turn > other && end + turn < other + width),
        )
        return isWithin ? 0 : Math.min(...spans.map(([other]) => (other - end + 720) % 360))
      })
      return (width === 360 || isAllIn) && width === 360 - Math.max(...gaps)
    }),
    run,
  )
})

t.test('a closed gazetteer says so, and what was found stays', async (t) => {
  const gazetteer = await towns(t)
  const found = gazetteer.find('towns:TX1')
  await gazetteer.close()
  t.throws(() => gazetteer.find('towns:TX2'), /were replaced meanwhile/)
  t.equal(found?.polygons.vertices.length, 8)
})
