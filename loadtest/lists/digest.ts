/**
 * Tells whether two answers are the same bytes, fast enough not to hold up who reads them.
 *
 * @module
 */
import { crc32 } from 'node:zlib'

export interface Digest {
  readonly byteCount: number
  readonly crc: number
}

export const EMPTY_DIGEST: Digest = { byteCount: 0, crc: 0 }

export function extended({ byteCount, crc }: Digest, bytes: Uint8Array): Digest {
  return { byteCount: byteCount + bytes.length, crc: crc32(bytes, crc) }
}

export function digestOf(text: string): Digest {
  return extended(EMPTY_DIGEST, Buffer.from(text))
}
