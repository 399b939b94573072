/**
 * Files that machines of a cluster give each other: by way of the object store, into which whoever has one puts it when it
 * is not there; or, where that does not answer, piece by piece.
 *
 * @module
 */
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { limits } from '../limits.js'
import type { Log } from '../log.js'
import { monotonicMs } from '../monotonic.js'
import { listSnapshots, snapshotsDirectory } from '../snapshot/directory.js'
import { LentFiles } from './lent-files.js'
import { type ClusterFiles, DigestFault } from './nats/cluster-files.js'
import type { Opened } from './nats/opened.js'
import { type AskPiece, pullFile, readPiece } from './pulled-files.js'
import { announcedSnapshot, filesOfSnapshot } from './snapshot-files.js'
import type { FileDigest } from './verified-file.js'

interface SharedOptions {
  readonly dataDirectory: string
  readonly files: Opened<ClusterFiles>
  readonly log: Log
  /** Asks other machines, one after the other, to put a file there; false where none has it. */
  readonly offered: (file: FileDigest) => Promise<boolean>
  /** Whom to ask for pieces. */
  readonly machines: () => readonly string[]
  readonly askPiece: AskPiece
  /** None before the machine runs. */
  readonly audiences?: AudiencesHere
}

interface AudiencesHere {
  /** Where the file of an audience should be; undefined where there is none with this digest. */
  pathOf(sha256: string): string | undefined
  /** Of those that some member does not have yet. */
  awaited(): readonly FileDigest[]
}

/** Of the disk of this machine, which no other way would change. */
const DISK_FAULTS: ReadonlySet<string | undefined> = new Set(['ENOSPC', 'EDQUOT', 'EIO', 'EROFS'])

export class SharedFiles {
  readonly #options: SharedOptions
  /** Until then the object store is neither asked for files nor given any: it did not answer. */
  #passedOverMs = 0
  /** Of which a piece was given last. */
  #given: { readonly sha256: string; readonly path: string } | undefined

  constructor(options: SharedOptions) {
    this.#options = options
  }

  /** Found as those of snapshots are. */
  readonly lent = new LentFiles()

  readonly put = async (path: string, file: FileDigest): Promise<void> => {
    await this.#options.files.use((files) => files.put(path, file))
  }

  /**
   * Where the object store does not take it, others get pieces of it from this machine.
   *
   * @returns whether it is there
   * @throws  where the file is not what it should be
   */
  async tryToPut(path: string, file: FileDigest): Promise<boolean> {
    if (this.#isPassedOver) return false
    try {
      await this.put(path, file)
      return true
    } catch (fault) {
      const { code, message } = fault as NodeJS.ErrnoException
      if (fault instanceof DigestFault || code === 'ENOENT') throw fault
      this.#passOver()
      this.#options.log.warn({ reason: message }, 'the object store of NATS takes no file')
      return false
    }
  }

  /** Writes a file; false where nobody has it. */
  readonly get = async (
    file: FileDigest,
    path: string,
    onBytes: (byteCount: number) => void,
  ): Promise<boolean> => {
    const { machines, askPiece: ask, log } = this.#options
    if (!this.#isPassedOver) {
      try {
        // One that nobody could put there may be had all the same.
        if (await this.#taken(file, path, onBytes)) return true
      } catch (fault) {
        if (DISK_FAULTS.has((fault as NodeJS.ErrnoException).code)) throw fault
        this.#passOver()
        const reason = (fault as Error).message
        log.warn({ reason }, 'the object store of NATS gives no file: asking machines for pieces')
      }
    }
    return await pullFile(file, path, { machines: machines(), ask, onBytes })
  }

  get #isPassedOver(): boolean {
    return monotonicMs() < this.#passedOverMs
  }

  #passOver(): void {
    this.#passedOverMs = monotonicMs() + limits.fileStorePassedOverMs
  }

  async #taken(
    file: FileDigest,
    path: string,
    onBytes: (byteCount: number) => void,
  ): Promise<boolean> {
    const { files, offered } = this.#options
    const taken = () => files.use((files) => files.get(file, path, onBytes))
    try {
      if (await taken()) return true
    } catch (fault) {
      if (!(fault instanceof DigestFault)) throw fault
    }
    return (await offered(file)) && (await taken())
  }

  /** A piece of a file of this machine; undefined where it has none. */
  async piece({ sha256 }: FileDigest, offset: number): Promise<Uint8Array | undefined> {
    if (this.#given?.sha256 !== sha256) {
      const found = await this.#find(sha256)
      this.#given = found && { sha256, path: found.path }
    }
    if (this.#given === undefined) return undefined
    try {
      return await readPiece(this.#given.path, offset)
    } catch (fault) {
      this.#given = undefined
      if ((fault as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw fault
    }
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
    const path = this.lent.pathOf(sha256) ?? audiences?.pathOf(sha256)
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

  /** Removes what no snapshot of this machine has, no member awaits, and nobody has put there a while ago. Faults are logged. */
  async clear(): Promise<void> {
    const { log } = this.#options
    try {
      const removedCount = await this.#clear()
      if (removedCount > 0) log.info({ removedCount }, 'removed files from the object store')
    } catch (fault) {
      const reason = (fault as Error).message
      log.warn({ reason }, 'files cannot be removed from the object store')
    }
  }

  async #clear(): Promise<number> {
    const { dataDirectory, audiences } = this.#options
    const needed = new Set(audiences?.awaited().map(({ sha256 }) => sha256))
    for (const id of await listSnapshots(dataDirectory)) {
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
