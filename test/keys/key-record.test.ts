/**
 * Records of keys: their texts, and their boundaries.
 *
 * @module
 */
import t from 'tap'
import {
  boundaryFault,
  keyHash,
  keyIdOf,
  makeKeyId,
  makeKeyText,
} from '../../src/keys/key-record.js'
import { keyFor, keysInMemory } from '../support/data/keys.js'
import { squareGeometry } from '../support/data/store.js'
import { feature, line, point, polygon } from '../support/service/asked.js'

const NOW = Date.parse('2026-11-22T12:00:00Z')
const SQUARE = polygon('0 0, 2 0, 2 2, 0 2, 0 0')

t.test('texts of keys are random, of one form, and name their record', async (t) => {
  const texts = new Set<string>()
  for (let i = 0; i < 1_000; i++) {
    const id = makeKeyId()
    const text = makeKeyText(id)
    t.match(text, /^hk_[0-9a-z]{10}_[0-9A-Za-z]{43}$/)
    t.equal(keyIdOf(text), id)
    texts.add(text)
  }
  t.equal(texts.size, 1_000)
  for (const text of ['', 'hk_', `${makeKeyText(makeKeyId())}0`, makeKeyText('ABCDEFGHIJ')]) {
    t.equal(keyIdOf(text), undefined, text)
  }
})

t.test('a record has no secret, only its SHA-256', async (t) => {
  const keys = keysInMemory()
  const text = keyFor(keys, { name: 'desk' }, NOW)
  const [json] = keys.records.values()
  t.notOk(json.includes(text.slice(14)))
  t.equal(JSON.parse(json).secrets[0].hash, keyHash(text).toString('hex'))
})

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
