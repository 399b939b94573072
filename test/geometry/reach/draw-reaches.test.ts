import t from 'tap'
import { drawReaches, outlineTolerance } from '../../../src/geometry/reach/draw-reaches.js'
import { ReachList } from '../../../src/geometry/reach/reach-list.js'
import { arcDistanceMetres, distanceMetres } from '../../oracle/geometry/sphere.js'
import { fineUnits } from '../../support/random/fine-coordinates.js'
import { flatRings, isInOdd } from '../../support/random/flat-rings.js'
import { testSeed } from '../../support/random/properties.js'
import { type Random, seededRandom } from '../../support/random/world.js'
import { byTier } from '../../support/tier.js'

const HALF_WAY_METRES = 20_015_086
const POLE = 900_000_000
const random = seededRandom(testSeed(t))

const ways: readonly { what: string; line: () => number[]; radius: () => number }[] = [
  { what: 'circles', line: () => anywhere(), radius: () => anyRadius(random) },
  { what: 'circles over a pole', line: () => near(poleSpot(), 1e7), radius: () => 1e6 },
  { what: 'circles to the very pole', line: () => [0, 800_000_000], radius: () => 1_111_949.27 },
  { what: 'arcs', line: () => [...anywhere(), ...anywhere()], radius: () => anyRadius(random) },
  { what: 'short arcs', line: () => path(anywhere(), 2, 1e4), radius: () => anyRadius(random) },
  {
    what: 'arcs over a pole',
    line: () => path(poleSpot(), 2, 3e8),
    radius: () => anyRadius(random),
  },
  { what: 'lines', line: () => path(anywhere(), 30, 1e5), radius: () => random.between(1, 3_000) },
  { what: 'lines that hardly bend', line: straight, radius: () => random.between(1, 50_000) },
  { what: 'lines over a pole', line: () => path(poleSpot(), 9, 2e7), radius: () => 200_000 },
  {
    what: 'lines over the antimeridian',
    line: () => path([1.8e9, 3e8], 20, 1e6),
    radius: () => 900,
  },
]

for (const { what, line, radius } of ways) {
  t.test(`${what} are drawn to the tolerance`, async (t) => {
    let testedCount = 0
    let insideCount = 0
    for (let round = 0; round < byTier({ ci: 30, soak: 60 }); round++) {
      const [vertices, metres] = [line(), radius()]
      const list = new ReachList()
      if (list.addCorridor(vertices, metres) !== undefined) continue
      const drawn = drawReaches(list.reaches(), 1_000_000)
      if (drawn === undefined) throw new Error('too many vertices')
      const polygons = flatRings(drawn)
      for (let sample = 0; sample < 60; sample++) {
        const place = aroundLimit(vertices, metres)
        const distance = distanceTo(vertices, place)
        if (Math.abs(distance - metres) <= outlineTolerance(metres)) continue
        testedCount++
        const isInside = distance < metres
        if (isInside) insideCount++
        const isDrawn = polygons.some(
          ([shell, ...holes]) => isInOdd([shell], ...place) && !isInOdd(holes, ...place),
        )
        if (isDrawn !== isInside) {
          t.fail(`${place} is ${distance} m from ${vertices}, radius ${metres}, drawn ${isDrawn}`)
          return
        }
      }
    }
    t.ok(testedCount > byTier({ ci: 150, soak: 300 }), `${testedCount} places`)
    const leastCount = byTier({ ci: 15, soak: 30 })
    t.ok(
      insideCount > leastCount && insideCount < testedCount - leastCount,
      `${insideCount} inside`,
    )
  })
}

t.test('a circle of nothing is drawn as nothing, not as all', async (t) => {
  for (const metres of [1e-12, 1e-9, 1e-6, 1e-3, 0.004_9, 0.005, 0.006, 0.02]) {
    for (const [lng, lat] of [[0, 0], anywhere(), [1.8e9, POLE], [5, -POLE]]) {
      const list = new ReachList()
      list.addCircle(lng, lat, metres)
      const drawn = drawReaches(list.reaches(), 1_000)
      const isNear = (value: number, i: number) => i % 2 === 0 || Math.abs(value - lat) <= 3
      for (const polygon of flatRings(drawn ?? never())) {
        t.equal(polygon.length, 1, `${metres} ${lng} ${lat}`)
        const beside = [((lng + 3_600_000_000) % 3_600_000_000) - 1_799_000_000, lat / 2 + 1e6]
        t.notOk(isInOdd(polygon, beside[0], beside[1]), `${metres} m around ${lng} ${lat}`)
        if (Math.abs(lat) !== POLE) t.ok(polygon[0].every(isNear))
      }
    }
  }
})

