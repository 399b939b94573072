/**
 * Snapshots on their way between machines: an entry of the journal has the digests of their documents, and these have
 * those of all other files.
 *
 * @module
 */
import { existsSync, rmSync } from 'node:fs'
import { link, mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import {
  createDirectory,
  DIRECTORY_MODE,
  giveName,
  syncDirectory,
  syncFile,
  TEMPORARY,
} from '../durable-files.js'
import { limits } from '../limits.js'
import type { Log } from '../log.js'
import { monotonicMs } from '../monotonic.js'
import { listSnapshots, snapshotsDirectory } from '../snapshot/directory.js'
import { filesOf, readManifest } from '../snapshot/format/manifest.js'
import { readIdentities } from '../snapshot/identities/list.js'
import { withCompactionLock } from '../snapshot/publish/lock.js'
import { clusterDirectory } from './directory.js'
import { digestOfFile, type FileDigest, isWhole } from './verified-file.js'

/** A file of a snapshot. */
interface SnapshotFile extends FileDigest {
  readonly file: string
}

/** A snapshot, and the files that say what is in it. */
export interface AnnouncedSnapshot {
  readonly id: string
  readonly documents: readonly SnapshotFile[]
}

type Documents = AnnouncedSnapshot['documents']

const DOCUMENT = /^[a-z][a-z0-9-]{0,63}\.json$/

/** @throws OperatorError  as `readFault` says */
export async function announcedSnapshot(
  dataDirectory: string,
  id: string,
): Promise<AnnouncedSnapshot> {
  const directory = join(snapshotsDirectory(dataDirectory), id)
  const names = (await readdir(directory)).filter((name) => DOCUMENT.test(name)).sort()
  const documents: SnapshotFile[] = []
  for (const file of names) documents.push({ file, ...(await digestOfFile(join(directory, file))) })
  return { id, documents }
}

/**
 * All files, the documents among them.
 *
 * @throws OperatorError  as `readFault` says
 */
export async function filesOfSnapshot(dataDirectory: string, id: string): Promise<SnapshotFile[]> {
  const { documents } = await announcedSnapshot(dataDirectory, id)
  const manifest = await readManifest(dataDirectory, id)
  const identities = (await readIdentities(dataDirectory, id)).flatMap(({ files }) => files)
  const others = [...filesOf(manifest), ...identities].map(({ file, byteLength, sha256 }) => {
    return { file, byteLength, sha256 }
  })
  return [...documents, ...others]
}

/** Paths of files of the snapshots that are here, by digest. */
export async function filesHere(dataDirectory: string): Promise<ReadonlyMap<string, string>> {
  const here = new Map<string, string>()
  for (const id of await listSnapshots(dataDirectory)) {
    const files = await filesOfSnapshot(dataDirectory, id).catch(() => [])
    for (const { file, sha256 } of files) {
      here.set(sha256, join(snapshotsDirectory(dataDirectory), id, file))
    }
  }
  return here
}

/** Two machines may make snapshots of one id: the same recipients, and not the same of all else. */
export function areSame(some: Documents, others: Documents): boolean {
  const digests = (documents: Documents) =>
    documents.map(({ file, sha256 }) => `${file} ${sha256}`).sort()
  return digests(some).join() === digests(others).join()
}

type OnBytes = (byteCount: number) => void

/** As `SharedFiles`. */
export interface FileExchange {
  put(path: string, file: FileDigest): Promise<void>
  get(file: FileDigest, path: string, onBytes?: OnBytes): Promise<void>
}

interface SnapshotOptions {
  readonly dataDirectory: string
  readonly files: FileExchange
  readonly log: Log
}

export class SnapshotFiles {
  readonly #options: SnapshotOptions
  /** Of those that were read; `state` changes whenever one of the documents is replaced. */
  readonly #known = new Map<string, { readonly state: string; readonly documents: Documents }>()
  /** Those that are fetched, or repaired, by id. */
  readonly #coming = new Map<string, Promise<number>>()

  constructor(options: SnapshotOptions) {
    this.#options = options
  }

  /** Undefined where there is no such snapshot here. */
  async documentsOf(id: string): Promise<Documents | undefined> {
    const found = await stat(this.#pathOf(id), { bigint: true }).catch(() => undefined)
    if (found === undefined) return undefined
    const state = `${found.ino} ${found.mtimeNs}`
    const known = this.#known.get(id)
    if (known?.state === state) return known.documents
    const { documents } = await announcedSnapshot(this.#options.dataDirectory, id)
    this.#known.set(id, { state, documents })
    const [oldest] = this.#known.keys()
    if (this.#known.size > limits.announcementsKnownCount) this.#known.delete(oldest)
    return documents
  }

  async has({ id, documents }: AnnouncedSnapshot): Promise<boolean> {
    const here = await this.documentsOf(id)
    return here !== undefined && areSame(here, documents)
  }

  isComing(id: string): boolean {
    return this.#coming.has(id)
  }

  /**
   * Puts all of a snapshot where other machines get it.
   *
   * @throws DigestFault  where a document is not one of these any more; what the object store throws
   */
  async put({ id, documents }: AnnouncedSnapshot): Promise<void> {
    const { dataDirectory, files } = this.#options
    for (const file of [...documents, ...(await filesOfSnapshot(dataDirectory, id))]) {
      await files.put(join(this.#pathOf(id), file.file), file)
    }
  }

  /**
   * Makes a snapshot that another machine has one of this directory, whole or not at all. Files that a snapshot has here
   * already are linked.
   *
   * @param replaces  whether it takes the place of one with its id that has other documents; asked with the lock of the
   *   directory
   * @throws OperatorError  also `Locked`, where it takes the place of another one while an import or a compaction runs
   */
  async fetch(snapshot: AnnouncedSnapshot, replaces?: () => Promise<boolean>): Promise<void> {
    if (existsSync(this.#pathOf(snapshot.id)) && replaces === undefined) return
    await this.#once(snapshot.id, () => this.#fetch(snapshot, replaces))
  }

  /**
   * Gets those files of a snapshot again that are not as its documents say.
   *
   * @returns how many were replaced
   */
  async repair(snapshot: AnnouncedSnapshot): Promise<number> {
    const { dataDirectory, log } = this.#options
    const { id: snapshotId } = snapshot
    return await this.#once(snapshotId, async () => {
      const count = await this.#complete(dataDirectory, snapshot, () => {})
      const about = { snapshotId, replacedCount: count }
      if (count > 0) log.warn(about, 'fetched what was damaged of a snapshot')
      return count
    })
  }

  #pathOf(id: string): string {
    return join(snapshotsDirectory(this.#options.dataDirectory), id)
  }

  /** What is at work on a snapshot already is waited for. */
  async #once(id: string, work: () => Promise<number>): Promise<number> {
    const coming = this.#coming.get(id) ?? work().finally(() => this.#coming.delete(id))
    this.#coming.set(id, coming)
    return await coming
  }

  async #fetch(snapshot: AnnouncedSnapshot, replaces?: () => Promise<boolean>): Promise<number> {
    const { dataDirectory, log } = this.#options
    const { id } = snapshot
    const target = this.#pathOf(id)
    // As if it were a data directory, so that its documents are read and verified as in one.
    const staging = join(clusterDirectory(dataDirectory), 'fetch')
    const snapshots = snapshotsDirectory(staging)
    await mkdir(join(snapshots, id), { recursive: true, mode: DIRECTORY_MODE })
    for (const name of await readdir(snapshots)) {
      // Not in turns, in which it could be fetched again.
      if (!this.#coming.has(name)) rmSync(join(snapshots, name), { recursive: true, force: true })
    }
    const startedMs = monotonicMs()
    let toldMs = startedMs
    let byteCount = 0
    const count = await this.#complete(staging, snapshot, (doneBytes, totalBytes) => {
      byteCount = totalBytes
      if (monotonicMs() - toldMs < limits.fetchToldMs) return
      toldMs = monotonicMs()
      const percent = Math.floor((100 * doneBytes) / totalBytes)
      log.info({ snapshotId: id, percent, doneBytes, totalBytes }, 'fetching a snapshot')
    })
    await createDirectory(snapshotsDirectory(dataDirectory))
    if (!existsSync(target)) await giveName(join(snapshots, id), target)
    else if (replaces !== undefined) {
      await withCompactionLock(dataDirectory, async () => {
        if (await replaces()) await replace(join(snapshots, id), target)
      })
    }
    await rm(join(snapshots, id), { recursive: true, force: true })
    const ms = Math.round(monotonicMs() - startedMs)
    log.info({ snapshotId: id, byteCount, ms }, 'fetched a snapshot')
    return count
  }

  /**
   * Gets what a snapshot lacks, or has otherwise than its documents say, and removes what it has of another one of its id.
   *
   * @param root  of the data directory that it is in
   * @returns how many files were not as they should be
   */
  async #complete(
    root: string,
    { id, documents }: AnnouncedSnapshot,
    onProgress: (doneBytes: number, totalBytes: number) => void,
  ): Promise<number> {
    const directory = join(snapshotsDirectory(root), id)
    const names = documents.map(({ file }) => file)
    const isOdd = names.some((name) => !DOCUMENT.test(name))
    if (isOdd) throw new Error('a document has a name that is not of one')
    const others = (await readdir(directory)).filter(
      (name) => name.endsWith(TEMPORARY) || (DOCUMENT.test(name) && !names.includes(name)),
    )
    for (const name of others) await rm(join(directory, name), { force: true })
    let count = others.length
    const bring = async (file: SnapshotFile, from?: string, onBytes: OnBytes = () => {}) => {
      const path = join(directory, file.file)
      const isThere = await isWhole(path, file)
      // One of a fetch that was killed before it could sync it.
      if (isThere) await syncFile(path)
      else count++
      if (isThere || (await isLinked(from, path, file))) onBytes(file.byteLength)
      else await this.#options.files.get(file, path, onBytes)
    }
    for (const document of documents) await bring(document)
    const files = await filesOfSnapshot(root, id)
    const totalBytes = files.reduce((sum, { byteLength }) => sum + byteLength, 0)
    let doneBytes = 0
    const done = (byteCount: number) => {
      doneBytes += byteCount
      onProgress(doneBytes, totalBytes)
    }
    const here = await filesHere(this.#options.dataDirectory)
    for (const file of files) await bring(file, here.get(file.sha256), done)
    await syncDirectory(directory)
    return count
  }
}

async function replace(directory: string, target: string): Promise<void> {
  const before = `${target}${TEMPORARY}`
  await rm(before, { recursive: true, force: true })
  await rename(target, before)
  await giveName(directory, target)
  await rm(before, { recursive: true })
}

/** What is damaged here, too, is fetched. */
async function isLinked(from: string | undefined, path: string, file: FileDigest) {
  if (from === undefined || !(await isWhole(from, file))) return false
  try {
    await link(from, path + TEMPORARY)
    await rename(path + TEMPORARY, path)
    return true
  } catch {
    return false
  }
}
