/**
 * Writes a shard as a file: see shard-file.ts. Apart from reading it, as threads that build shards
 * would take longer to load what checks a header than to do all else.
 *
 * @module
 */
import { createHash } from 'node:crypto'
import { createFile } from '../../durable-files.js'
import type { ShardImage } from '../../shard/layout.js'
import { blockSumsOf } from './blocks.js'
import { encodeHead } from './container.js'
import type { Header2 } from './shard-header.js'

interface FileDigest {
  readonly byteLength: number
  /** Of the whole file, in hexadecimal. */
  readonly sha256: string
  readonly headerCrc32: number
}

/** Writes a file that must not be there yet; it is on disk when this returns. */
export async function writeShardFile(path: string, shard: ShardImage): Promise<FileDigest> {
  const { sourceId, regionIndex, recipientCount, box, sections, image } = shard
  const header: Header2 = {
    sourceId,
    regionIndex,
    recipientCount,
    box,
    sections: [...sections],
    imageBytes: image.length,
    blockCrc32s: blockSumsOf(image),
  }
  const head = encodeHead('HICKSHRD', header)
  const hash = createHash('sha256')
  await createFile(path, [head.bytes, image], (piece) => hash.update(piece))
  return {
    byteLength: head.bytes.length + image.length,
    sha256: hash.digest('hex'),
    headerCrc32: head.crc32,
  }
}
