import t from 'tap'
import { limits } from '../../src/limits.js'
import { readPolyline } from '../../src/notations/polyline.js'
import { testSeed } from '../support/random/properties.js'
import { seededRandom } from '../support/random/world.js'

/** The example of the specification of the format. */
const EXAMPLE = '_p~iF~ps|U_ulLnnqC_mqNvxq`@'

t.test('the published example is read, latitude before longitude', async (t) => {
  const positions = [
    [-120.2, 38.5],
    [-120.95, 40.7],
    [-126.453, 43.252],
  ]
  t.same(readPolyline(EXAMPLE, 'polyline'), { type: 'LineString', coordinates: positions })
  for (const value of [
    { points: EXAMPLE },
    { points: EXAMPLE, precision: 5 },
    { points: EXAMPLE, precision: '5', polygon: false },
  ]) {
    t.same(readPolyline(value, 'polyline'), { type: 'LineString', coordinates: positions })
  }
  t.same(readPolyline({ points: EXAMPLE, polygon: true }, 'polyline'), {
    type: 'Polygon',
    coordinates: [positions],
  })
  t.same(readPolyline({ points: EXAMPLE, precision: 6 }, 'polyline'), {
    type: 'LineString',
    coordinates: [
      [-12.02, 3.85],
      [-12.095, 4.07],
      [-12.6453, 4.3252],
    ],
  })
})

t.test('what is cut off, or what no encoder writes, is refused', async (t) => {
  for (const [points, problem] of [
    ['', /cut off/],
    ['_', /cut off/],
    ['_p~iF', /cut off/],
    [EXAMPLE.slice(0, -1), /cut off/],
    [EXAMPLE.slice(0, -5), /cut off/],
    ['?', /cut off/],
    ['?_?', /not as an encoder/],
    ['??`?', /not as an encoder/],
    ['? ?', /character/],
    ['?\u007f', /character/],
    ['?>', /character/],
    ['?é', /character/],
    [`?${'~'.repeat(9)}@`, /too large/],
    ['~'.repeat(4 * 2 ** 20), /too large/],
  ] as const) {
    const expected = { code: 'InvalidPolyline', field: 'polyline', message: problem }
    t.throws(() => readPolyline(points, 'polyline'), expected, points.slice(0, 20))
  }
  const cases: [unknown, string][] = [
    [undefined, 'polyline'],
    [null, 'polyline'],
    [5, 'polyline'],
    [[EXAMPLE], 'polyline'],
    [{}, 'polyline.points'],
    [{ points: 5 }, 'polyline.points'],
    [{ points: '_' }, 'polyline.points'],
    [{ points: EXAMPLE, precision: 4 }, 'polyline.precision'],
    [{ points: EXAMPLE, precision: 5.5 }, 'polyline.precision'],
    [{ points: EXAMPLE, precision: null }, 'polyline.precision'],
    [{ points: EXAMPLE, polygon: 1 }, 'polyline.polygon'],
    [{ points: EXAMPLE, Precision: 6 }, 'polyline'],
  ]
  for (const [value, field] of cases) {
    const expected = { code: 'InvalidPolyline', status: 400, field }
    t.throws(() => readPolyline(value, 'polyline'), expected, JSON.stringify(value))
  }
})

t.test('a latitude beyond 90 says what may be wrong', async (t) => {
  const expected = { code: 'LatitudeOutOfRange', field: 'polyline', message: /precision/ }
  t.throws(() => readPolyline(encoded([[38_500_000, -120_200_000]]), 'polyline'), expected)
  t.throws(() => readPolyline(encoded([[-12_020_000, 3_850_000]]), 'polyline'), expected)
  t.match(readPolyline(encoded([[-9_000_000, 0]]), 'polyline'), { coordinates: [[0, -90]] })
  t.throws(() => readPolyline(encoded([[9_000_001, 0]]), 'polyline'), expected)
})

t.test('positions are bounded', async (t) => {
  const { coordinates } = readPolyline('??'.repeat(limits.vertexCount), 'polyline') as unknown as {
    coordinates: unknown[]
  }
  t.equal(coordinates.length, limits.vertexCount)
  const more = '??'.repeat(limits.vertexCount + 1)
  t.throws(() => readPolyline(more, 'polyline'), { code: 'TooManyVertices' })
})

t.test('random lines are read back as they were, rounded to their precision', async (t) => {
  const random = seededRandom(testSeed(t))
  for (let round = 0; round < 10_000; round++) {
    const precision = random.pick([5, 6, 7])
    const factor = 10 ** precision
    const max = (degrees: number) => random.pick([degrees, 1, 0.001]) * factor
    const whole = Array.from({ length: random.between(1, 20) }, () => {
      const [lat, lng] = [Math.round(max(90)), Math.round(max(random.pick([180, 540])))]
      return [random.between(-lat, lat), random.between(-lng, lng)]
    })
    const points = encoded(whole)
    const coordinates = whole.map(([lat, lng]) => [lng / factor, lat / factor])
    const read = readPolyline({ points, precision }, 'polyline')
    if (JSON.stringify(read) !== JSON.stringify({ type: 'LineString', coordinates })) {
      t.same(read, { type: 'LineString', coordinates }, points)
    }
  }
  t.pass('10,000 lines')
})

/** By the description of the format, step by step, in whole numbers of any size. */
function encoded(positions: readonly (readonly number[])[]): string {
  let text = ''
  let before = [0, 0]
  for (const position of positions) {
    for (const [axis, value] of position.entries()) {
      let bits = BigInt(value - before[axis]) << 1n
      if (value < before[axis]) bits = ~bits
      while (bits >= 32n) {
        text += String.fromCharCode(Number((bits & 31n) | 32n) + 63)
        bits >>= 5n
      }
      text += String.fromCharCode(Number(bits) + 63)
    }
    before = [...position]
  }
  return text
}
