/**
 * What machines send each other as bytes: MessagePack, as in the journal.
 *
 * @module
 */
import { Packr } from 'msgpackr'

const packr = new Packr({ useRecords: false })

/** Bytes that nobody else uses. */
export const pack = (value: unknown): Uint8Array => new Uint8Array(packr.pack(value))

/** Undefined where the bytes are none. */
export function unpackOrNothing(bytes: Uint8Array): unknown {
  try {
    return packr.unpack(bytes)
  } catch {
    return undefined
  }
}
