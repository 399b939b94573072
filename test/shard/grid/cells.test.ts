/**
 * Who is in which cell, for shards as they are built: against each recipient by itself.
 *
 * @module
 */
import { cellToBoundary, getPentagons, latLngToCell } from 'h3-js'
import t from 'tap'
import { cellsOf } from '../../../src/shard/grid/cells.js'
import type { Grid } from '../../../src/shard/grid/grid.js'
import { attachShard } from '../../../src/shard/layout.js'
import { columnsOf } from '../../support/data/columns.js'
import { expectedCells, type Place, randomTile } from '../../support/grids/expected-grid.js'
import { testSeed } from '../../support/random/properties.js'
import {
  globeWorldKinds,
  type Random,
  randomWorld,
  seededRandom,
  worldKinds,
} from '../../support/random/world.js'
import { shardsOf } from '../../support/service/local-service.js'
import { byTier } from '../../support/tier.js'

const ROUND_COUNT = byTier({ ci: 2, soak: 20 })
const WORLD_SIZE = byTier({ ci: 600, soak: 2_000 })

for (const kind of [...worldKinds, ...globeWorldKinds]) {
  t.test(`${kind} recipients are in the cells that h3 says`, async (t) => {
    const random = seededRandom(testSeed(t))
    for (let round = 0; round < ROUND_COUNT; round++) {
      const columns = randomWorld(kind, random.between(1, WORLD_SIZE), random)
      const [image] = shardsOf(columns, 1, 10_000)
      const shard = attachShard(image)
      for (let resolution = 0; resolution <= 15; resolution++) {
        const runs = randomRuns(shard.recipientCount, random)
        const found = named({ kind: 'h3', resolution }, shard, runs)
        const expected = expectedCells(placesIn(shard, runs), { h3Resolution: resolution })
        t.same(found, expected, `round ${round}, resolution ${resolution}`)
      }
    }
  })

  t.test(`${kind} recipients are in the parts of tiles that web Mercator says`, async (t) => {
    const random = seededRandom(testSeed(t))
    let insideCount = 0
    for (let round = 0; round < 8 * ROUND_COUNT; round++) {
      const columns = randomWorld(kind, random.between(1, 1_000), random)
      const [image] = shardsOf(columns, 1, 10_000)
      const shard = attachShard(image)
      const runs = randomRuns(shard.recipientCount, random)
      const at = random.between(0, shard.recipientCount - 1)
      const place = { lng: shard.coords[2 * at], lat: shard.coords[2 * at + 1] }
      const members = randomTile(place, random)
      if (!('tile' in members)) throw new Error('it is a tile')
      const [zoom, x, y] = members.tile.split('/').map(Number)
      const depth = Math.log2(members.cellsPerSide)
      const found = named({ kind: 'tile', zoom, x, y, depth }, shard, runs)
      const expected = expectedCells(placesIn(shard, runs), members)
      t.same(found, expected, `round ${round}, ${JSON.stringify(members)}`)
      insideCount += Object.keys(found).length
    }
    t.ok(insideCount > 0, `${insideCount} cells had somebody`)
  })
}

t.test('whoever is on an edge or a corner of h3 is where h3 has them', async (t) => {
  const random = seededRandom(testSeed(t))
  const cells = [0, 1, 2, 3, 5, 8].flatMap((resolution) => [
    ...getPentagons(resolution),
    ...Array.from({ length: byTier({ ci: 4, soak: 20 }) }, () =>
      latLngToCell(180 * random.unit() - 90, 360 * random.unit() - 180, resolution),
    ),
  ])
  for (const cell of cells) {
    const corners = cellToBoundary(cell, true)
    // Many along each edge, in the order of the edge: boxes of them touch the cells on both sides.
    const places = corners.flatMap(([lng, lat], at) => {
      const [nextLng, nextLat] = corners[(at + 1) % corners.length]
      return Array.from({ length: 40 }, (_, step) => ({
        lng: clamp(Math.round((lng + ((nextLng - lng) * step) / 40) * 1e7), 1_800_000_000),
        lat: clamp(Math.round((lat + ((nextLat - lat) * step) / 40) * 1e7), 900_000_000),
      }))
    })
    const [image] = shardsOf(columnsAt(places), 1, 10_000)
    const shard = attachShard(image)
    const runs = Uint32Array.of(0, shard.recipientCount)
    const resolution = Number.parseInt(cell[1], 16)
    const found = named({ kind: 'h3', resolution }, shard, runs)
    t.same(found, expectedCells(placesIn(shard, runs), { h3Resolution: resolution }), cell)
  }
})

