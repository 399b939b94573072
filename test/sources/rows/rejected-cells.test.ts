import fc from 'fast-check'
import t from 'tap'
import { cellOf, NO_CELL, RejectedCells } from '../../../src/sources/rows/rejected-cells.js'
import { testSeed } from '../../support/random/properties.js'
import { byTier } from '../../support/tier.js'

const DEGREE = 1e7
const CELL = DEGREE / 10

t.test('a map has every row in the step where it is, in whole cells of the grid', async (t) => {
  const place = (degreesMax: number) =>
    fc.oneof(
      fc.integer({ min: -degreesMax * DEGREE, max: degreesMax * DEGREE }),
      fc.integer({ min: 29 * DEGREE, max: 31 * DEGREE }),
      fc.constantFrom(-degreesMax * DEGREE, 0, degreesMax * DEGREE),
    )
  const places = fc.array(fc.tuple(place(180), place(90)), { minLength: 1, maxLength: 30 })
  const property = fc.property(places, (places) => {
    const cells = new RejectedCells()
    for (const [lng, lat] of places) cells.add(cellOf(lng, lat))
    const map = cells.map()
    if (map === undefined) return false
    const { box, columnCount, rowCount, counts } = map
    const { minLng, minLat, maxLng, maxLat } = box
    for (const edge of [minLng, minLat, maxLng, maxLat]) if (edge % CELL !== 0) return false
    const isFramed = columnCount <= 72 && rowCount <= 24 && counts.length === columnCount * rowCount
    const areInside = places.every(
      ([lng, lat]) => lng >= minLng && lng <= maxLng && lat >= minLat && lat <= maxLat,
    )
    const lngStep = stepOf(columnCount, maxLng - minLng)
    const latStep = stepOf(rowCount, maxLat - minLat)
    const expected = new Uint32Array(counts.length)
    for (const [lng, lat] of places) {
      // The places at 180 and 90 degrees are in the last cells.
      const column = Math.floor((Math.min(lng, 180 * DEGREE - 1) - minLng) / lngStep)
      const row = Math.floor((Math.min(lat, 90 * DEGREE - 1) - minLat) / latStep)
      expected[(rowCount - 1 - row) * columnCount + column]++
    }
    return isFramed && areInside && counts.every((count, index) => count === expected[index])
  })
  fc.assert(property, { seed: testSeed(t), numRuns: byTier({ ci: 30, soak: 300 }) })
})

t.test('the corners of the Earth are in the corners of the map', async (t) => {
  const cells = new RejectedCells()
  cells.add(cellOf(-180 * DEGREE, 90 * DEGREE))
  cells.add(cellOf(180 * DEGREE, -90 * DEGREE))
  const map = cells.map()
  t.match(map?.box, { minLng: -180 * DEGREE, minLat: -90 * DEGREE })
  t.match(map?.box, { maxLng: 180 * DEGREE, maxLat: 90 * DEGREE })
  t.equal(map?.counts[0], 1)
  t.equal(map?.counts.at(-1), 1)
})

t.test('rows without a position make no map', async (t) => {
  const cells = new RejectedCells()
  cells.add(NO_CELL)
  t.equal(cells.map(), undefined)
})

/** The width of a step, which the last one may not have. */
function stepOf(count: number, width: number): number {
  return Math.ceil(width / CELL / count) * CELL
}
