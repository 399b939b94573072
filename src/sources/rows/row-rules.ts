/**
 * The rules by which rows are taken that do not come through DuckDB: those of PostgreSQL. They are the
 * rules of `row-query.ts`, in the same order; a property test compares the two.
 *
 * @module
 */
import { isUtf8 } from 'node:buffer'
import { UNITS_PER_DEGREE } from '../../geometry/units.js'
import { limits } from '../../limits.js'
import { isBlank, phoneBytesFault } from '../../phone-number.js'
import { notationFault } from './notation.js'
import type { RejectReason } from './rejects.js'

const LAT_DEGREES_MAX = 90
const LNG_DEGREES_MAX = 180

const DECIMAL = /^[ \t]*([+-]?(?:[0-9]+[.]?[0-9]*|[.][0-9]+)(?:[eE][+-]?[0-9]+)?)[ \t]*$/
const MISSING = /^[ \t]*$/

/**
 * Why the phone at [start, end) cannot be used; an empty range is no phone, wherever it is.
 *
 * @param isReadLater  as of `notationFault`
 */
export function phoneFault(
  bytes: Buffer,
  start: number,
  end: number,
  isReadLater = false,
): RejectReason | undefined {
  if (!isEncoded(bytes, start, end)) return 'EncodingInvalid'
  return phoneBytesFault(bytes, start, end) ?? notationFault(bytes, start, end, isReadLater)
}

/** Why the contact at [start, end) cannot be used. */
export function contactFault(bytes: Buffer, start: number, end: number): RejectReason | undefined {
  if (!isEncoded(bytes, start, end)) return 'EncodingInvalid'
  if (end - start > limits.contactBytes && !isBlank(bytes, start, end)) return 'ContactTooLong'
  return undefined
}

/** Why the key at [start, end) cannot be used, unless it repeats one. */
export function keyFault(bytes: Buffer, start: number, end: number): RejectReason | undefined {
  if (!isEncoded(bytes, start, end)) return 'EncodingInvalid'
  if (isBlank(bytes, start, end)) return 'KeyMissing'
  return end - start > limits.keyBytes ? 'KeyTooLong' : undefined
}

/**
 * The degrees that a text says: undefined if it says nothing, not a number if it is not decimal, and
 * infinite if it is decimal and too large.
 */
export function parseDegrees(given: string, hasDecimalComma = false): number | undefined {
  const text = hasDecimalComma ? given.replaceAll(',', '.') : given
  const found = DECIMAL.exec(text)
  if (found !== null) return Number(found[1])
  return MISSING.test(text) ? undefined : Number.NaN
}

/** @param degrees  as of `parseDegrees` */
export function latFault(degrees: number | undefined): RejectReason | undefined {
  if (degrees === undefined) return 'LatMissing'
  if (Number.isNaN(degrees)) return 'LatInvalid'
  return Math.abs(degrees) > LAT_DEGREES_MAX ? 'LatOutOfRange' : undefined
}

/** @param degrees  as of `parseDegrees` */
export function lngFault(degrees: number | undefined): RejectReason | undefined {
  if (degrees === undefined) return 'LngMissing'
  if (Number.isNaN(degrees)) return 'LngInvalid'
  return Math.abs(degrees) > LNG_DEGREES_MAX ? 'LngOutOfRange' : undefined
}

/** Why the position that is stored for these degrees cannot be used. */
export function positionFault(lat: number, lng: number): RejectReason | undefined {
  return unitsOf(lat) === 0 && unitsOf(lng) === 0 ? 'PositionZero' : undefined
}

/** Units of 1e-7 degree; halves go away from zero, as in SQL. */
export function unitsOf(degrees: number): number {
  const units = Math.round(Math.abs(degrees) * UNITS_PER_DEGREE)
  return degrees < 0 ? -units : units
}

/** Databases of the encoding SQL_ASCII send what they were given. */
function isEncoded(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    if (bytes[at] > 0x7f) return isUtf8(bytes.subarray(start, end))
  }
  return true
}