t.test('an edge of a tile belongs to the cell east or south of it', async (t) => {
  const places: readonly [lng: number, lat: number, cell: string | undefined][] = [
    [0, 0, '2/2/2'],
    [-1, 1, '2/1/1'],
    [0, 1, '2/2/1'],
    [-1_800_000_000, 0, '2/0/2'],
    // The same meridian.
    [1_800_000_000, 0, '2/0/2'],
    [1_799_999_999, 0, '2/3/2'],
    [900_000_000, 0, '2/3/2'],
    [899_999_999, 0, '2/2/2'],
    // The map ends at 85.0511287798… degrees.
    [0, 850_511_287, '2/2/0'],
    [0, 850_511_288, undefined],
    [0, -850_511_287, '2/2/3'],
    [0, -850_511_288, undefined],
    [0, 900_000_000, undefined],
  ]
  for (const [lng, lat, cell] of places) {
    const [image] = shardsOf(columnsAt([{ lng, lat }]), 1, 10)
    const world: Grid = { kind: 'tile', zoom: 0, x: 0, y: 0, depth: 2 }
    const expected = cell === undefined ? {} : { [cell]: 1 }
    t.same(named(world, attachShard(image), Uint32Array.of(0, 1)), expected, `${lng} ${lat}`)
  }
})

t.test('the name of a cell of h3 comes back, and its area is where it is', async (t) => {
  const random = seededRandom(testSeed(t))
  for (let count = 0; count < byTier({ ci: 75, soak: 500 }); count++) {
    const place = { lng: random.between(-1_800_000_000, 1_800_000_000), lat: latOf(random) }
    const resolution = random.between(0, 15)
    const [image] = shardsOf(columnsAt([place]), 1, 10)
    const cells = cellsOf({ kind: 'h3', resolution })
    const [cell] = cells.count(attachShard(image), Uint32Array.of(0, 1))
    t.equal(cells.nameOf(cell), latLngToCell(place.lat / 1e7, place.lng / 1e7, resolution))
    const corners = cellToBoundary(cells.nameOf(cell), true)
    const lngs = corners.map(([lng]) => lng)
    if (Math.max(...lngs) - Math.min(...lngs) < 180) {
      t.same(
        cells.areaOf(cell),
        [[corners.map((corner) => corner.map((each) => Math.round(each * 1e7) / 1e7))]],
        'the corners of h3',
      )
    }
    for (const [ring] of cells.areaOf(cell)) {
      t.same(ring[0], ring.at(-1), 'closed')
      const isOnGlobe = ring.every(([lng, lat]) => Math.abs(lng) <= 180 && Math.abs(lat) <= 90)
      t.ok(isOnGlobe, 'cut at the antimeridian')
      t.ok(doubleArea(ring) > 0, 'counterclockwise')
    }
  }
  for (const lat of [900_000_000, -900_000_000]) {
    const [image] = shardsOf(columnsAt([{ lng: 0, lat }]), 1, 10)
    const cells = cellsOf({ kind: 'h3', resolution: 2 })
    const [cell] = cells.count(attachShard(image), Uint32Array.of(0, 1))
    const lats = cells
      .areaOf(cell)
      .flat(2)
      .map(([, each]) => each)
    t.ok(lats.includes(lat / 1e7), 'a cell round a pole has the pole')
  }
})

function columnsAt(places: readonly Place[]) {
  return columnsOf(places.map((place, at) => ({ ...place, phone: `+999${at}`, contact: '' })))
}

function latOf(random: Random): number {
  return random.between(-899_999_999, 899_999_999)
}

function clamp(value: number, most: number): number {
  return Math.min(most, Math.max(-most, value))
}

function doubleArea(ring: readonly (readonly number[])[]): number {
  return ring.reduce((sum, [lng, lat], at) => {
    const [nextLng, nextLat] = ring[(at + 1) % ring.length]
    return sum + lng * nextLat - nextLng * lat
  }, 0)
}

type AttachedShard = ReturnType<typeof attachShard>

function named(grid: Grid, shard: AttachedShard, runs: Uint32Array): Record<string, number> {
  const cells = cellsOf(grid)
  const pairs = cells.count(shard, runs)
  const found: [string, number][] = []
  for (let at = 0; at < pairs.length; at += 2) found.push([cells.nameOf(pairs[at]), pairs[at + 1]])
  return Object.fromEntries(found)
}

function placesIn({ coords }: AttachedShard, runs: Uint32Array): Place[] {
  const places: Place[] = []
  for (let run = 0; run < runs.length; run += 2) {
    for (let at = runs[run]; at < runs[run + 1]; at++) {
      places.push({ lng: coords[2 * at], lat: coords[2 * at + 1] })
    }
  }
  return places
}

/** All, or parts of all sizes. */
function randomRuns(count: number, random: Random): Uint32Array {
  if (random.unit() < 0.3) return Uint32Array.of(0, count)
  const bounds: number[] = []
  for (let at = random.between(0, count - 1); at < count; at += random.pick([1, 2, 9, 70, 500])) {
    bounds.push(at)
  }
  if (bounds.length % 2 === 1) bounds.push(count)
  return Uint32Array.from(bounds)
}
