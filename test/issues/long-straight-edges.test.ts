import t from 'tap'
import { ReachList } from '../../src/geometry/reach/reach-list.js'
import {
  createReachTable,
  fillReachTable,
  STRIDE,
  squaredChord,
} from '../../src/geometry/reach/reach-table.js'
import { RADIANS_PER_UNIT } from '../../src/geometry/units.js'

/**
 * The equator does not bend, so an edge along it was one great-circle arc, however long: none at all
 * from -180 to 180, and round the other side of the Earth when it was longer than half a turn. A
 * margin of such an edge missed the people along it.
 */
t.test('the arcs of an edge of half a turn and more follow it', async (t) => {
  const edges = [
    [-1.8e9, 0, 1.8e9, 0],
    [-1e9, 0, 1e9, 0],
    [1e9, 0, -1e9, 0],
    [-5e9, 0, 5e9, 0],
    [0, 0, 1.8e9, 0],
    [-1.8e9, -0.5, 1.8e9, 0],
    [-1.8e9, -1, 1.8e9, 1],
    [0, -9e8, 0, 9e8],
    [-9e8, 9e8, -9e8, -9e8],
  ]
  for (const edge of edges) {
    const farthest = farthestMetres(edge)
    t.ok(farthest <= 0.0101, `${edge}: ${farthest} m`)
  }
})

/** How far the places of an edge are from the nearest of its arcs, at most. */
function farthestMetres([lng1, lat1, lng2, lat2]: readonly number[]): number {
  const list = new ReachList()
  list.addStraight(lng1, lat1, lng2, lat2, 100)
  const table = createReachTable()
  fillReachTable(table, list.reaches())
  if (table.isCircle.subarray(0, list.arcCount).includes(1)) return Number.POSITIVE_INFINITY
  let farthest = 0
  for (let sample = 0; sample <= 1000; sample++) {
    const lng = (lng1 + (sample / 1000) * (lng2 - lng1)) * RADIANS_PER_UNIT
    const lat = (lat1 + (sample / 1000) * (lat2 - lat1)) * RADIANS_PER_UNIT
    const [x, y] = [Math.cos(lat) * Math.cos(lng), Math.cos(lat) * Math.sin(lng)]
    const squares = Array.from({ length: list.arcCount }, (_, arc) =>
      squaredChord(table.rows, arc * STRIDE, x, y, Math.sin(lat)),
    )
    farthest = Math.max(farthest, Math.sqrt(Math.min(...squares)) * 6_371_000)
  }
  return farthest
}
