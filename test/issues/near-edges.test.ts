import t from 'tap'
import { boundaryOf } from '../../src/geometry/polygon/boundary.js'
import { simpleLoops } from '../../src/geometry/polygon/simple-loops.js'

const units = (...positions: number[][]) => positions.flat().map((degrees) => degrees * 1e7)

/**
 * An edge nearer to the shell than the tolerance was taken for on it, and the next edge of the hole, far
 * outside of the shell, for as good as that: the margin went round it.
 */
t.test('an edge beside a tiny one that is on another ring is looked at by itself', async (t) => {
  const shell = units([0, 0], [4, 0], [4, 4], [0, 4])
  const hole = units([3, -5e-10], [3, -1e-9], [3, -5], [1, -5])
  for (const way of [hole, units([1, -5], [3, -5], [3, -1e-9], [3, -5e-10])]) {
    const edges = boundaryOf(shell, [way]) ?? []
    t.ok(edges.length >= 16)
    const lats = edges.filter((_, i) => i % 2 === 1)
    t.ok(Math.min(...lats) >= -0.01, 'nothing reaches out of the shell')
  }
})

/** Where edges cross was divided by a determinant that rounding made 0. */
t.test('edges that hardly cross have a crossing', async (t) => {
  const ring = units(
    [0.3, 0.4],
    [-0.2, 0.1],
    [0.30000000000000004, 0.4],
    [-0.2, 0.09999999999999998],
  )
  t.same(simpleLoops(ring), [])
})
