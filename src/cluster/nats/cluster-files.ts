/**
 * Files that travel through the object store of NATS, under the SHA-256 of what is in them. Whoever reads one verifies it.
 *
 * @module
 */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, open, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Readable } from 'node:stream'
import { jetstream } from '@nats-io/jetstream'
import { type ObjectInfo, type ObjectStore, Objm } from '@nats-io/obj'
import { OperatorError } from '../../errors.js'
import { limits } from '../../limits.js'
import { FILE_MODE, syncDirectory, writeAll } from '../../snapshot/directory.js'
import type { Connection } from './connection.js'
import type { Names } from './names.js'
import { inCopies } from './open-stream.js'

/** A file, whatever its name is. */
export interface FileDigest {
  readonly sha256: string
  readonly byteLength: number
}

/** What the store has under a digest is something else. */
export class DigestFault extends OperatorError {
  constructor({ sha256 }: FileDigest) {
    super('Failed', `the object store has other bytes under ${sha256} than these`)
  }
}

export class ClusterFiles {
  readonly #store: ObjectStore

  private constructor(store: ObjectStore) {
    this.#store = store
  }

  static async open(connection: Connection, names: Names): Promise<ClusterFiles> {
    const client = jetstream(connection.nats, { timeout: limits.clusterCallMs })
    const stores = new Objm(client)
    return new ClusterFiles(await inCopies((replicas) => stores.create(names.files, { replicas })))
  }

  /** Whether a file is there. */
  async has(digest: FileDigest): Promise<boolean> {
    const info = await this.#store.info(digest.sha256)
    return info !== null && !info.deleted && isSame(info, digest)
  }

  /** How many servers of NATS have each file. */
  async copyCount(): Promise<number> {
    return (await this.#store.status()).replicas
  }

  /**
   * Puts a file there, unless it is there already.
   *
   * @throws DigestFault  where the file is another one than its name says: whoever asked for it then asks somebody else
   */
  async put(path: string, digest: FileDigest): Promise<void> {
    if (await this.has(digest)) return
    const stream = Readable.toWeb(createReadStream(path, { highWaterMark: CHUNK_BYTES }))
    const options = { max_chunk_size: CHUNK_BYTES }
    const put = await this.#store.put(
      { name: digest.sha256, options },
      stream as ReadableStream<Uint8Array>,
      { timeout: limits.clusterCallMs },
    )
    if (isSame(put, digest)) return
    await this.remove(digest)
    throw new DigestFault(digest)
  }

  /**
   * Writes a file, which is on disk then.
   *
   * @param onBytes  called with what was written
   * @returns false where it is not there
   * @throws OperatorError  where it is another one than its name says, or breaks off
   */
  async get(
    digest: FileDigest,
    path: string,
    onBytes: (byteCount: number) => void = () => {},
  ): Promise<boolean> {
    const found = await this.#store.get(digest.sha256)
    if (found === null) return false
    const hash = createHash('sha256')
    let byteLength = 0
    const file = await open(path, 'w', FILE_MODE)
    try {
      for await (const piece of chunksOf(found.data)) {
        hash.update(piece)
        byteLength += piece.length
        await writeAll(file, piece)
        onBytes(piece.length)
      }
      // As the library finds out, too.
      if (await found.error) throw new DigestFault(digest)
      await this.#finish(file, digest, { sha256: hash.digest('hex'), byteLength })
    } catch (fault) {
      await rm(path, { force: true })
      throw fault
    } finally {
      await file.close()
    }
    await syncDirectory(dirname(path))
    return true
  }

  /** Those that are there. */
  async list(): Promise<readonly (FileDigest & { readonly writtenMs: number })[]> {
    return (await this.#store.list())
      .filter(({ deleted }) => !deleted)
      .map(({ name, size, mtime }) => ({
        sha256: name,
        byteLength: size,
        writtenMs: Date.parse(mtime),
      }))
  }

  async remove({ sha256 }: Pick<FileDigest, 'sha256'>): Promise<void> {
    await this.#store.delete(sha256)
  }

  async #finish(file: FileHandle, expected: FileDigest, found: FileDigest): Promise<void> {
    if (found.sha256 !== expected.sha256 || found.byteLength !== expected.byteLength) {
      throw new DigestFault(expected)
    }
    await file.sync()
  }
}

const CHUNK_BYTES = 512 * 1_024

/** By what the library says that it has sent. */
function isSame({ size, digest }: ObjectInfo, { sha256, byteLength }: FileDigest): boolean {
  const text = Buffer.from(sha256, 'hex').toString('base64').replaceAll('+', '-')
  return size === byteLength && digest === `SHA-256=${text.replaceAll('/', '_')}`
}

async function* chunksOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    yield value
  }
}

/** The digest of a file that nobody writes to. */
export async function digestOfFile(path: string): Promise<FileDigest> {
  const hash = createHash('sha256')
  for await (const piece of createReadStream(path)) hash.update(piece)
  return { sha256: hash.digest('hex'), byteLength: (await stat(path)).size }
}
