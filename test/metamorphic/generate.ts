/**
 * Random shapes as they are sent, each of one certain meaning.
 *
 * @module
 */
import type { Random } from '../support/random/world.js'
import { nextDouble, precisions, type Writer, writtenLat, writtenLng } from './coordinates.js'
import {
  band,
  clamped,
  randomLine,
  randomShell,
  ringRoundPole,
  type Spot,
  star,
  wideRing,
} from './draw.js'
import { isUnambiguous } from './nesting.js'
import { differentCount, readPath } from './reading.js'
import type { Path, Shape, Vertex } from './shape.js'

const kinds = [
  ...Array<'small'>(5).fill('small'),
  'polygon',
  'polygon',
  'nested',
  'nested',
  'several',
  'several',
  'polar',
  'polar',
  'band',
  'wide',
  'half',
  'line',
  'line',
] as const

/** A circle, a corridor or a margin takes much longer than a polygon: one shape in so many. */
const BUFFERED_SHARE = 1 / 25

/** @param around  positions of recipients in degrees */
export function randomShape(around: readonly Vertex[], random: Random): Shape {
  for (;;) {
    const shape = drawn(around, random)
    if (isReadable(shape)) return shape
  }
}

/**
 * Whether every path has one meaning, and every ring three different vertices. Those that differ by
 * less than the rounding of a vertex may be the same to the service. What has a margin has clear
 * holes: one that just reaches the tip of its shell takes the margin of that away, or does not.
 */
export function isReadable(shape: Shape): boolean {
  const { kind, parts } = shape
  if (kind === 'points') return true
  if (shape.metres !== undefined && !isUnambiguous(shape)) return false
  const isRing = kind === 'polygons'
  return parts
    .flat()
    .every(
      (path) =>
        path.every(([lng]) => Math.abs(lng) <= LNG_DEGREES_MAX) &&
        readPath(path, isRing) !== undefined &&
        (isRing ? differentCount(path, ROUNDING_DEGREES) >= 3 : path.length >= 2),
    )
}

const LNG_DEGREES_MAX = 1e8
const ROUNDING_DEGREES = 1e-12

function drawn(around: readonly Vertex[], random: Random): Shape {
  const own = random.pick(around)
  const reach = random.pick([1e-6, 1e-4, 1e-2, 0.1, 0.5, 0.5, 3, 30, 80])
  const centre: Vertex = [own[0] + reach * (random.unit() - 0.5), own[1]]
  const writer: Writer = {
    random,
    precision: random.unit() < 0.35 ? 'seven' : random.pick(precisions),
    reachDegrees: reach,
    own,
  }
  const isClosed = random.unit() < 0.8
  if (random.unit() < BUFFERED_SHARE) {
    return { ...buffered({ random, centre, reach: Math.min(reach, 3) }, writer), isClosed }
  }
  const kind = random.pick(kinds)
  const spot = { random, centre, reach }
  if (kind === 'line') {
    return { kind: 'lines', parts: linesOf(spot, writer), isClosed }
  }
  return { kind: 'polygons', parts: polygonsOf(kind, spot, writer), isClosed }
}

type PolygonKind = Exclude<(typeof kinds)[number], 'line'>

function polygonsOf(kind: PolygonKind, spot: Spot, writer: Writer): Path[][] {
  const { random, centre } = spot
  switch (kind) {
    case 'small': {
      const edge = Math.sign(centre[0]) * 180
      const beside = { ...spot, reach: Math.min(spot.reach, 2) }
      const away = beside.reach * (random.unit() - 0.5)
      return [[sent(randomShell({ ...beside, centre: [edge + away, centre[1]] }), writer)]]
    }
    case 'polygon':
      return [ringsOf(spot, writer)]
    case 'nested':
      return [nestedRings(spot, writer)]
    case 'several':
      return Array.from({ length: random.between(2, 3) }, () =>
        ringsOf({ ...spot, centre: [centre[0] + spot.reach * random.unit(), centre[1]] }, writer),
      )
    case 'polar': {
      const around =
        random.unit() < 0.2 ? [sent(band(spot), { ...writer, precision: 'seven' })] : []
      return [[...around, wrapped(ringRoundPole(spot), writer)]]
    }
    case 'band':
      // Its seam is one for longitudes of exactly 180.
      return [[band(spot).map(([lng, lat]): Vertex => [lng, writtenLat(lat, writer)])]]
    case 'half':
      return [[halfTurn(spot, writer)]]
    case 'wide':
      return [[wideRing(spot).map((vertex) => asWritten(vertex, writer))]]
  }
}

/** With an edge of half a turn, or of the least bit more or less: it runs one way or the other. */
function halfTurn({ random, centre: [lng, lat] }: Spot, writer: Writer): Path {
  const west = writtenLng(-180 * random.unit(), writer)
  const east = west + 180
  const ends = [west, random.pick([nextDouble(east, -1), east, nextDouble(east, 1)])]
  const middle = ends[0] + 180 * random.unit()
  const lats = [lat, clamped(lat + random.between(-9, 9)), clamped(lat + random.between(1, 9))]
  const ring = [...ends, random.pick([middle, lng])].map(
    (each, i): Vertex => [each, writtenLat(lats[i], writer)],
  )
  return random.unit() < 0.5 ? ring : ring.toReversed()
}

/** Holes are anywhere: inside, across one another, out of the shell, like the shell. */
function ringsOf(spot: Spot, writer: Writer): Path[] {
  const { random } = spot
  const shell = sent(randomShell(spot), writer)
  const holes = Array.from({ length: random.pick([0, 0, 1, 2]) }, () =>
    random.unit() < 0.1 ? shell : sent(randomShell({ ...spot, reach: spot.reach / 2 }), writer),
  )
  return [shell, ...holes]
}

function nestedRings(spot: Spot, writer: Writer): Path[] {
  const hole = star({ ...spot, reach: spot.reach / 10 })
  return [sent(star(spot), writer), sent(hole, writer)]
}

function linesOf(spot: Spot, writer: Writer): Path[][] {
  const count = spot.random.pick([1, 1, 2])
  return Array.from({ length: count }, () => [sent(randomLine(spot), writer)])
}

const METRES_PER_DEGREE = 111_000

function buffered(spot: Spot, writer: Writer): Omit<Shape, 'isClosed'> {
  const { random, reach } = spot
  const metres = Math.max(10, Math.round(METRES_PER_DEGREE * reach * random.unit()))
  const kind = random.pick(['polygons', 'lines', 'points'] as const)
  if (kind === 'polygons') return { kind, parts: [nestedRings(spot, writer)], metres }
  if (kind === 'lines') return { kind, parts: linesOf(spot, writer), metres }
  return { kind, parts: [[sent(randomLine(spot), writer)]], metres }
}

/** Within ±180 more often than as drawn. */
function sent(path: Path, writer: Writer): Path {
  const { random } = writer
  if (random.unit() < 0.6) return wrapped(path, writer)
  const turns = random.unit() < 0.1 ? random.between(-5_000, 5_000) : random.between(-2, 2)
  return path.map(([lng, lat]) => asWritten([lng + 360 * turns, lat], writer))
}

function wrapped(path: Path, writer: Writer): Path {
  return path.map(([lng, lat]) => asWritten([lng - 360 * Math.round(lng / 360), lat], writer))
}

function asWritten([lng, lat]: Vertex, writer: Writer): Vertex {
  return [writtenLng(lng, writer), writtenLat(lat, writer)]
}
