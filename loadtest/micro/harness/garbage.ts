/**
 * How much memory a pass allocates, without flags of Node.js and without the collector's help.
 *
 * @module
 */

const PASS_COUNT = 30

/**
 * Bytes that a pass leaves behind: on the heap, and beside it for arrays. The heap only grows until
 * the next collection, so this is the median of what passes added to it, without those during which
 * it shrank. NaN if every pass is interrupted by a collection: it is too long for that.
 */
export function garbageBytes(pass: () => number): number {
  const grown: number[] = []
  for (let i = 0; i < PASS_COUNT; i++) {
    const before = process.memoryUsage()
    pass()
    const after = process.memoryUsage()
    const heapBytes = after.heapUsed - before.heapUsed
    const arrayBytes = after.arrayBuffers - before.arrayBuffers
    if (heapBytes >= 0 && arrayBytes >= 0) grown.push(heapBytes + arrayBytes)
  }
  if (grown.length === 0) return Number.NaN
  return grown.toSorted((a, b) => a - b)[grown.length >> 1]
}
