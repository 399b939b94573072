/**
 * How a source is cut and built, in the fewest words: what the fast way has to give, byte for byte.
 *
 * @module
 */
import KDBush from 'kdbush'
import type { RecipientColumns } from '../../../src/shard/columns.js'

/** The rows of each shard. */
export function referencePartition(columns: RecipientColumns, size: number): number[][] {
  const { recipientCount } = columns
  const shardCount = Math.ceil(recipientCount / size)
  const bound = (shard: number) => Math.floor((recipientCount * shard) / shardCount)
  const cut = (rows: number[], first: number, end: number): number[][] => {
    if (end - first === 1) return [rows]
    const middle = Math.floor((first + end) / 2)
    const values = widerAxis(columns, rows)
    const byValue = [...rows].sort((left, right) => values[left] - values[right] || left - right)
    const leftCount = bound(middle) - bound(first)
    const half = (from: number, to?: number) => byValue.slice(from, to).sort((a, b) => a - b)
    return [...cut(half(0, leftCount), first, middle), ...cut(half(leftCount), middle, end)]
  }
  const all = Array.from({ length: recipientCount }, (_, row) => row)
  return recipientCount === 0 ? [] : cut(all, 0, shardCount)
}

/**
 * The content of the sections of a shard, in their order.
 *
 * @param ids  the order of the recipients, any kd order
 */
export function referenceSections(
  columns: RecipientColumns,
  rows: readonly number[],
  ids: Uint16Array | Uint32Array,
): Buffer[] {
  const index = new KDBush(rows.length, 64, Int32Array)
  for (const row of rows) index.add(columns.lngs[row], columns.lats[row])
  index.ids.set(ids)
  const inOrder = Array.from(ids, (id) => rows[id])
  const coords = inOrder.flatMap((row) => [columns.lngs[row], columns.lats[row]])
  index.coords.set(coords)
  const phones = inOrder.map((row) => {
    const [start, end] = columns.phoneOffsets.subarray(row, row + 2)
    return columns.phones.subarray(start, end)
  })
  const offsets = new Uint32Array(rows.length + 1)
  for (const [at, phone] of phones.entries()) offsets[at + 1] = offsets[at] + phone.length
  const contacts = Uint32Array.from(inOrder, (row) => columns.contacts[row])
  return [
    Buffer.from(index.data),
    Buffer.from(contacts.buffer),
    Buffer.from(offsets.buffer),
    Buffer.concat(phones),
  ]
}

/**
 * Whether the middle of each range of the index divides it, along longitude and latitude in turn, down
 * to ranges of `nodeSize` and one.
 *
 * @param coords  longitude and latitude of one recipient after the other
 */
export function isKdOrder(
  coords: ArrayLike<number>,
  nodeSize: number,
  first = 0,
  last = coords.length / 2 - 1,
  axis = 0,
): boolean {
  if (last - first <= nodeSize) return true
  const middle = Math.floor((first + last) / 2)
  const value = (index: number) => coords[2 * index + axis]
  for (let index = first; index <= last; index++) {
    if (index < middle ? value(index) > value(middle) : value(index) < value(middle)) return false
  }
  return (
    isKdOrder(coords, nodeSize, first, middle - 1, 1 - axis) &&
    isKdOrder(coords, nodeSize, middle + 1, last, 1 - axis)
  )
}

function widerAxis({ lngs, lats }: RecipientColumns, rows: readonly number[]): Int32Array {
  const extent = (values: Int32Array) => {
    const own = rows.map((row) => values[row])
    return { min: own.reduce((a, b) => Math.min(a, b)), max: own.reduce((a, b) => Math.max(a, b)) }
  }
  const lng = extent(lngs)
  const lat = extent(lats)
  const middleLat = (lat.min + lat.max) / 2 / 1e7
  const isWide = (lng.max - lng.min) * Math.cos((middleLat * Math.PI) / 180) > lat.max - lat.min
  return isWide ? lngs : lats
}
