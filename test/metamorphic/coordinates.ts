/**
 * Coordinates in all the precisions that clients send: not only those of seven decimals.
 *
 * @module
 */
import type { Random } from '../support/random/world.js'

/**
 * - `seven`: at most seven decimals
 * - `digits`: 8 to 17 significant digits
 * - `bits`: a double with random bits
 * - `beside`: a special value, or the double next to it, where one is near
 * - `mercator`: from metres of the web Mercator projection
 * - `mixed`: each coordinate in a way of its own
 */
export const precisions = ['seven', 'digits', 'bits', 'beside', 'mercator', 'mixed'] as const
export type Precision = (typeof precisions)[number]

export interface Writer {
  readonly random: Random
  readonly precision: Precision
  /** Special values are taken where they are within so many degrees. */
  readonly reachDegrees: number
  /** Coordinates of a recipient. */
  readonly own: readonly [lng: number, lat: number]
}

const SPECIAL_LATS = [-90, 0, 90]

export function writtenLng(lng: number, writer: Writer): number {
  const own = writer.own[0] + 360 * Math.round((lng - writer.own[0]) / 360)
  const halfTurns = 180 * Math.round(lng / 180)
  return written(lng, [halfTurns - 180, halfTurns, halfTurns + 180, own], writer, throughMetresEast)
}

export function writtenLat(lat: number, writer: Writer): number {
  const near = written(lat, [...SPECIAL_LATS, writer.own[1]], writer, throughMetresNorth)
  return Math.max(-90, Math.min(90, near))
}

export function toSeven(degrees: number): number {
  return Math.round(degrees * 1e7) / 1e7
}

/** The double next to a number, towards a sign. */
export function nextDouble(value: number, sign: number): number {
  if (value === 0) return sign * Number.MIN_VALUE
  const view = new DataView(new ArrayBuffer(8))
  view.setFloat64(0, value)
  view.setBigInt64(0, view.getBigInt64(0) + BigInt(sign * Math.sign(value)))
  return view.getFloat64(0)
}

const simple = ['seven', 'digits', 'bits', 'beside', 'mercator'] as const

function written(
  value: number,
  specials: readonly number[],
  { random, precision, reachDegrees }: Writer,
  throughMetres: (degrees: number, random: Random) => number,
): number {
  switch (precision === 'mixed' ? random.pick(simple) : precision) {
    case 'seven': {
      const special = specials.find((each) => Math.abs(each - value) < reachDegrees)
      return toSeven(special !== undefined && random.unit() < 0.1 ? special : value)
    }
    case 'bits':
      return withRandomBits(value, random)
    case 'mercator':
      return throughMetres(value, random)
    case 'beside': {
      const near = specials.filter((special) => Math.abs(special - value) < reachDegrees)
      if (near.length > 0 && random.unit() < 0.6) return beside(random.pick(near), random)
      return random.pick([toSeven(value), withRandomBits(value, random)])
    }
    default:
      return Number(value.toPrecision(random.between(8, 17)))
  }
}

function beside(special: number, random: Random): number {
  const side = random.pick([-1, 0, 1])
  return side === 0 ? special : nextDouble(special, side)
}

function withRandomBits(value: number, random: Random): number {
  const view = new DataView(new ArrayBuffer(8))
  view.setFloat64(0, value)
  view.setUint32(4, random.between(0, 2 ** 32 - 1))
  return view.getFloat64(0)
}

const EARTH_METRES = 6_378_137

function throughMetresEast(lng: number, random: Random): number {
  return (
    (roundedMetres((lng * Math.PI * EARTH_METRES) / 180, random) / EARTH_METRES / Math.PI) * 180
  )
}

function throughMetresNorth(lat: number, random: Random): number {
  if (Math.abs(lat) > 89.9) return lat
  const metres = EARTH_METRES * Math.asinh(Math.tan((lat * Math.PI) / 180))
  return (Math.atan(Math.sinh(roundedMetres(metres, random) / EARTH_METRES)) * 180) / Math.PI
}

function roundedMetres(metres: number, random: Random): number {
  const scale = 10 ** random.between(2, 9)
  return Math.round(metres * scale) / scale
}
