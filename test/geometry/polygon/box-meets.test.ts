/**
 * Areas and boxes on whole numbers so small that many touch: against separating axes, which decide for triangles.
 */
import t from 'tap'
import { boxMeets } from '../../../src/geometry/polygon/box-meets.js'
import { testSeed } from '../../support/random/properties.js'
import { type Random, seededRandom } from '../../support/random/world.js'

t.test('a triangle meets a box unless a line is between them', async (t) => {
  const random = seededRandom(testSeed(t))
  let [meetingCount, wrongCount] = [0, 0]
  for (let round = 0; round < 50_000; round++) {
    const scale = random.pick([1, 123_456_789])
    const triangle = Array.from({ length: 6 }, () => scale * random.between(0, 9))
    const box = randomBox(random, scale)
    const found = boxMeets([triangle], box)
    if (found !== !areSeparate(triangle, box)) wrongCount++
    if (found) meetingCount++
  }
  t.equal(wrongCount, 0)
  t.ok(meetingCount > 5_000 && meetingCount < 45_000, `${meetingCount} met`)
})

t.test('a box in a hole meets nothing, and one that touches its edge does', async (t) => {
  const shell = [0, 0, 10, 0, 10, 10, 0, 10]
  const hole = [2, 2, 8, 2, 8, 8, 2, 8]
  const meets = (minLng: number, minLat: number, maxLng: number, maxLat: number) =>
    boxMeets([shell, hole], { minLng, minLat, maxLng, maxLat })
  t.notOk(meets(3, 3, 7, 7))
  t.ok(meets(2, 3, 7, 7), 'an edge')
  t.ok(meets(8, 8, 8, 8), 'a corner')
  t.ok(meets(1, 1, 1.5, 1.5), 'between shell and hole')
  t.ok(meets(-5, -5, 15, 15), 'all of it')
  t.notOk(meets(11, 0, 12, 10))
})

t.test('a box where two holes overlap meets nothing', async (t) => {
  const rings = [
    [0, 0, 10, 0, 10, 10, 0, 10],
    [1, 1, 6, 1, 6, 9, 1, 9],
    [4, 1, 9, 1, 9, 9, 4, 9],
  ]
  t.notOk(boxMeets(rings, { minLng: 4.5, minLat: 4, maxLng: 5.5, maxLat: 6 }))
  t.ok(boxMeets(rings, { minLng: 9.25, minLat: 4, maxLng: 9.75, maxLat: 6 }))
})

function randomBox(random: Random, scale: number) {
  const [west, east] = [random.between(0, 9), random.between(0, 9)].sort((a, b) => a - b)
  const [south, north] = [random.between(0, 9), random.between(0, 9)].sort((a, b) => a - b)
  return {
    minLng: scale * west,
    minLat: scale * south,
    maxLng: scale * east,
    maxLat: scale * north,
  }
}

type Box = ReturnType<typeof randomBox>

/** Whether a line at right angles to an edge of one of them, or to an axis, separates them: in whole numbers. */
function areSeparate(
  triangle: readonly number[],
  { minLng, minLat, maxLng, maxLat }: Box,
): boolean {
  const corners = [minLng, minLat, maxLng, minLat, maxLng, maxLat, minLng, maxLat].map(BigInt)
  const points = triangle.map(BigInt)
  const axes: [bigint, bigint][] = [
    [1n, 0n],
    [0n, 1n],
  ]
  for (let at = 0; at < 6; at += 2) {
    const next = (at + 2) % 6
    const [dx, dy] = [points[next] - points[at], points[next + 1] - points[at + 1]]
    // Of triangles that are a line or a place, their own direction separates as well.
    if (dx !== 0n || dy !== 0n) axes.push([-dy, dx], [dx, dy])
  }
  return axes.some(([x, y]) => {
    const along = (all: readonly bigint[]) => {
      const values: bigint[] = []
      for (let at = 0; at < all.length; at += 2) values.push(x * all[at] + y * all[at + 1])
      return values.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
    }
    const [a, b] = [along(points), along(corners)]
    return (a.at(-1) as bigint) < b[0] || (b.at(-1) as bigint) < a[0]
  })
}
