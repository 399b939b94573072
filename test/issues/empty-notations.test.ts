/**
 * A geometry with `wkt: null` beside its coordinates was read or refused: by whether the body was read in the short way
 * or, for another reason, in the long one. The soak's comparison of both found it.
 */
import t from 'tap'
import { validate } from '../../src/selection/validate.js'
import { longWay, shortWay } from '../fuzz/reader/readers.js'

const RING = [
  [8, 47],
  [9, 47],
  [9, 48],
  [8, 47],
]
const POLYGON = { type: 'Polygon', coordinates: [RING] }
const expected = validate({ geoJSON: POLYGON })
const bodyOf = (geoJSON: object) => Buffer.from(JSON.stringify({ geoJSON }))

t.test('an empty notation beside a geometry means nothing, whichever way it is read', async (t) => {
  for (const name of ['wkt', 'WKB', 'h3', 'geohash', 'polyline', 'mgrs', 'utm', 'bbox']) {
    for (const value of [null, false]) {
      for (const geometry of [
        { ...POLYGON, [name]: value },
        { [name]: value, ...POLYGON },
      ]) {
        for (const read of [shortWay, longWay]) t.same(read(bodyOf(geometry)), expected, name)
      }
    }
  }
  const two = { wkt: 'POLYGON((8 47,9 47,9 48,8 47))', h3: null }
  t.same(shortWay(bodyOf(two)), longWay(bodyOf(two)))
  t.same(longWay(bodyOf(two)), expected)
})

t.test('one that has something is still a second shape, and an empty one is none', async (t) => {
  for (const read of [shortWay, longWay]) {
    const both = { ...POLYGON, wkt: 'POINT(8 47)' }
    t.throws(() => read(bodyOf(both)), { message: /has both wkt and type/ })
    t.throws(() => read(bodyOf({ wkt: null })), { message: /wkt must be/ })
  }
})
