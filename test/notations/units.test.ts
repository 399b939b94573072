import t from 'tap'
import { metresOf } from '../../src/notations/units.js'

t.test('units are in metres by their definitions', async (t) => {
  const cases: [number, string, number][] = [
    [1, 'm', 1],
    [2.5, 'Metres', 2.5],
    [1.2, 'km', 1_200],
    [3, 'kilometers', 3_000],
    [1, 'mi', 1_609.344],
    [0.5, 'Miles', 804.672],
    [1, 'ft', 0.3048],
    [10_000, 'feet', 3_048],
    [1, 'NM', 1_852],
    [2, 'nmi', 3_704],
    [2, 'nautical miles', 3_704],
  ]
  for (const [value, units, metres] of cases) t.equal(metresOf(value, units), metres, units)
})

t.test('what could be another unit is not guessed', async (t) => {
  for (const units of ['', 'nm', 'Nm', 'nM', 'yd', 'deg', 'cm', ' m', 'us-ft', 'constructor']) {
    t.equal(metresOf(1, units), undefined, units)
  }
})
