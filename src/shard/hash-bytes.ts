/**
 * A hash of a few bytes, such as a phone or a key, for tables in memory.
 *
 * @module
 */

/**
 * FNV-1a, then the last steps of MurmurHash3, which spread what differs over all bits: phones that
 * follow each other differ in their last bytes only. With a sign, since such a value is never boxed.
 *
 * @param seed  another one for values that are not to be compared with these
 */
export function hashBytes(
  bytes: Uint8Array,
  start: number,
  end: number,
  seed: number = DEFAULT_SEED,
): number {
  let hash = seed
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ bytes[at], 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return hash ^ (hash >>> 16)
}

const DEFAULT_SEED = 0x811c9dc5 | 0
