import t from 'tap'
import {
  GLOBE,
  lngRange,
  turnsOfRing,
  type UnitRing,
  unwrapRing,
} from '../../../src/geometry/polygon/antimeridian.js'

const degrees = (...values: number[]) => values.map((value) => value * 1e7)
const sentUnits = (units: readonly number[]) => ({
  units,
  lngDegreesAt: (vertex: number) => units[2 * vertex] / 1e7,
})

t.test('a ring that stays within half a turn is as written', async (t) => {
  for (const ring of [
    degrees(0, 0, 10, 0, 10, 10),
    degrees(-180, 0, 0, 5, 0, -5),
    degrees(-180, -90, 180, -90, 180, 90, -180, 90),
    degrees(-180, 60, 0, 60, 180, 60, 180, 90, -180, 90),
  ]) {
    t.equal(unwrapRing(sentUnits(ring)), ring)
  }
})

t.test('a ring with a longitude beyond ±180 is as drawn', async (t) => {
  for (const ring of [degrees(170, 0, 190, 0, 190, 5), degrees(-350, 0, -10, 0, 20, 5)]) {
    t.equal(unwrapRing(sentUnits(ring)), ring)
  }
})

t.test('an edge of more than half a turn runs the short way', async (t) => {
  t.same(
    unwrapRing(sentUnits(degrees(170, 0, -170, 0, -170, 5, 170, 5))),
    degrees(170, 0, 190, 0, 190, 5, 170, 5),
  )
  t.same(
    unwrapRing(sentUnits(degrees(-170, 0, 170, 0, 170, 5))),
    degrees(-170, 0, -190, 0, -190, 5),
  )
  t.same(
    unwrapRing(sentUnits(degrees(170, 0, 180, 0, -180, 5, -170, 9))),
    degrees(170, 0, 180, 0, 180, 5, 190, 9),
    'from 180 to -180 is no way when another edge runs the short way',
  )
})

t.test('a ring once round the globe holds the pole nearer to its mean latitude', async (t) => {
  for (const sign of [1, -1]) {
    const eastwards = degrees(0, sign * 70, 120, sign * 80, -120, sign * 75)
    const westwards = degrees(0, sign * 70, -120, sign * 75, 120, sign * 80)
    for (const written of [eastwards, westwards]) {
      const ring = unwrapRing(sentUnits(written)) as UnitRing
      t.ok(ring.isPolar)
      t.same(turnsOfRing(ring, GLOBE), [0])
      const { min, max } = lngRange(ring)
      t.ok(min < -2 * 180e7 && max > 2 * 180e7, 'it is closed far from where recipients are')
      t.same(ring.slice(-4), [ring.at(-6), sign * 1e9, ring[0], sign * 1e9])
      const lats = new Map([
        [0, 70],
        [120, 80],
        [240, 75],
      ])
      for (let i = 0; i < ring.length - 4; i += 2) {
        const lng = (((ring[i] / 1e7) % 360) + 360) % 360
        t.equal(ring[i + 1], degrees(sign * (lats.get(lng) ?? Number.NaN))[0])
        if (i > 0) t.equal(ring[i] - ring[i - 2], 120e7)
      }
    }
  }
})

t.test('a ring that could hold either pole, or goes round twice, has a fault', async (t) => {
  t.equal(unwrapRing(sentUnits(degrees(0, 0.5, 120, -0.5, -120, 0.9))), 'AmbiguousPole')
  t.type(unwrapRing(sentUnits(degrees(0, 1, 120, 1, -120, 1))), Array)
  t.equal(
    unwrapRing(sentUnits(degrees(0, 9, 120, 9, -120, 9, 0, 8, 120, 8, -120, 8))),
    'SeveralTurns',
  )
})

t.test('ranges are moved by whole turns onto others that they meet', async (t) => {
  const range = (min: number, max: number) => ({ min: min * 1e7, max: max * 1e7 })
  t.same(turnsOfRing(degrees(0, 0, 10, 1), GLOBE), [0])
  t.same(turnsOfRing(degrees(170, 0, 190, 1), GLOBE), [-1, 0])
  t.same(turnsOfRing(degrees(-190, 0, -185, 1), GLOBE), [1])
  t.same(turnsOfRing(degrees(170, 0, 180, 1), GLOBE), [-1, 0], 'what ends at 180 begins at -180')
  t.same(turnsOfRing(degrees(0, 0, 1, 1), range(5, 6)), [])
  t.same(lngRange(degrees(3, 0, -2, 1, 7, 2)), range(-2, 7))
})
