import fc from 'fast-check'
import t from 'tap'
import { DEGREES_BYTES, degreesBytes, writeDegrees } from '../../src/geometry/degrees.js'
import { testSeed } from '../support/random/properties.js'

t.test('a coordinate is written as its shortest decimal', async (t) => {
  const cases: [units: number, text: string][] = [
    [0, '0'],
    [1, '0.0000001'],
    [-1, '-0.0000001'],
    [10_000_000, '1'],
    [-1_800_000_000, '-180'],
    [1_791_234_567, '179.1234567'],
    [-900_000_000, '-90'],
    [105_000_000, '10.5'],
  ]
  for (const [units, text] of cases) {
    t.equal(written(units), text)
    t.equal(degreesBytes(units), text.length)
  }
})

t.test('what is written reads back as the same units', async (t) => {
  fc.assert(
    fc.property(fc.integer({ min: -1_800_000_000, max: 1_800_000_000 }), (units) => {
      const text = written(units)
      t.equal(Math.round(Number(text) * 1e7), units)
      t.notMatch(text, /\.$|\..*0$/)
      t.ok(text.length <= DEGREES_BYTES)
      t.equal(degreesBytes(units), text.length)
    }),
    { seed: testSeed(t), numRuns: 500 },
  )
})

function written(units: number): string {
  const bytes = new Uint8Array(20)
  return Buffer.from(bytes.subarray(0, writeDegrees(units, bytes, 0))).toString()
}
