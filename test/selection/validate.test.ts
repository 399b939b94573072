import t from 'tap'
import { ServiceError } from '../../src/errors.js'
import type { Layer } from '../../src/geometry/shapes.js'
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
    const { polygons } = onlyLayer(request)
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
    { unknown: null, geoJSON: { bbox: [1, 2, 3, 4], features: [] } },
  ]
  for (const request of requests) {
    t.same(validate(request).shapes.included, [], JSON.stringify(request))
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
    [{ geoJSON: { name: 'x' } }, 'UnknownGeometryType', 'geoJSON.type'],
    [{ geoJSON: { type: 'Nonsense' } }, 'UnknownGeometryType', 'geoJSON.type'],
    [
      { geoJSON: { type: 'polygon', coordinates: [square] } },
      'UnknownGeometryType',
      'geoJSON.type',
    ],
    [{ geoJSON: { type: 'Thing', features: [] } }, 'UnknownGeometryType', 'geoJSON.type'],
    [{ geoJSON: { features: {} } }, 'InvalidGeoJson', 'geoJSON.features'],
    [{ geoJSON: collection(1) }, 'InvalidGeoJson', 'geoJSON.features[0]'],
    [{ geoJSON: collection(feature(polygon), null) }, 'InvalidGeoJson', 'geoJSON.features[1]'],
    [{ geoJSON: collection({ type: 'Feature' }) }, 'InvalidGeoJson', 'geoJSON.features[0]'],
    [{ geoJSON: collection(feature([])) }, 'InvalidGeoJson', 'geoJSON.features[0].geometry'],
    [{ geoJSON: { type: 'Polygon' } }, 'InvalidGeoJson', 'geoJSON.coordinates'],
    [
      { geoJSON: { type: 'Polygon', coordinates: [[]] } },
      'DegenerateRing',
      'geoJSON.coordinates[0]',
    ],
    [
      { geoJSON: { type: 'Polygon', coordinates: square } },
      'InvalidGeoJson',
      'geoJSON.coordinates[0][0]',
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
    [ring([0, 0], [1, 0], [1, 'one']), 'InvalidGeoJson', 'geoJSON.coordinates[0][2]'],
    [ring([0, 0], [1, 0], [1]), 'InvalidGeoJson', 'geoJSON.coordinates[0][2]'],
    [ring([0, 0], [1, 0], null), 'InvalidGeoJson', 'geoJSON.coordinates[0][2]'],
    [ring([0, 0], [1, 0], [1, Number.NaN]), 'LatitudeOutOfRange', 'geoJSON.coordinates[0][2]'],
    [
      ring([0, 0], [1, 0], [1, Number.POSITIVE_INFINITY]),
      'LatitudeOutOfRange',
      'geoJSON.coordinates[0][2]',
    ],
    [ring([0, 0], [1, 0], [1, 90.0000001]), 'LatitudeOutOfRange', 'geoJSON.coordinates[0][2]'],
    [
      ring([100_000_000, 0], [100_000_000.0000001, 0], [100_000_000, 1]),
      'LongitudeOutOfRange',
      'geoJSON.coordinates[0][1]',
    ],
    [ring([0, 0], [1_080.0000001, 0], [1, 1]), 'AmbiguousRing', 'geoJSON.coordinates[0]'],
    [ring([0, 0], [1, 0]), 'DegenerateRing', 'geoJSON.coordinates[0]'],
    [ring(), 'DegenerateRing', 'geoJSON.coordinates[0]'],
    [ring([0, 0.5], [120, -0.5], [-120, 0.5]), 'AmbiguousRing', 'geoJSON.coordinates[0]'],
    [{ features: [] }, 'UnknownMember', 'features'],
    [{ Type: 'Polygon', coordinates: [square] }, 'UnknownMember', 'Type'],
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

t.test('a ring has three different points, and need not have an area', async (t) => {
  const line = [
    [0.2, 0.2],
    [0.3, 0.3],
    [0.4, 0.4],
  ]
  const degenerate = [
    [line[0], line[1], line[0], line[0]],
    [line[0], line[0], line[0], line[0]],
    [line[0], line[1], line[1], line[0]],
    [line[0], line[1]],
    [line[0]],
    [],
  ]
  t.ok(validate({ geoJSON: { type: 'Polygon', coordinates: [line] } }))
  t.ok(validate({ geoJSON: { type: 'Polygon', coordinates: [square, [...line, line[0]]] } }))
  for (const flat of degenerate) {
    t.throws(() => validate({ geoJSON: { type: 'Polygon', coordinates: [flat] } }), {
      code: 'DegenerateRing',
      field: 'geoJSON.coordinates[0]',
    })
  }
  const features = collection(
    feature(polygon),
    feature({ type: 'MultiPolygon', coordinates: degenerate.slice(0, 3).map((flat) => [flat]) }),
  )
  t.throws(() => validate({ geoJSON: features }), {
    code: 'DegenerateRing',
    field: 'geoJSON.features[1].geometry.coordinates[0][0]',
  })
})

t.test('a ring of fewer points is its points and edges beside a ring with area', async (t) => {
  const [a, b] = [
    [3, 3],
    [4, 5],
  ]
  const flat = [a, b, a]
  const units = (positions: number[][]) => positions.flat().map((value) => value * 1e7)
  const expected = [units(square.slice(0, 4)), units([a, b])]
  const geometries = [
    { type: 'MultiPolygon', coordinates: [[square], [flat]] },
    {
      type: 'GeometryCollection',
      geometries: [polygon, { type: 'Polygon', coordinates: [[a, b]] }],
    },
    { rings: [flat, square.toReversed()] },
  ]
  for (const geometry of geometries) {
    const { vertices, ringStarts } = onlyLayer({ geoJSON: geometry }).polygons
    const rings = Array.from(ringStarts.subarray(1), (end, ring) =>
      [...vertices.subarray(2 * ringStarts[ring], 2 * end)].sort(),
    )
    t.same(rings.sort(), expected.map((ring) => ring.sort()).sort(), JSON.stringify(geometry))
  }
  t.throws(() => validate({ geoJSON: { rings: [flat] } }), {
    code: 'DegenerateRing',
    field: 'geoJSON.rings[0]',
  })
  const withHole = onlyLayer({ geoJSON: { type: 'Polygon', coordinates: [square, flat] } })
  t.equal(withHole.polygons.ringStarts.length, 2, 'a hole without area removes nobody')
  t.throws(() => validate({ geoJSON: { type: 'Polygon', coordinates: [square, []] } }), {
    code: 'DegenerateRing',
    field: 'geoJSON.coordinates[1]',
  })
})

t.test('an empty geometry is nobody', async (t) => {
  for (const type of [
    'Point',
    'MultiPoint',
    'LineString',
    'MultiLineString',
    'Polygon',
    'MultiPolygon',
  ]) {
    const geometry = { type, coordinates: [] }
    t.equal(onlyLayer({ geoJSON: geometry }).polygons.vertices.length, 0, type)
    const { included } = validate({ geoJSON: collection(feature(geometry, { buffer: 9 })) }).shapes
    t.equal(included[0].reaches.radiiMetres.length, 0, `${type} with a margin`)
  }
  t.throws(
    () =>
      validate({
        geoJSON: collection(feature({ type: 'Point', coordinates: [] }, { nearest: 1 })),
      }),
    { code: 'InvalidNearest' },
  )
})

t.test('longitudes are places modulo 360', async (t) => {
  const verticesOf = (geometry: object) => [...onlyLayer({ geoJSON: geometry }).polygons.vertices]
  const shifted = (turns: number) => ({
    type: 'Polygon',
    coordinates: [square.map(([lng, lat]) => [lng + 360 * turns, lat])],
  })
  for (const turns of [1, -1, 3, -1_000, 277_776, -277_777]) {
    t.same(verticesOf(shifted(turns)), verticesOf(shifted(0)), `${turns} turns`)
  }
  t.same(verticesOf({ type: 'Point', coordinates: [3_601.5, 2] }), [1.5e7, 2e7])
  const { nearest } = validate({
    geoJSON: collection(feature({ type: 'Point', coordinates: [-540.5, 2] }, { nearest: 1 })),
  }).shapes
  t.equal(nearest[0].lng, 179.5e7)
  t.ok(validate(ring([-540, 0], [540, 0], [0, 5])), 'three turns wide is as drawn')
  const wide = {
    type: 'LineString',
    coordinates: [
      [0, 0],
      [1_081, 0],
    ],
  }
  t.throws(() => validate({ geoJSON: wide }), { code: 'AmbiguousLine' })
  t.ok(validate({ geoJSON: collection(feature(wide, { buffer: 1 })) }), 'arcs have no turns')
})

t.test('a ring that winds to and fro more than three turns wide is refused', async (t) => {
  const way = Array.from({ length: 20 }, (_, at) => [((120 * at + 180) % 360) - 180, 1 + at])
  const spiral = [...way, ...way.toReversed().map(([lng, lat]) => [lng, lat + 0.5])]
  t.throws(() => validate(ring(...spiral)), { code: 'AmbiguousRing' })
  t.ok(validate(ring(...spiral.slice(16, 24))))
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
    t.same(
      [...onlyLayer({ geoJSON: geometry }).polygons.vertices],
      vertices.map((value) => value * 1e7),
      JSON.stringify(geometry),
    )
  }
  for (const geometry of [
    { type: 'Point', coordinates: [[1, 2]] },
    { type: 'MultiPoint', coordinates: [[]] },
    { type: 'LineString', coordinates: [[]] },
    { type: 'LineString', coordinates: [[1, 2]] },
    { type: 'GeometryCollection' },
  ]) {
    t.throws(() => validate({ geoJSON: geometry }), { code: 'InvalidGeoJson' })
  }
  t.throws(
    () => validate({ geoJSON: { type: 'GeometryCollection', geometries: [{ type: 'Thing' }] } }),
    { code: 'UnknownGeometryType', field: 'geoJSON.geometries[0].type' },
  )
})

t.test('a feature with exclude is taken away, and nobody is left without another', async (t) => {
  const { included, excluded } = validate({
    geoJSON: collection(feature(polygon, { exclude: true })),
  }).shapes
  t.same(included, [])
  t.equal(excluded[0].polygons.vertices.length, 8)
  t.throws(() => validate({ geoJSON: collection(feature(polygon, { exclude: 'yes' })) }), {
    code: 'InvalidGeoJson',
    field: 'geoJSON.features[0].properties.exclude',
  })
})

t.test('properties give a geometry a reach, a count or sources', async (t) => {
  const point = { type: 'Point', coordinates: [1, 2] }
  const line = { type: 'LineString', coordinates: [...square.slice(0, 2)] }
  const read = (geometry: object, properties: object) =>
    validate({ geoJSON: collection(feature(geometry, properties)) }).shapes
  t.same([...read(point, { radius: 5 }).included[0].reaches.arcs], [1e7, 2e7, 1e7, 2e7])
  t.same([...read(point, { Buffer: 5 }).included[0].reaches.radiiMetres], [5])
  t.same([...read(line, { buffer: 7, units: 'meters' }).included[0].reaches.arcs], [0, 0, 1e7, 0])
  const margin = read(polygon, { radius: 9, exclude: true }).excluded[0]
  t.equal(margin.polygons.vertices.length, 8)
  t.ok(margin.reaches.radiiMetres.length >= 4)
  t.same(read(point, { NEAREST: 3, sources: [2, 1, 2] }).nearest, [
    { lng: 1e7, lat: 2e7, count: 3, sourceIds: [1, 2], isExcluded: false },
  ])
  t.same(read(polygon, { sources: [] }).included[0].sourceIds, [])
  t.equal(read(polygon, { exclude: false, radius: null, name: 'x' }).included.length, 1)
  t.equal(read(polygon, { sources: null }).included[0].sourceIds, null)
  t.ok(validate({ geoJSON: collection(feature(polygon, null)) }))
})

t.test('properties that mean nothing are refused by name', async (t) => {
  const cases: [properties: object, code: string, name: string][] = [
    [{ radius: 0 }, 'RadiusNotPositive', '.radius'],
    [{ buffer: -1 }, 'RadiusNotPositive', '.buffer'],
    [{ radius: '5 km' }, 'InvalidRadius', '.radius'],
    [{ radius: true }, 'InvalidRadius', '.radius'],
    [{ radius: 20_015_087 }, 'InvalidRadius', '.radius'],
    [{ radius: 1, buffer: 1 }, 'InvalidRadius', ''],
    [{ radius: 1, units: 'nm' }, 'InvalidRadius', '.units'],
    [{ radius: 1, units: 'furlongs' }, 'InvalidRadius', '.units'],
    [{ radius: 20_016, units: 'km' }, 'InvalidRadius', '.radius'],
    [{ nearest: 0 }, 'InvalidNearest', '.nearest'],
    [{ nearest: 1.5 }, 'InvalidNearest', '.nearest'],
    [{ nearest: limits.nearestCount + 1 }, 'InvalidNearest', '.nearest'],
    [{ nearest: 1, radius: 1 }, 'InvalidNearest', ''],
    [{ sources: 1 }, 'InvalidRequest', '.sources'],
    [{ sources: [1, 'two'] }, 'InvalidRequest', '.sources[1]'],
    [{ sources: [1.5] }, 'InvalidRequest', '.sources[0]'],
    [{ sources: Array(limits.sourceCount + 1).fill(1) }, 'InvalidRequest', '.sources'],
    [{ exclude: 'yes' }, 'InvalidGeoJson', '.exclude'],
  ]
  for (const [properties, code, name] of cases) {
    const geometry = { type: 'Point', coordinates: [0, 0] }
    const error = refused(() => validate({ geoJSON: collection(feature(geometry, properties)) }))
    t.match(error, { code, field: `geoJSON.features[0].properties${name}`, status: 400 })
  }
  const line = { type: 'LineString', coordinates: square }
  for (const geometry of [polygon, line, { type: 'MultiPoint', coordinates: square }]) {
    t.throws(() => validate({ geoJSON: feature(geometry, { nearest: 1 }) }), {
      code: 'InvalidNearest',
      field: 'geoJSON',
    })
  }
  for (const nowhere of [null, { x: null }, { type: 'GeometryCollection', geometries: [] }]) {
    t.throws(() => validate({ geoJSON: feature(nowhere, { nearest: 1 }) }), {
      code: 'InvalidNearest',
      field: 'geoJSON',
    })
  }
  for (const misplaced of [{ radius: 5 }, { Exclude: true }, { sources: [1] }]) {
    for (const geoJSON of [
      { ...feature(polygon), ...misplaced },
      { ...feature(polygon), attributes: misplaced },
      { ...polygon, ...misplaced },
      { ...polygon, properties: misplaced },
      feature({ ...polygon, properties: misplaced }),
      feature({ ...polygon, attributes: misplaced }),
      { type: 'GeometryCollection', geometries: [{ ...polygon, properties: misplaced }] },
      { ...collection(feature(polygon)), ...misplaced },
      { ...collection(feature(polygon)), properties: misplaced },
    ]) {
      t.throws(() => validate({ geoJSON }), { code: 'InvalidGeoJson' }, JSON.stringify(geoJSON))
    }
  }
  for (const properties of [[{ exclude: true }], '{"exclude":true}', 7, true]) {
    t.throws(() => validate({ geoJSON: feature(polygon, properties) }), {
      code: 'InvalidGeoJson',
      field: 'geoJSON.properties',
    })
  }
  for (const name of ['radius', 'nearest', 'Exclude', 'properties', 'sourceIds', 'crs']) {
    t.throws(() => validate({ [name]: {}, geoJSON: polygon }), {
      code: 'UnknownMember',
      field: name,
    })
  }
  const opposite = {
    type: 'LineString',
    coordinates: [
      [0, 10],
      [180, -10],
    ],
  }
  t.throws(() => validate({ geoJSON: feature(opposite, { buffer: 1 }) }), { code: 'AmbiguousLine' })
})

t.test('Esri geometries stand wherever geometries may', async (t) => {
  const rings = [square.toReversed()]
  const mercator = { wkid: 102100, latestWkid: 3857 }
  const inMetres = { x: 111319.49079327358, y: 0 }
  const corners = [0, 0, 0, 1e7, 1e7, 1e7, 1e7, 0]
  for (const geoJSON of [
    { rings },
    { type: 'polygon', rings, spatialReference: { wkid: 4326 } },
    feature({ rings }),
    { geometry: { rings }, attributes: { NAME: 'x' } },
    { features: [{ geometry: { rings } }], spatialReference: { wkid: 4326 } },
    { type: 'GeometryCollection', geometries: [{ rings }] },
  ]) {
    t.same([...onlyLayer({ geoJSON }).polygons.vertices], corners, JSON.stringify(geoJSON))
  }
  const set = { features: [{ geometry: inMetres }], spatialReference: mercator }
  t.same([...onlyLayer({ geoJSON: set }).polygons.vertices], [1e7, 0])
  const circle = {
    geometry: { ...inMetres, spatialReference: mercator },
    properties: { radius: 5 },
  }
  t.same([...onlyLayer({ geoJSON: circle }).reaches.arcs], [1e7, 0, 1e7, 0])
  for (const [geoJSON, code] of [
    [{ features: [{ geometry: { rings }, attributes: { Radius: 5 } }] }, 'InvalidGeoJson'],
    [{ geometry: { rings }, rings }, 'InvalidGeoJson'],
    [{ features: [], spatialReference: { wkid: 2263 } }, 'UnknownSpatialReference'],
    [{ ...polygon, spatialReference: mercator }, 'UnknownSpatialReference'],
    [{ features: [feature(polygon)], spatialReference: mercator }, 'UnknownSpatialReference'],
    [{ rings, crs: { properties: { name: 'EPSG:2277' } } }, 'UnknownSpatialReference'],
  ] as const) {
    t.throws(() => validate({ geoJSON }), { code })
  }
  t.throws(() => validate({ rings }), { code: 'UnknownMember', field: 'rings' })
})

t.test('an old crs may say what is meant without it, and nothing else', async (t) => {
  const named = (name: string) => ({ ...polygon, crs: { type: 'name', properties: { name } } })
  for (const name of ['urn:ogc:def:crs:OGC:1.3:CRS84', 'EPSG:4326', 'urn:ogc:def:crs:EPSG::4326']) {
    t.ok(validate({ geoJSON: named(name) }), name)
    t.ok(validate({ geoJSON: { ...collection(), crs: named(name).crs } }), name)
  }
  t.ok(validate({ geoJSON: { ...polygon, crs: null } }))
  for (const geoJSON of [named('EPSG:3857'), named(''), { ...polygon, crs: 'EPSG:4326' }]) {
    t.throws(() => validate({ geoJSON }), { code: 'UnknownSpatialReference', field: 'geoJSON.crs' })
  }
})

t.test('limit and after are read as clients write them', async (t) => {
  const cases: [limit: unknown, expected: number | undefined][] = [
    [undefined, undefined],
    [null, undefined],
    [7, 7],
    ['7', 7],
    ['7.0', 7],
  ]
  for (const [limit, expected] of cases) {
    t.equal(validate({ limit }).limit, expected, String(limit))
    t.equal(validate({ LIMIT: limit }).limit, expected, String(limit))
  }
  for (const limit of [
    -1,
    1.5,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    '',
    'all',
    '0x7',
    true,
    [7],
  ]) {
    t.throws(() => validate({ limit }), { code: 'InvalidRequest', field: 'limit' }, String(limit))
  }
  t.equal(validate({}).after, undefined)
  t.equal(validate({ after: null }).after, undefined)
  t.equal(validate({ After: 'x' }).after, 'x')
  t.equal(validate({ after: '' }).after, '', 'an empty cursor is not none')
  for (const after of [7, true, {}, ['x']]) {
    t.throws(() => validate({ after }), { code: 'InvalidRequest', field: 'after' }, String(after))
  }
})

t.test('a request may be limited to sources and say how to count', async (t) => {
  const query = validate({ sources: [3, 1], ContactCountMode: 'contact' })
  t.same(query.sourceIds, [1, 3])
  t.equal(query.countMode, 'Contact')
  t.same(query.sourceReferences, [
    { id: 3, path: 'sources[0]' },
    { id: 1, path: 'sources[1]' },
  ])
  t.equal(validate({}).sourceIds, null)
  t.equal(validate({ contactCountMode: null }).countMode, undefined)
  t.throws(() => validate({ contactCountMode: 'Household' }), {
    code: 'InvalidRequest',
    field: 'contactCountMode',
  })
})

t.test('a request may ask for each phone once', async (t) => {
  for (const distinct of [undefined, null, false, 'false', 0]) {
    t.equal(validate({ distinct }).isDistinct, false, String(distinct))
  }
  for (const distinct of [true, 'True', 1]) t.equal(validate({ distinct }).isDistinct, true)
  t.equal(validate({ DISTINCT: true }).isDistinct, true)
  for (const distinct of ['yes', 2, [], {}]) {
    t.throws(() => validate({ distinct }), { code: 'InvalidRequest', field: 'distinct' })
  }
})

t.test('the range of coordinates includes its ends, and the seam is as written', async (t) => {
  t.ok(validate(ring([-180, -90], [180, -90], [180, 90], [-180, 90])))
})

/** The layer of shapes that are not limited to sources. */
function onlyLayer(request: Record<string, unknown>): Layer {
  const { included, excluded } = validate(request).shapes
  if (included.length !== 1 || excluded.length !== 0) throw new Error('there are other layers')
  return included[0]
}

function refused(run: () => unknown): ServiceError {
  try {
    run()
  } catch (error) {
    if (error instanceof ServiceError) return error
    throw error
  }
  throw new Error('nothing was refused')
}
