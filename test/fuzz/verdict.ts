/**
 * Whether memory stayed where it was.
 *
 * @module
 */
import type { FuzzReport } from './fuzz.js'

/**
 * From the end of the warm-up to the end of the run. Most of it is what the heaps of threads take
 * before they collect; what leaks a kilobyte a request is over it within a quarter of a million.
 */
const GROWTH_BYTES_MAX = 256 * 1024 * 1024

export function growthFault({ residentBytes: { warm, now } }: FuzzReport): string | undefined {
  if (now - warm <= GROWTH_BYTES_MAX) return undefined
  return `memory grew by ${Math.round((now - warm) / 1e6)} MB after the warm-up`
}
