/**
 * The bytes of an input file, unpacked if it is gzip (told by its first two bytes).
 *
 * @module
 */
import { createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { createGunzip } from 'node:zlib'
import { OperatorError } from '../errors.js'

const CHUNK_BYTES = 1 << 20

/** Bytes of the file on disk; an OperatorError if it is not there or not a file. */
export async function inputBytes(path: string): Promise<number> {
  let status: Awaited<ReturnType<typeof stat>>
  try {
    status = await stat(path)
  } catch (error) {
    throw unreadable(path, error)
  }
  if (status.isDirectory()) {
    throw new OperatorError('InputRejected', `${path} is a directory: name its files instead`)
  }
  if (!status.isFile()) {
    throw new OperatorError('InputRejected', `${path} is not a regular file`)
  }
  return status.size
}

/**
 * Reads a file from begin to end. zlib verifies length and checksum of gzip: a damaged or cut
 * file is an error after its last good bytes, and nothing of it may be used.
 *
 * @param onRead  called with the bytes read from disk so far
 */
export async function* readInput(
  path: string,
  onRead: (bytesCount: number) => void,
): AsyncGenerator<Uint8Array> {
  try {
    const isPacked = await isGzip(path)
    const file = createReadStream(path, { highWaterMark: CHUNK_BYTES })
    const gunzip = isPacked ? createGunzip({ chunkSize: CHUNK_BYTES }) : undefined
    if (gunzip !== undefined) {
      file.on('error', (error) => gunzip.destroy(error))
      file.pipe(gunzip)
    }
    try {
      for await (const chunk of gunzip ?? file) {
        yield chunk as Uint8Array
        onRead(file.bytesRead)
      }
    } finally {
      file.destroy()
      gunzip?.destroy()
    }
  } catch (error) {
    throw unreadable(path, error)
  }
}

/** Whether the first two bytes are those of gzip. */
export async function isGzip(path: string): Promise<boolean> {
  const file = await open(path, 'r')
  try {
    const { bytesRead, buffer } = await file.read(new Uint8Array(2), 0, 2, 0)
    return bytesRead === 2 && buffer[0] === 0x1f && buffer[1] === 0x8b
  } finally {
    await file.close()
  }
}

function unreadable(path: string, error: unknown): Error {
  const { code, message } = error as NodeJS.ErrnoException
  const what = code === 'ENOENT' ? 'does not exist' : `cannot be read: ${message}`
  return new OperatorError('InputRejected', `${path} ${what}`, { cause: error })
}
