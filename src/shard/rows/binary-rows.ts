/**
 * Recipients as bytes that are no text, for whoever keeps them. Each is
 *
 *   offset  bytes  meaning
 *        0      4  longitude in units of 1e-7 degree, signed
 *        4      4  latitude
 *        8      1  length of the phone, P
 *        9      P  the phone, UTF-8
 *
 * All integers are little-endian.
 *
 * @module
 */
import type { Shard } from '../layout.js'

const OFFSET = { lng: 0, lat: 4, phoneBytes: 8, phone: 9 } as const

/** Writes the recipients of `runs`, in order, as far as there is room for them. */
export function encodeBinary(
  { coords, phones, phoneOffsets }: Pick<Shard, 'coords' | 'phones' | 'phoneOffsets'>,
  runs: Uint32Array,
  into: Uint8Array,
): { rowCount: number; byteCount: number } {
  const view = new DataView(into.buffer, into.byteOffset, into.length)
  let at = 0
  let rowCount = 0
  for (let run = 0; run < runs.length; run += 2) {
    for (let recipient = runs[run]; recipient < runs[run + 1]; recipient++) {
      const phoneStart = phoneOffsets[recipient]
      const phoneBytes = phoneOffsets[recipient + 1] - phoneStart
      if (at + OFFSET.phone + phoneBytes > into.length) return { rowCount, byteCount: at }
      view.setInt32(at + OFFSET.lng, coords[2 * recipient], true)
      view.setInt32(at + OFFSET.lat, coords[2 * recipient + 1], true)
      view.setUint8(at + OFFSET.phoneBytes, phoneBytes)
      for (let i = 0; i < phoneBytes; i++) into[at + OFFSET.phone + i] = phones[phoneStart + i]
      at += OFFSET.phone + phoneBytes
      rowCount++
    }
  }
  return { rowCount, byteCount: at }
}

/** Recipients by columns: those of a shard. */
type BinaryColumns = Pick<Shard, 'recipientCount' | 'coords' | 'phones' | 'phoneOffsets'>

/** The recipients of `rows`, each of which is whole. */
export function decodeBinary(rows: Uint8Array): BinaryColumns {
  const view = new DataView(rows.buffer, rows.byteOffset, rows.length)
  let recipientCount = 0
  for (let at = 0; at < rows.length; at += OFFSET.phone + rows[at + OFFSET.phoneBytes]) {
    recipientCount++
  }
  const coords = new Int32Array(2 * recipientCount)
  const phoneOffsets = new Uint32Array(recipientCount + 1)
  const phones = new Uint8Array(rows.length - OFFSET.phone * recipientCount)
  for (let recipient = 0, at = 0; recipient < recipientCount; recipient++) {
    const phoneBytes = rows[at + OFFSET.phoneBytes]
    coords[2 * recipient] = view.getInt32(at + OFFSET.lng, true)
    coords[2 * recipient + 1] = view.getInt32(at + OFFSET.lat, true)
    const phoneStart = phoneOffsets[recipient]
    for (let i = 0; i < phoneBytes; i++) phones[phoneStart + i] = rows[at + OFFSET.phone + i]
    phoneOffsets[recipient + 1] = phoneStart + phoneBytes
    at += OFFSET.phone + phoneBytes
  }
  return { recipientCount, coords, phones, phoneOffsets }
}
