/**
 * What is read of files, as the one reader of drawings takes it.
 *
 * @module
 */
import t from 'tap'
import { readGpx } from '../../src/notations/gpx.js'
import { readKml } from '../../src/notations/kml/read-kml.js'
import { readTopoJson } from '../../src/notations/topojson/read-topojson.js'
import { readDrawing } from '../../src/selection/shapes/shapes.js'

const SHELL = [
  [-95.46, 29.69],
  [-95.27, 29.69],
  [-95.27, 29.81],
  [-95.46, 29.69],
]
const HOLE = [
  [-95.3, 29.7],
  [-95.28, 29.7],
  [-95.28, 29.71],
  [-95.3, 29.7],
]

const ring = (positions: number[][]) =>
  `<LinearRing><coordinates>${positions.map((pair) => `${pair.join(',')},7`).join(' ')}</coordinates></LinearRing>`
const kml = (content: string, data = '') =>
  `<kml xmlns="http://www.opengis.net/kml/2.2"><Placemark>${data}${content}</Placemark></kml>`
const polygonOf = (shell: number[][]) =>
  `<Polygon><outerBoundaryIs>${ring(shell)}</outerBoundaryIs><innerBoundaryIs>${ring(HOLE)}</innerBoundaryIs></Polygon>`

const topology = (members: object, properties: object = {}) => ({
  type: 'Topology',
  arcs: [SHELL, HOLE],
  objects: { zones: { type: 'Polygon', arcs: [[0], [1]], properties } },
  ...members,
})

const feature = (geometry: object, properties: object = {}) =>
  readDrawing(
    { type: 'FeatureCollection', features: [{ type: 'Feature', properties, geometry }] },
    'a',
  )

t.test('the same area in each notation is the same drawing', async (t) => {
  const drawing = feature({ type: 'Polygon', coordinates: [SHELL, HOLE] })
  t.same(readDrawing(readKml(kml(polygonOf(SHELL)), 'a'), 'a'), drawing)
  t.same(readDrawing(readTopoJson(topology({}), 'a'), 'a'), drawing)
  const points = SHELL.map(([lng, lat]) => `<trkpt lat="${lat}" lon="${lng}"/>`).join('')
  const track = readGpx(`<gpx><trk><trkseg>${points}</trkseg></trk></gpx>`, 'a')
  t.same(readDrawing(track, 'a'), feature({ type: 'LineString', coordinates: SHELL }))
  t.notSame(readDrawing(readTopoJson(topology({ arcs: [HOLE, SHELL] }), 'a'), 'a'), drawing)
})

t.test('properties of TopoJSON take effect, and data of KML does not', async (t) => {
  const geometry = { type: 'Polygon', coordinates: [SHELL, HOLE] }
  const buffered = feature(geometry, { radius: 500 })
  t.same(readDrawing(readTopoJson(topology({}, { radius: 500 }), 'a'), 'a'), buffered)
  const data =
    '<ExtendedData><Data name="radius"><value>500</value></Data><Data name="exclude"><value>true</value></Data></ExtendedData>'
  const plain = feature(geometry)
  t.same(readDrawing(readKml(kml(polygonOf(SHELL), data), 'a'), 'a'), plain)
  t.notSame(plain, buffered)
})

t.test('positions, rings and references are judged where those of all drawings are', async (t) => {
  const exchanged = SHELL.map(([lng, lat]) => [lat, lng])
  t.throws(() => readDrawing(readKml(kml(polygonOf(exchanged)), 'kml'), 'kml'), {
    code: 'LatitudeOutOfRange',
    field: 'kml.features[0].geometry.coordinates[0][0]',
  })
  const point = [SHELL[0], SHELL[0]]
  t.throws(() => readDrawing(readKml(kml(polygonOf(point).replace(/<inner.*Is>/, '')), 'a'), 'a'), {
    code: 'DegenerateRing',
  })
  const crs = { type: 'name', properties: { name: 'urn:ogc:def:crs:EPSG::3857' } }
  t.throws(() => readDrawing(readTopoJson(topology({ crs }), 'a'), 'a'), {
    code: 'UnknownSpatialReference',
  })
  t.throws(() => readDrawing(readTopoJson(topology({ radius: 5 }), 'a'), 'a'), {
    code: 'InvalidGeoJson',
    field: 'a.radius',
  })
  const nobody = readDrawing(readKml(kml(''), 'a'), 'a')
  t.same(
    nobody,
    readDrawing(
      { type: 'FeatureCollection', features: [{ type: 'Feature', geometry: null }] },
      'a',
    ),
  )
})

t.test('of two boxes in the place of a geometry none is left out', async (t) => {
  const [one, other] = [
    [0, 0, 1, 1],
    [5, 5, 6, 6],
  ]
  const message = /has both BBOX and bbox/
  t.throws(() => feature({ BBOX: one, bbox: other }), { code: 'InvalidGeoJson', message })
  const point = { type: 'Point', coordinates: [1, 2] }
  t.same(feature({ ...point, BBOX: one, bbox: other }), feature(point), 'beside one it is its own')
})
