/**
 * Snapshots on their way between machines: an entry of the journal has the digests of their documents, and these have
 * those of all other files.
 *
 * @module
 */
import { existsSync } from 'node:fs'
import { link, mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import {
  createDirectory,
  DIRECTORY_MODE,
  syncDirectory,
  syncFile,
  TEMPORARY,
} from '../durable-files.js'
import { OperatorError } from '../errors.js'
import { listSnapshots, snapshotsDirectory } from '../snapshot/directory.js'
import { filesOf, readManifest } from '../snapshot/format/manifest.js'
import { readIdentities } from '../snapshot/identities/list.js'
import { sha256Of } from '../snapshot/load/sha256.js'
import { withCompactionLock } from '../snapshot/publish/lock.js'
import { clusterDirectory } from './directory.js'
import { digestOfFile } from './nats/cluster-files.js'
import type { FileDigest } from './verified-file.js'

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

/** Two machines may make snapshots of one id: the same recipients, and not the same of all else. */
export function areSame(some: Documents, others: Documents): boolean {
  const digests = (documents: Documents) =>
    documents.map(({ file, sha256 }) => `${file} ${sha256}`).sort()
  return digests(some).join() === digests(others).join()
}

/** Which snapshots are in a directory, by their documents. */
export class SnapshotsHere {
  readonly #dataDirectory: string
  /** Of those that were read; `state` changes whenever one of the documents is replaced. */
  readonly #known = new Map<string, { readonly state: string; readonly documents: Documents }>()

  constructor(dataDirectory: string) {
    this.#dataDirectory = dataDirectory
  }

  /** Undefined where there is none. */
  async documentsOf(id: string): Promise<Documents | undefined> {
    const path = join(snapshotsDirectory(this.#dataDirectory), id)
    const found = await stat(path, { bigint: true }).catch(() => undefined)
    if (found === undefined) {
      this.#known.delete(id)
      return undefined
    }
    const state = `${found.ino} ${found.mtimeNs}`
    const known = this.#known.get(id)
    if (known?.state === state) return known.documents
    const { documents } = await announcedSnapshot(this.#dataDirectory, id)
    this.#known.set(id, { state, documents })
    return documents
  }

  async has({ id, documents }: AnnouncedSnapshot): Promise<boolean> {
    const here = await this.documentsOf(id)
    return here !== undefined && areSame(here, documents)
  }
}

/**
 * All files but the documents.
 *
 * @throws OperatorError  as `readFault` says
 */
export async function filesOfSnapshot(dataDirectory: string, id: string): Promise<SnapshotFile[]> {
  const manifest = await readManifest(dataDirectory, id)
  const identities = (await readIdentities(dataDirectory, id)).flatMap(({ files }) => files)
  return [...filesOf(manifest), ...identities].map(({ file, byteLength, sha256 }) => {
    return { file, byteLength, sha256 }
  })
}

interface Fetching {
  /** Writes a file; false where nobody has it. */
  readonly get: (
    file: FileDigest,
    path: string,
    onBytes: (byteCount: number) => void,
  ) => Promise<boolean>
  readonly onProgress?: (doneBytes: number, totalBytes: number) => void
  /** Where it is until it is whole, below `cluster/`: another one for each that may be fetched at the same time. */
  readonly staging?: string
  /** Whether it takes the place of one with its id that has other documents; asked with the lock of the directory. */
  readonly replaces?: () => Promise<boolean>
}

/**
 * Makes a snapshot that another machine has one of this directory, whole or not at all. Files that a snapshot has here
 * already are linked.
 *
 * @throws OperatorError  also `Locked`, where it takes the place of another one while an import or a compaction runs
 */
export async function fetchSnapshot(
  dataDirectory: string,
  { id, documents }: AnnouncedSnapshot,
  { get, onProgress = () => {}, staging: name = 'fetch', replaces }: Fetching,
): Promise<void> {
  const target = join(snapshotsDirectory(dataDirectory), id)
  if (existsSync(target) && replaces === undefined) return
  // As if it were a data directory, so that its documents are read and verified as in one.
  const staging = join(clusterDirectory(dataDirectory), name)
  const directory = join(snapshotsDirectory(staging), id)
  await clearOthers(staging, id)
  await mkdir(directory, { recursive: true, mode: DIRECTORY_MODE })
  for (const document of documents) {
    if (!DOCUMENT.test(document.file)) throw new Error('a document has the name of one')
    const path = join(directory, document.file)
    // Of a fetch that was killed before it could sync it.
    if (await isWhole(path, document)) await syncFile(path)
    else if (!(await get(document, path, () => {}))) throw goneFault(id, document)
  }
  const files = await filesOfSnapshot(staging, id)
  const here = await filesHere(dataDirectory)
  const totalBytes = files.reduce((sum, { byteLength }) => sum + byteLength, 0)
  let doneBytes = 0
  const done = (byteCount: number) => {
    doneBytes += byteCount
    onProgress(doneBytes, totalBytes)
  }
  for (const file of files) {
    const path = join(directory, file.file)
    if (await isWhole(path, file)) {
      await syncFile(path)
      done(file.byteLength)
    } else if (await linked(here.get(file.sha256), path, file)) done(file.byteLength)
    else if (!(await get(file, path, done))) {
      throw new OperatorError(
        'Failed',
        `no machine has ${file.file} of the snapshot ${id} any more`,
      )
    }
  }
  await syncDirectory(directory)
  await createDirectory(snapshotsDirectory(dataDirectory))
  if (existsSync(target) && replaces !== undefined) {
    await withCompactionLock(dataDirectory, async () => {
      if (await replaces()) await replace(directory, target)
    })
  } else {
    await rename(directory, target).catch((fault: unknown) => {
      // It was fetched twice at the same time.
      if (!existsSync(target)) throw fault
    })
  }
  await syncDirectory(snapshotsDirectory(dataDirectory))
  await rm(staging, { recursive: true, force: true })
}

async function replace(directory: string, target: string): Promise<void> {
  const before = `${target}${TEMPORARY}`
  await rm(before, { recursive: true, force: true })
  await rename(target, before)
  await rename(directory, target)
  await rm(before, { recursive: true })
}

/**
 * Fetches those files of a snapshot again that are not as its documents say.
 *
 * @returns how many were replaced
 */
export async function repairSnapshot(
  dataDirectory: string,
  { id, documents }: AnnouncedSnapshot,
  get: Fetching['get'],
): Promise<number> {
  const directory = join(snapshotsDirectory(dataDirectory), id)
  let replacedCount = 0
  const names = new Set(documents.map(({ file }) => file))
  for (const file of await readdir(directory)) {
    // Of another snapshot with this id.
    if (!DOCUMENT.test(file) || names.has(file)) continue
    await rm(join(directory, file))
    replacedCount++
  }
  const repair = async (file: SnapshotFile) => {
    const path = join(directory, file.file)
    if (await isWhole(path, file)) return
    const temporary = `${path}.fetched`
    if (!(await get(file, temporary, () => {}))) throw goneFault(id, file)
    await rename(temporary, path)
    replacedCount++
  }
  for (const document of documents) await repair(document)
  for (const file of await filesOfSnapshot(dataDirectory, id)) await repair(file)
  await syncDirectory(directory)
  return replacedCount
}

function goneFault(id: string, { file }: SnapshotFile): OperatorError {
  return new OperatorError('Failed', `no machine has ${file} of the snapshot ${id} any more`)
}

async function clearOthers(staging: string, id: string): Promise<void> {
  const others = await readdir(snapshotsDirectory(staging)).catch(() => [])
  for (const name of others) {
    if (name !== id) await rm(join(snapshotsDirectory(staging), name), { recursive: true })
  }
}

/** Paths of files of the snapshots that are here, by digest. */
async function filesHere(dataDirectory: string): Promise<ReadonlyMap<string, string>> {
  const here = new Map<string, string>()
  for (const id of await listSnapshots(dataDirectory)) {
    const files = await filesOfSnapshot(dataDirectory, id).catch(() => [])
    for (const { file, sha256 } of files) {
      here.set(sha256, join(snapshotsDirectory(dataDirectory), id, file))
    }
  }
  return here
}

/** It may be damaged here, and then is fetched. */
async function linked(from: string | undefined, path: string, file: FileDigest): Promise<boolean> {
  if (from === undefined || !(await isWhole(from, file))) return false
  try {
    await rm(path, { force: true })
    await link(from, path)
    return true
  } catch {
    return false
  }
}

async function isWhole(path: string, { sha256, byteLength }: FileDigest): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  if (found === undefined || found.size !== byteLength) return false
  return (await sha256Of(path)) === sha256
}
