/**
 * Boundaries of keys: polygons, and nothing that would be passed over.
 *
 * @module
 */
import t from 'tap'
import { boundaryFault } from '../../src/keys/boundary.js'
import { squareGeometry } from '../support/data/store.js'
import { feature, line, point, polygon } from '../support/service/asked.js'

const SQUARE = polygon('0 0, 2 0, 2 2, 0 2, 0 0')

t.test('polygons in every notation are a boundary', async (t) => {
  for (const boundary of [
    SQUARE,
    { type: 'MultiPolygon', coordinates: [SQUARE.coordinates] },
    { type: 'GeometryCollection', geometries: [SQUARE] },
    { type: 'Feature', properties: { name: 'county' }, geometry: SQUARE },
    {
      type: 'FeatureCollection',
      features: [{ type: 'Feature', properties: null, geometry: SQUARE }],
    },
    squareGeometry(0, 0, 1),
  ]) {
    t.equal(boundaryFault(boundary), undefined, JSON.stringify(boundary))
  }
})

t.test('what means nothing, or something else, is refused with what is wrong', async (t) => {
  const of = (...features: unknown[]) => ({ features })
  const cases: [boundary: object, problem: RegExp][] = [
    [{}, /has no polygon/],
    [of(), /has no polygon/],
    [{ type: 'GeometryCollection', geometries: [] }, /no polygon|empty/],
    [of(feature(null)), /polygon|geometry/],
    [of(feature(SQUARE), feature(null)), /^features\[1\] has no geometry/],
    [{ name: 'county' }, /type/],
    [{ type: 'Polygon', coordinates: [] }, /./],
    [polygon('0 0, 2 0, 0 0'), /three/],
    [polygon('0 0, 2 95, 2 2, 0 0'), /^coordinates.*latitude/],
    [point(1, 1), /polygons alone/],
    [line('0 0, 1 1'), /polygons alone/],
    [of(feature(point(1, 1), { radius: 500 })), /polygons alone/],
    [of(feature(SQUARE, { buffer: 500 })), /polygons alone/],
    [of(feature(SQUARE, { exclude: true })), /polygons alone/],
    [of(feature(SQUARE), feature(SQUARE, { exclude: true })), /polygons alone/],
    [of(feature(SQUARE, { sources: [1] })), /polygons alone/],
    [of(feature(SQUARE), feature(point(1, 1), { nearest: 3 })), /polygons alone/],
    [of(feature(SQUARE, { excluded: true })), /excluded/],
  ]
  for (const [boundary, problem] of cases) {
    t.match(boundaryFault(boundary), problem, JSON.stringify(boundary))
  }
})
