/**
 * Polygons that lie apart from others.
 *
 * @module
 */
import fc from 'fast-check'
import t from 'tap'
import { areApart } from '../../../src/geometry/polygon/apart.js'
import { type Polygons, polygonsOf } from '../../../src/geometry/polygon/polygons.js'
import { limits } from '../../../src/limits.js'
import { testSeed } from '../../support/random/properties.js'
import { byTier } from '../../support/tier.js'

type Position = [lng: number, lat: number]

function square(west: number, south: number, width: number): Position[] {
  return [
    [west, south],
    [west + width, south],
    [west + width, south + width],
    [west, south + width],
  ]
}

const apart = (a: Polygons, b: Polygons, comparisonsLeft: number = limits.outsideComparisonCount) =>
  areApart(a, 0, a.polygonStarts.length - 1, b, { comparisonsLeft })

t.test('squares beside, on, in and around each other', async (t) => {
  const ring = polygonsOf([[square(0, 0, 10), square(2, 2, 6)]])
  for (const [what, shape, expected] of [
    ['beside', square(20, 0, 1), true],
    ['within the hole', square(4, 4, 1), true],
    ['within', square(0.5, 0.5, 1), false],
    ['over an edge', square(9, 9, 5), false],
    ['around', square(-5, -5, 30), false],
    ['on a corner', square(10, 10, 1), false],
    ['on the edge of the hole', square(2, 2, 1), false],
    ['the same', square(0, 0, 10), false],
  ] as const) {
    t.equal(apart(polygonsOf([[shape]]), ring), expected, what)
    t.equal(apart(ring, polygonsOf([[shape]])), expected, `${what}, the other way`)
  }
})

t.test('in a bay: the boxes meet, the polygons do not', async (t) => {
  const bay = polygonsOf([
    [
      [
        [0, 0],
        [10, 0],
        [10, 1],
        [1, 1],
        [1, 10],
        [0, 10],
      ],
    ],
  ])
  t.equal(apart(polygonsOf([[square(3, 3, 2)]]), bay), true)
  t.equal(apart(polygonsOf([[square(3, 3, 2)], [square(0.2, 0.2, 0.1)]]), bay), false)
})

t.test('random shapes on a grid, against all their cells', async (t) => {
  const corner = fc.tuple(fc.integer({ min: 0, max: 8 }), fc.integer({ min: 0, max: 8 }))
  const anyRing = fc.array(corner, { minLength: 3, maxLength: 7 })
  const check = fc.property(anyRing, anyRing, (a, b) => {
    if (!apart(polygonsOf([[a]]), polygonsOf([[b]]))) return true
    // No place of a fine grid, which has the corners and places between them, is in both.
    for (let x = 0; x <= 8; x += 0.25) {
      for (let y = 0; y <= 8; y += 0.25) if (isInside(a, x, y) && isInside(b, x, y)) return false
    }
    return true
  })
  fc.assert(check, { seed: testSeed(t), numRuns: byTier({ ci: 300, soak: 5_000 }) })
  const overlapping = fc.property(
    anyRing,
    (ring) => !apart(polygonsOf([[ring]]), polygonsOf([[ring]])),
  )
  fc.assert(overlapping, { seed: testSeed(t), numRuns: 200 })
})

t.test('what takes more than the budget is not apart', async (t) => {
  const [a, b] = [
    polygonsOf([[square(4, 4, 1)]]),
    polygonsOf([[square(0, 0, 10), square(2, 2, 6)]]),
  ]
  // Eight edges of the one, four of the other, and a sixteenth of what they make together.
  const needed = 12
  t.equal(apart(a, b, needed), true)
  t.equal(apart(a, b, needed - 1), false)
})

/** By even-odd, boundary left aside. */
function isInside(ring: readonly Position[], x: number, y: number): boolean {
  let isIn = false
  for (const [i, [ax, ay]] of ring.entries()) {
    const [bx, by] = ring[(i + 1) % ring.length]
    if (ay > y !== by > y && x < ax + ((y - ay) / (by - ay)) * (bx - ax)) isIn = !isIn
  }
  return isIn
}
