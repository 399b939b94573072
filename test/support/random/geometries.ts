/**
 * Random GeoJSON geometries of every type, for notations to be written from and read back.
 *
 * @module
 */
import type { DrawnGeometry, Position } from '../../../src/notations/drawn.js'
import type { Random } from './world.js'

/** Of all types, or of some; with positions that are of two numbers and not all within the globe. */
export function randomGeometry(random: Random, depth = 0): DrawnGeometry {
  const type = random.pick(depth < 3 ? TYPES : TYPES.slice(0, -1))
  const some = <T>(make: () => T) => Array.from({ length: random.between(1, 4) }, make)
  const line = () => Array.from({ length: random.between(2, 6) }, () => randomPosition(random))
  const rings = () => some(() => randomRing(random))
  switch (type) {
    case 'Point':
      return { type, coordinates: random.between(0, 9) === 0 ? [] : randomPosition(random) }
    case 'LineString':
      return { type, coordinates: line() }
    case 'MultiPoint':
      return { type, coordinates: some(() => randomPosition(random)) }
    case 'Polygon':
      return { type, coordinates: rings() }
    case 'MultiLineString':
      return { type, coordinates: some(line) }
    case 'MultiPolygon':
      return { type, coordinates: some(rings) }
    default: {
      const geometries = some(() => randomGeometry(random, depth + 1))
      return { type: 'GeometryCollection', geometries }
    }
  }
}

const TYPES = [
  'Point',
  'LineString',
  'MultiPoint',
  'Polygon',
  'MultiLineString',
  'MultiPolygon',
  'GeometryCollection',
] as const

export function randomRing(random: Random): Position[] {
  const ring = Array.from({ length: random.between(3, 8) }, () => randomPosition(random))
  return [...ring, ring[0]]
}

export function randomPosition(random: Random): Position {
  return [randomNumber(random, 400), randomNumber(random, 100)]
}

/** With as many digits as a double has, or few, or so small that it is written with an exponent. */
function randomNumber(random: Random, max: number): number {
  const value = (2 * random.unit() - 1) * max
  switch (random.between(0, 3)) {
    case 0:
      return value
    case 1:
      return Math.round(value)
    case 2:
      return value * 10 ** -random.between(1, 30)
    default:
      return Number(value.toFixed(random.between(1, 7)))
  }
}
