/**
 * Areas of GeoJSON and TopoJSON, and what is refused of them.
 *
 * @module
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { testSeed } from '../../support/random/properties.js'
import { temporaryDirectory } from '../../support/service/hickory.js'
import { byTier } from '../../support/tier.js'
import { readAreas, square } from './area-files.js'

const REJECTED = { code: 'InputRejected' }

const feature = (id: unknown, geometry: unknown, more: object = {}) => ({
  type: 'Feature',
  properties: { id, ...more },
  geometry,
})
const polygon = (...rings: unknown[]) => ({ type: 'Polygon', coordinates: rings })
const collection = (features: readonly unknown[], more: object = {}) =>
  JSON.stringify({ type: 'FeatureCollection', ...more, features })

t.test('one collection, one feature a line, packed, and with a byte order mark', async (t) => {
  const directory = temporaryDirectory(t)
  const features = [
    feature('48201', polygon(square(-95, 29), square(-94.75, 29.25, 0.5))),
    feature(48_167, { type: 'MultiPolygon', coordinates: [[square(1, 2)], [square(5, 6)]] }),
    feature(' 7 ', {
      type: 'GeometryCollection',
      geometries: [polygon(square(8, 8)), polygon(square(9.5, 8))],
    }),
  ]
  const expected = [
    { key: '48201', geometry: polygon(square(-95, 29), square(-94.75, 29.25, 0.5)) },
    {
      key: '48167',
      geometry: { type: 'MultiPolygon', coordinates: [[square(1, 2)], [square(5, 6)]] },
    },
    {
      key: '7',
      geometry: { type: 'MultiPolygon', coordinates: [[square(8, 8)], [square(9.5, 8)]] },
    },
  ]
  const texts: Record<string, string | Buffer> = {
    'one.geojson': collection(features),
    'pretty.json': JSON.stringify({ features, type: 'FeatureCollection' }, null, 2),
    'lines.geojsonl': `${features.map((each) => JSON.stringify(each)).join('\r\n')}\n\n`,
    'sequence.geojsons': features.map((each) => `\x1e${JSON.stringify(each)}\n`).join(''),
    'marked.geojson': `\ufeff${collection(features)}`,
    'packed.geojson.gz': gzipSync(collection(features)),
  }
  for (const [name, text] of Object.entries(texts)) {
    const path = join(directory, name)
    writeFileSync(path, text)
    const { areas, tally } = await readAreas(path)
    t.same(
      areas.map(({ key, geometry }) => ({ key, geometry })),
      expected,
      name,
    )
    t.same(tally.bounds, [-95, 2, 10.5, 30], name)
    t.match(tally.files, [{ format: 'geojson', fields: ['id'], featureCount: 3 }], name)
  }
})

t.test('a projection that the file names after its features is taken', async (t) => {
  const directory = temporaryDirectory(t)
  const path = join(directory, 'utm.geojson')
  const crs = { type: 'name', properties: { name: 'urn:ogc:def:crs:EPSG::32631' } }
  const ring = [
    [500_000, 0],
    [500_000, 1_000],
    [501_000, 1_000],
    [501_000, 0],
    [500_000, 0],
  ]
  const features = [feature('a', polygon(ring))]
  writeFileSync(path, JSON.stringify({ type: 'FeatureCollection', features, crs }))
  const [area] = (await readAreas(path)).areas
  const { coordinates } = area.geometry as { coordinates: number[][][] }
  // On the central meridian of the zone, at the equator.
  t.same(
    coordinates[0][0].map((degrees) => Math.abs(Math.round(degrees * 1e7))),
    [3e7, 0],
  )
  t.ok(coordinates[0][2][0] > 3.008 && coordinates[0][2][0] < 3.01)
})

t.test('what is no area is refused with its position, or left out and told', async (t) => {
  const directory = temporaryDirectory(t)
  const path = join(directory, 'areas.geojson')
  const whole = feature('whole', polygon(square(0, 0)))
  const wrong: readonly (readonly [unknown, RegExp])[] = [
    [feature('k', null), /feature 2 \(key k\) has no geometry$/],
    [feature('k', { type: 'Point', coordinates: [1, 2] }), /is a Point, which is no area/],
    [feature('k', { type: 'LineString', coordinates: [] }), /is a LineString/],
    [feature('k', polygon()), /has an empty geometry/],
    [feature('k', polygon([['1', 2]])), /position that is not two numbers/],
    [feature('k', polygon(3)), /coordinates that are no list/],
    [feature(null, polygon(square(1, 1))), /feature 2 has no key: its \{id\} is empty/],
    [feature(' ', polygon(square(1, 1))), /feature 2 has no key/],
    [feature(true, polygon(square(1, 1))), /its id is no text and no number/],
    [feature(2 ** 53, polygon(square(1, 1))), /a number of too many digits/],
    [feature('k', polygon(square(180.5, 1))), /beyond ±180,±90, and the file does not say/],
    [feature('k', polygon(square(1, 90.5))), /beyond ±180,±90/],
  ]
  for (const [each, message] of wrong) {
    writeFileSync(path, collection([whole, each]))
    await t.rejects(readAreas(path), { ...REJECTED, message })
    const { areas, tally } = await readAreas(path, { skipsInvalid: true })
    t.same([areas.map(({ key }) => key), tally.invalidCount], [['whole'], 1])
    t.match(tally.invalid, [message])
  }
})

t.test('exchanged coordinates are told where a system is said', async (t) => {
  const path = join(temporaryDirectory(t), 'areas.geojson')
  writeFileSync(path, collection([feature('k', polygon(square(29, -95)))]))
  await t.rejects(readAreas(path, { crs: { kind: 'epsg', code: 4326 } }), {
    ...REJECTED,
    message: /are longitude and latitude exchanged\?/,
  })
})

t.test('features with one key are refused, or one area', async (t) => {
  const path = join(temporaryDirectory(t), 'areas.geojson')
  const parts = [
    feature('a', polygon(square(0, 0)), { name: 'First' }),
    feature('b', polygon(square(5, 0))),
    feature('a', polygon(square(2, 0)), { name: 'Second' }),
  ]
  writeFileSync(path, collection(parts))
  await t.rejects(readAreas(path), {
    ...REJECTED,
    message: /feature 3 has the key a, as .*feature 1 has: .*--merge/,
  })
  const { areas, tally } = await readAreas(path, { merges: true })
  t.match(areas, [
    { key: 'a', geometry: { coordinates: [[square(0, 0)], [square(2, 0)]] } },
    { key: 'b', geometry: { type: 'Polygon' } },
  ])
  t.equal(tally.mergedCount, 1)
})

t.test('only features with a value are taken', async (t) => {
  const path = join(temporaryDirectory(t), 'areas.geojson')
  const all = ['x', 'y', 'x'].map((kind, i) => feature(i, polygon(square(i, 0)), { kind }))
  writeFileSync(path, collection(all))
  const { areas, tally } = await readAreas(path, { where: [['kind', 'x']] })
  t.same([areas.map(({ key }) => key), tally.otherCount], [['0', '2'], 1])
  await t.rejects(readAreas(path, { where: [['Kind', 'x']] }), {
    ...REJECTED,
    message: /no field "Kind" for --where; its fields are id, kind$/,
  })
})

t.test('what a feature is known by is a field, unless a property is called so', async (t) => {
  const path = join(temporaryDirectory(t), 'areas.geojsonl')
  const shape = polygon(square(0, 0))
  const lines = [
    { type: 'Feature', id: '48201', properties: null, geometry: shape },
    { type: 'Feature', id: 'other', properties: { id: 'own' }, geometry: shape },
  ]
  writeFileSync(path, lines.map((line) => JSON.stringify(line)).join('\n'))
  t.same(
    (await readAreas(path)).areas.map(({ key }) => key),
    ['48201', 'own'],
  )
})

t.test('damaged texts', async (t) => {
  const directory = temporaryDirectory(t)
  const text = collection([
    feature('a', polygon(square(0, 0))),
    feature('b', polygon(square(3, 0))),
  ])
  const stride = byTier({ ci: 3, soak: 1 })
  for (let length = testSeed(t) % stride; length < text.length; length += stride) {
    const path = join(directory, 'cut.geojson')
    writeFileSync(path, text.slice(0, length))
    await t.rejects(readAreas(path), REJECTED, `cut after ${length} bytes`)
  }
  const others: Record<string, string | Buffer> = {
    'array.json': '[1,2]',
    'csv.geojson': 'a,b\n1,2\n',
    'latin1.geojsonl': Buffer.from(JSON.stringify(feature('é', polygon(square(0, 0)))), 'latin1'),
    'binary.geojson': Buffer.alloc(1_000, 7),
    'nofeature.geojsonl': '{"type":"Polygon"}\n',
  }
  for (const [name, bytes] of Object.entries(others)) {
    const path = join(directory, name)
    writeFileSync(path, bytes)
    await t.rejects(readAreas(path), REJECTED, name)
  }
  await t.rejects(readAreas(join(directory, 'none.geojson')), REJECTED)
  await t.rejects(readAreas(directory), REJECTED)
})

t.test('an object of TopoJSON', async (t) => {
  const directory = temporaryDirectory(t)
  const topology = {
    type: 'Topology',
    transform: { scale: [0.5, 0.5], translate: [10, 20] },
    arcs: [
      [
        [0, 0],
        [0, 2],
      ],
      [
        [0, 2],
        [2, 0],
        [0, -2],
        [-2, 0],
      ],
      [
        [0, 2],
        [-2, 0],
        [0, -2],
        [2, 0],
      ],
    ],
    objects: {
      areas: {
        type: 'GeometryCollection',
        geometries: [
          { type: 'Polygon', arcs: [[0, 1]], properties: { id: 'right' } },
          { type: 'Polygon', arcs: [[2, 0]], properties: { id: 'left' } },
        ],
      },
    },
  }
  const path = join(directory, 'areas.topojson')
  writeFileSync(path, JSON.stringify(topology))
  const { areas, tally } = await readAreas(path)
  t.match(tally.files, [{ format: 'topojson', fields: ['id'], featureCount: 2 }])
  t.same(
    areas.map(({ geometry }) => geometry),
    [
      polygon([
        [10, 20],
        [10, 21],
        [11, 21],
        [11, 20],
        [10, 20],
      ]),
      polygon([
        [10, 21],
        [9, 21],
        [9, 20],
        [10, 20],
        [10, 21],
      ]),
    ],
  )
  const several = { ...topology, objects: { ...topology.objects, others: topology.objects.areas } }
  writeFileSync(path, JSON.stringify(several))
  await t.rejects(readAreas(path), {
    ...REJECTED,
    message: /2 objects: .*--table \(areas, others\)/,
  })
  t.equal((await readAreas(path, { table: 'others' })).areas.length, 2)
  await t.rejects(readAreas(path, { table: 'x' }), {
    ...REJECTED,
    message: /no object "x"; it has areas/,
  })
  const wrong = structuredClone(topology)
  wrong.objects.areas.geometries[1].arcs = [[99]]
  writeFileSync(path, JSON.stringify(wrong))
  await t.rejects(readAreas(path), REJECTED)
})
