/**
 * One GeoJSON geometry, whatever its type.
 *
 * @module
 */
import {
  lngOnGlobe,
  type RingFault,
  type UnitRing,
  unwrapRing,
} from '../../geometry/polygon/antimeridian.js'
import type { SentPath } from '../../geometry/polygon/sent-path.js'
import { nearestName } from '../../interface/near-miss.js'
import { kindOf } from '../parse.js'
import type { GeometrySink } from './layers.js'
import { arrayAt, fail, nonEmptyArrayAt, readPath, readPosition } from './positions.js'

/**
 * Reads coordinates. An empty array is a geometry of nobody (RFC 7946, 3.1).
 *
 * @throws ServiceError  that names the position or the ring
 */
export function readCoordinates(
  type: unknown,
  coordinates: unknown,
  path: string,
  into: GeometrySink,
): void {
  const read = typeof type === 'string' ? READERS.get(type) : undefined
  if (read === undefined) {
    fail('UnknownGeometryType', typeProblem(type), `${path}.type`)
  }
  if (Array.isArray(coordinates) && coordinates.length === 0) return
  read(coordinates, `${path}.coordinates`, into)
}

/** A ring as a polygon takes it: checked, not closed, in continuous longitudes. */
export interface Ring {
  readonly ring: UnitRing
  /** Whether it has three different points or more; with fewer it is all boundary. */
  readonly hasThreePoints: boolean
}

/** @param into  is told of the ring, so that a feature of nothing but rings of fewer points is refused */
export function toRing(sent: SentPath, path: string, into: GeometrySink): Ring {
  const { units, lngDegreesAt } = sent
  const end = units.length
  if (end === 0) fail('DegenerateRing', FEW_POINTS, path)
  const hasThreePoints = haveThree(units)
  into.ring(hasThreePoints, path)
  const isClosed = end > 2 && units[0] === units[end - 2] && units[1] === units[end - 1]
  const ring = unwrapRing({ units: isClosed ? units.slice(0, -2) : units, lngDegreesAt })
  if (typeof ring === 'string') fail('AmbiguousRing', RING_FAULTS[ring], path)
  return { ring, hasThreePoints }
}

/** What is wrong with a ring of fewer points, where no ring of its feature has more. */
export const FEW_POINTS = 'must have at least three different positions'

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

/** Types of geometries that have coordinates, as RFC 7946 spells them. */
export const COORDINATE_TYPES: readonly string[] = [...READERS.keys()]

/** What is wrong with what should be the type of a geometry. */
function typeProblem(type: unknown): string {
  const problem = `must be ${COORDINATE_TYPES.join(', ')} or ${COLLECTION}`
  if (type === undefined) return `${problem}, and is missing`
  if (typeof type !== 'string') return `${problem}, not ${kindOf(type)}`
  const meant = nearestName(type.replace(/^esriGeometry/i, ''), [...COORDINATE_TYPES, COLLECTION])
  if (meant !== undefined) return `${problem}: do you mean ${meant}? types are case-sensitive`
  if (/^feature/i.test(type)) return `${problem}: a Feature has its geometry in geometry`
  if (!/circle/i.test(type)) return problem
  return `${problem}: a circle is a Point whose Feature has the property radius, in metres`
}

const COLLECTION = 'GeometryCollection'

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
    return toRing(readPath(positions, at), at, into)
  })
  const [shell, ...holes] = rings
  // A hole that is all boundary removes nobody.
  const open = holes.filter(({ hasThreePoints }) => hasThreePoints)
  into.polygon(
    shell.ring,
    open.map(({ ring }) => ring),
  )
}

function readLine(value: unknown, path: string, into: GeometrySink): void {
  const positions = arrayAt(value, path)
  // A line that holds what lies on it runs there and back.
  into.count(2 * positions.length, path)
  const line = readPath(positions, path)
  if (positions.length < 2) fail('InvalidGeoJson', 'must have at least two positions', path)
  into.line(line, path)
}

function readPoint(value: unknown, path: string, into: GeometrySink): void {
  into.count(1, path)
  const point: number[] = []
  readPosition(value, path, point)
  into.point([lngOnGlobe(point[0]), point[1]])
}

/** Whether there are three different positions or more. */
function haveThree(positions: readonly number[]): boolean {
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

/** What is wrong with a ring that has no one meaning, in words. */
export const RING_FAULTS: Readonly<Record<RingFault, string>> = {
  AmbiguousPole: 'goes round the globe so near the equator that it could hold either pole',
  SeveralTurns: 'goes round the globe more than once',
  TooWide: 'is more than three turns wide, or runs back by more than one on its way round a pole',
}
