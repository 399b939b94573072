import t from 'tap'
import { type UnitRing, unwrapLine } from '../../../src/geometry/polygon/antimeridian.js'
import { ringBudget } from '../../../src/geometry/ring-budget.js'
import type { JsonObject } from '../../../src/selection/parse.js'
import { isEsriGeometry, readEsriGeometry } from '../../../src/selection/shapes/esri.js'
import type { GeometrySink } from '../../../src/selection/shapes/layers.js'
import { readSpatialReference } from '../../../src/selection/shapes/spatial-reference.js'

const clockwise = [
  [0, 0],
  [0, 9],
  [9, 9],
  [9, 0],
  [0, 0],
]
const within = clockwise.map(([x, y]) => [x / 3 + 2, y / 3 + 2]).reverse()
const webMercator = { wkid: 102100, latestWkid: 3857 }
const HALF_WORLD = 20037508.342789244

const degrees = (...values: number[]) => values.map((value) => value * 1e7)

t.test('an Esri geometry is known by its members', async (t) => {
  for (const name of ['rings', 'Paths', 'POINTS', 'x', 'y', 'xmin', 'ymax', 'curveRings']) {
    t.ok(isEsriGeometry({ [name]: null }), name)
  }
  for (const name of ['type', 'coordinates', 'spatialReference', 'toString', '__proto__']) {
    t.notOk(isEsriGeometry({ [name]: [] }), name)
  }
})

t.test('each kind of geometry is read', async (t) => {
  const cases: [geometry: JsonObject, read: Partial<Read>][] = [
    [
      { rings: [clockwise] },
      { polygons: [{ shell: degrees(0, 0, 0, 9, 9, 9, 9, 0), holes: [] }], counts: [5] },
    ],
    [
      { Rings: [within, clockwise], Type: 'Polygon' },
      {
        polygons: [
          {
            shell: degrees(0, 0, 0, 9, 9, 9, 9, 0),
            holes: [degrees(2, 2, 5, 2, 5, 5, 2, 5)],
          },
        ],
        counts: [5, 5],
      },
    ],
    [
      { hasZ: true, hasM: true, rings: [clockwise.map((position) => [...position, 7, null])] },
      { polygons: [{ shell: degrees(0, 0, 0, 9, 9, 9, 9, 0), holes: [] }], counts: [5] },
    ],
    [
      {
        paths: [
          [
            [1, 2],
            [3, 4],
          ],
        ],
        type: 'polyline',
      },
      { lines: [degrees(1, 2, 3, 4)], counts: [4] },
    ],
    [
      {
        points: [
          [1, 2],
          [3, 4, 5],
        ],
      },
      { points: [degrees(1, 2), degrees(3, 4)], counts: [1, 1] },
    ],
    [
      { X: 1, Y: 2, z: 3, m: 'NaN' },
      { points: [degrees(1, 2)], counts: [1] },
    ],
    [
      { xmin: -170, ymin: -1, xmax: 170, ymax: 1, type: 'extent' },
      {
        polygons: [{ shell: degrees(-170, -1, -170, 1, 170, 1, 170, -1), holes: [] }],
        counts: [4],
      },
    ],
  ]
  for (const [geometry, expected] of cases) {
    t.same(read(geometry), { ...NOTHING, ...expected }, JSON.stringify(geometry))
  }
})

t.test('empty geometries are nothing', async (t) => {
  for (const geometry of [
    { rings: [] },
    { paths: [] },
    { points: [] },
    { x: null, y: 5 },
    { x: 'NaN', y: 'NaN' },
    { xmin: null, ymin: null, xmax: null, ymax: null },
    { xmin: 'NaN', ymin: 'NaN', xmax: 'NaN', ymax: 'NaN' },
  ]) {
    t.same(read(geometry), NOTHING, JSON.stringify(geometry))
  }
})

