import t from 'tap'
import { validate } from '../../src/selection/validate.js'
import type { RecipientColumns } from '../../src/shard/columns.js'
import { attachShard, type Shard } from '../../src/shard/layout.js'
import { selectInside } from '../../src/shard/select.js'
import { prepare } from '../oracle/geometry/exact.js'
import { readGeometry } from '../oracle/geometry/geometry.js'
import { columnsOf } from '../support/data/columns.js'
import { randomPen } from '../support/random/fine-coordinates.js'
import { testSeed } from '../support/random/properties.js'
import { type MultiPolygonCoordinates, randomShape, shapeKinds } from '../support/random/shapes.js'
import { type Random, randomWorld, seededRandom } from '../support/random/world.js'
import { shardsOf } from '../support/service/local-service.js'
import { byTier } from '../support/tier.js'

const ROUND_COUNT = byTier({ ci: 4, soak: 20 })
const HALF_TURN = 1_800_000_000
const shards = new WeakMap<RecipientColumns, Shard>()

t.test('a world turned to the antimeridian is selected as it was where it is', async (t) => {
  const random = seededRandom(testSeed(t))
  let hitCount = 0
  for (let round = 0; round < ROUND_COUNT; round++) {
    const columns = randomWorld('uniform', random.between(1, 1_000), random)
    const turn = HALF_TURN - columns.lngs[0]
    const turned = { ...columns, lngs: columns.lngs.map((lng) => wrapped(lng + turn)) }
    for (let i = 0; i < 60; i++) {
      const row = random.between(0, columns.recipientCount - 1)
      const kind = random.pick(shapeKinds)
      const shape = randomShape(kind, random, columns.lngs[row], columns.lats[row])
      const { contains } = prepare(shape)
      const expected = selected(columns, contains)
      hitCount += expected.length
      for (const spell of [wrapped, (lng: number) => lng]) {
        const found = ask(
          turned,
          moved(shape, (lng) => spell(Math.round(lng * 1e7) + turn) / 1e7),
        )
        t.same(found, expected, `${kind} shape ${i} of round ${round}`)
      }
    }
  }
  t.ok(hitCount > 0)
})

t.test('fine shapes over the antimeridian are selected as the oracle does', async (t) => {
  const random = seededRandom(testSeed(t))
  let hitCount = 0
  for (let round = 0; round < ROUND_COUNT; round++) {
    const columns = randomWorld('antimeridian', random.between(1, 500), random)
    for (let i = 0; i < 100; i++) {
      const row = random.between(0, columns.recipientCount - 1)
      const shape = randomShape(
        random.pick(shapeKinds),
        random,
        columns.lngs[row],
        columns.lats[row],
        randomPen(random),
      )
      const turns = random.pick([-1, 0, 1, random.between(-9_999, 9_999)])
      const spell = random.pick([(lng: number) => lng, wrappedDegrees, shiftedBy(turns)])
      const coordinates = moved(shape, spell)
      const verdictOf = readGeometry({ type: 'MultiPolygon', coordinates }, undefined)
      const found = new Set(ask(columns, coordinates))
      hitCount += found.size
      const expected = selected(columns, (lng, lat) => verdictOf(lng, lat) === 'inside')
      const possible = selected(columns, (lng, lat) => verdictOf(lng, lat) !== 'outside')
      const isRight =
        expected.every((phone) => found.has(phone)) &&
        [...found].every((phone) => possible.includes(phone))
      t.ok(isRight, `shape ${i} of round ${round}: ${JSON.stringify(coordinates)}`)
    }
  }
  t.ok(hitCount > 0)
})

t.test('a ring round a pole holds what lies between it and the pole', async (t) => {
  const random = seededRandom(testSeed(t))
  for (let round = 0; round < 40; round++) {
    const columns = polarWorld(random)
    const sign = random.pick([-1, 1])
    const stops = Array.from({ length: random.between(4, 12) }, (_, i) => [
      -180 + 30 * i + random.between(0, 29),
      sign * random.between(20, 80),
    ]).filter(([lng]) => lng < 180)
    if (stops.length < 3 || widest(stops) >= 180) continue
    const ring = random.pick([stops, [...stops].reverse()])
    const expected = selected(columns, (lng, lat) => beyond(stops, lng, sign * lat, sign))
    t.same(ask(columns, [[ring]]), expected, `round ${round}`)
  }
})

