/**
 * Writes a file that comes in pieces, and is there only if it is what its digest says.
 *
 * @module
 */
import { createHash } from 'node:crypto'
import { open, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { FILE_MODE, syncDirectory, writeAll } from '../durable-files.js'

/** A file, whatever its name is. */
export interface FileDigest {
  readonly sha256: string
  readonly byteLength: number
}

/** What has come is not all there, or is not what it should be. */
export const BROKEN = new Error('broken')

/**
 * The file is on disk when this resolves, and is not there when it rejects.
 *
 * @param onBytes  called with what was written
 * @throws BROKEN
 * @throws  what `pieces` throws, and what the disk says
 */
export async function writeVerified(
  { sha256, byteLength }: FileDigest,
  path: string,
  pieces: AsyncIterable<Uint8Array>,
  onBytes: (byteCount: number) => void,
): Promise<void> {
  const hash = createHash('sha256')
  let writtenBytes = 0
  const file = await open(path, 'w', FILE_MODE)
  try {
    for await (const piece of pieces) {
      hash.update(piece)
      writtenBytes += piece.length
      await writeAll(file, piece)
      onBytes(piece.length)
    }
    if (writtenBytes !== byteLength || hash.digest('hex') !== sha256) throw BROKEN
    await file.sync()
  } catch (fault) {
    await rm(path, { force: true })
    throw fault
  } finally {
    await file.close()
  }
  await syncDirectory(dirname(path))
}
