/**
 * Verifies a snapshot on disk: all that opening it verifies, the SHA-256 of every file, and that the
 * repeats are those of its phones. One shard is in memory at a time.
 *
 * @module
 */
import { join } from 'node:path'
import type { Room } from '../../shard/arena.js'
import { createArenaPool } from '../../shard/arena-pool.js'
import { findRepeats } from '../../shard/duplicates/find-repeats.js'
import { lookHere } from '../../shard/duplicates/shard-look.js'
import { snapshotsDirectory } from '../directory.js'
import { findDifference } from '../duplicates/faults.js'
import { readRepeatsFile } from '../duplicates/file.js'
import {
  encodeManifest,
  MANIFEST_FILE,
  type Manifest,
  type Manifest2,
  readManifest,
} from '../format/manifest.js'
import { roomBytesOf } from '../format/shard-image.js'
import { IDENTITIES_LIST, readIdentities, type SourceIdentities } from '../identities/list.js'
import { readIdentitiesFile } from '../identities/read-file.js'
import { corrupt, isNewer, readFault } from '../open-file.js'
import { loadShard } from './load-piece.js'
import { planShard } from './plan-piece.js'
import { findPhones } from './read-columns.js'
import { readPhones } from './read-phones.js'
import { sha256Of } from './sha256.js'

interface FileState {
  readonly file: string
  /** The expected size; 0 if it is not known. */
  readonly byteLength: number
  /** The fault of the file; undefined if there is none. */
  readonly fault: string | undefined
}

export interface SnapshotState {
  readonly snapshotId: string
  readonly isWhole: boolean
  /** Whether a later version of Hickory wrote it; then nothing else is known of it. */
  readonly isNewer: boolean
  readonly files: readonly FileState[]
}

export async function verifySnapshot(dataDirectory: string, id: string): Promise<SnapshotState> {
  const directory = join(snapshotsDirectory(dataDirectory), id)
  let manifest: Manifest
  try {
    manifest = await readManifest(dataDirectory, id)
  } catch (error) {
    const fault = faultOf(error, join(directory, MANIFEST_FILE))
    return {
      ...stateOf(id, [{ file: MANIFEST_FILE, byteLength: 0, fault }]),
      isNewer: isNewer(error),
    }
  }
  const byteLength = Buffer.byteLength(encodeManifest(manifest))
  const files: FileState[] = [{ file: MANIFEST_FILE, byteLength, fault: undefined }]
  files.push(...(await verifyShards(directory, manifest)))
  if ('repeats' in manifest) {
    files.push(await verifyRepeats(directory, manifest, stateOf(id, files).isWhole))
  }
  files.push(...(await verifyIdentities(dataDirectory, directory, manifest)))
  return stateOf(id, files)
}

function stateOf(snapshotId: string, files: readonly FileState[]): SnapshotState {
  const isWhole = files.every(({ fault }) => fault === undefined)
  return { snapshotId, isWhole, isNewer: false, files }
}

async function verifyShards(directory: string, { sources }: Manifest): Promise<FileState[]> {
  const sizes = sources.flatMap(({ shards }) =>
    shards.map(({ byteLength, recipientCount }) => roomBytesOf(byteLength, recipientCount)),
  )
  const room = roomOf(Math.max(0, ...sizes))
  const states: FileState[] = []
  for (const { id: sourceId, contactCount, shards } of sources) {
    for (const entry of shards) {
      const path = join(directory, entry.file)
      const read = async () => {
        const piece = await planShard(directory, { id: sourceId, contactCount }, entry, room)
        return await loadShard(piece, () => {})
      }
      states.push(await verified(path, entry, read))
    }
  }
  return states
}

async function verifyRepeats(
  directory: string,
  { sources, repeats: entry }: Manifest2,
  areShardsWhole: boolean,
): Promise<FileState> {
  const path = join(directory, entry.file)
  const shards = sources.flatMap(({ shards }) => shards)
  const shardCounts = shards.map(({ recipientCount }) => recipientCount)
  return await verified(path, entry, async () => {
    const read = await readRepeatsFile(path, entry, shardCounts, roomOf(entry.byteLength))
    if (!areShardsWhole) return
    const look = lookHere(async (at) =>
      readPhones(await findPhones(join(directory, shards[at].file), shards[at].byteLength)),
    )
    const found = await findRepeats(shardCounts, look)
    const difference = findDifference(read, found)
    if (difference !== undefined) throw corrupt(path, difference)
  })
}

async function verifyIdentities(
  dataDirectory: string,
  directory: string,
  { id, sources }: Manifest,
): Promise<FileState[]> {
  let known: readonly SourceIdentities[]
  try {
    known = await readIdentities(dataDirectory, id)
  } catch (error) {
    const fault = faultOf(error, join(directory, IDENTITIES_LIST))
    return [{ file: IDENTITIES_LIST, byteLength: 0, fault }]
  }
  const states: FileState[] = []
  for (const { id: sourceId, files } of known) {
    const shards = sources.find((source) => source.id === sourceId)?.shards ?? []
    for (const [at, entry] of files.entries()) {
      const path = join(directory, entry.file)
      const count = shards[at]?.recipientCount ?? 0
      states.push(await verified(path, entry, () => readIdentitiesFile(directory, entry, count)))
    }
  }
  return states
}

function roomOf(byteLength: number): Room {
  return createArenaPool(1).take([byteLength])[0]
}

async function verified(
  path: string,
  { file, byteLength, sha256 }: { file: string; byteLength: number; sha256: string },
  read: () => Promise<unknown>,
): Promise<FileState> {
  try {
    await read()
    const found = await sha256Of(path)
    if (found !== sha256) throw corrupt(path, `found SHA-256 ${found}, expected ${sha256}`)
    return { file, byteLength, fault: undefined }
  } catch (error) {
    return { file, byteLength, fault: faultOf(error, path) }
  }
}

/** Without the path, which stands before it. */
function faultOf(error: unknown, path: string): string {
  return readFault(path, error).message.replace(`${path}: `, '')
}
