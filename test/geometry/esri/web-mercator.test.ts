import fc from 'fast-check'
import t from 'tap'
import { latOfMetres, lngOfMetres } from '../../../src/geometry/esri/web-mercator.js'
import { testSeed } from '../../support/random/properties.js'

const HALF_WORLD = 20037508.342789244

t.test('known points come back', async (t) => {
  const cases: [x: number, y: number, lng: number, lat: number][] = [
    [0, 0, 0, 0],
    [HALF_WORLD, HALF_WORLD, 180, 85.0511287798],
    [-HALF_WORLD, -HALF_WORLD, -180, -85.0511287798],
    [11131949.07932736, 4865942.279503176, 100, 40],
    [-13627354.57, 4547675.35, -122.4166089235, 37.7748999692],
    [111.31949079327, 111.31949079327, 0.001, 0.001],
  ]
  for (const [x, y, lng, lat] of cases) {
    t.ok(Math.abs(lngOfMetres(x) - lng) < 1e-9, `${x} is ${lng}`)
    t.ok(Math.abs(latOfMetres(y) - lat) < 1e-9, `${y} is ${lat}`)
  }
  t.equal(latOfMetres(HALF_WORLD), 85.0511287798)
})

t.test('the antimeridian is exact, however map libraries write it', async (t) => {
  for (const x of [HALF_WORLD, 20037508.343, 20037508.34, 20037508.35, 20037507.0671618]) {
    t.equal(lngOfMetres(x), 180)
    t.equal(lngOfMetres(-x), -180)
  }
  t.ok(lngOfMetres(20037510) > 180)
  t.ok(lngOfMetres(20037506) < 180)
})

t.test('a place beyond one world keeps its turn', async (t) => {
  t.equal(lngOfMetres(2 * HALF_WORLD), 360)
  t.equal(lngOfMetres(-3 * HALF_WORLD), -540)
})

t.test('no latitude is beyond a pole', async (t) => {
  for (const y of [1e8, 1e9, 1e300, Number.POSITIVE_INFINITY]) {
    t.ok(latOfMetres(y) <= 90 && latOfMetres(y) > 89)
    t.equal(latOfMetres(-y), -latOfMetres(y))
  }
})

t.test('whole units that were projected come back as they were', async (t) => {
  const units = (degrees: number) => fc.integer({ min: -degrees * 1e7, max: degrees * 1e7 })
  fc.assert(
    fc.property(units(180), units(85), (lngUnits, latUnits) => {
      const [lng, lat] = [lngUnits / 1e7, latUnits / 1e7]
      const isNearEnd = 180 - Math.abs(lng) < 2e-5
      t.ok(isNearEnd || lngOfMetres((lng * HALF_WORLD) / 180) - lng === 0)
      const y = 6378137 * Math.asinh(Math.tan((lat * Math.PI) / 180))
      t.ok(latOfMetres(y) - lat === 0)
    }),
    { seed: testSeed(t), numRuns: 1_000 },
  )
})
