import t from 'tap'
import { box, feature, line, polygon, request, verdictsOf } from '../support/service/asked.js'
import { exactPaths, reducedLngUnitsOf, unitsOf } from './decimal.js'

const DEGREE_METRES = (Math.PI * 6_371_000) / 180
const verdicts = (shape: unknown, places: string) => verdictsOf(request(feature(shape)), places)

t.test('who is within a rounding of a fine edge is left open', async (t) => {
  // Both ends are some hundredths of a unit off, the middle not at all.
  const slanting = '0.000000001 0, 2.000000001 2'
  t.same(verdicts(line(slanting), '1 1, 1.0000001 1'), ['outside', 'outside'])
  const through = '-0.00000001 0, 0.00000001 2'
  t.same(verdicts(line(through), '0 1, 0.0000001 1'), ['either', 'outside'])
  t.same(verdicts(polygon(`${through}, 5 1`), '0 1, 0.0000001 1, -0.0000001 1'), [
    'either',
    'inside',
    'outside',
  ])
  t.same(verdicts(polygon(box(-1, 0, 9, 3), `${through}, 5 1`), '0 1, 1 1, -0.5 1'), [
    'either',
    'outside',
    'inside',
  ])
})

t.test('a vertex or a parallel of seven decimals is exact', async (t) => {
  const ring = polygon('1 1, 2.000000001 1, 2.000000001 2, 1 2.000000001')
  t.same(verdicts(ring, '1 1, 1.5 1, 1 1.5, 1.5 0.9999999, 2 1.5'), [
    'inside',
    'inside',
    'inside',
    'outside',
    'inside',
  ])
  const beside = polygon('1.0000000000000002 1, 2.000000001 1, 1.5 3')
  t.same(verdicts(beside, '1 1, 1.0000001 1'), ['either', 'inside'])
})

t.test('edges of seven decimals are strict, beside fine ones too', async (t) => {
  const ring = polygon('0 0, 4 0, 4 4, 2.00000000001 4.1, 0 4')
  t.same(verdicts(ring, '0 2, 4 2, 2 0, -0.0000001 2'), ['inside', 'inside', 'inside', 'outside'])
})

t.test('far from Greenwich doubles know less, but seven decimals still exactly', async (t) => {
  const at = (lng: number) => 360 * 277_000 + lng
  t.same(verdicts(polygon(box(at(1), 0, at(2), 1)), '1 0.5, 0.9999999 0.5, 2.0000001 0.5'), [
    'inside',
    'outside',
    'outside',
  ])
  const fine = polygon(`${at(1)} 0, ${at(2)} 0, ${at(2)} 1, ${360 * 277_000}.99999999 1.00000001`)
  t.same(verdicts(fine, '1 0, 1.5 0.5'), ['inside', 'inside'])
})

t.test('a margin is open where rounding decides whether there is an edge', async (t) => {
  const near = (shell: string, hole: string, places: string) => {
    const shape = feature(polygon(shell, hole), { radius: DEGREE_METRES })
    return verdictsOf(request(shape), places)
  }
  const hole = (east: string) => `-1 -1, ${east} -1, ${east} 5, -1 5`
  const shell = box(0, 0, 4, 4)
  t.same(near(shell, hole('4'), '4.5 2, -0.9 2'), ['inside', 'outside'])
  t.same(near(shell, hole('4.0000000001'), '4.5 2, -0.9 2'), ['either', 'outside'])
  t.same(near(shell, hole('4.0001'), '4.5 2'), ['outside'])
  t.same(near(shell, hole('3.00000001'), '3.5 2, 4.5 2, 2.1 2'), ['inside', 'inside', 'inside'])
  const fine = '0 0, 4.000000001 0, 4.000000001 4'
  t.same(near(fine, fine, '4.5 2'), ['inside'], 'the same decimals are the same doubles')
})

t.test('decimals are read exactly', async (t) => {
  const [{ vertices, unitScale }] = exactPaths([
    [
      [1e-7, 1.25e-9],
      [-180.00000000000003, 90],
    ],
  ])
  t.equal(unitScale, 10n ** 7n)
  t.same(
    vertices.map(({ lng, lat }) => [lng, lat]),
    [
      [10_000_000n, 125_000n],
      [-18_000_000_000_000_003n, 9_000_000_000_000_000n],
    ],
  )
  t.ok(vertices[0].lngDoubt === 0 && vertices[0].latDoubt > 0 && vertices[1].latDoubt === 0)
  t.equal(unitsOf(-71.1234567), -711_234_567)
  t.equal(unitsOf(1e8), 1e15)
  t.equal(unitsOf(0.00000005), 0.5)
  for (const [degrees, units] of [
    [180, 1.8e9],
    [-180, 1.8e9],
    [540, 1.8e9],
    [99_999_999.5, -(100_000_080 - 99_999_999.5) * 1e7],
    [-361, -1e7],
  ]) {
    t.equal(reducedLngUnitsOf(degrees), units, `${degrees}`)
  }
})
