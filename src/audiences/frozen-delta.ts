/**
 * Those of an audience who came to a source since its snapshot, as they lie in the file of the audience, in
 * the order of the list:
 *
 *   coordinates   longitude and latitude in turn, Int32 in units of 1e-7 degree
 *   offsets       Uint32: where each phone starts among the phones, and where the last one ends
 *   phones        UTF-8, end to end
 *
 * All integers are little-endian.
 *
 * @module
 */
import { type BinaryColumns, decodeBinary } from '../shard/rows/binary-rows.js'

/** What tells how long the columns are. */
interface DeltaSize {
  readonly recipientCount: number
  /** Of all phones. */
  readonly phoneBytes: number
}

export interface FrozenDelta extends DeltaSize {
  readonly sourceId: number
  /** The columns. */
  readonly bytes: Uint8Array
}

/** @param rows  as shard/rows/binary-rows.ts has them */
export function frozenDelta(sourceId: number, rows: Uint8Array): FrozenDelta {
  const { recipientCount, coords, phoneOffsets, phones } = decodeBinary(rows)
  const size = { recipientCount, phoneBytes: phones.length }
  const { coordsStart, offsetsStart, phonesStart } = columnStarts(size)
  const bytes = new Uint8Array(rowBytesOf(size))
  bytes.set(bytesOf(coords), coordsStart)
  bytes.set(bytesOf(phoneOffsets), offsetsStart)
  bytes.set(phones, phonesStart)
  return { sourceId, ...size, bytes }
}

/** Where the columns start, in bytes. */
export function columnStarts({ recipientCount }: Pick<DeltaSize, 'recipientCount'>) {
  const offsetsStart = COORDS_BYTES * recipientCount
  const phonesStart = offsetsStart + OFFSET_BYTES * (recipientCount + 1)
  return { coordsStart: 0, offsetsStart, phonesStart }
}

/** The length of all columns. */
export function rowBytesOf(size: DeltaSize): number {
  return columnStarts(size).phonesStart + size.phoneBytes
}

const COORDS_BYTES = 8
const OFFSET_BYTES = 4

function bytesOf({
  buffer,
  byteOffset,
  byteLength,
}: BinaryColumns['coords'] | BinaryColumns['phoneOffsets']): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}
