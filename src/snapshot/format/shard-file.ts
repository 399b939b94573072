/**
 * Reads the head of a shard file. The file is a header (see shard-header.ts) and the image of the
 * shard, byte for byte, which shard-image.ts reads.
 *
 * @module
 */
import type { FileHandle } from 'node:fs/promises'
import { withFile } from '../open-file.js'
import { FormatFault } from './blocks.js'
import { readHead } from './container.js'
import { findSectionFault } from './image-faults.js'
import { decodeShardHeader, SHARD_VERSIONS } from './shard-header.js'
import type { ShardHead } from './shard-image.js'

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
