/**
 * Degrees written in decimal, read into whole units of 1e-7 degree without passing through
 * binary fractions: what has at most seven decimals is kept exactly, the rest goes to the nearest
 * unit and a half goes away from zero. -0 is 0.
 *
 * @module
 */

/** What `parseUnits` returns instead of units; none of them is a 32-bit integer. */
export const coordinateFaults = { missing: 2 ** 40, invalid: 2 ** 41, outOfRange: 2 ** 42 } as const

const DECIMALS = 7
const UNITS_PER_DEGREE = 10 ** DECIMALS
/** Exponents beyond this shift every digit of a record out of sight, one way or the other. */
const EXPONENT_MAX = 100_000

const ZERO = 0x30
const POINT = 0x2e
const MINUS = 0x2d
const PLUS = 0x2b
const EXPONENT = 0x65
const SPACE = 0x20
const TAB = 0x09

/**
 * Reads `[start, end)` as `[+-]digits[.digits][e[+-]digits]`, spaces and tabs around it allowed.
 *
 * @param degreesMax  the magnitude that the value as written must not exceed
 * @returns units of 1e-7 degree, or one of `coordinateFaults`
 */
export function parseUnits(
  bytes: Uint8Array,
  start: number,
  end: number,
  degreesMax: number,
): number {
  let at = start
  let stop = end
  while (at < stop && (bytes[at] === SPACE || bytes[at] === TAB)) at++
  while (stop > at && (bytes[stop - 1] === SPACE || bytes[stop - 1] === TAB)) stop--
  if (at === stop) return coordinateFaults.missing

  const negative = bytes[at] === MINUS
  if (negative || bytes[at] === PLUS) at++

  let digitCount = 0
  let degrees = 0
  for (; at < stop && isDigit(bytes[at]); at++, digitCount++) {
    // Three digits are enough to tell; more would only overflow.
    if (degrees < 1000) degrees = degrees * 10 + (bytes[at] - ZERO)
  }
  let fraction = 0
  let decimalCount = 0
  let roundsUp = false
  let isMore = false
  if (at < stop && bytes[at] === POINT) {
    for (at++; at < stop && isDigit(bytes[at]); at++, decimalCount++) {
      const digit = bytes[at] - ZERO
      if (decimalCount < DECIMALS) fraction = fraction * 10 + digit
      else {
        if (decimalCount === DECIMALS) roundsUp = digit >= 5
        if (digit !== 0) isMore = true
      }
    }
  }
  if (digitCount + decimalCount === 0) return coordinateFaults.invalid
  if (at < stop) return parseScientific(bytes, start, end, degreesMax)

  for (let count = decimalCount; count < DECIMALS; count++) fraction *= 10
  const units = degrees * UNITS_PER_DEGREE + fraction
  const unitsMax = degreesMax * UNITS_PER_DEGREE
  if (units > unitsMax || (units === unitsMax && isMore)) return coordinateFaults.outOfRange
  const rounded = roundsUp ? units + 1 : units
  return negative && rounded !== 0 ? -rounded : rounded
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= ZERO + 9
}

/** Moves the point by the exponent and reads the plain decimal that comes of it. */
function parseScientific(
  bytes: Uint8Array,
  start: number,
  end: number,
  degreesMax: number,
): number {
  let mark = start
  while (mark < end && (bytes[mark] | 0x20) !== EXPONENT) mark++
  const tail = ascii(bytes, mark + 1, end).trim()
  const head = /^([+-]?)(\d*)\.?(\d*)$/.exec(ascii(bytes, start, mark).trimStart())
  if (mark === end || head === null || !/^[+-]?\d+$/.test(tail)) return coordinateFaults.invalid

  const [, sign, whole, decimals] = head
  const exponent = Math.max(-EXPONENT_MAX, Math.min(EXPONENT_MAX, Number(tail)))
  const digits = whole + decimals
  const point = whole.length + exponent
  const plain =
    point <= 0
      ? `0.${'0'.repeat(-point)}${digits}`
      : `${digits.slice(0, point).padEnd(point, '0')}.${digits.slice(point)}`
  const written = new TextEncoder().encode(sign + plain)
  return parseUnits(written, 0, written.length, degreesMax)
}

function ascii(bytes: Uint8Array, start: number, end: number): string {
  return String.fromCharCode(...bytes.subarray(start, Math.max(start, end)))
}
