/**
 * Bounding boxes as GeoJSON has them (RFC 7946, 5): west, south, east and north, in degrees. Where west
 * is greater than east, the box crosses the antimeridian.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import { decimalOf } from './decimal.js'
import type { DrawnGeometry, Position } from './drawn.js'

/**
 * @param value  four numbers, or six with altitudes, which are read past; or a text of them with commas
 * @returns a box that crosses the antimeridian as two polygons, which meet there; a box of one place as
 * a point
 * @throws ServiceError  InvalidBbox, LatitudeOutOfRange
 */
export function readBbox(value: unknown, path: string): DrawnGeometry {
  const [west, south, east, north] = sidesOf(value, path)
  if (Math.abs(south) > 90 || Math.abs(north) > 90) {
    const isProjected = Math.abs(south) > 360 && Math.abs(north) > 360
    const advice = isProjected
      ? 'these look like metres, degrees are needed'
      : `the order is ${ORDER}`
    throw new ServiceError(
      'LatitudeOutOfRange',
      `${path} has a latitude beyond 90: ${advice}`,
      path,
    )
  }
  if (south > north) {
    fail('has its south north of its north: the order is west, south, east, north', path)
  }
  if (west <= east) return boxOf(west, south, east, north)
  if (Math.abs(west) > 180 || Math.abs(east) > 180) {
    fail('has its west east of its east, which only longitudes from -180 to 180 may have', path)
  }
  // The antimeridian is one place, so a part without a width is in the other one.
  if (west === 180) return boxOf(-180, south, east, north)
  if (east === -180) return boxOf(west, south, 180, north)
  const parts = [boxOf(west, south, 180, north), boxOf(-180, south, east, north)]
  return { type: 'GeometryCollection', geometries: parts }
}

function sidesOf(value: unknown, path: string): readonly [number, number, number, number] {
  const items = typeof value === 'string' ? value.split(',', 7) : value
  if (!Array.isArray(items) || (items.length !== 4 && items.length !== 6)) {
    return fail(`must be four numbers, ${ORDER}, or six with altitudes`, path)
  }
  const numbers: number[] = []
  for (const item of items) {
    numbers.push(decimalOf(item) ?? fail(`must be numbers: ${ORDER}`, path))
  }
  const [west, south] = numbers
  const [east, north] = items.length === 6 ? numbers.slice(3) : numbers.slice(2)
  return [west, south, east, north]
}

const ORDER = 'west, south, east, north'

function fail(problem: string, path: string): never {
  throw new ServiceError('InvalidBbox', `${path} ${problem}`, path)
}

function boxOf(west: number, south: number, east: number, north: number): DrawnGeometry {
  if (west === east && south === north) return { type: 'Point', coordinates: [west, south] }
  if (west === east) {
    return lineOf(stops(south, north).map((lat): Position => [west, lat]))
  }
  const there = stops(west, east).map((lng): Position => [lng, south])
  if (south === north) return lineOf(there)
  const back = there.toReversed().map(([lng]): Position => [lng, north])
  return { type: 'Polygon', coordinates: [[...there, ...back, there[0]]] }
}

/**
 * A box without an area. As a ring it keeps to its parallel where a margin is drawn, as other boxes do, and
 * a line would not; but a ring needs a third vertex, for which there may be no number.
 */
function lineOf(path: readonly Position[]): DrawnGeometry {
  if (path.length === 2) return { type: 'LineString', coordinates: path }
  // Back the way that it came: it may be wider than half the globe.
  return { type: 'Polygon', coordinates: [[...path, ...path.slice(0, -1).reverse()]] }
}

/**
 * From one number to another in steps of at most 90 degrees, so that no edge has a shorter way; three or
 * more, if there is one between. Beyond ±180 degrees edges are as they are drawn, however long.
 */
function stops(from: number, to: number): number[] {
  const stepCount = Math.max(2, Math.min(STEPS_ROUND, Math.ceil((to - from) / 90)))
  const between: number[] = []
  for (let step = 1; step < stepCount; step++) {
    const stop = from + ((to - from) * step) / stepCount
    if (stop > (between.at(-1) ?? from) && stop < to) between.push(stop)
  }
  return [from, ...between, to]
}

/** Once round the globe. */
const STEPS_ROUND = 4
