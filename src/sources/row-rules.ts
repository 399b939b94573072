/**
 * When a row is taken, for rows that do not come through DuckDB: the same rules in the same order as
 * `row-query.ts` has them in SQL, to which a property test holds them.
 *
 * @module
 */
import { isUtf8 } from 'node:buffer'
import { UNITS_PER_DEGREE } from '../geometry/units.js'
import { limits } from '../limits.js'
import type { RejectReason } from './rejects.js'

const LAT_DEGREES_MAX = 90
const LNG_DEGREES_MAX = 180

const DECIMAL = /^[ \t]*([+-]?(?:[0-9]+[.]?[0-9]*|[.][0-9]+)(?:[eE][+-]?[0-9]+)?)[ \t]*$/
const MISSING = /^[ \t]*$/
const BLANK = /^\s*$/

/** Why the number at [start, end) cannot be used; an empty range is no number, wherever it is. */
export function numberFault(bytes: Buffer, start: number, end: number): RejectReason | undefined {
  if (!isEncoded(bytes, start, end)) return 'EncodingInvalid'
  if (isBlankText(bytes, start, end)) return 'NumberEmpty'
  if (end - start > limits.numberBytes) return 'NumberTooLong'
  if (hasControl(bytes, start, end)) return 'NumberUnprintable'
  if (bytes[start] === 0x3d || bytes[start] === 0x40) return 'NumberFormula'
  return undefined
}

/** Why the contact at [start, end) cannot be used. */
export function contactFault(bytes: Buffer, start: number, end: number): RejectReason | undefined {
  if (!isEncoded(bytes, start, end)) return 'EncodingInvalid'
  if (end - start > limits.contactBytes && !isBlankText(bytes, start, end)) return 'ContactTooLong'
  return undefined
}

/** Why the key at [start, end) cannot be used, unless it repeats one. */
export function keyFault(bytes: Buffer, start: number, end: number): RejectReason | undefined {
  if (isBlankText(bytes, start, end)) return 'KeyMissing'
  return end - start > limits.keyBytes ? 'KeyTooLong' : undefined
}

/** Whether there is nothing but white space of Unicode. */
export function isBlankText(bytes: Buffer, start: number, end: number): boolean {
  // Nearly all begin with a printing character, and are spared the text.
  if (start === end) return true
  if (bytes[start] > 0x20 && bytes[start] < 0x7f) return false
  return BLANK.test(bytes.toString('utf8', start, end))
}

/**
 * The degrees that a text says: undefined if it says nothing, not a number if it is not decimal, and
 * infinite if it is decimal and too large.
 */
export function parseDegrees(text: string): number | undefined {
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

/** U+0000 to U+001F, and U+007F to U+009F, which UTF-8 begins with C2. */
function hasControl(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const byte = bytes[at]
    if (byte < 0x20 || byte === 0x7f) return true
    if (byte === 0xc2 && bytes[at + 1] <= 0x9f) return true
  }
  return false
}
