/**
 * The areas of a layer are those that are of it, by key, and those that meet a box are found: against edges and
 * corners one by one, in whole numbers.
 */
import t, { type Test } from 'tap'
import { openGazetteer } from '../../src/gazetteer/gazetteer.js'
import type { LayerAreas } from '../../src/gazetteer/layer-areas.js'
import { makeDefaultAreas } from '../../src/gazetteer/make-default.js'
import type { Bounds } from '../../src/geometry/bounds.js'
import { contains } from '../../src/geometry/polygon/contains.js'
import type { Polygons } from '../../src/geometry/polygon/polygons.js'
import { HALF_TURN, POLE_UNITS } from '../../src/geometry/units.js'
import { layerOf, squareArea, writtenGazetteer } from '../support/data/areas.js'
import { testSeed } from '../support/random/properties.js'
import { type Random, seededRandom } from '../support/random/world.js'
import { temporaryDirectory } from '../support/service/hickory.js'
import { byTier } from '../support/tier.js'

const ids = (areas: LayerAreas | undefined, numbers: Iterable<number> = areas?.numbers ?? []) =>
  Array.from(numbers, (number) => areas?.area(number).id)

t.test('areas of a layer are in the order of their keys, whatever they are called', async (t) => {
  const gazetteer = await writtenGazetteer(
    t,
    temporaryDirectory(t),
    layerOf(
      'zones',
      squareArea('b', 0, 0, { name: 'Alpha', aliases: ['OTHER:1'] }),
      squareArea('a', 179.5, 5, { name: 'Omega' }),
      squareArea('C', 2, -3, { name: 'Beta' }),
    ),
    layerOf('zones2', squareArea('aa', 0, 0)),
  )
  const zones = gazetteer.ofLayer('zones')
  t.same(ids(zones), ['zones:C', 'zones:a', 'zones:b'])
  t.same(zones?.area(zones.numbers[2]), {
    ...{ id: 'zones:b', layer: 'zones', key: 'b', name: 'Alpha', aliases: ['OTHER:1'] },
  })
  t.same(ids(gazetteer.ofLayer('zones2')), ['zones2:aa'])
  t.equal(gazetteer.ofLayer('zones'), zones, 'looked for once')
  for (const none of ['Zones', 'zone', '', 'other']) t.equal(gazetteer.ofLayer(none), undefined)
  t.same(ids(zones, [zones?.numberOf('zones:b') ?? -1]), ['zones:b'])
  for (const none of ['ZONES:b', 'zones:B', 'OTHER:1', 'zones2:aa', 'zones', '']) {
    t.equal(zones?.numberOf(none), undefined, none)
  }
  t.same(zones?.bounds, { minLng: -180.5e7, minLat: -3e7, maxLng: 180.5e7, maxLat: 6e7 })
})

t.test('boxes find the counties that they meet, and no other', async (t) => {
  const data = temporaryDirectory(t)
  await makeDefaultAreas(data)
  const gazetteer = openGazetteer(data)
  t.teardown(() => gazetteer?.close())
  const counties = gazetteer?.ofLayer('counties')
  if (counties === undefined) throw new Error('there are no counties')
  t.equal(counties.numbers.length, 3_230)
  const shapes = Array.from(counties.numbers, (number) => counties.polygons(number))
  const random = seededRandom(testSeed(t))
  let [meetingCount, boundsCount] = [0, 0]
  for (let round = 0; round < byTier({ ci: 30, soak: 200 }); round++) {
    const box = randomBox(counties, random)
    const wrong: string[] = []
    for (const [at, number] of counties.numbers.entries()) {
      const polygons = shapes[at]
      const [isNear, expected] = [isNearby(polygons, box), meetsByEdges(polygons, box)]
      if (counties.meets(number, [box]) !== expected) wrong.push(counties.area(number).id)
      if (isNear) boundsCount++
      if (expected) meetingCount++
    }
    if (!t.same(wrong, [], JSON.stringify(box))) return
  }
  t.ok(meetingCount > 100, `${meetingCount} met`)
  t.ok(boundsCount > meetingCount, 'some whose bounds meet a box do not')
})

