/**
 * Reads a shard as a file: a header (see shard-header.ts) and the image of the shard, byte for byte.
 *
 * @module
 */
import type { FileHandle } from 'node:fs/promises'
import type { Room } from '../shard/arena.js'
import type { ShardImage } from '../shard/layout.js'
import type { OnRead } from './blocks.js'
import { readHead } from './container.js'
import { FormatFault } from './format-fault.js'
import { findSectionFault } from './image-faults.js'
import { withFile } from './open-file.js'
import { decodeShardHeader, SHARD_VERSIONS } from './shard-header.js'
import { readShardImage, type ShardHead } from './shard-image.js'

/**
 * Reads a file into its room in an arena and verifies every byte of it.
 *
 * @param byteLength  what the manifest says
 * @param contactCount  contacts of the source
 * @param room  of `roomBytesOf` the file at least
 * @param onRead  called with the bytes of each piece read
 * @throws OperatorError `SnapshotCorrupt`
 */
export function readShardFile(
  path: string,
  byteLength: number,
  contactCount: number,
  room: Room,
  onRead?: OnRead,
): Promise<{ shard: ShardImage; headerCrc32: number }> {
  return withFile(path, byteLength, async (file) => {
    const head = await readHeadOf(file, byteLength)
    const shard = await readShardImage(file, head, contactCount, room, onRead)
    return { shard, headerCrc32: head.headerCrc32 }
  })
}

/**
 * Reads and verifies what a file says of itself, and that its sections are where they belong.
 *
 * @throws OperatorError `SnapshotCorrupt`
 */
export function readShardHead(path: string, byteLength: number): Promise<ShardHead> {
  return withFile(path, byteLength, (file) => readHeadOf(file, byteLength))
}

async function readHeadOf(file: FileHandle, size: number): Promise<ShardHead> {
  const head = await readHead(file, size, 'HICKSHRD', SHARD_VERSIONS)
  const { version, imageStart, crc32: headerCrc32 } = head
  const header = decodeShardHeader(head)
  const fault = findSectionFault(header)
  if (fault !== undefined) throw new FormatFault(fault)
  if (header.imageBytes !== size - imageStart) {
    throw new FormatFault(
      `found an image of ${size - imageStart} bytes, expected ${header.imageBytes}`,
    )
  }
  return { version, header, imageStart, headerCrc32 }
}
