/**
 * Reads files a block at a time, and verifies each block while its bytes are in the cache.
 *
 * @module
 */
import { readSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import { crc32 } from 'node:zlib'

/** Thrown for bytes that are not what they should be; says what was found and expected. */
export class FormatFault extends Error {}

/** The bytes that one checksum is for; the last block of an image may be shorter. */
export const BLOCK_BYTES = 1 << 20

/** Called with the bytes of each piece read; what it throws ends the work. */
export type OnRead = (pieceBytes: number) => void

/** The CRC-32 of each block. */
export function blockSumsOf(image: Uint8Array): number[] {
  const blockCount = Math.ceil(image.length / BLOCK_BYTES)
  return Array.from({ length: blockCount }, (_, block) => crc32(blockOf(image, block)))
}

/**
 * Fills `image` from the bytes of the file that start at `position`, and verifies them.
 *
 * @param sums  of each block
 * @throws FormatFault
 */
export async function readBlocks(
  file: FileHandle,
  image: Uint8Array,
  position: number,
  sums: readonly number[],
  onRead?: OnRead,
): Promise<void> {
  const blockCount = Math.ceil(image.length / BLOCK_BYTES)
  if (sums.length !== blockCount) {
    throw new FormatFault(`found ${sums.length} checksums, expected ${blockCount}`)
  }
  await readAll(file, image, position, onRead, (block) => {
    const found = crc32(blockOf(image, block))
    if (found === sums[block]) return
    const place = `of ${BLOCK_BYTES} bytes of the image`
    throw new FormatFault(
      `found block ${block} ${place} with CRC-32 ${found}, expected ${sums[block]}`,
    )
  })
}

/**
 * Fills `into` from the bytes of the file that start at `position`.
 *
 * @param onBlock  called with the index of each block once it is there
 * @throws FormatFault  where the file ends before that
 */
export async function readAll(
  file: FileHandle,
  into: Uint8Array,
  position: number,
  onRead?: OnRead,
  onBlock?: (block: number) => void,
): Promise<void> {
  for (let start = 0, block = 0; start < into.length; start += BLOCK_BYTES, block++) {
    const end = Math.min(start + BLOCK_BYTES, into.length)
    for (let at = start; at < end; ) {
      // On this thread, so that the bytes are in the cache of the core that verifies them.
      const bytesRead = readSync(file.fd, into, at, end - at, position + at)
      if (bytesRead === 0) throw new FormatFault(`found the end of the file at ${position + at}`)
      at += bytesRead
    }
    onBlock?.(block)
    onRead?.(end - start)
    if (block % BLOCKS_PER_TURN === BLOCKS_PER_TURN - 1) await setImmediate()
  }
}

/** So that what is said to this thread is heard every few milliseconds. */
const BLOCKS_PER_TURN = 8

function blockOf(image: Uint8Array, block: number): Uint8Array {
  return image.subarray(block * BLOCK_BYTES, (block + 1) * BLOCK_BYTES)
}
