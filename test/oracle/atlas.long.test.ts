/**
 * Boundaries that others published: the same people are inside wherever the map is drawn.
 *
 * @module
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import t from 'tap'
import { feature } from 'topojson-client'
import type { GeometryCollection, Topology } from 'topojson-specification'
import { validate } from '../../src/selection/validate.js'
import { attachShard, type Shard } from '../../src/shard/layout.js'
import { selectInside } from '../../src/shard/select.js'
import { columnsOf } from '../support/data/columns.js'
import { loadCounties, polygonsOf, withoutDegenerateRings } from '../support/data/counties.js'
import { testSeed } from '../support/random/properties.js'
import { seededRandom } from '../support/random/world.js'
import { shardsOf } from '../support/service/local-service.js'
import { prepare } from './geometry/exact.js'

type Ring = readonly (readonly number[])[]

const require = createRequire(import.meta.url)
const random = seededRandom(testSeed(t))
const TURNS = [-3, -2, -1, 1, 2, 3]
/** A request may have as many positions. */
const POSITION_COUNT_MAX = 50_000
const HALF_WORLD_METRES = Math.PI * 6_378_137

for (const atlas of [
  'world-atlas/countries-50m.json',
  'world-atlas/countries-10m.json',
  'us-atlas/counties-10m.json',
]) {
  t.test(`every ring of ${atlas} holds the same people at every turn`, async (t) => {
    const rings = ringsOf(atlas)
    const { places, shards } = worldOn(rings)
    let insideCount = 0
    let faultCount = 0
    const check = (expected: string, found: string, what: string) => {
      if (found !== expected && ++faultCount <= 5) t.fail(what)
    }
    for (const [at, ring] of rings.entries()) {
      const found = selected(shards, { type: 'Polygon', coordinates: [ring] })
      if (found !== '') insideCount++
      const drawn = unwrapped(ring)
      // A ring round a pole is not one that can be drawn beyond ±180.
      if (drawn === undefined) continue
      for (const turns of TURNS) {
        const shifted = drawn.map(([lng, lat]) => [lng + 360 * turns, lat])
        const there = selected(shards, { type: 'Polygon', coordinates: [shifted] })
        check(found, there, `ring ${at} at turn ${turns}`)
      }
      const spatialReference = { wkid: 102100, latestWkid: 3857 }
      const plane = ring.map(([lng, lat]) => [metresOfLng(lng), metresOfLat(lat)])
      const inPlane = selected(shards, { rings: [plane], spatialReference })
      if (inPlane !== found && !isRounding(ring, found, inPlane, places)) {
        t.fail(`ring ${at} in 102100`)
      }
    }
    t.equal(faultCount, 0)
    t.ok(insideCount > rings.length / 10, `somebody is inside ${insideCount} of ${rings.length}`)
  })
}

t.test('counties of seven decimals, with people where islands have shrunk', async (t) => {
  const counties = loadCounties().map(({ geometry }) =>
    polygonsOf(geometry).map((rings) => rings.map((ring) => ring.map(inUnits))),
  )
  const shrunken = counties
    .flat(2)
    .filter((ring) => new Set(ring.map(String)).size < 3)
    .flatMap((ring) => [...ring, middleOf(ring[0], ring[1])])
  t.ok(shrunken.length > 20, `${shrunken.length} places`)
  const places = [...shrunken, ...counties.map((polygons) => polygons[0][0][0])]
  const shards = shardsAt(places)
  let refusedCount = 0
  let insideCount = 0
  for (const polygons of counties) {
    const coordinates = polygons.map((rings) => rings.map((ring) => ring.map(inDegrees)))
    const geometry = { type: 'MultiPolygon' as const, coordinates }
    if (withoutDegenerateRings(geometry) === undefined) {
      refusedCount++
      t.throws(() => validate({ geoJSON: geometry }), { code: 'DegenerateRing' })
      continue
    }
    const { contains } = prepare(coordinates)
    const expected = places.flatMap(([lng, lat], i) => (contains(lng, lat) ? [`+999${i}`] : []))
    insideCount += expected.length
    const found = selected(shards, geometry)
    if (found !== expected.sort().join()) t.fail(`a county with ${coordinates.length} polygons`)
  }
  t.equal(refusedCount, 1, 'the county that is nothing but an edge')
  t.ok(insideCount > counties.length, `${insideCount} times somebody inside`)
})

/** The outer and inner rings of all countries, or counties, that have an area. */
function ringsOf(atlas: string): Ring[] {
  const topology = JSON.parse(readFileSync(require.resolve(atlas), 'utf8')) as Topology
  const name = 'counties' in topology.objects ? 'counties' : 'countries'
  const { features } = feature(topology, topology.objects[name] as GeometryCollection)
  return features
    .flatMap(({ geometry }) => {
      if (geometry.type !== 'Polygon' && geometry.type !== 'MultiPolygon') return []
      return polygonsOf(geometry).flat()
    })
    .filter((ring) => new Set(ring.map(String)).size >= 3 && ring.length <= POSITION_COUNT_MAX)
}

