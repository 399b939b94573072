/**
 * Files that travel through the object store of NATS, under the SHA-256 of what is in them. Whoever reads one verifies it.
 *
 * @module
 */
import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { type ObjectInfo, type ObjectStore, Objm } from '@nats-io/obj'
import { limits } from '../../limits.js'
import { DigestFault, type FileDigest, writeVerified } from '../verified-file.js'
import type { Connection } from './connection.js'
import type { Names } from './names.js'
import { inCopies } from './open-stream.js'

export class ClusterFiles {
  readonly #store: ObjectStore
  readonly #empty: () => Promise<unknown>

  private constructor(store: ObjectStore, empty: () => Promise<unknown>) {
    this.#store = store
    this.#empty = empty
  }

  static async open(connection: Connection, names: Names): Promise<ClusterFiles> {
    const client = jetstream(connection.nats, { timeout: limits.clusterCallMs })
    const stores = new Objm(client)
    const store = await inCopies((replicas) => stores.create(names.files, { replicas }))
    const { streams } = await jetstreamManager(connection.nats, { timeout: limits.clusterCallMs })
    return new ClusterFiles(store, () => streams.purge(`OBJ_${names.files}`))
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
    await this.#write(path, digest)
    if (await this.has(digest)) return
    await this.#empty()
    await this.#write(path, digest)
  }

  /**
   * Writes a file, as `writeVerified`.
   *
   * @param onBytes  called with what was written
   * @returns false where it is not there
   * @throws DigestFault  where it is another one than its name says, or breaks off
   */
  async get(
    digest: FileDigest,
    path: string,
    onBytes: (byteCount: number) => void = () => {},
  ): Promise<boolean> {
    const found = await this.#store.get(digest.sha256)
    if (found === null) return false
    try {
      await writeVerified(digest, path, chunksOf(found.data), onBytes)
      return true
    } catch (fault) {
      if (fault instanceof DigestFault) await this.#giveUp(digest, found.info.nuid)
      throw fault
    }
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

  async #write(path: string, digest: FileDigest): Promise<void> {
    const source = createReadStream(path, { highWaterMark: CHUNK_BYTES })
    const options = { max_chunk_size: CHUNK_BYTES }
    try {
      const put = await this.#store.put(
        { name: digest.sha256, options },
        Readable.toWeb(source) as ReadableStream<Uint8Array>,
        { timeout: limits.clusterCallMs },
      )
      if (isSame(put, digest)) return
    } finally {
      // The library leaves it open where a chunk is refused.
      source.destroy()
    }
    await this.remove(digest)
    throw new DigestFault(digest)
  }

  /**
   * Empties the store because of a file that is broken, unless somebody else has done so and put it there anew: a server
   * whose disk has lost a message may lose what comes under the same name, until it begins with empty files.
   */
  async #giveUp({ sha256 }: FileDigest, nuid: string): Promise<void> {
    const info = await this.#store.info(sha256)
    if (info?.nuid === nuid) await this.#empty()
  }
}

const CHUNK_BYTES = 512 * 1_024

/** By what the library says that it has sent. */
function isSame({ size, digest }: ObjectInfo, { sha256, byteLength }: FileDigest): boolean {
  const text = Buffer.from(sha256, 'hex').toString('base64').replaceAll('+', '-')
  return size === byteLength && digest === `SHA-256=${text.replaceAll('/', '_')}`
}

/** As far as they come: a server that waits for what its disk has lost says nothing more. */
async function* chunksOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader()
  try {
    for (;;) {
      const over = new AbortController()
      const silent = sleep(limits.fileSilentMs, undefined, over)
      // The library fails where its own digest differs.
      const read = await Promise.race([reader.read().catch(() => undefined), silent])
      over.abort()
      if (read?.value === undefined) return
      yield read.value
    }
  } finally {
    // Else the rest of it comes, too, and is kept.
    await reader.cancel().catch(() => {})
  }
}
