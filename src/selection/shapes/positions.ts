/**
 * Turns GeoJSON positions into units. Each is checked, and a fault is named with its path.
 *
 * @module
 */
import { ServiceError, type ServiceErrorCode } from '../../errors.js'
import type { SentPath } from '../../geometry/polygon/sent-path.js'
import { toUnits } from '../../geometry/units.js'
import { numberOf } from '../../interface/quoted.js'
import { isObject, type JsonObject, kindOf } from '../parse.js'

/** The positions of a ring or a line; a third coordinate is ignored. */
export function readPath(positions: readonly unknown[], path: string): SentPath {
  const units = readPositions(positions, path)
  const lngDegreesAt = (vertex: number) => numberOf((positions[vertex] as unknown[])[0]) as number
  return { units, lngDegreesAt }
}

function readPositions(positions: readonly unknown[], path: string): number[] {
  const units: number[] = []
  for (let i = 0; i < positions.length; i++) {
    const position = positions[i]
    if (isPlain(position)) units.push(toUnits(position[0]), toUnits(position[1]))
    else readPosition(position, `${path}[${i}]`, units)
  }
  return units
}

/** Any number of turns, as far as a double tells two places from one another that are a unit apart. */
const LNG_DEGREES_MAX = 100_000_000
const LAT_DEGREES_MAX = 90

/** Appends one position to `into`. */
export function readPosition(position: unknown, path: string, into: number[]): void {
  if (!Array.isArray(position) || position.length < 2) {
    fail('InvalidGeoJson', 'must be a position: an array of longitude and latitude', path)
  }
  const lng = numberOf(position[0])
  const lat = numberOf(position[1])
  if (lng === undefined || lat === undefined) {
    fail('InvalidGeoJson', 'must hold two numbers, longitude and latitude', path)
  }
  if (!(Math.abs(lng) <= LNG_DEGREES_MAX)) {
    fail('LongitudeOutOfRange', 'must have a longitude from -100,000,000 to 100,000,000', path)
  }
  if (!(Math.abs(lat) <= LAT_DEGREES_MAX)) {
    fail('LatitudeOutOfRange', `must have a latitude from -90 to 90${adviceFor(lng, lat)}`, path)
  }
  into.push(toUnits(lng), toUnits(lat))
}

/** What numbers that are no degrees may be. */
function adviceFor(lng: number, lat: number): string {
  if (Math.abs(lng) <= LAT_DEGREES_MAX && Math.abs(lat) <= 180) {
    return ': longitude is first, and these look exchanged'
  }
  return Math.abs(lat) > METRES_MIN
    ? ': these look like metres, as of web Mercator (EPSG:3857): degrees are needed (EPSG:4326), or ' +
        'beside a geometry of Esri its spatialReference'
    : ''
}

/** No angle in degrees is as large by mistake. */
const METRES_MIN = 360

/** As nearly all positions are; of the others there is more to tell, and a path to tell it with. */
function isPlain(position: unknown): position is readonly [number, number] {
  return (
    Array.isArray(position) &&
    typeof position[0] === 'number' &&
    typeof position[1] === 'number' &&
    Math.abs(position[0]) <= LNG_DEGREES_MAX &&
    Math.abs(position[1]) <= LAT_DEGREES_MAX
  )
}

export function objectAt(value: unknown, path: string): JsonObject {
  if (isObject(value)) return value
  const advice = Array.isArray(value)
    ? ': several are the features of a FeatureCollection'
    : typeof value === 'string'
      ? ': JSON that is a text in JSON was written twice'
      : ''
  return fail('InvalidGeoJson', `must be an object, not ${kindOf(value)}${advice}`, path)
}

export function arrayAt(value: unknown, path: string): readonly unknown[] {
  if (Array.isArray(value)) return value
  return fail('InvalidGeoJson', `must be an array, not ${kindOf(value)}`, path)
}

export function nonEmptyArrayAt(value: unknown, path: string): readonly unknown[] {
  const array = arrayAt(value, path)
  return array.length > 0 ? array : fail('InvalidGeoJson', 'must not be empty', path)
}

export function fail(code: ServiceErrorCode, problem: string, path: string): never {
  throw new ServiceError(code, `${path} ${problem}`, path)
}
