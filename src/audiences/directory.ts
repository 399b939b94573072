/**
 * The audiences of a data directory. All processes that serve it see the same ones: there is nothing but their files.
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
import { MANIFEST_FILE, type ManifestShard, readManifest } from '../snapshot/format/manifest.js'
import { sha256Of } from '../snapshot/load/sha256.js'
import {
  type AudienceName,
  audienceName,
  audiencesDirectory,
  heldSnapshotIds,
  listAudienceNames,
} from '../snapshot/retention/audience-names.js'
import { type MadeAudience, refuseTooManyAudiences } from '../store/audiences.js'
import { type AudienceHeader, readAudienceHeader, readAudienceRuns } from './file.js'

/** The audiences that have not expired. */
export async function liveAudiences(dataDirectory: string, nowMs: number): Promise<AudienceName[]> {
  return (await listAudienceNames(dataDirectory)).filter(({ expiresMs }) => expiresMs > nowMs)
}

/** An audience that has not expired. */
export async function findAudience(
  dataDirectory: string,
  id: string,
  nowMs: number,
): Promise<AudienceName | undefined> {
  const live = await liveAudiences(dataDirectory, nowMs)
  return live.find((audience) => audience.id === id)
}

/** It cannot be guessed. */
export function newAudienceId(): string {
  return randomBytes(16).toString('hex')
}

/**
 * Writes an audience, on disk when this returns, or nothing. It has its name before its snapshot is looked for: see `prune`
 * of the snapshots.
 *
 * @throws ServiceError  TooManyAudiences; Unavailable if the snapshot is no longer on the disk
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
 * Removes files of audiences that a cluster does not have: deleted while this machine was away, or left by a crash. New ones of this process may not be announced yet, and stay for a while.
 *
 * @param knownIds  the audiences of the cluster
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

/** Removes expired audiences, and what a crash left of others. */
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
  /** All files. */
  readonly byteLength: number
}

export async function audienceUse(dataDirectory: string, nowMs: number): Promise<AudienceUse> {
  const live = await liveAudiences(dataDirectory, nowMs)
  const directory = audiencesDirectory(dataDirectory)
  const sizes = await Promise.all(live.map(({ name }) => sizeOf(join(directory, name))))
  return { count: live.length, byteLength: sizes.reduce((sum, size) => sum + size, 0) }
}

/**
 * Opens the file of an audience, and reads its header.
 *
 * @returns undefined if there is no such file any more
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

/**
 * The facts of an audience for other machines. Reads all of its file, so that no damaged one is announced.
 *
 * @returns undefined if there is no such file any more
 * @throws FormatFault
 */
export async function describeAudience(
  dataDirectory: string,
  name: AudienceName,
): Promise<MadeAudience | undefined> {
  const path = join(audiencesDirectory(dataDirectory), name.name)
  return await withAudience(dataDirectory, name, async (file, header, imageStart) => {
    await readAudienceRuns(file, header, imageStart)
    const { id, snapshotId, sequence, createdMs, expiresMs, keyName, boundaryDigest } = header
    const { digest, recipientCount, sources } = header
    return {
      id,
      snapshotId,
      sequence,
      createdMs,
      expiresMs,
      keyName,
      boundaryDigest,
      digest,
      recipientCount,
      sources,
      file: { sha256: await sha256Of(path), byteLength: (await stat(path)).size },
    }
  })
}

interface AudienceState {
  readonly id: string
  readonly snapshotId: string
  readonly expiresAt: string
  /** File and snapshot may be gone: a fault does not matter then. */
  readonly isExpired: boolean
  /** Undefined if it is damaged. */
  readonly digest: string | undefined
  /** Undefined if it is intact. */
  readonly fault: string | undefined
}

/**
 * Verifies each audience on the disk, in the order of their ids: every byte of its file, its digest, and that its snapshot
 * has the shard files that it names. `hickory verify` of the snapshot verifies these files.
 */
export async function verifyAudiences(
  dataDirectory: string,
  nowMs: number,
): Promise<AudienceState[]> {
  const names = await listAudienceNames(dataDirectory)
  const states: AudienceState[] = []
  for (const name of names.sort((a, b) => (a.id < b.id ? -1 : 1))) {
    const { id, snapshotId, expiresMs } = name
    const expiresAt = new Date(expiresMs).toISOString()
    const found = await stateOf(dataDirectory, name)
    states.push({ id, snapshotId, expiresAt, isExpired: expiresMs <= nowMs, ...found })
  }
  return states
}

async function stateOf(
  dataDirectory: string,
  name: AudienceName,
): Promise<Pick<AudienceState, 'digest' | 'fault'>> {
  try {
    const digest = await withAudience(dataDirectory, name, async (file, header, imageStart) => {
      const runs = await readAudienceRuns(file, header, imageStart)
      const { sources } = await readManifest(dataDirectory, name.snapshotId)
      const entries = sources.flatMap(({ shards }) => shards)
      for (const [at, shard] of header.shards.entries()) refuseOtherShard(entries, shard, runs[at])
      return header.digest
    })
    return { digest, fault: digest === undefined ? 'found no file' : undefined }
  } catch (error) {
    return { digest: undefined, fault: (error as Error).message }
  }
}

function refuseOtherShard(
  entries: readonly ManifestShard[],
  { file, sha256, byteLength, headerCrc32 }: AudienceHeader['shards'][number],
  runs: Uint32Array,
): void {
  const entry = entries.find((candidate) => candidate.file === file)
  const isSame =
    entry?.sha256 === sha256 &&
    entry.byteLength === byteLength &&
    entry.headerCrc32 === headerCrc32 &&
    (runs.at(-1) ?? 0) <= entry.recipientCount
  if (!isSame)
    throw new Error(`found ${file} in the snapshot, which is not the one that was frozen`)
}

/** @param more  what is going to be written for the snapshot */
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