/** People all over the globe, beside vertices, and on both sides of the antimeridian. */
function worldOn(rings: readonly Ring[]) {
  const beside = Array.from({ length: 4_000 }, () => {
    const [lng, lat] = inUnits(random.pick(random.pick(rings)))
    return [lng + random.between(-2, 2), lat + random.between(-2, 2)]
  })
  const anywhere = Array.from({ length: 2_000 }, () => [
    random.pick([-1_800_000_000, 1_800_000_000, random.between(-1_800_000_000, 1_799_999_999)]),
    random.between(-900_000_000, 900_000_000),
  ])
  const onGlobe = (value: number, most: number) => Math.max(-most, Math.min(most, value))
  const places = [...beside, ...anywhere].map(([lng, lat]) => [
    onGlobe(lng, 1_800_000_000),
    onGlobe(lat, 900_000_000),
  ])
  return { places, shards: shardsAt(places) }
}

/** One at each place, in units; the phone has the index of the place. */
function shardsAt(places: readonly (readonly number[])[]): Shard[] {
  const columns = columnsOf(
    places.map(([lng, lat], i) => ({ phone: `+999${i}`, lng, lat, contact: '' })),
  )
  return shardsOf(columns, 1, 2_000).map(attachShard)
}

/**
 * Whether all who are in one answer alone are nearer to an edge than ten decimals of a degree, to
 * which metres are brought, can tell.
 */
function isRounding(
  ring: Ring,
  found: string,
  other: string,
  places: readonly (readonly number[])[],
): boolean {
  const [a, b] = [found, other].map((phones) => new Set(phones.split(',').filter(Boolean)))
  const differing = [...a, ...b].filter((phone) => a.has(phone) !== b.has(phone))
  return differing.every((phone) => {
    const [lng, lat] = places[Number(phone.slice('+999'.length))]
    return ring.slice(1).some((to, i) => {
      const [x1, y1, x2, y2] = [...ring[i], ...to].map((degrees) => degrees * 1e7)
      const [dx, dy] = [x2 - x1, y2 - y1]
      const along = ((lng - x1) * dx + (lat - y1) * dy) / (dx * dx + dy * dy || 1)
      const share = Math.max(0, Math.min(1, along))
      return Math.hypot(lng - x1 - share * dx, lat - y1 - share * dy) < 0.01
    })
  })
}

/** Phones of who is inside, in order. */
function selected(shards: readonly Shard[], geoJSON: object): string {
  const { shapes } = validate({ geoJSON })
  const phones: string[] = []
  for (const [at, runs] of selectInside(shards, shapes, { edgeTestCount: 1e9 }).entries()) {
    const { phoneOffsets, phones: bytes } = shards[at]
    for (let i = 0; i < runs.length; i += 2) {
      for (let index = runs[i]; index < runs[i + 1]; index++) {
        const phone = bytes.subarray(phoneOffsets[index], phoneOffsets[index + 1])
        phones.push(Buffer.from(phone).toString())
      }
    }
  }
  return phones.sort().join()
}

/** Each vertex by the short way from the one before; nothing for a ring round a pole. */
function unwrapped(ring: Ring): number[][] | undefined {
  const steps = ring.map(([lng], i) => (i === 0 ? 0 : lng - ring[i - 1][0]))
  // A seam from -180 to 180 is one, unless another edge runs the short way.
  if (!steps.some((step) => Math.abs(step) > 180 && Math.abs(step) < 360))
    return ring.map((position) => [...position])
  let turns = 0
  const path = ring.map(([lng, lat], i) => {
    if (Math.abs(steps[i]) > 180) turns -= Math.sign(steps[i])
    return [lng + 360 * turns, lat]
  })
  return turns === 0 ? path : undefined
}

function metresOfLng(lng: number): number {
  return (lng * HALF_WORLD_METRES) / 180
}

function metresOfLat(lat: number): number {
  return (Math.asinh(Math.tan((lat * Math.PI) / 180)) * HALF_WORLD_METRES) / Math.PI
}

function inUnits([lng, lat]: readonly number[]): number[] {
  return [Math.round(lng * 1e7), Math.round(lat * 1e7)]
}

function inDegrees([lng, lat]: readonly number[]): number[] {
  return [lng / 1e7, lat / 1e7]
}

function middleOf(a: readonly number[], b: readonly number[]): number[] {
  return [Math.round((a[0] + b[0]) / 2), Math.round((a[1] + b[1]) / 2)]
}
