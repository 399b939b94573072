import t from 'tap'
import { agrees } from '../../src/outline/check.js'
import type { Polygon, Region } from '../../src/outline/clipper.js'

const square = (west: number, south: number, size: number) => [
  ...[west, south],
  ...[west + size, south],
  ...[west + size, south + size],
  ...[west, south + size],
]
const shell = square(0, 0, 1_000)
const hole = square(200, 200, 600)
const far = square(5_000, 5_000, 1_000)

const shapes = (included: Polygon[], excluded: Polygon[] = [], boundary?: Polygon[]) => ({
  included,
  excluded,
  boundaries: boundary === undefined ? [] : [boundary],
})

const cases: readonly {
  what: string
  region: Region
  of: ReturnType<typeof shapes>
  agree: boolean
}[] = [
  { what: 'a square', region: [[shell]], of: shapes([[shell]]), agree: true },
  {
    what: 'a square with a hole',
    region: [[shell, hole]],
    of: shapes([[shell, hole]]),
    agree: true,
  },
  { what: 'an exclusion', region: [[shell, hole]], of: shapes([[shell]], [[hole]]), agree: true },
  { what: 'a boundary', region: [[hole]], of: shapes([[shell]], [], [[hole]]), agree: true },
  { what: 'nothing', region: [], of: shapes([]), agree: true },
  { what: 'two that are one', region: [[shell]], of: shapes([[shell], [hole]]), agree: true },
  { what: 'a hole that vanished', region: [[shell]], of: shapes([[shell, hole]]), agree: false },
  {
    what: 'an exclusion that vanished',
    region: [[shell]],
    of: shapes([[shell]], [[hole]]),
    agree: false,
  },
  {
    what: 'a boundary that vanished',
    region: [[shell]],
    of: shapes([[shell]], [], [[hole]]),
    agree: false,
  },
  { what: 'a shape that vanished', region: [[shell]], of: shapes([[shell], [far]]), agree: false },
  { what: 'everything vanished', region: [], of: shapes([[shell]]), agree: false },
  { what: 'a shape too many', region: [[shell], [far]], of: shapes([[shell]]), agree: false },
  { what: 'a hole that is full', region: [[hole]], of: shapes([[shell, hole]]), agree: false },
  { what: 'nine units off', region: [[square(9, 0, 1_000)]], of: shapes([[shell]]), agree: true },
  {
    what: 'forty units off',
    region: [[square(40, 0, 1_000)]],
    of: shapes([[shell]]),
    agree: false,
  },
]
for (const { what, region, of, agree } of cases) {
  t.test(`${what} ${agree ? 'agrees' : 'is noticed'}`, async (t) =>
    t.equal(agrees(region, of), agree),
  )
}