t.test('a place on the antimeridian is the same place from either side', async (t) => {
  const columns = columnsOf(
    [-180, 180].map((lng, i) => ({ phone: `+9990${i}`, lng: lng * 1e7, lat: 0, contact: '' })),
  )
  for (const [west, east] of [
    [170, 180],
    [-180, -170],
    [175, 185],
  ]) {
    const ring = [west, east].flatMap((lng) =>
      [-1, 1].map((lat) => [lng, lng === west ? lat : -lat]),
    )
    t.equal(ask(columns, [[ring]]).length, 2, `${west} to ${east}`)
  }
})

/** Rows of recipients, by their positions in order. */
function ask(columns: RecipientColumns, coordinates: MultiPolygonCoordinates): string[] {
  const { shapes } = validate({ geoJSON: { type: 'MultiPolygon', coordinates } })
  const shard = shardOf(columns)
  const [runs] = selectInside([shard], shapes, { edgeTestCount: 1e9 })
  const phones: string[] = []
  for (let i = 0; i < runs.length; i += 2) {
    for (let index = runs[i]; index < runs[i + 1]; index++) {
      const [start, end] = shard.phoneOffsets.subarray(index, index + 2)
      phones.push(Buffer.from(shard.phones.subarray(start, end)).toString())
    }
  }
  return phones.sort()
}

/** Of the same recipients the same one, which many shapes are asked of. */
function shardOf(columns: RecipientColumns): Shard {
  const known = shards.get(columns)
  if (known !== undefined) return known
  const [shard] = shardsOf(columns, 1, columns.recipientCount).map(attachShard)
  shards.set(columns, shard)
  return shard
}

function selected(
  { lngs, lats, phones, phoneOffsets, recipientCount }: RecipientColumns,
  holds: (lng: number, lat: number) => boolean,
): string[] {
  const found: string[] = []
  for (let row = 0; row < recipientCount; row++) {
    if (!holds(lngs[row], lats[row])) continue
    const bytes = phones.subarray(phoneOffsets[row], phoneOffsets[row + 1])
    found.push(Buffer.from(bytes).toString())
  }
  return found.sort()
}

function moved(
  shape: MultiPolygonCoordinates,
  move: (lng: number) => number,
): MultiPolygonCoordinates {
  return shape.map((rings) => rings.map((ring) => ring.map(([lng, lat]) => [move(lng), lat])))
}

function wrappedDegrees(lng: number): number {
  return lng > 180 ? lng - 360 : lng < -180 ? lng + 360 : lng
}

function shiftedBy(turns: number): (lng: number) => number {
  return (lng) => lng + 360 * turns
}

function wrapped(lng: number): number {
  const turns = Math.floor((lng + HALF_TURN) / (2 * HALF_TURN))
  return lng - turns * 2 * HALF_TURN
}

function polarWorld(random: Random): RecipientColumns {
  return columnsOf(
    Array.from({ length: 300 }, (_, row) => ({
      phone: `+999${row}`,
      lng: random.between(-180, 179) * 1e7,
      lat: random.between(-90, 90) * 1e7,
      contact: '',
    })),
  )
}

/** The widest gap between longitudes of stops, which ascend. */
function widest(stops: readonly (readonly number[])[]): number {
  return Math.max(
    ...stops.map(([lng], i) =>
      i > 0 ? lng - stops[i - 1][0] : lng + 360 - stops[stops.length - 1][0],
    ),
  )
}

/**
 * Whether a point lies on the polar side of the line through the stops, or on it, in whole numbers:
 * degrees for the stops, units for the point.
 */
function beyond(
  stops: readonly (readonly number[])[],
  lng: number,
  latTowardsPole: number,
  sign: number,
): boolean {
  const first = stops[0]
  const closed = [...stops, [first[0] + 360, first[1]]]
  const at = lng / 1e7 < first[0] ? lng / 1e7 + 360 : lng / 1e7
  for (let i = 1; i < closed.length; i++) {
    const [westLng, westLat] = closed[i - 1]
    const [eastLng, eastLat] = closed[i]
    if (at < westLng || at > eastLng) continue
    const left = (latTowardsPole / 1e7 - sign * westLat) * (eastLng - westLng)
    return left >= sign * (eastLat - westLat) * (at - westLng)
  }
  return false
}
