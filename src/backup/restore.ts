/**
 * A data directory from a backup: complete and verified before it has its name.
 *
 * @module
 */
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, open, readdir, readFile, realpath, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import {
  createDirectory,
  DIRECTORY_MODE,
  FILE_MODE,
  syncDirectory,
  TEMPORARY,
  writeAll,
} from '../durable-files.js'
import { OperatorError } from '../errors.js'
import { readCurrentAreas } from '../gazetteer/directory.js'
import { verifyVersion } from '../gazetteer/verify.js'
import { JournalDamaged } from '../journal/damaged.js'
import { journalDirectory } from '../journal/files.js'
import { verifyJournal } from '../journal/verify.js'
import { verifySnapshot } from '../snapshot/load/verify.js'
import { isCorrupt, isNewer } from '../snapshot/open-file.js'
import { removeOnExit } from '../snapshot/publish/remove-on-exit.js'
import { checkStore } from '../store/check.js'
import { storeDirectory } from '../store/tables.js'
import {
  AREAS_CURRENT_FILE,
  CURRENT_FILE,
  damaged,
  type Listing,
  ofLaterVersion,
  STORE_FILE,
} from './listing.js'
import { readArchive } from './read-archive.js'

/**
 * Restores into a directory that is missing or empty.
 *
 * @param onProgress  called with what is read of the archive, in bytes
 * @returns what the archive says of itself
 * @throws OperatorError
 */
export async function restoreBackup(
  archive: string,
  dataDirectory: string,
  onProgress: (doneBytes: number, totalBytes: number) => void,
): Promise<Listing> {
  await assertEmpty(dataDirectory)
  // A link to it stays.
  const target = await realpath(dataDirectory).catch(() => resolve(dataDirectory))
  const totalBytes = (await stat(archive).catch(() => undefined))?.size ?? 0
  await createDirectory(dirname(target))
  const draft = `${target}.${randomBytes(4).toString('hex')}${TEMPORARY}`
  // Before it is there: a signal may come at once.
  const removal = removeOnExit(draft, true)
  try {
    await mkdir(draft, { mode: DIRECTORY_MODE })
    let doneBytes = 0
    const take = (name: string, bytes: AsyncIterable<Uint8Array>) => writeFile(draft, name, bytes)
    const { listing } = await readArchive(archive, take, (byteCount) => {
      doneBytes += byteCount
      onProgress(doneBytes, totalBytes)
    })
    await verify(archive, draft, listing)
    await syncAll(draft)
    await assertEmpty(dataDirectory)
    await giveName(draft, target, dataDirectory)
    return listing
  } finally {
    await rm(draft, { recursive: true, force: true })
    removal.forget()
  }
}

async function assertEmpty(dataDirectory: string): Promise<void> {
  if (!existsSync(dataDirectory)) return
  const names = await readdir(dataDirectory).catch((fault: NodeJS.ErrnoException) => {
    if (fault.code === 'ENOTDIR') {
      throw new OperatorError('Usage', `${dataDirectory} is a file: --data names a directory`)
    }
    throw fault
  })
  if (names.length === 0) return
  throw new OperatorError(
    'Usage',
    `${dataDirectory} is not empty, and nothing in it is replaced: name a directory that is missing ` +
      'or empty with --data',
  )
}

/** @param name  one that may be archived, see `mayBeArchived`; so it lies below the draft */
async function writeFile(
  draft: string,
  name: string,
  bytes: AsyncIterable<Uint8Array>,
): Promise<void> {
  const path = join(draft, name)
  await mkdir(dirname(path), { recursive: true, mode: DIRECTORY_MODE })
  const file = await open(path, 'wx', FILE_MODE)
  try {
    for await (const piece of bytes) await writeAll(file, piece)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** That the files are those that were archived is known by now, but not that they belong together. */
async function verify(
  archive: string,
  draft: string,
  { snapshotId, files }: Listing,
): Promise<void> {
  const has = (name: string) => files.some((file) => file.name === name)
  if (has(CURRENT_FILE)) {
    const current = await readFile(join(draft, CURRENT_FILE), 'utf8')
    if (current !== `${snapshotId}\n`) throw damaged(archive, 'CURRENT names another snapshot')
  } else if (snapshotId !== null) throw damaged(archive, 'it has no CURRENT')
  const foreign = files.find(
    ({ name }) => name.startsWith('snapshots/') && !name.startsWith(`snapshots/${snapshotId}/`),
  )
  if (foreign !== undefined) throw damaged(archive, `${foreign.name} is of another snapshot`)
  if (snapshotId !== null) {
    const state = await verifySnapshot(draft, snapshotId)
    if (state.isNewer) throw ofLaterVersion(archive, `the snapshot ${snapshotId}`)
    const bad = state.files.find(({ fault }) => fault !== undefined)
    if (bad !== undefined) throw damaged(archive, `${bad.file} is damaged: ${bad.fault}`)
  }
  // Also where its position is missing, but not its records.
  await verifyJournal(journalDirectory(draft)).catch((fault) => {
    throw fault instanceof JournalDamaged ? damaged(archive, fault.found, fault) : fault
  })
  await verifyRestoredAreas(archive, draft, files)
  if (!has(STORE_FILE)) return
  await checkStore(storeDirectory(draft)).catch((fault: OperatorError) => {
    throw fault.code === 'NewerFormat' ? ofLaterVersion(archive, 'a store') : fault
  })
}

async function verifyRestoredAreas(
  archive: string,
  draft: string,
  files: Listing['files'],
): Promise<void> {
  const names = files.flatMap(({ name }) => (name.startsWith('areas/') ? [name] : []))
  if (names.length === 0) return
  try {
    const version = readCurrentAreas(draft)
    if (version === undefined) throw damaged(archive, `it has no ${AREAS_CURRENT_FILE}`)
    const foreign = names.find(
      (name) => name !== AREAS_CURRENT_FILE && !name.startsWith(`areas/${version}/`),
    )
    if (foreign !== undefined) throw damaged(archive, `${foreign} is of other areas`)
    await verifyVersion(draft, version)
  } catch (fault) {
    if (isNewer(fault)) throw ofLaterVersion(archive, 'a gazetteer')
    throw isCorrupt(fault) ? damaged(archive, fault.message, fault) : fault
  }
}

/** Names of files last once their directories are on disk. */
async function syncAll(draft: string): Promise<void> {
  const entries = await readdir(draft, { recursive: true, withFileTypes: true })
  for (const entry of entries) {
    if (entry.isDirectory()) await syncDirectory(join(entry.parentPath, entry.name))
  }
  await syncDirectory(draft)
}

async function giveName(draft: string, target: string, dataDirectory: string): Promise<void> {
  try {
    await rename(draft, target)
  } catch (fault) {
    const { code } = fault as NodeJS.ErrnoException
    if (code !== 'EBUSY' && code !== 'EXDEV') throw fault
    throw new OperatorError(
      'Failed',
      `${dataDirectory} cannot be replaced, as where a disk is mounted: name a directory below it`,
      { cause: fault },
    )
  }
  await syncDirectory(dirname(target))
}
