/**
 * The SHA-256 of a file.
 *
 * @module
 */
import { createHash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { readFault } from '../open-file.js'

const READ_BYTES_MAX = 4 << 20

/**
 * In hexadecimal, read from the file piece by piece.
 *
 * @throws OperatorError  `SnapshotCorrupt` where there is no such file, or `Failed`
 */
export async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256')
  let file: FileHandle | undefined
  try {
    file = await open(path, 'r')
    const { size } = await file.stat()
    const piece = Buffer.allocUnsafeSlow(Math.min(Math.max(size, 1), READ_BYTES_MAX))
    for (;;) {
      const { bytesRead } = await file.read(piece, 0, piece.length)
      if (bytesRead === 0) return hash.digest('hex')
      hash.update(piece.subarray(0, bytesRead))
    }
  } catch (error) {
    throw readFault(path, error)
  } finally {
    await file?.close()
  }
}
