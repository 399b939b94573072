import t from 'tap'
import { ServiceError } from '../../src/errors.js'
import { limits } from '../../src/limits.js'
import { validate } from '../../src/selection/validate.js'

const square = [
  [0, 0],
  [1, 0],
  [1, 1],
  [0, 1],
  [0, 0],
]
const polygon = { type: 'Polygon', coordinates: [square] }
const feature = (geometry: unknown, properties: unknown = {}) => ({
  type: 'Feature',
  geometry,
  properties,
})
const collection = (...features: unknown[]) => ({ type: 'FeatureCollection', features })

t.test('every spelling of a shape gives the same polygons', async (t) => {
  const cases: [name: string, request: Record<string, unknown>][] = [
    ['a collection', { geoJSON: collection(feature(polygon)) }],
    [
      'the names of the parameter table',
      {
        GeoJson: {
          Type: 'FeatureCollection',
          Shapes: [{ Type: 'Feature', Geometry: { Type: 'Polygon', Coordinates: [square] } }],
        },
      },
    ],
    ['no types but that of the geometry', { geojson: { features: [{ geometry: polygon }] } }],
    ['one feature', { geoJSON: feature(polygon) }],
    ['a bare geometry', { geoJSON: polygon }],
    ['an unclosed ring', { geoJSON: { type: 'Polygon', coordinates: [square.slice(0, 4)] } }],
    [
      'a third coordinate',
      { geoJSON: { type: 'Polygon', coordinates: [square.map((p) => [...p, 99])] } },
    ],
    ['a multipolygon of one', { geoJSON: { type: 'MultiPolygon', coordinates: [[square]] } }],
  ]
  for (const [name, request] of cases) {
    const polygons = validate(request).shapes.included
    t.same([...polygons.vertices], [0, 0, 1e7, 0, 1e7, 1e7, 0, 1e7], name)
    t.same([...polygons.ringStarts], [0, 4], name)
    t.same([...polygons.polygonStarts], [0, 1], name)
  }
})

t.test('no shape is no polygon', async (t) => {
  const requests = [
    {},
    { geoJSON: null },
    { geoJSON: {} },
    { geoJSON: collection() },
    { geoJSON: { type: 'FeatureCollection', features: null } },
    { geoJSON: collection(feature(null)) },
    { unknown: 1, geoJSON: { bbox: [1, 2, 3, 4], features: [] } },
  ]
  for (const request of requests) {
    t.equal(validate(request).shapes.included.vertices.length, 0, JSON.stringify(request))
  }
})

t.test('countsOnly is read as clients write it', async (t) => {
  const cases: [value: unknown, expected: boolean][] = [
    [undefined, false],
    [null, false],
    [true, true],
    [false, false],
    ['true', true],
    ['FALSE', false],
    [1, true],
    ['0', false],
  ]
  for (const [value, expected] of cases) {
    t.equal(validate({ countsOnly: value }).countsOnly, expected, String(value))
    t.equal(validate({ CountsOnly: value }).countsOnly, expected, String(value))
  }
  t.throws(() => validate({ countsOnly: 'yes' }), { code: 'InvalidRequest', field: 'countsOnly' })
  for (const value of [[], ['true'], {}, { toString: 1, valueOf: 1 }, 2]) {
    t.throws(() => validate({ countsOnly: value }), { code: 'InvalidRequest', field: 'countsOnly' })
  }
})

const ring = (...positions: unknown[]) => ({
  geoJSON: { type: 'Polygon', coordinates: [positions] },
})

