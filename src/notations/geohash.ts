/**
 * Geohashes: boxes, each half or all of another one. The first letter is a box of 45 degrees.
 *
 * @module
 */
import ngeohash from 'ngeohash'
import { ServiceError } from '../errors.js'
import type { DrawnGeometry, Position } from './drawn.js'
import { textsOf } from './text-list.js'

/**
 * @param value  one geohash of 1 to 12 characters or an array of them, in any letter case
 * @returns their boxes, each once; none for an empty array
 * @throws ServiceError  InvalidGeohash with the path of the element
 */
export function readGeohash(value: unknown, path: string): DrawnGeometry {
  const boxes = new Map<string, Position[][]>()
  for (const { text, path: at } of textsOf(value, path, 'InvalidGeohash', WHAT)) {
    const geohash = text.toLowerCase()
    if (!GEOHASH.test(geohash)) {
      const problem = 'must be a geohash: 1 to 12 digits and letters, and none of a, i, l and o'
      throw new ServiceError('InvalidGeohash', `${at} ${problem}`, at)
    }
    if (!boxes.has(geohash)) boxes.set(geohash, [ringOf(geohash)])
  }
  return { type: 'MultiPolygon', coordinates: [...boxes.values()] }
}

const WHAT = ['a geohash', 'geohashes'] as const

const GEOHASH = /^[0-9b-hjkmnp-z]{1,12}$/

/** Its sides are fractions of a power of two, which a double holds: boxes meet without a gap. */
function ringOf(geohash: string): Position[] {
  const [south, west, north, east] = ngeohash.decode_bbox(geohash)
  return [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ]
}
