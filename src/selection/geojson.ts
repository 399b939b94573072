/**
 * One GeoJSON geometry, whatever its type.
 *
 * @module
 */
import { type RingFault, type UnitRing, unwrapLine, unwrapRing } from '../geometry/antimeridian.js'
import type { GeometrySink } from './layers.js'
import { kindOf } from './parse.js'
import { arrayAt, fail, nonEmptyArrayAt, readPosition, readPositions } from './positions.js'

/** @throws ServiceError  that names the position or the ring */
export function readCoordinates(
  type: unknown,
  coordinates: unknown,
  path: string,
  into: GeometrySink,
): void {
  const read = typeof type === 'string' ? READERS.get(type) : undefined
  if (read === undefined) {
    const found = typeof type === 'string' ? 'unknown' : kindOf(type)
    const problem = `must be the type of a GeoJSON geometry, but is ${found}`
    fail('UnknownGeometryType', problem, `${path}.type`)
  }
  read(coordinates, `${path}.coordinates`, into)
}

/** A ring as a polygon takes it: checked, not closed, in continuous longitudes. */
export function toRing(positions: number[], path: string): UnitRing {
  if (!hasThreePoints(positions)) {
    fail('DegenerateRing', 'must have at least three different positions', path)
  }
  const end = positions.length
  const isClosed = positions[0] === positions[end - 2] && positions[1] === positions[end - 1]
  const ring = unwrapRing(isClosed ? positions.slice(0, -2) : positions)
  if (typeof ring === 'string') fail('AmbiguousRing', RING_FAULTS[ring], path)
  return ring
}

type CoordinateReader = (coordinates: unknown, path: string, into: GeometrySink) => void

const READERS: ReadonlyMap<string, CoordinateReader> = new Map(
  Object.entries({
    Polygon: readPolygon,
    MultiPolygon: eachOf(readPolygon),
    LineString: readLine,
    MultiLineString: eachOf(readLine),
    Point: readPoint,
    MultiPoint: eachOf(readPoint),
  }),
)

function eachOf(read: CoordinateReader): CoordinateReader {
  return (value, path, into) => {
    for (const [index, item] of nonEmptyArrayAt(value, path).entries()) {
      read(item, `${path}[${index}]`, into)
    }
  }
}

function readPolygon(value: unknown, path: string, into: GeometrySink): void {
  const rings = nonEmptyArrayAt(value, path).map((ring, index) => {
    const at = `${path}[${index}]`
    const positions = arrayAt(ring, at)
    into.count(positions.length, at)
    return toRing(readPositions(positions, at), at)
  })
  into.polygon(rings[0], rings.slice(1))
}

function readLine(value: unknown, path: string, into: GeometrySink): void {
  const positions = arrayAt(value, path)
  // A line that holds what lies on it runs there and back.
  into.count(2 * positions.length, path)
  const line = readPositions(positions, path)
  if (positions.length < 2) fail('InvalidGeoJson', 'must have at least two positions', path)
  into.line(unwrapLine(line))
}

function readPoint(value: unknown, path: string, into: GeometrySink): void {
  into.count(1, path)
  const point: number[] = []
  readPosition(value, path, point)
  into.point(point)
}

function hasThreePoints(positions: readonly number[]): boolean {
  const [lng1, lat1] = positions
  let second = 0
  for (let i = 2; i < positions.length; i += 2) {
    if (positions[i] === lng1 && positions[i + 1] === lat1) continue
    if (second === 0) second = i
    else if (positions[i] !== positions[second] || positions[i + 1] !== positions[second + 1]) {
      return true
    }
  }
  return false
}

const RING_FAULTS: Readonly<Record<RingFault, string>> = {
  AmbiguousPole: 'goes round the globe so near the equator that it could hold either pole',
  SeveralTurns: 'goes round the globe more than once',
}