t.test('what cannot be understood is refused with its path', async (t) => {
  const cases: [request: Record<string, unknown>, code: string, field: string][] = [
    [{ geoJSON: 'x' }, 'InvalidGeoJson', 'geoJSON'],
    [{ geoJSON: [] }, 'InvalidGeoJson', 'geoJSON'],
    [{ geoJSON: 7 }, 'InvalidGeoJson', 'geoJSON'],
    [{ geoJSON: { name: 'x' } }, 'InvalidGeoJson', 'geoJSON.type'],
    [{ geoJSON: { type: 'Nonsense' } }, 'InvalidGeoJson', 'geoJSON.type'],
    [{ geoJSON: { type: 'polygon', coordinates: [square] } }, 'InvalidGeoJson', 'geoJSON.type'],
    [{ geoJSON: { type: 'Thing', features: [] } }, 'InvalidGeoJson', 'geoJSON.type'],
    [{ geoJSON: { features: {} } }, 'InvalidGeoJson', 'geoJSON.features'],
    [{ geoJSON: collection(1) }, 'InvalidGeoJson', 'geoJSON.features[0]'],
    [{ geoJSON: collection(feature(polygon), null) }, 'InvalidGeoJson', 'geoJSON.features[1]'],
    [{ geoJSON: collection({ type: 'Feature' }) }, 'InvalidGeoJson', 'geoJSON.features[0]'],
    [{ geoJSON: collection(feature([])) }, 'InvalidGeoJson', 'geoJSON.features[0].geometry'],
    [{ geoJSON: { type: 'Polygon' } }, 'InvalidGeoJson', 'geoJSON.coordinates'],
    [{ geoJSON: { type: 'Polygon', coordinates: [] } }, 'InvalidGeoJson', 'geoJSON.coordinates'],
    [
      { geoJSON: { type: 'Polygon', coordinates: square } },
      'InvalidGeoJson',
      'geoJSON.coordinates[0][0]',
    ],
    [
      { geoJSON: { type: 'MultiPolygon', coordinates: [] } },
      'InvalidGeoJson',
      'geoJSON.coordinates',
    ],
    [
      { geoJSON: { type: 'MultiPolygon', coordinates: [[]] } },
      'InvalidGeoJson',
      'geoJSON.coordinates[0]',
    ],
    [
      { geoJSON: { type: 'MultiPolygon', coordinates: [square] } },
      'InvalidGeoJson',
      'geoJSON.coordinates[0][0][0]',
    ],
    [ring([0, 0], [1, 0], [1, '1']), 'InvalidGeoJson', 'geoJSON.coordinates[0][2]'],
    [ring([0, 0], [1, 0], [1]), 'InvalidGeoJson', 'geoJSON.coordinates[0][2]'],
    [ring([0, 0], [1, 0], null), 'InvalidGeoJson', 'geoJSON.coordinates[0][2]'],
    [ring([0, 0], [1, 0], [1, Number.NaN]), 'InvalidGeoJson', 'geoJSON.coordinates[0][2]'],
    [
      ring([0, 0], [1, 0], [1, Number.POSITIVE_INFINITY]),
      'InvalidGeoJson',
      'geoJSON.coordinates[0][2]',
    ],
    [ring([0, 0], [1, 0], [1, 90.0000001]), 'InvalidGeoJson', 'geoJSON.coordinates[0][2]'],
    [ring([0, 0], [540.0000001, 0], [1, 1]), 'InvalidGeoJson', 'geoJSON.coordinates[0][1]'],
    [ring([0, 0], [1, 0]), 'InvalidGeoJson', 'geoJSON.coordinates[0]'],
    [ring(), 'InvalidGeoJson', 'geoJSON.coordinates[0]'],
    [ring([0, 0.5], [120, -0.5], [-120, 0.5]), 'InvalidGeoJson', 'geoJSON.coordinates[0]'],
    [{ features: [] }, 'InvalidRequest', 'features'],
    [{ Type: 'Polygon', coordinates: [square] }, 'InvalidRequest', 'Type'],
    [{ geoJSON: { features: [], Shapes: [] } }, 'InvalidGeoJson', 'geoJSON'],
    [{ geoJSON: { features: [], geometry: polygon } }, 'InvalidGeoJson', 'geoJSON'],
    [{ geoJSON: { geometry: polygon, Coordinates: [square] } }, 'InvalidGeoJson', 'geoJSON'],
    [{ geoJSON: { type: 'FeatureCollection', feature: [] } }, 'InvalidGeoJson', 'geoJSON'],
    [{ geoJSON: [], GEOJSON: {} }, 'InvalidRequest', 'GEOJSON'],
  ]
  for (const [request, code, field] of cases) {
    const name = JSON.stringify(request)
    const error = refused(() => validate(request))
    t.match(error, { code, field, status: 400 }, name)
    t.ok(error.message.includes(field), `${name} says where`)
  }
})

t.test('a ring without area is taken as it is', async (t) => {
  const rings = [
    [
      [0.2, 0.2],
      [0.3, 0.3],
      [0.2, 0.2],
      [0.2, 0.2],
    ],
    [
      [0.4, 0.4],
      [0.4, 0.4],
      [0.4, 0.4],
      [0.4, 0.4],
    ],
  ]
  for (const flat of rings) {
    for (const coordinates of [[flat], [square, flat]]) {
      const polygons = validate({ geoJSON: { type: 'Polygon', coordinates } }).shapes.included
      t.equal(polygons.ringStarts.length, coordinates.length + 1)
    }
  }
})

