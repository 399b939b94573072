/**
 * A backup of a data directory: one file, complete and read back before it has its name.
 *
 * @module
 */
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { link, mkdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { DIRECTORY_MODE, syncDirectory, TEMPORARY } from '../durable-files.js'
import { OperatorError } from '../errors.js'
import { journalDirectory } from '../journal/files.js'
import { holdJournal } from '../journal/hold.js'
import { isClusterJournal } from '../journal/reader.js'
import { verifyJournal } from '../journal/verify.js'
import { corrupt } from '../snapshot/open-file.js'
import { removeOnExit } from '../snapshot/publish/remove-on-exit.js'
import { copyStore } from '../store/check.js'
import { copyTables, DATA_FILE } from '../store/tables.js'
import { compressionOf } from './compression.js'
import { journalParts, openCurrent, openPart, readSettings } from './gather.js'
import { openAreas } from './gather-areas.js'
import { type ArchivedFile, damaged, STORE_FILE } from './listing.js'
import { readArchive } from './read-archive.js'
import { type Part, writeArchive } from './write-archive.js'

interface BackupOptions {
  /** Whether a file of the name is replaced. */
  readonly mayReplace: boolean
  /** Makes a copy of the store of a machine one of no cluster, with all that its journal has. */
  readonly endClusterIn: (copyDirectory: string) => Promise<void>
  /** Called with what is done of a step, in bytes. */
  readonly onProgress: (step: 'write' | 'verify', doneBytes: number, totalBytes: number) => void
}

interface Backup {
  /** Undefined where there is no snapshot yet. */
  readonly snapshotId: string | undefined
  /** Whether there is a store in it. */
  readonly hasStore: boolean
  /** Of the last batch of changes in it; undefined where there is no journal. */
  readonly lastSequence: number | undefined
  readonly fileCount: number
  /** Of the file that was written, and its SHA-256. */
  readonly byteLength: number
  readonly sha256: string
}

/**
 * Writes a backup while services and imports may run. Only its owner may ever read it, since it has
 * recipients, and may have passwords of databases.
 *
 * @throws OperatorError
 */
export async function makeBackup(
  dataDirectory: string,
  path: string,
  { mayReplace, endClusterIn, onProgress }: BackupOptions,
): Promise<Backup> {
  const compression = compressionOf(path)
  if (!existsSync(dataDirectory)) {
    throw new OperatorError('Usage', `${dataDirectory} does not exist: name the data directory`)
  }
  await assertFree(path, mayReplace)
  const target = resolve(path)
  const workplace = `${target}.${randomBytes(4).toString('hex')}${TEMPORARY}`
  // Before it is there: a signal may come at once.
  const removal = removeOnExit(workplace, true)
  const opened: { close(): unknown }[] = []
  try {
    await createPrivate(workplace, path)
    await verifyJournal(journalDirectory(dataDirectory))
    const held = await holdJournal(journalDirectory(dataDirectory), join(workplace, 'journal'))
    if (held !== undefined) opened.push(held)
    const snapshot = await openCurrent(dataDirectory)
    if (snapshot !== undefined) opened.push(snapshot)
    const journal = held && (await journalParts(held))
    const isClustered = isClusterJournal(journalDirectory(dataDirectory))
    const copy = isClustered
      ? await copyClustered(dataDirectory, workplace, endClusterIn)
      : await copyStore(dataDirectory, workplace)
    const store = copy === undefined ? undefined : await openPart(STORE_FILE, copy)
    if (store !== undefined) opened.push(store)
    const areas = await openAreas(dataDirectory)
    if (areas !== undefined) opened.push(areas)
    if (snapshot === undefined && store === undefined) {
      throw new OperatorError(
        'Usage',
        `${dataDirectory} has neither a snapshot nor a store: there is nothing to back up`,
      )
    }
    const parts: Part[] = [
      ...(snapshot?.parts ?? []),
      ...(store === undefined ? [] : [store]),
      ...(journal?.parts ?? []),
      ...(areas?.parts ?? []),
      ...(await readSettings(dataDirectory)),
    ]
    const totalBytes = parts.reduce((sum, { byteLength }) => sum + byteLength, 0)
    const archive = join(workplace, 'archive')
    let doneBytes = 0
    const about = { createdAt: new Date(), snapshotId: snapshot?.id }
    const files = await writeArchive(archive, compression, parts, about, (byteCount) => {
      doneBytes += byteCount
      onProgress('write', doneBytes, totalBytes)
    })
    assertIntact(dataDirectory, parts, files)
    const read = await readBack(archive, path, files, onProgress)
    await giveName(archive, target, mayReplace)
    return {
      snapshotId: snapshot?.id,
      hasStore: store !== undefined,
      lastSequence: journal?.lastSequence,
      fileCount: files.length,
      ...read,
    }
  } finally {
    for (const one of opened) await one.close()
    await rm(workplace, { recursive: true, force: true })
    removal.forget()
  }
}

/** Whoever serves it would not know which entries of the journal are in it, and two machines must not be one. */
async function copyClustered(
  dataDirectory: string,
  workplace: string,
  endClusterIn: BackupOptions['endClusterIn'],
): Promise<string | undefined> {
  const clustered = join(workplace, 'clustered')
  await mkdir(clustered, { mode: DIRECTORY_MODE })
  if ((await copyStore(dataDirectory, clustered)) === undefined) return undefined
  await endClusterIn(clustered)
  // Once more, so that what was deleted is not in it.
  await copyTables(clustered, workplace)
  return join(workplace, DATA_FILE)
}

async function assertFree(path: string, mayReplace: boolean): Promise<void> {
  const found = await stat(path).catch(() => undefined)
  if (found === undefined || (mayReplace && found.isFile())) return
  const advice = found.isFile()
    ? 'give another name, or --force to replace it'
    : 'give another name'
  throw new OperatorError('Usage', `${path} is there already: ${advice}`)
}

async function createPrivate(directory: string, path: string): Promise<void> {
  try {
    await mkdir(directory, { mode: DIRECTORY_MODE })
  } catch (fault) {
    const { code, message } = fault as NodeJS.ErrnoException
    const why = REASONS[code ?? ''] ?? message
    throw new OperatorError(
      'Failed',
      `${path} cannot be written: ${dirname(resolve(path))} ${why}. Name another FILE`,
    )
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'is no directory',
  EACCES: 'may not be written by this user',
  EROFS: 'is on a disk that cannot be written',
  ENOSPC: 'is on a disk that is full',
}

/** A backup of a snapshot that is damaged would be found out when it is needed. */
function assertIntact(
  dataDirectory: string,
  parts: readonly Part[],
  files: readonly ArchivedFile[],
): void {
  for (const [at, { name, sha256 }] of parts.entries()) {
    if (sha256 === undefined || sha256 === files[at].sha256) continue
    throw corrupt(
      join(dataDirectory, name),
      `found SHA-256 ${files[at].sha256}, expected ${sha256}. No backup was made; ` +
        `\`hickory verify --data ${dataDirectory}\` tells more`,
    )
  }
}

async function readBack(
  archive: string,
  path: string,
  files: readonly ArchivedFile[],
  onProgress: BackupOptions['onProgress'],
): Promise<{ byteLength: number; sha256: string }> {
  const { size } = await stat(archive)
  let doneBytes = 0
  const onBytes = (byteCount: number) => {
    doneBytes += byteCount
    onProgress('verify', doneBytes, size)
  }
  const { listing, byteLength, sha256 } = await readArchive(archive, readOnly, onBytes)
  // Whoever reads an archive sees that its files are those of its list. That they are ours, we see here.
  if (JSON.stringify(listing.files) === JSON.stringify(files)) return { byteLength, sha256 }
  throw damaged(path, 'other bytes were read back than were written')
}

async function readOnly(_name: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of bytes);
}

async function giveName(archive: string, target: string, mayReplace: boolean): Promise<void> {
  if (mayReplace) await rename(archive, target)
  else await linkOnce(archive, target)
  await syncDirectory(dirname(target))
}

/** Unlike a rename, a link replaces nothing that has come to be there meanwhile. */
async function linkOnce(archive: string, target: string): Promise<void> {
  try {
    await link(archive, target)
  } catch (fault) {
    const { code } = fault as NodeJS.ErrnoException
    if (code === 'EEXIST') {
      throw new OperatorError('Failed', `${target} was made by somebody else meanwhile`)
    }
    if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'ENOSYS') throw fault
    // A file system without links.
    await assertFree(target, false)
    await rename(archive, target)
  }
}