t.test('rings and lines run the short way over the antimeridian', async (t) => {
  const { polygons, lines } = read({
    rings: [
      [
        [170, 0],
        [170, 10],
        [-170, 10],
        [-170, 0],
      ],
      [
        [-178, 2],
        [-172, 2],
        [-172, 8],
      ],
    ],
  })
  t.same(polygons, [
    {
      shell: degrees(170, 0, 170, 10, 190, 10, 190, 0),
      holes: [degrees(-178, 2, -172, 2, -172, 8)],
    },
  ])
  t.same(lines, [])
  const metres = [
    [
      [HALF_WORLD - HALF_WORLD / 18, 0],
      [HALF_WORLD / 18 - HALF_WORLD, 0],
    ],
  ]
  const line = { paths: metres, spatialReference: webMercator }
  t.same(read(line).lines, [degrees(170, 0, 190, 0)])
})

t.test('the spatial reference says what the numbers are', async (t) => {
  const at = (spatialReference: unknown) =>
    read({ x: HALF_WORLD / 2, y: 0, spatialReference }).points[0]
  for (const wkid of [102100, 3857, 900913, 102113]) {
    t.same(at({ wkid }), degrees(90, 0), `${wkid}`)
    t.same(at({ latestWkid: wkid }), degrees(90, 0))
  }
  for (const reference of [webMercator, { wkid: 1, latestWkid: 3857 }, { WKID: 3857, wkt: 'x' }]) {
    t.same(at(reference), degrees(90, 0))
  }
  for (const spatialReference of [undefined, null, {}, { wkid: 4326 }, { latestWkid: 4326 }]) {
    t.same(read({ x: 1, y: 2, spatialReference }).points, [degrees(1, 2)])
  }
})

t.test('a geometry without a reference has that of its collection', async (t) => {
  const inherited = readSpatialReference(webMercator, 'geoJSON.spatialReference')
  const point = { x: HALF_WORLD, y: 0 }
  t.same(read(point, inherited).points, [degrees(180, 0)])
  t.same(read({ x: 1, y: 2, spatialReference: { wkid: 4326 } }, inherited).points, [degrees(1, 2)])
})

t.test('what cannot be understood is refused with its path', async (t) => {
  const square = { rings: [clockwise] }
  const cases: [geometry: JsonObject, code: string, field: string][] = [
    [{ rings: null }, 'InvalidGeoJson', 'g.rings'],
    [{ rings: [1] }, 'InvalidGeoJson', 'g.rings[0]'],
    [{ rings: [clockwise, [[0, 0], [1], [2, 2]]] }, 'InvalidGeoJson', 'g.rings[1][1]'],
    [{ rings: [[]] }, 'DegenerateRing', 'g.rings[0]'],
    [{ rings: [clockwise, within.map(([x, y]) => [x + 5, y])] }, 'CrossingRings', 'g.rings'],
    [{ paths: [[[0, 0]]] }, 'InvalidGeoJson', 'g.paths[0]'],
    [{ paths: [[[0, 'NaN']]] }, 'InvalidGeoJson', 'g.paths[0][0]'],
    [{ points: [[0, 0], [0]] }, 'InvalidGeoJson', 'g.points[1]'],
    [{ points: [[0, 91]] }, 'LatitudeOutOfRange', 'g.points[0]'],
    [{ x: 0 }, 'InvalidGeoJson', 'g'],
    [{ y: 0 }, 'InvalidGeoJson', 'g'],
    [{ x: 1e8 + 1, y: 0 }, 'LongitudeOutOfRange', 'g'],
    [{ xmin: -541, ymin: 0, xmax: 541, ymax: 1 }, 'AmbiguousRing', 'g'],
    [{ x: 0, y: Infinity, spatialReference: webMercator }, 'LatitudeOutOfRange', 'g'],
    [{ x: 1e6 * HALF_WORLD, y: 0, spatialReference: webMercator }, 'LongitudeOutOfRange', 'g'],
    [{ xmin: 1, ymin: 0, xmax: 0, ymax: 1 }, 'InvalidGeoJson', 'g'],
    [{ xmin: 0, ymin: 1, xmax: 1, ymax: 0 }, 'InvalidGeoJson', 'g'],
    [{ xmin: 0, ymin: 1, xmax: 1 }, 'InvalidGeoJson', 'g'],
    [{ curveRings: [] }, 'UnknownGeometryType', 'g.curveRings'],
    [{ curvePaths: [] }, 'UnknownGeometryType', 'g.curvePaths'],
    [{ ...square, paths: [] }, 'InvalidGeoJson', 'g'],
    [{ ...square, coordinates: [] }, 'InvalidGeoJson', 'g'],
    [{ coordinates: [], ...square }, 'InvalidGeoJson', 'g'],
    [{ x: 1, y: 1, xmin: 1 }, 'InvalidGeoJson', 'g'],
    [{ ...square, type: 'Point' }, 'InvalidGeoJson', 'g.type'],
    [{ ...square, type: 'MultiPolygon' }, 'InvalidGeoJson', 'g.type'],
    [{ ...square, Rings: [] }, 'InvalidRequest', 'Rings'],
  ]
  for (const [geometry, code, field] of cases) {
    t.throws(() => read(geometry), { code, field, status: 400 }, JSON.stringify(geometry))
  }
})

