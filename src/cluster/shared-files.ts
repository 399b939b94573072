/**
 * Files that machines of a cluster give each other by way of the object store of NATS. A machine that has one puts it there
 * when it is missing.
 *
 * @module
 */
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { limits } from '../limits.js'
import type { Log } from '../log.js'
import { listSnapshots, snapshotsDirectory } from '../snapshot/directory.js'
import type { KnownFacts } from './facts.js'
import { type ClusterFiles, DigestFault } from './nats/cluster-files.js'
import type { Opened } from './nats/opened.js'
import { announcedSnapshot, filesOfSnapshot } from './snapshot-files.js'
import type { FileDigest } from './verified-file.js'

interface SharedOptions {
  readonly dataDirectory: string
  readonly files: Opened<ClusterFiles>
  readonly log: Log
  /** Asks other machines, one after the other, to put a file there; false where none has it. */
  readonly offered: (file: FileDigest) => Promise<boolean>
  /** None before the machine runs. */
  readonly audiences?: AudiencesHere
}

interface AudiencesHere {
  /** Where the file of an audience should be; undefined where there is none with this digest. */
  pathOf(sha256: string): string | undefined
  /** Of those that some member does not have yet. */
  awaited(): readonly FileDigest[]
}

type WantedFacts = Pick<KnownFacts, 'announced' | 'switchedId'>

export class SharedFiles {
  readonly #options: SharedOptions

  constructor(options: SharedOptions) {
    this.#options = options
  }

  /** @throws DigestFault  where the file is not what it should be; what the object store throws */
  readonly put = async (path: string, file: FileDigest): Promise<void> => {
    await this.#options.files.use((files) => files.put(path, file))
  }

  /**
   * Writes a file; false where no machine has it.
   *
   * @throws  what the disk says, and the object store
   */
  readonly get = async (
    file: FileDigest,
    path: string,
    onBytes: (byteCount: number) => void,
  ): Promise<boolean> => {
    const { files, offered } = this.#options
    const taken = () => files.use((files) => files.get(file, path, onBytes))
    try {
      if (await taken()) return true
    } catch (fault) {
      if (!(fault instanceof DigestFault)) throw fault
    }
    return (await offered(file)) && (await taken())
  }

  /** Puts a file of this machine there; false where it has none, or another one than was written. */
  async offer({ sha256 }: FileDigest): Promise<boolean> {
    const found = await this.#find(sha256)
    if (found === undefined) return false
    try {
      await this.put(found.path, found)
      return true
    } catch (fault) {
      const { code } = fault as NodeJS.ErrnoException
      if (fault instanceof DigestFault || code === 'ENOENT') return false
      throw fault
    }
  }

  async #find(sha256: string): Promise<(FileDigest & { readonly path: string }) | undefined> {
    const { dataDirectory, audiences } = this.#options
    const path = audiences?.pathOf(sha256)
    const status = path && (await stat(path).catch(() => undefined))
    if (path && status) return { path, sha256, byteLength: status.size }
    for (const id of await listSnapshots(dataDirectory)) {
      const files = await filesOfSnapshot(dataDirectory, id).catch(() => [])
      const documents = await announcedSnapshot(dataDirectory, id).catch(() => undefined)
      const found = [...files, ...(documents?.documents ?? [])].find((one) => one.sha256 === sha256)
      if (found === undefined) continue
      return { ...found, path: join(snapshotsDirectory(dataDirectory), id, found.file) }
    }
    return undefined
  }

  /**
   * Removes what neither the announced snapshot nor the served one has, no member awaits, and was not put there lately. What a
   * machine still asks for then is put there again. Faults are logged.
   */
  async clear(facts: WantedFacts): Promise<void> {
    const { log } = this.#options
    try {
      const removedCount = await this.#clear(facts)
      if (removedCount > 0) log.info({ removedCount }, 'removed files from the object store')
    } catch (fault) {
      const reason = (fault as Error).message
      log.warn({ reason }, 'files cannot be removed from the object store')
    }
  }

  async #clear({ announced, switchedId }: WantedFacts): Promise<number> {
    const { dataDirectory, audiences } = this.#options
    const needed = new Set(audiences?.awaited().map(({ sha256 }) => sha256))
    const here = await listSnapshots(dataDirectory)
    for (const id of [announced?.id, switchedId]) {
      // Which files it has is not known before it is here.
      if (id === undefined || !here.includes(id)) return 0
      for (const { sha256 } of await filesOfSnapshot(dataDirectory, id)) needed.add(sha256)
      const { documents } = await announcedSnapshot(dataDirectory, id)
      for (const { sha256 } of documents) needed.add(sha256)
    }
    return await this.#options.files.use(async (files) => {
      let removedCount = 0
      for (const { sha256, writtenMs } of await files.list()) {
        if (needed.has(sha256) || Date.now() - writtenMs < limits.sharedFileKeptMs) continue
        await files.remove({ sha256 })
        removedCount++
      }
      return removedCount
    })
  }
}
