/**
 * Files by what is in them, whatever their names are.
 *
 * @module
 */
import { createHash } from 'node:crypto'
import { open, rm, stat } from 'node:fs/promises'
import { FILE_MODE, giveName, TEMPORARY, writeAll } from '../durable-files.js'
import { OperatorError } from '../errors.js'
import { sha256Of } from '../snapshot/load/sha256.js'

export interface FileDigest {
  readonly sha256: string
  readonly byteLength: number
}

/** What the object store had under a digest was something else, or not all of it. It is there no more. */
export class DigestFault extends OperatorError {
  constructor({ sha256 }: FileDigest) {
    super('Failed', `the object store had other bytes under ${sha256} than these, or lost some`)
  }
}

/** The digest of a file that nobody writes to. */
export async function digestOfFile(path: string): Promise<FileDigest> {
  return { sha256: await sha256Of(path), byteLength: (await stat(path)).size }
}

/** Whether a file is there, as its digest says. */
export async function isWhole(path: string, { sha256, byteLength }: FileDigest): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  return found?.size === byteLength && (await sha256Of(path)) === sha256
}

/**
 * Writes a file that comes in pieces. It is on disk, in the place of one that was there, when this resolves; when it rejects,
 * that one stays.
 *
 * @param onBytes  called with what was written
 * @throws DigestFault
 * @throws  what `pieces` throws, and what the disk says
 */
export async function writeVerified(
  digest: FileDigest,
  path: string,
  pieces: AsyncIterable<Uint8Array>,
  onBytes: (byteCount: number) => void,
): Promise<void> {
  const hash = createHash('sha256')
  let writtenBytes = 0
  const temporary = path + TEMPORARY
  // What is there could be a link to a file elsewhere.
  await rm(temporary, { force: true })
  const file = await open(temporary, 'wx', FILE_MODE)
  try {
    for await (const piece of pieces) {
      hash.update(piece)
      writtenBytes += piece.length
      await writeAll(file, piece)
      onBytes(piece.length)
    }
    const isIt = writtenBytes === digest.byteLength && hash.digest('hex') === digest.sha256
    if (!isIt) throw new DigestFault(digest)
    await file.sync()
    await giveName(temporary, path)
  } catch (fault) {
    await rm(temporary, { force: true })
    throw fault
  } finally {
    await file.close()
  }
}
