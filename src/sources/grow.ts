/**
 * Typed arrays that grow.
 *
 * @module
 */

/** A copy of `array` with room for at least `length` items, and for as many again to come. */
export function grow<T extends Uint8Array | Uint32Array | Int32Array>(array: T, length: number): T {
  const Type = array.constructor as new (length: number) => T
  const grown = new Type(Math.max(length, Math.min(array.length * 2, 2 ** 32)))
  grown.set(array)
  return grown
}
