import t from 'tap'
import { nestRings } from '../../src/geometry/esri/esri-rings.js'
import { ringBudget } from '../../src/geometry/ring-budget.js'
import { limits } from '../../src/limits.js'
import { validate } from '../../src/selection/validate.js'

/**
 * Every polygon had all comparisons of rings to itself, so that a request of many held a front
 * thread for seconds.
 */
t.test('the rings of one request are compared within one budget', async (t) => {
  const squares = Array.from({ length: 150 }, (_, i) =>
    [
      [0, 0],
      [0, 10],
      [10, 10],
      [10, 0],
    ].map(([x, y]) => [x + i / 100, y + i / 100]),
  )
  const budget = ringBudget()
  nestRings(
    squares.map((ring) => ring.flat().map((degrees) => Math.round(degrees * 1e7))),
    budget,
  )
  const spent = limits.ringComparisonCount - budget.comparisonsLeft
  const most = Math.floor(limits.ringComparisonCount / spent)
  t.ok(most > 1 && (most + 1) * 150 < limits.ringCount, `${most} polygons of ${spent} comparisons`)
  const request = (count: number) => ({
    geoJSON: { features: Array.from({ length: count }, () => ({ geometry: { rings: squares } })) },
  })
  t.ok(validate(request(most)))
  t.throws(() => validate(request(most + 1)), { code: 'TooComplex', status: 422 })
})
