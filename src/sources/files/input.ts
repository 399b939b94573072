/**
 * The bytes of an input file, unpacked if it is gzip or zstd (told by its first bytes).
 *
 * @module
 */
import { createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { createGunzip } from 'node:zlib'
import { OperatorError } from '../../errors.js'
import { whyUnread } from '../../system-refusals.js'
import { unzstd } from './zstd.js'

export type Packing = 'none' | 'gzip' | 'zstd'

const CHUNK_BYTES = 1 << 20
const SMALL_CHUNK_BYTES = 1 << 16

const MAGICS: readonly (readonly [Packing, Uint8Array])[] = [
  ['gzip', Uint8Array.of(0x1f, 0x8b)],
  ['zstd', Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd)],
  // A frame to be skipped: what pzstd begins with.
  ['zstd', Uint8Array.of(0x50, 0x2a, 0x4d, 0x18)],
]
const MAGIC_BYTES = 4

/** Bytes of the file on disk; an OperatorError if it is not there or not a file. */
export async function inputBytes(path: string): Promise<number> {
  let status: Awaited<ReturnType<typeof stat>>
  try {
    status = await stat(path)
  } catch (error) {
    throw unreadable(path, error)
  }
  if (status.isDirectory()) {
    throw new OperatorError(
      'InputRejected',
      `${path} is a directory: name its files instead, for example as '${path}/*.csv'`,
    )
  }
  if (!status.isFile()) {
    throw new OperatorError('InputRejected', `${path} is not a regular file`)
  }
  return status.size
}

/**
 * Reads a file from begin to end. Length and checksum of gzip and zstd are verified: a damaged or cut
 * file is an error after its last good bytes, and nothing of it may be used.
 *
 * @param onRead  called with the bytes read from disk so far
 */
export async function* readInput(
  path: string,
  name: string,
  onRead: (bytesCount: number) => void,
): AsyncGenerator<Uint8Array> {
  try {
    const packing = await packingOf(path)
    // Each read has a buffer of its own, which is wasted where little is read.
    const isSmall = (await stat(path)).size <= SMALL_CHUNK_BYTES
    const chunkBytes = isSmall ? SMALL_CHUNK_BYTES : CHUNK_BYTES
    const file = createReadStream(path, { highWaterMark: chunkBytes })
    const gunzip = packing === 'gzip' ? createGunzip({ chunkSize: chunkBytes }) : undefined
    if (gunzip !== undefined) {
      file.on('error', (error) => gunzip.destroy(error))
      file.pipe(gunzip)
    }
    try {
      for await (const chunk of packing === 'zstd' ? unzstd(file) : (gunzip ?? file)) {
        yield chunk as Uint8Array
        onRead(file.bytesRead)
      }
    } finally {
      file.destroy()
      gunzip?.destroy()
    }
  } catch (error) {
    throw unreadable(name, error)
  }
}

/** The first bytes of a file, unpacked: `byteCount` of them, or all. */
export async function readHead(path: string, name: string, byteCount: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let readCount = 0
  for await (const chunk of readInput(path, name, () => undefined)) {
    chunks.push(chunk)
    readCount += chunk.length
    if (readCount >= byteCount) break
  }
  return Buffer.concat(chunks).subarray(0, byteCount)
}

/** By the first bytes. */
export async function packingOf(path: string): Promise<Packing> {
  const file = await open(path, 'r')
  try {
    const { bytesRead, buffer } = await file.read(new Uint8Array(MAGIC_BYTES), 0, MAGIC_BYTES, 0)
    const isOne = (magic: Uint8Array) =>
      bytesRead >= magic.length && magic.every((byte, at) => byte === buffer[at])
    return MAGICS.find(([, magic]) => isOne(magic))?.[0] ?? 'none'
  } finally {
    await file.close()
  }
}

function unreadable(name: string, error: unknown): Error {
  if (error instanceof OperatorError) return error
  return new OperatorError('InputRejected', `${name} ${whyUnread(error)}`, { cause: error })
}
