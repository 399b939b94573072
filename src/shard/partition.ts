/**
 * Cuts a source into regions: cells of equal numbers of recipients and as square as can be.
 *
 * @module
 */

import { UNITS_PER_DEGREE } from '../geometry/units.js'
import type { RecipientColumns } from './columns.js'

/**
 * Returns the rows of each shard, ascending: as few shards as hold `shardRecipientCount` each,
 * equal to within one recipient; none for a source without recipients. The same columns are
 * always cut in the same way.
 */
export function partition(columns: RecipientColumns, shardRecipientCount: number): Uint32Array[] {
  const { recipientCount } = columns
  if (recipientCount === 0) return []
  const shardCount = Math.ceil(recipientCount / shardRecipientCount)
  const firstRow = (shard: number) => Math.floor((recipientCount * shard) / shardCount)

  const order = new Uint32Array(recipientCount)
  for (let row = 0; row < recipientCount; row++) order[row] = row
  const scratch = new Uint32Array(shardCount > 1 ? recipientCount : 0)
  const cells = [{ firstShard: 0, endShard: shardCount }]
  const shards: Uint32Array[] = []
  for (let cell = cells.pop(); cell !== undefined; cell = cells.pop()) {
    const { firstShard, endShard } = cell
    const start = firstRow(firstShard)
    const end = firstRow(endShard)
    if (endShard - firstShard === 1) {
      shards.push(order.subarray(start, end))
      continue
    }
    const middleShard = (firstShard + endShard) >>> 1
    cut(order, scratch, start, firstRow(middleShard), end, widerAxis(columns, order, start, end))
    // The left cell is taken up next, so shards come out in order.
    cells.push({ firstShard: middleShard, endShard }, { firstShard, endShard: middleShard })
  }
  return shards
}

/** Of the recipients `order[start, end)`, the column along which they spread further. */
function widerAxis(
  columns: RecipientColumns,
  order: Uint32Array,
  start: number,
  end: number,
): Int32Array {
  const lngs = extent(columns.lngs, order, start, end)
  const lats = extent(columns.lats, order, start, end)
  const middleLat = (lats.min + lats.max) / 2 / UNITS_PER_DEGREE
  const lngScale = Math.cos((middleLat * Math.PI) / 180)
  const isWide = (lngs.max - lngs.min) * lngScale > lats.max - lats.min
  return isWide ? columns.lngs : columns.lats
}

function extent(
  values: Int32Array,
  order: Uint32Array,
  start: number,
  end: number,
): { min: number; max: number } {
  let min = values[order[start]]
  let max = min
  for (let at = start + 1; at < end; at++) {
    const value = values[order[at]]
    if (value < min) min = value
    else if (value > max) max = value
  }
  return { min, max }
}

/**
 * Reorders `order[start, end)` so that the smallest values come before `middle`. Stable, so rows
 * stay ascending on both sides, and equal values go to the left in the order of their rows.
 */
function cut(
  order: Uint32Array,
  scratch: Uint32Array,
  start: number,
  middle: number,
  end: number,
  values: Int32Array,
): void {
  const { value: threshold, smallerCount } = nthValue(values, order, start, end, middle - start - 1)
  let equalsLeft = middle - start - smallerCount
  let left = start
  let right = middle
  for (let at = start; at < end; at++) {
    const row = order[at]
    const value = values[row]
    const goesLeft = value < threshold || (value === threshold && equalsLeft-- > 0)
    scratch[goesLeft ? left++ : right++] = row
  }
  order.set(scratch.subarray(start, end), start)
}

const HALF_BITS = 16
const BIN_COUNT = 1 << HALF_BITS
const SIGN = 0x8000_0000

/**
 * The value of rank `rank` among those of `order[start, end)`, and how many are smaller. Counts by
 * the upper and then the lower half of the bits: two passes, whatever the values are, where a
 * quickselect has inputs that it is slow on.
 */
function nthValue(
  values: Int32Array,
  order: Uint32Array,
  start: number,
  end: number,
  rank: number,
): { value: number; smallerCount: number } {
  const counts = new Uint32Array(BIN_COUNT)
  for (let at = start; at < end; at++) counts[(values[order[at]] ^ SIGN) >>> HALF_BITS]++
  let smallerCount = 0
  let upper = 0
  while (smallerCount + counts[upper] <= rank) smallerCount += counts[upper++]

  counts.fill(0)
  for (let at = start; at < end; at++) {
    const key = values[order[at]] ^ SIGN
    if (key >>> HALF_BITS === upper) counts[key & (BIN_COUNT - 1)]++
  }
  let lower = 0
  while (smallerCount + counts[lower] <= rank) smallerCount += counts[lower++]
  return { value: ((upper << HALF_BITS) | lower) ^ SIGN, smallerCount }
}