t.test('one of two boxes is enough, and an edge or a corner in common', async (t) => {
  const zones = await zonesOver(t)
  const met = (...boxes: Bounds[]) =>
    ids(
      zones,
      zones?.numbers.filter((number) => zones.meets(number, boxes)),
    )
  const box = (minLng: number, minLat: number, maxLng: number, maxLat: number) => ({
    ...{ minLng: minLng * 1e7, minLat: minLat * 1e7, maxLng: maxLng * 1e7, maxLat: maxLat * 1e7 },
  })
  t.same(met(box(179, -1, 180, 1), box(-180, -1, -179, 1)), ['zones:over'])
  t.same(met(box(-180, 0.5, -179.9, 0.6)), ['zones:over'], 'its part in the west')
  t.same(met(box(11, 11, 12, 12)), ['zones:here'], 'a corner')
  t.same(met({ ...box(11, 11, 12, 12), minLng: 11e7 + 1 }), [])
  t.same(met(box(10.2, 10.2, 10.3, 10.3)), ['zones:here'], 'a box within')
  t.same(met(box(-180, -90, 180, 90)), ['zones:here', 'zones:over'])
})

async function zonesOver(t: Test) {
  const areas = [squareArea('over', 179.5, 0), squareArea('here', 10, 10)]
  const gazetteer = await writtenGazetteer(t, temporaryDirectory(t), layerOf('zones', ...areas))
  return gazetteer.ofLayer('zones')
}

/** Round a vertex, on one, or anywhere; of a size from nothing to several states. */
function randomBox(areas: LayerAreas, random: Random): Bounds {
  const { vertices } = areas.polygons(random.pick([...areas.numbers]))
  const at = 2 * random.between(0, vertices.length / 2 - 1)
  const reach = random.pick([0, 1, 1_000, 2_000_000, 50_000_000])
  const [lng, lat] = [vertices[at], vertices[at + 1]].map(Math.round)
  const [west, east] = [-random.between(0, reach), random.between(0, reach)]
  const [south, north] = [-random.between(0, reach), random.between(0, reach)]
  const shift = random.pick([0, reach])
  const within = (value: number, most: number) => Math.max(-most, Math.min(most, value))
  return {
    minLng: within(lng + west + shift, HALF_TURN),
    maxLng: within(lng + east + shift, HALF_TURN),
    minLat: within(lat + south, POLE_UNITS),
    maxLat: within(lat + north, POLE_UNITS),
  }
}

function isNearby({ bounds }: Polygons, box: Bounds): boolean {
  for (let at = 0; at < bounds.length; at += 4) {
    const isApart =
      bounds[at] > box.maxLng ||
      bounds[at + 2] < box.minLng ||
      bounds[at + 1] > box.maxLat ||
      bounds[at + 3] < box.minLat
    if (!isApart) return true
  }
  return false
}

/** A corner of the box is in the area, a vertex is in the box, or an edge crosses a side. */
function meetsByEdges(polygons: Polygons, box: Bounds): boolean {
  const { minLng, minLat, maxLng, maxLat } = box
  const corners = [
    [minLng, minLat],
    [maxLng, minLat],
    [maxLng, maxLat],
    [minLng, maxLat],
  ] as const
  if (corners.some(([lng, lat]) => contains(polygons, lng, lat))) return true
  const { vertices, ringStarts } = polygons
  for (let ring = 0; ring + 1 < ringStarts.length; ring++) {
    const [start, end] = [ringStarts[ring], ringStarts[ring + 1]]
    for (let at = start; at < end; at++) {
      const next = at + 1 === end ? start : at + 1
      const from = [vertices[2 * at], vertices[2 * at + 1]] as const
      const to = [vertices[2 * next], vertices[2 * next + 1]] as const
      if (isInBox(from, box)) return true
      if (Math.max(from[0], to[0]) < minLng || Math.min(from[0], to[0]) > maxLng) continue
      if (Math.max(from[1], to[1]) < minLat || Math.min(from[1], to[1]) > maxLat) continue
      for (const [i, corner] of corners.entries()) {
        if (cross(from, to, corner, corners[(i + 1) % 4])) return true
      }
    }
  }
  return false
}

type Place = readonly [lng: number, lat: number]

const isInBox = ([lng, lat]: Place, { minLng, minLat, maxLng, maxLat }: Bounds) =>
  lng >= minLng && lng <= maxLng && lat >= minLat && lat <= maxLat

/** Whether two edges have a place in common; of two on one line, an end is in the box. */
function cross(a: Place, b: Place, c: Place, d: Place): boolean {
  return side(a, b, c) * side(a, b, d) <= 0 && side(c, d, a) * side(c, d, b) <= 0
}

function side(a: Place, b: Place, c: Place): number {
  const [ax, ay, bx, by, cx, cy] = [...a, ...b, ...c].map((value) => BigInt(value))
  const area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
  return area === 0n ? 0 : area > 0n ? 1 : -1
}
