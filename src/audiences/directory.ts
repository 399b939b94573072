/**
 * The audiences of a data directory: all processes that serve it see the same ones, since there is nothing
 * but their files.
 *
 * @module
 */
import { randomBytes } from 'node:crypto'
import { type FileHandle, open, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import {
  createDirectory,
  createFile,
  giveName,
  syncDirectory,
  TEMPORARY,
} from '../durable-files.js'
import { ServiceError } from '../errors.js'
import { limits } from '../limits.js'
import { snapshotsDirectory } from '../snapshot/directory.js'
import { FormatFault } from '../snapshot/format/blocks.js'
import { MANIFEST_FILE } from '../snapshot/format/manifest.js'
import {
  type AudienceName,
  audienceName,
  audiencesDirectory,
  heldSnapshotIds,
  listAudienceNames,
} from '../snapshot/retention/audience-names.js'
import { refuseTooManyAudiences } from '../store/audiences.js'
import { type AudienceHeader, readAudienceHeader } from './file.js'

/** Those that have not expired. */
export async function liveAudiences(dataDirectory: string, nowMs: number): Promise<AudienceName[]> {
  return (await listAudienceNames(dataDirectory)).filter(({ expiresMs }) => expiresMs > nowMs)
}

/** One that has not expired; undefined where there is none. */
export async function findAudience(
  dataDirectory: string,
  id: string,
  nowMs: number,
): Promise<AudienceName | undefined> {
  const live = await liveAudiences(dataDirectory, nowMs)
  return live.find((audience) => audience.id === id)
}

/** The id of a new one, which nobody can guess. */
export function newAudienceId(): string {
  return randomBytes(16).toString('hex')
}

/**
 * Writes an audience, on disk when this returns, or nothing. It has its name before its snapshot is looked
 * for: see `prune` of the snapshots.
 *
 * @throws ServiceError  TooManyAudiences; Unavailable where the snapshot is no longer on the disk
 */
export async function writeAudience(
  dataDirectory: string,
  { id, snapshotId, expiresMs }: Pick<AudienceHeader, 'id' | 'snapshotId' | 'expiresMs'>,
  parts: readonly Uint8Array[],
): Promise<void> {
  const directory = audiencesDirectory(dataDirectory)
  await createDirectory(directory)
  await removeExpired(dataDirectory, Date.now())
  const byteLength = parts.reduce((sum, part) => sum + part.length, 0)
  await refuseTooMany(dataDirectory, snapshotId, { count: 1, byteLength })
  const { name } = audienceName(id, snapshotId, expiresMs)
  const temporary = join(directory, id + TEMPORARY)
  const path = join(directory, name)
  try {
    await createFile(temporary, parts)
    await giveName(temporary, path)
    // Another service may have made one at the same time.
    await refuseTooMany(dataDirectory, snapshotId, { count: 0, byteLength: 0 })
    await refuseMissingSnapshot(dataDirectory, snapshotId)
  } catch (error) {
    await rm(temporary, { force: true })
    await rm(path, { force: true })
    throw error
  }
}

/** @returns whether it was there */
export async function deleteAudience(
  dataDirectory: string,
  { name }: Pick<AudienceName, 'name'>,
): Promise<boolean> {
  const directory = audiencesDirectory(dataDirectory)
  try {
    await rm(join(directory, name))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
  await syncDirectory(directory)
  return true
}

/**
 * Removes files of audiences that a cluster does not know: those that were deleted while this machine was away, and what a
 * crash left. Those that this process froze may be announced yet, and stay for a while.
 *
 * @param knownIds  of those that it knows
 * @param startedMs  when this process began, in milliseconds since 1970
 */
export async function removeUnknown(
  dataDirectory: string,
  knownIds: ReadonlySet<string>,
  { startedMs, nowMs }: { readonly startedMs: number; readonly nowMs: number },
): Promise<number> {
  let removedCount = 0
  for (const audience of await listAudienceNames(dataDirectory)) {
    if (knownIds.has(audience.id)) continue
    const path = join(audiencesDirectory(dataDirectory), audience.name)
    const status = await stat(path).catch(() => undefined)
    if (status === undefined) continue
    const { mtimeMs } = status
    const isAwaited = mtimeMs >= startedMs && nowMs - mtimeMs <= limits.sharedFileKeptMs
    if (!isAwaited && (await deleteAudience(dataDirectory, audience))) removedCount++
  }
  return removedCount
}

/** Removes those that have expired, and what a crash left of others. */
export async function removeExpired(dataDirectory: string, nowMs: number): Promise<number> {
  const names = await listAudienceNames(dataDirectory)
  let removedCount = 0
  for (const name of names) {
    if (name.expiresMs <= nowMs && (await deleteAudience(dataDirectory, name))) removedCount++
  }
  await removeGarbage(audiencesDirectory(dataDirectory), nowMs)
  return removedCount
}

interface AudienceUse {
  readonly count: number
  /** Of their files. */
  readonly byteLength: number
}

export async function audienceUse(dataDirectory: string, nowMs: number): Promise<AudienceUse> {
  const live = await liveAudiences(dataDirectory, nowMs)
  const directory = audiencesDirectory(dataDirectory)
  const sizes = await Promise.all(live.map(({ name }) => sizeOf(join(directory, name))))
  return { count: live.length, byteLength: sizes.reduce((sum, size) => sum + size, 0) }
}

/**
 * Opens the file of an audience, and reads what it says of itself.
 *
 * @returns undefined where it is not there any more
 * @throws FormatFault
 */
export async function withAudience<Value>(
  dataDirectory: string,
  { name, id, snapshotId, expiresMs }: AudienceName,
  read: (file: FileHandle, header: AudienceHeader, imageStart: number) => Promise<Value>,
): Promise<Value | undefined> {
  let file: FileHandle
  try {
    file = await open(join(audiencesDirectory(dataDirectory), name), 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  try {
    const { size } = await file.stat()
    const { header, imageStart } = await readAudienceHeader(file, size)
    const isNamed =
      header.id === id && header.snapshotId === snapshotId && header.expiresMs === expiresMs
    if (!isNamed) throw new FormatFault('found an audience under the name of another one')
    return await read(file, header, imageStart)
  } finally {
    await file.close()
  }
}

/** @param more  that is going to be written of the snapshot */
async function refuseTooMany(
  dataDirectory: string,
  snapshotId: string,
  more: AudienceUse,
): Promise<void> {
  const nowMs = Date.now()
  const { count, byteLength } = await audienceUse(dataDirectory, nowMs)
  const held = new Set(await heldSnapshotIds(dataDirectory, nowMs)).add(snapshotId)
  refuseTooManyAudiences({
    count: count + more.count,
    byteLength: byteLength + more.byteLength,
    snapshotCount: held.size,
  })
}

async function refuseMissingSnapshot(dataDirectory: string, snapshotId: string): Promise<void> {
  try {
    await stat(join(snapshotsDirectory(dataDirectory), snapshotId, MANIFEST_FILE))
  } catch {
    const problem = `the snapshot ${snapshotId} was removed from the disk meanwhile`
    throw new ServiceError('Unavailable', `${problem}; try again when a newer one is served`)
  }
}

/** Another process may be writing one. */
async function removeGarbage(directory: string, nowMs: number): Promise<void> {
  for (const name of await readdir(directory).catch(() => [])) {
    if (!name.endsWith(TEMPORARY)) continue
    const path = join(directory, name)
    const status = await stat(path).catch(() => undefined)
    if (status !== undefined && nowMs - status.mtimeMs > limits.audienceWriteMs) {
      await rm(path, { force: true })
    }
  }
}

async function sizeOf(path: string): Promise<number> {
  const status = await stat(path).catch(() => undefined)
  return status?.size ?? 0
}
