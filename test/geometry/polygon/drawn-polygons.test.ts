/**
 * Polygons come back from a list as they were drawn: each once, and in such a way that a list of them is the
 * same list.
 *
 * @module
 */
import t from 'tap'
import { drawnPolygons } from '../../../src/geometry/polygon/drawn-polygons.js'
import { PolygonList } from '../../../src/geometry/polygon/polygon-list.js'
import { type Polygons, ringsOf } from '../../../src/geometry/polygon/polygons.js'
import { validate } from '../../../src/selection/validate.js'
import { testSeed } from '../../support/random/properties.js'
import { randomShape, shapeKinds } from '../../support/random/shapes.js'
import { randomWorld, seededRandom } from '../../support/random/world.js'

type Coordinates = readonly (readonly (readonly (readonly number[])[])[])[]

t.test('random polygons on either side of the antimeridian', async (t) => {
  const random = seededRandom(testSeed(t))
  let copyCount = 0
  for (let round = 0; round < 500; round++) {
    const { lngs, lats } = randomWorld('antimeridian', 20, random)
    const centre = random.between(0, lngs.length - 1)
    const shape = randomShape(random.pick(shapeKinds), random, lngs[centre], lats[centre])
    // One polygon may come several times, with fewer holes or as it is.
    const coordinates = shape.flatMap(([shell, ...holes]) =>
      Array.from({ length: random.between(1, 2) }, () => [
        shell,
        ...holes.filter(() => random.unit() < 0.7),
      ]),
    )
    const polygons = listOf(coordinates)
    const drawn = drawnPolygons(polygons)
    const again = new PolygonList()
    for (const { shell, holes } of drawn) again.add(shell, holes)
    t.equal(drawn.length, coordinates.length, JSON.stringify(coordinates))
    t.same(textsOf(again.polygons()), textsOf(polygons), JSON.stringify(coordinates))
    copyCount += polygons.polygonStarts.length - 1 - drawn.length
  }
  t.ok(copyCount > 50, `${copyCount} polygons are there twice`)
})

t.test('a polygon has the holes of all its copies, and those of no other one', async (t) => {
  const [east, west] = [box(172, 178, 4), box(-178, -172, 4)]
  const polygons = listOf([
    [box(170, 190, 5), east, west],
    [box(170, 190, 5), east],
    [box(0, 1, 1)],
  ])
  t.same(
    drawnPolygons(polygons).map(({ holes }) => holes.length),
    [2, 1, 0],
  )
})

t.test('a polygon round a pole stays one', async (t) => {
  const cap = (lat: number) => [-170, -60, 60, 170, -170].map((lng) => [lng, lat])
  for (const sign of [1, -1]) {
    const polygons = listOf([[cap(50 * sign), box(-178, -172, 60 * sign), cap(70 * sign)]])
    const [{ shell, holes }, ...others] = drawnPolygons(polygons)
    t.same(others, [])
    t.equal(shell.isPolar, true)
    t.same(
      holes.map(({ isPolar }) => isPolar === true),
      [false, true],
    )
    const again = new PolygonList()
    again.add(shell, holes)
    t.same(textsOf(again.polygons()), textsOf(polygons))
  }
})

t.test('what is finer than a unit may be rounded at one of the turns', async (t) => {
  const fine = (lng: number) => lng + 0.123_456_789_012
  const shell = [
    [fine(170), 0],
    [fine(185), 0],
    [fine(185), 5],
    [fine(170), 5],
    [fine(170), 0],
  ]
  const drawn = drawnPolygons(listOf([[shell, box(182, 184, 1)]]))
  t.equal(drawn.length, 1)
  t.equal(drawn[0].holes.length, 1)
})

function listOf(coordinates: Coordinates): Polygons {
  const geoJSON = { type: 'MultiPolygon', coordinates }
  return validate({ geoJSON }).shapes.included[0].polygons
}

function box(west: number, east: number, lat: number): number[][] {
  const corners = [
    [west, lat - 1],
    [east, lat - 1],
    [east, lat],
    [west, lat],
  ]
  return [...corners, corners[0]]
}

/** Each polygon as a text, the holes in some order that is the same for the same ones, and each once. */
function textsOf(polygons: Polygons): string[] {
  return Array.from({ length: polygons.polygonStarts.length - 1 }, (_, polygon) => {
    const [shell, ...holes] = ringsOf(polygons, polygon).map((ring) => ring.join())
    return [shell, ...new Set(holes.sort())].join(' ')
  })
}