t.test('lines, points and collections are polygons without area', async (t) => {
  const cases: [geometry: object, vertices: number[]][] = [
    [{ type: 'Point', coordinates: [1, 2] }, [1, 2]],
    [
      {
        type: 'MultiPoint',
        coordinates: [
          [1, 2],
          [3, 4],
        ],
      },
      [1, 2, 3, 4],
    ],
    [
      {
        type: 'LineString',
        coordinates: [
          [1, 2],
          [3, 4],
          [5, 6],
        ],
      },
      [1, 2, 3, 4, 5, 6, 3, 4],
    ],
    [
      {
        type: 'MultiLineString',
        coordinates: [
          [
            [1, 2],
            [3, 4],
          ],
        ],
      },
      [1, 2, 3, 4],
    ],
    [
      {
        type: 'LineString',
        coordinates: [
          [179, 0],
          [-179, 0],
        ],
      },
      [-181, 0, -179, 0, 179, 0, 181, 0],
    ],
    [
      {
        type: 'GeometryCollection',
        geometries: [
          { type: 'GeometryCollection', geometries: [] },
          { type: 'Point', coordinates: [1, 2] },
        ],
      },
      [1, 2],
    ],
  ]
  for (const [geometry, vertices] of cases) {
    const { included } = validate({ geoJSON: geometry }).shapes
    t.same(
      [...included.vertices],
      vertices.map((value) => value * 1e7),
      JSON.stringify(geometry),
    )
  }
  for (const geometry of [
    { type: 'Point', coordinates: [] },
    { type: 'Point', coordinates: [[1, 2]] },
    { type: 'MultiPoint', coordinates: [] },
    { type: 'LineString', coordinates: [[1, 2]] },
    { type: 'GeometryCollection' },
    { type: 'GeometryCollection', geometries: [{ type: 'Thing' }] },
  ]) {
    t.throws(() => validate({ geoJSON: geometry }), { code: 'InvalidGeoJson' })
  }
})

t.test('a feature with exclude is taken away, and nobody is left without another', async (t) => {
  const { included, excluded } = validate({
    geoJSON: collection(feature(polygon, { exclude: true })),
  }).shapes
  t.equal(included.vertices.length, 0)
  t.equal(excluded.vertices.length, 8)
  t.throws(() => validate({ geoJSON: collection(feature(polygon, { exclude: 'yes' })) }), {
    code: 'InvalidGeoJson',
    field: 'geoJSON.features[0].properties.exclude',
  })
})

t.test('properties and members that would change who is selected are refused', async (t) => {
  for (const properties of [{ radius: 5 }, { buffer: 1 }, { nearest: 3 }, { sources: [1] }]) {
    const error = refused(() => validate({ geoJSON: collection(feature(polygon, properties)) }))
    const name = Object.keys(properties)[0]
    t.match(error, { code: 'UnsupportedGeometry', field: `geoJSON.features[0].properties.${name}` })
  }
  for (const spelled of [{ Radius: 5 }, { NEAREST: 3 }]) {
    t.throws(() => validate({ geoJSON: collection(feature(polygon, spelled)) }), {
      code: 'UnsupportedGeometry',
    })
    t.throws(() => validate({ geoJSON: collection({ ...feature(polygon), ...spelled }) }), {
      code: 'InvalidGeoJson',
    })
  }
  t.throws(() => validate({ sources: [1] }), { code: 'InvalidRequest', field: 'sources' })
  t.ok(validate({ geoJSON: collection(feature(polygon, { exclude: false, name: 'x' })) }))
  t.ok(validate({ geoJSON: collection(feature(polygon, null)) }))
})

t.test('limits hold at the bound and not one past it', async (t) => {
  const features = (count: number) => ({ geoJSON: collection(...Array(count).fill(feature(null))) })
  t.ok(validate(features(limits.featureCount)))
  t.throws(() => validate(features(limits.featureCount + 1)), {
    code: 'InvalidGeoJson',
    field: 'geoJSON.features',
  })

  const vertices = (count: number) =>
    ring(...Array.from({ length: count }, (_, i) => [(i % 1000) / 1000, i / 100_000]))
  t.equal(
    validate(vertices(limits.vertexCount)).shapes.included.vertices.length,
    2 * limits.vertexCount,
  )
  t.throws(() => validate(vertices(limits.vertexCount + 1)), { code: 'TooComplex', status: 422 })

  const triangle = [
    [0, 0],
    [1, 0],
    [0, 1],
  ]
  const rings = (count: number) => ({
    geoJSON: { type: 'Polygon', coordinates: Array(count).fill(triangle) },
  })
  t.equal(validate(rings(limits.ringCount)).shapes.included.ringStarts.length, limits.ringCount + 1)
  t.throws(() => validate(rings(limits.ringCount + 1)), { code: 'TooComplex' })
})

t.test('the range of coordinates includes its ends, and the seam is as written', async (t) => {
  t.ok(validate(ring([-180, -90], [180, -90], [180, 90], [-180, 90])))
})

function refused(run: () => unknown): ServiceError {
  try {
    run()
  } catch (error) {
    if (error instanceof ServiceError) return error
    throw error
  }
  throw new Error('nothing was refused')
}
