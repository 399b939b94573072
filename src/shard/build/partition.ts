/**
 * Cuts a source into regions: cells of equal numbers of recipients and as square as can be.
 *
 * @module
 */

import { UNITS_PER_DEGREE } from '../../geometry/units.js'
import type { RecipientColumns } from '../columns.js'

/** Some shards that follow each other, and so the recipients of one cell. */
export interface Cell {
  readonly firstShard: number
  readonly endShard: number
  /** Of the whole source. */
  readonly shardCount: number
  /** Where its rows lie in one of the orders, ascending. */
  readonly start: number
  readonly end: number
  readonly orderIndex: 0 | 1
}

/** The rows of all cells; a cell that is cut moves from one order to the same place in the other. */
export type Orders = readonly [Uint32Array, Uint32Array]

/**
 * Returns the rows of each shard, ascending: as few shards as hold `shardRecipientCount` each,
 * equal to within one recipient; none for a source without recipients. The same columns are
 * always cut in the same way.
 */
export function partition(columns: RecipientColumns, shardRecipientCount: number): Uint32Array[] {
  const { recipientCount } = columns
  if (recipientCount === 0) return []
  const orders: Orders = [new Uint32Array(recipientCount), new Uint32Array(recipientCount)]
  const cells = [wholeCell(columns, orders, shardRecipientCount)]
  const shards: Uint32Array[] = []
  for (let cell = cells.pop(); cell !== undefined; cell = cells.pop()) {
    if (isShard(cell)) {
      shards.push(rowsOf(orders, cell))
      continue
    }
    const [left, right] = cutCell(columns, orders, cell)
    // The left cell is taken up next, so shards come out in order.
    cells.push(right, left)
  }
  return shards
}

/** All recipients, of which there is one at least; puts their rows in order. */
export function wholeCell(
  { recipientCount }: RecipientColumns,
  orders: Orders,
  shardRecipientCount: number,
): Cell {
  const [order] = orders
  for (let row = 0; row < recipientCount; row++) order[row] = row
  const shardCount = Math.ceil(recipientCount / shardRecipientCount)
  const shards = { firstShard: 0, endShard: shardCount, shardCount }
  return { ...shards, start: 0, end: recipientCount, orderIndex: 0 }
}

export function isShard({ firstShard, endShard }: Cell): boolean {
  return endShard - firstShard === 1
}

export function rowsOf(orders: Orders, { start, end, orderIndex }: Cell): Uint32Array {
  return orders[orderIndex].subarray(start, end)
}

/** Cuts a cell of several shards in two. Cells apart from each other may be cut at the same time. */
export function cutCell(columns: RecipientColumns, orders: Orders, cell: Cell): [Cell, Cell] {
  const { firstShard, endShard, shardCount, start, end, orderIndex } = cell
  const order = orders[orderIndex]
  const otherIndex = orderIndex === 0 ? 1 : 0
  const middleShard = (firstShard + endShard) >>> 1
  // Counted over all shards of the source, so that they are equal to within one recipient.
  const middle = Math.floor((columns.recipientCount * middleShard) / shardCount)
  const values = widerAxis(columns, order, start, end)
  cut(order, orders[otherIndex], start, middle, end, values)
  return [
    { firstShard, endShard: middleShard, shardCount, start, end: middle, orderIndex: otherIndex },
    { firstShard: middleShard, endShard, shardCount, start: middle, end, orderIndex: otherIndex },
  ]
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
 * Copies `order[start, end)` to the same place in `into`, so that the smallest values come before
 * `middle`. Stable, so rows stay ascending on both sides, and equal values go to the left in the
 * order of their rows.
 */
function cut(
  order: Uint32Array,
  into: Uint32Array,
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
    into[goesLeft ? left++ : right++] = row
  }
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