t.test('a spatial reference that is not known is refused with its number', async (t) => {
  const cases: [reference: unknown, code: string, field: string, message: string][] = [
    [{ wkid: 2263 }, 'UnknownSpatialReference', 's.wkid', '2263'],
    [{ latestWkid: 2263 }, 'UnknownSpatialReference', 's.latestWkid', '2263'],
    [{ wkid: 102718, latestWkid: 2263 }, 'UnknownSpatialReference', 's.wkid', '102718'],
    [{ wkid: 4326, latestWkid: 3857 }, 'UnknownSpatialReference', 's', '4326 and 3857'],
    [{ wkt: 'PROJCS["x"]' }, 'UnknownSpatialReference', 's', 'no wkid'],
    [{ wkid: null, wkt: 'PROJCS["x"]' }, 'UnknownSpatialReference', 's', 'no wkid'],
    [{ wkid: 'WGS84' }, 'InvalidGeoJson', 's.wkid', 'number'],
    [4326, 'InvalidGeoJson', 's', 'object'],
  ]
  for (const [reference, code, field, message] of cases) {
    const expected = { code, field, status: 400, message: new RegExp(message) }
    t.throws(() => readSpatialReference(reference, 's'), expected, JSON.stringify(reference))
  }
})

t.test(
  'a ring is counted before its positions are read, and a hole once for each shell',
  async (t) => {
    const shift = (x: number) => clockwise.map(([lng, lat]) => [lng + x, lat])
    const both = within.map(([x, y]) => [x + 3, y])
    const { polygons, counts } = read({ rings: [clockwise, shift(3), both] })
    t.same(
      polygons.map(({ holes }) => holes.length),
      [1, 1],
    )
    t.same(counts, [5, 5, 5, 4])
    const refuse = () => {
      throw new Error('too many')
    }
    t.throws(
      () => readEsriGeometry({ rings: [[null]] }, 'g', undefined, { ...sink(), count: refuse }),
      {
        message: 'too many',
      },
    )
  },
)

interface Read {
  polygons: { shell: UnitRing; holes: readonly UnitRing[] }[]
  lines: UnitRing[]
  points: UnitRing[]
  counts: number[]
}

const NOTHING: Read = { polygons: [], lines: [], points: [], counts: [] }

function read(geometry: JsonObject, inherited?: 'degrees' | 'webMercator'): Read {
  const into = { polygons: [], lines: [], points: [], counts: [] }
  readEsriGeometry(geometry, 'g', inherited, sink(into))
  return into
}

function sink(into: Read = { polygons: [], lines: [], points: [], counts: [] }): GeometrySink {
  return {
    polygon: (shell, holes) => into.polygons.push({ shell, holes }),
    line: (line) => into.lines.push(unwrapLine(line) as UnitRing),
    point: (point) => into.points.push(point),
    ring: () => {},
    degenerateRing: () => undefined,
    count: (positionCount) => into.counts.push(positionCount),
    budget: ringBudget(),
  }
}
