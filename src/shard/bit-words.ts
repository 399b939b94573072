/**
 * Words of 32 bits, one bit for each of 32 recipients, the first in the lowest.
 *
 * @module
 */

/** The bits of a word that are of recipients [start, end), where the first bit is of `first`. */
export function bitsWithin(bits: number, first: number, start: number, end: number): number {
  let kept = bits
  if (start > first) kept &= -1 << (start - first)
  if (end < first + 32) kept &= ~(-1 << (end - first))
  return kept
}

export function bitCount(bits: number): number {
  const pairs = bits - ((bits >>> 1) & 0x55555555)
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333)
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}
