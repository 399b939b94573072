/**
 * A shard that another machine holds, read into memory of its own for as long as somebody looks at it.
 *
 * @module
 */
import type { ShardImage } from '../../shard/layout.js'
import type { OnRead } from '../format/blocks.js'
import { readShardImage, roomBytesOf, type ShardHead } from '../format/shard-image.js'
import { withFile } from '../open-file.js'

export interface AlonePiece {
  readonly path: string
  readonly byteLength: number
  readonly head: ShardHead
  /** Contacts of the source. */
  readonly contactCount: number
}

/**
 * Verifies every byte of it.
 *
 * @throws OperatorError `SnapshotCorrupt`
 */
export function loadAlone(piece: AlonePiece, onRead?: OnRead): Promise<ShardImage> {
  const { path, byteLength, head, contactCount } = piece
  const bytes = new Uint8Array(roomBytesOf(byteLength, head.header.recipientCount))
  return withFile(path, byteLength, (file) =>
    readShardImage(file, head, contactCount, { bytes, arena: null }, onRead),
  )
}
