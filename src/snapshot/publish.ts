/**
 * Publishes a snapshot in which one source is new or replaced. Until CURRENT is renamed nothing
 * has changed of what is there; so whatever fails, the old snapshot stays the current one.
 *
 * @module
 */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { OperatorError } from '../errors.js'
import { limits } from '../limits.js'
import type { Log } from '../log.js'
import type { RecipientColumns } from '../shard/columns.js'
import {
  createFile,
  DIRECTORY_MODE,
  generationOf,
  listSnapshots,
  readCurrent,
  snapshotsDirectory,
  syncDirectory,
  TEMPORARY,
  writeCurrent,
} from './directory.js'
import type { DataLock } from './lock.js'
import {
  createManifest,
  encodeManifest,
  MANIFEST_FILE,
  type Manifest,
  type ManifestSource,
  readManifest,
} from './manifest.js'
import { assertFreeSpace, carryOver, writeSource } from './write-source.js'

export interface PublishOptions {
  readonly log: Log
  /** Called with the recipients of the source that are on disk so far. */
  readonly onProgress?: (recipientCount: number) => void
}

/** Puts a source into a new snapshot, in the place of any that has its id, and makes it current. */
export async function publishSource(
  lock: DataLock,
  source: { readonly id: number; readonly label: string },
  columns: RecipientColumns,
  { log, onProgress }: PublishOptions,
): Promise<{ snapshotId: string }> {
  const { dataDirectory } = lock
  const snapshots = snapshotsDirectory(dataDirectory)
  try {
    await mkdir(snapshots, { recursive: true, mode: DIRECTORY_MODE })
    await removeTemporaries(snapshots)
    await assertFreeSpace(snapshots, columns)
    const existing = await listSnapshots(dataDirectory)
    const generation = Math.max(0, ...existing.map(generationOf)) + 1
    const currentId = await readCurrent(dataDirectory)
    const current = currentId === undefined ? [] : await currentSources(dataDirectory, currentId)
    if (currentId === undefined && existing.length > 0) {
      log.warn({ snapshots: existing }, 'CURRENT is missing: starting without the other sources')
    }
    const carried = current.filter(({ id }) => id !== source.id)
    if (carried.length === limits.sourceCount) {
      throw new OperatorError('Usage', `a snapshot has at most ${limits.sourceCount} sources`)
    }

    const temporary = join(snapshots, `${generation}${TEMPORARY}`)
    try {
      await mkdir(temporary, { mode: DIRECTORY_MODE })
      for (const other of carried) {
        await carryOver(join(snapshots, currentId ?? ''), temporary, other)
      }
      const written = await writeSource(temporary, source, columns, onProgress)
      const sources = [...carried, written].sort((left, right) => left.id - right.id)
      const manifest = createManifest(generation, new Date().toISOString(), sources)
      await createFile(join(temporary, MANIFEST_FILE), [Buffer.from(encodeManifest(manifest))])
      await verifyFiles(temporary, manifest)
      await syncDirectory(temporary)
      lock.assertHeld()
      await makeCurrent(dataDirectory, temporary, manifest)
      log.debug({ snapshot: manifest.id, sources: sources.length }, 'published')
      await prune(dataDirectory, manifest.id, log)
      return { snapshotId: manifest.id }
    } finally {
      await rm(temporary, { recursive: true, force: true })
    }
  } catch (error) {
    if (error instanceof OperatorError) throw error
    const { message } = error as Error
    throw new OperatorError(
      'Failed',
      `no snapshot was published in ${dataDirectory}, what was current still is: ${message}`,
      { cause: error },
    )
  }
}

/** What a crash left; nobody else can be at work, as we hold the lock. */
async function removeTemporaries(snapshots: string): Promise<void> {
  for (const name of await readdir(snapshots)) {
    if (name.endsWith(TEMPORARY)) await rm(join(snapshots, name), { recursive: true })
  }
}

async function currentSources(dataDirectory: string, id: string): Promise<ManifestSource[]> {
  return (await readManifest(dataDirectory, id)).sources
}

/** Reads everything again: a disk may have taken what it does not give back. */
async function verifyFiles(directory: string, manifest: Manifest): Promise<void> {
  const files = manifest.sources.flatMap(({ shards }) => shards)
  for (const { file, sha256 } of files) {
    const path = join(directory, file)
    const found = await sha256Of(path)
    if (found !== sha256) {
      throw new OperatorError(
        'SnapshotCorrupt',
        `${path}: found SHA-256 ${found}, expected ${sha256}`,
      )
    }
  }
  const path = join(directory, MANIFEST_FILE)
  const expected = createHash('sha256').update(encodeManifest(manifest)).digest('hex')
  if ((await sha256Of(path)) !== expected) {
    throw new OperatorError('SnapshotCorrupt', `${path}: found other bytes than were written`)
  }
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) hash.update(chunk)
  return hash.digest('hex')
}

async function makeCurrent(
  dataDirectory: string,
  temporary: string,
  manifest: Manifest,
): Promise<void> {
  const snapshots = snapshotsDirectory(dataDirectory)
  const directory = join(snapshots, manifest.id)
  await rename(temporary, directory)
  try {
    await syncDirectory(snapshots)
    await writeCurrent(dataDirectory, manifest.id)
  } catch (error) {
    if ((await readCurrent(dataDirectory)) === manifest.id) {
      throw new OperatorError(
        'Failed',
        `${manifest.id} is current, but may not be after a power failure: import again`,
        { cause: error },
      )
    }
    await rm(directory, { recursive: true })
    throw error
  }
}

/** Keeps the newest snapshots. What cannot be removed now is removed by the next import. */
async function prune(dataDirectory: string, currentId: string, log: Log): Promise<void> {
  const snapshots = snapshotsDirectory(dataDirectory)
  try {
    const ids = await listSnapshots(dataDirectory)
    for (const id of ids.slice(0, -limits.snapshotCount)) {
      if (id === currentId) continue
      // Renamed first, so that half a snapshot never goes by the name of one.
      await rename(join(snapshots, id), join(snapshots, id + TEMPORARY))
      await rm(join(snapshots, id + TEMPORARY), { recursive: true })
    }
  } catch (error) {
    log.warn({ reason: (error as Error).message }, 'an old snapshot could not be removed')
  }
}
