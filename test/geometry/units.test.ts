import fc from 'fast-check'
import t from 'tap'
import { toUnits } from '../../src/geometry/units.js'
import { testSeed } from '../support/random/properties.js'

t.test(
  'a coordinate of at most seven decimals becomes the whole number it is written as',
  async (t) => {
    fc.assert(
      fc.property(fc.integer({ min: -1_800_000_000, max: 1_800_000_000 }), (units) => {
        const text = `${units < 0 ? '-' : ''}${decimal(Math.abs(units))}`
        t.equal(toUnits(Number(text)), units === 0 ? Number(text) * 0 : units)
      }),
      { seed: testSeed(t), numRuns: 2_000 },
    )
  },
)

t.test('a finer coordinate keeps its place between two units', async (t) => {
  t.equal(toUnits(0.12345675), 1234567.5)
  t.ok(Math.abs(toUnits(71.123456789012) - 711234567.89012) < 2 ** -21)
})

function decimal(units: number): string {
  const digits = String(units).padStart(8, '0')
  return `${digits.slice(0, -7)}.${digits.slice(-7)}`
}
