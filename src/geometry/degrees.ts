/**
 * Coordinates as decimal text.
 *
 * @module
 */
import { UNITS_PER_DEGREE } from './units.js'

/** Bytes of the longest coordinate, such as -179.1234567. */
export const DEGREES_BYTES = 12

/**
 * Writes a coordinate in whole units of 1e-7 degree as degrees in ASCII, with up to seven decimals
 * and no trailing zeros; returns where the next byte goes.
 */
export function writeDegrees(units: number, bytes: Uint8Array, at: number): number {
  let end = at
  let rest = units
  if (rest < 0) {
    bytes[end++] = 0x2d
    rest = -rest
  }
  const whole = Math.floor(rest / UNITS_PER_DEGREE)
  if (whole >= 100) bytes[end++] = 0x30 + Math.floor(whole / 100)
  if (whole >= 10) bytes[end++] = 0x30 + (Math.floor(whole / 10) % 10)
  bytes[end++] = 0x30 + (whole % 10)
  let fraction = rest - whole * UNITS_PER_DEGREE
  if (fraction === 0) return end
  bytes[end++] = 0x2e
  let digitCount = 7
  while (fraction % 10 === 0) {
    fraction /= 10
    digitCount--
  }
  for (let i = end + digitCount - 1; i >= end; i--) {
    bytes[i] = 0x30 + (fraction % 10)
    fraction = Math.floor(fraction / 10)
  }
  return end + digitCount
}

/** How many bytes `writeDegrees` writes. */
export function degreesBytes(units: number): number {
  const rest = Math.abs(units)
  let byteCount = units < 0 ? ONE_WHOLE_BYTES + 1 : ONE_WHOLE_BYTES
  if (rest >= 10 * UNITS_PER_DEGREE) byteCount++
  if (rest >= 100 * UNITS_PER_DEGREE) byteCount++
  // Without a decimal there is no point either.
  if (rest % UNITS_PER_DEGREE === 0) return byteCount - DECIMALS_BYTES
  for (let left = rest; left % 10 === 0; left /= 10) byteCount--
  return byteCount
}

/** Bytes of the point and seven decimals, and of one digit before them. */
const DECIMALS_BYTES = 8
const ONE_WHOLE_BYTES = 1 + DECIMALS_BYTES

/**
 * Names of what degrees are in, for regular expressions of JavaScript and DuckDB, whatever the case. 4979 and CRS84h
 * have heights as well.
 */
export const WGS84_NAME =
  '(urn:(x-)?ogc:def:crs(:|,crs:)(OGC:[0-9.]*:CRS84h?|EPSG:([0-9.]*:)?(4326|4979))|(OGC:)?([0-9.]+:)?CRS:?84h?' +
  '|EPSG:(4326|4979)|https?://www[.]opengis[.]net/def/crs/(OGC/[0-9.]+/CRS84h?|EPSG/[0-9.]+/(4326|4979))|WGS ?84)'

export function isWgs84Name(name: string): boolean {
  return WGS84.test(name)
}

const WGS84 = new RegExp(`^${WGS84_NAME}$`, 'i')