t.test('half way round the Earth is everywhere', async (t) => {
  const list = new ReachList()
  list.addCircle(123, 456, HALF_WAY_METRES)
  const [[ring]] = flatRings(drawReaches(list.reaches(), 4) ?? never())
  t.same(ring, [-1.8e9, -9e8, 1.8e9, -9e8, 1.8e9, 9e8, -1.8e9, 9e8])
})

t.test('more vertices than given are not drawn', async (t) => {
  const list = new ReachList()
  list.addCircle(0, 0, 1_000)
  const all = drawReaches(list.reaches(), 1_000) ?? never()
  const count = all.vertices.length / 2
  t.ok(count > 50 && count < 200, `${count} vertices`)
  t.ok(drawReaches(list.reaches(), count))
  t.equal(drawReaches(list.reaches(), count - 1), undefined)
})

t.test('the margin of a straight edge takes few vertices, however many its arcs', async (t) => {
  const list = new ReachList()
  list.addStraight(-1_000_000_000, 490_000_000, -900_000_000, 490_000_000, 10_000)
  t.ok(list.arcCount > 500, `${list.arcCount} arcs`)
  const { vertices } = drawReaches(list.reaches(), 10_000) ?? never()
  t.ok(vertices.length / 2 < 1_000, `${vertices.length / 2} vertices`)
})

function never(): never {
  throw new Error('drawn')
}

function anywhere(): number[] {
  const [lng, lat] = [random.between(-1_800_000_000, 1_800_000_000), random.between(-POLE, POLE)]
  return [fineUnits(lng, random), limited(fineUnits(lat, random))]
}

function poleSpot(): number[] {
  const away = random.pick([0, 1, 1e4, 1e6])
  return [random.between(-1_800_000_000, 1_800_000_000), random.pick([-1, 1]) * (POLE - away)]
}

function near([lng, lat]: number[], reach: number): number[] {
  const north = limited(lat + fineUnits(random.between(-reach, reach), random))
  return [lng + fineUnits(random.between(-reach, reach), random), north]
}

function limited(lat: number): number {
  return Math.max(-POLE, Math.min(POLE, lat))
}

function path(start: number[], vertexCount: number, step: number): number[] {
  const vertices = [start]
  while (vertices.length < vertexCount) vertices.push(near(vertices[vertices.length - 1], step))
  return vertices.flat()
}

/** Vertices on a line, give or take a few units. */
function straight(): number[] {
  const [lng, lat] = [random.between(-1e9, 1e9), random.between(-6e8, 6e8)]
  return Array.from({ length: 100 }, (_, i) => near([lng + 20_000 * i, lat + 9_000 * i], 3)).flat()
}

function anyRadius({ pick, unit }: Random): number {
  return pick([0.05, 1, 1, HALF_WAY_METRES / 2]) + pick([1, 1e3, 1e5, 1e7, 2e7]) * unit() * 0.5
}

function distanceTo(vertices: readonly number[], [lngUnits, latUnits]: readonly number[]): number {
  const point = { lngUnits, latUnits }
  const places = Array.from({ length: vertices.length / 2 }, (_, i) => ({
    lngUnits: vertices[2 * i],
    latUnits: vertices[2 * i + 1],
  }))
  const distances = places.map((place, i) =>
    i === 0 ? distanceMetres(point, place) : arcDistanceMetres(point, places[i - 1], place),
  )
  return Math.min(...distances)
}

/** Most at the distance of the limit from some vertex, give or take; some anywhere. */
function aroundLimit(vertices: readonly number[], metres: number): [number, number] {
  const at = 2 * random.between(0, vertices.length / 2 - 1)
  const share = random.pick([0.5, 0.9, 0.99, 0.998, 1.002, 1.01, 1.1, 2])
  const distance = (Math.min(metres * share, HALF_WAY_METRES) / HALF_WAY_METRES) * Math.PI
  const bearing = 2 * Math.PI * random.unit()
  const [lng, lat] = [vertices[at], vertices[at + 1]].map(
    (units) => (units / 1e7) * (Math.PI / 180),
  )
  const sine =
    Math.sin(lat) * Math.cos(distance) + Math.cos(lat) * Math.sin(distance) * Math.cos(bearing)
  const east = Math.sin(bearing) * Math.sin(distance) * Math.cos(lat)
  const turn = Math.atan2(east, Math.cos(distance) - Math.sin(lat) * sine)
  const units = (radians: number) => Math.round((radians * 180e7) / Math.PI)
  const placeLng = units(lng + turn)
  const onGlobe = placeLng - 3_600_000_000 * Math.round(placeLng / 3_600_000_000)
  const inside = (value: number, limit: number) => Math.max(1 - limit, Math.min(limit - 1, value))
  return [
    inside(onGlobe, 1_800_000_000),
    inside(units(Math.asin(Math.max(-1, Math.min(1, sine)))), POLE),
  ]
}
