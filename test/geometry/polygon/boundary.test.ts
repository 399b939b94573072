import t from 'tap'
import { boundaryOf } from '../../../src/geometry/polygon/boundary.js'
import { limits } from '../../../src/limits.js'

const box = (west: number, south: number, east: number, north: number) =>
  [west, south, east, south, east, north, west, north].map((degrees) => degrees * 1e7)

/** Length in degrees on the flat map. */
function lengthOf(edges: readonly number[] | undefined): number {
  let length = 0
  for (let i = 0; i < (edges?.length ?? 0); i += 4) {
    const [lng1, lat1, lng2, lat2] = (edges as number[]).slice(i, i + 4)
    length += Math.hypot(lng2 - lng1, lat2 - lat1) / 1e7
  }
  return Math.round(length * 1e6) / 1e6
}

t.test('of overlapping rings those parts bound that are in the polygon', async (t) => {
  const shell = box(0, 0, 10, 10)
  const cases: [name: string, holes: number[][], length: number][] = [
    ['no hole', [], 40],
    ['a hole inside', [box(4, 4, 6, 6)], 48],
    ['a hole outside', [box(20, 4, 22, 6)], 40],
    ['a hole that leaves the shell', [box(8, 4, 12, 6)], 40 - 2 + 6],
    ['a hole in a hole', [box(2, 2, 8, 8), box(4, 4, 5, 5)], 64],
    ['holes that overlap', [box(2, 2, 6, 6), box(4, 4, 8, 8)], 40 + 12 + 12],
    ['a hole on the edge', [box(8, 4, 10, 6)], 40 + 8],
    ['a hole beside the edge', [box(10, 4, 12, 6)], 40 + 2],
    ['a hole that is the shell', [shell], 80],
    ['a hole around the shell', [box(-1, -1, 11, 11)], 0],
    ['two equal holes', [box(4, 4, 6, 6), box(4, 4, 6, 6)], 56],
    ['a hole that touches in a point', [[5, 0, 6, 2, 4, 2].map((degrees) => degrees * 1e7)], 0],
  ]
  for (const [name, holes, length] of cases.slice(0, -1)) {
    t.equal(lengthOf(boundaryOf(shell, holes)), length, name)
    t.equal(lengthOf(boundaryOf(shell, holes.toReversed())), length, `${name}, reversed`)
  }
  const touching = lengthOf(boundaryOf(shell, [cases[cases.length - 1][1][0]]))
  t.equal(touching, Math.round((40 + 2 + 2 * Math.hypot(1, 2)) * 1e6) / 1e6)
})

t.test('rings that overlap too often are given up', async (t) => {
  const zigzag = (shift: number) =>
    Array.from({ length: 4_000 }, (_, i) => [1e5 * i + shift, i % 4 < 2 ? shift : 1e9]).flat()
  t.equal(boundaryOf(zigzag(0), [zigzag(5e4)]), undefined)
  t.ok(limits.ringComparisonCount < 4_000 ** 2)
})
