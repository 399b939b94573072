/**
 * Coordinates as exact decimals: a coordinate is the decimal that JavaScript prints for it, in whole
 * numbers of a power of ten.
 *
 * @module
 */

/** Decimals of a unit of 1e-7 degree. */
export const UNIT_PLACES = 7

/** Whether a coordinate has more than seven decimals. */
export function isFine(degrees: number): boolean {
  return Math.round(degrees * 1e7) / 1e7 !== degrees
}

/** How many decimals a coordinate has. */
export function placesOf(degrees: number): number {
  const { fraction, exponent } = partsOf(degrees)
  return Math.max(0, fraction.length - exponent)
}

/** A coordinate times ten to the power of `places`, which is at least as many as it has. */
export function scaled(degrees: number, places: number): bigint {
  const { isNegative, whole, fraction, exponent } = partsOf(degrees)
  const digits = BigInt(whole + fraction) * 10n ** BigInt(places + exponent - fraction.length)
  return isNegative ? -digits : digits
}

/** The sign of how much wider than `degrees` the way from one longitude to another is. */
export function compareSpan(from: number, to: number, degrees: number): number {
  const span = Math.abs(to - from)
  // A difference is off by far less than this; nearer, the decimals say.
  if (Math.abs(span - degrees) > 1e-6 + span * 1e-12) return Math.sign(span - degrees)
  const places = Math.max(placesOf(from), placesOf(to))
  const way = scaled(to, places) - scaled(from, places)
  const wide = (way < 0n ? -way : way) - BigInt(degrees) * 10n ** BigInt(places)
  return wide > 0n ? 1 : wide < 0n ? -1 : 0
}

function partsOf(degrees: number) {
  const parts = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(degrees))
  if (parts === null) throw new Error(`not a coordinate: ${degrees}`)
  const [, sign, whole, fraction = '', exponent = '0'] = parts
  return { isNegative: sign === '-', whole, fraction, exponent: Number(exponent) }
}
