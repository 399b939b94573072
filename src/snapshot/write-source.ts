/**
 * The files of one source in a snapshot that is being made.
 *
 * @module
 */
import { constants } from 'node:fs'
import { chmod, copyFile, link, open, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { OperatorError } from '../errors.js'
import { limits } from '../limits.js'
import { buildShard } from '../shard/build.js'
import type { RecipientColumns } from '../shard/columns.js'
import { partition } from '../shard/partition.js'
import { FILE_MODE } from './directory.js'
import { type ManifestShard, type ManifestSource, shardFileName } from './manifest.js'
import { writeShardFile } from './shard-file.js'

/** An index entry (coordinates and id), a contact and the offset of a number. */
const RECIPIENT_BYTES = 8 + 4 + 4 + 4
/** Headers, padding, the manifest and directories, amply. */
const SHARD_EXTRA_BYTES = 64 << 10
const SNAPSHOT_EXTRA_BYTES = 4 << 20

/** Refuses work that the disk has no room for; work that it has room for can still fill it. */
export async function assertFreeSpace(directory: string, columns: RecipientColumns): Promise<void> {
  const { recipientCount, numbers } = columns
  const shardCount = Math.ceil(recipientCount / limits.shardRecipientCount)
  const neededBytes =
    recipientCount * RECIPIENT_BYTES +
    numbers.length +
    shardCount * SHARD_EXTRA_BYTES +
    SNAPSHOT_EXTRA_BYTES
  const { bavail, bsize } = await statfs(directory)
  if (bavail * bsize >= neededBytes) return
  throw new OperatorError(
    'Failed',
    `${directory}: ${bavail * bsize} bytes are free, the new snapshot needs ${neededBytes}`,
  )
}

/**
 * Builds and writes the shards of a source, one in memory at a time.
 *
 * @param onProgress  called with the recipients written so far
 */
export async function writeSource(
  directory: string,
  source: { readonly id: number; readonly label: string },
  columns: RecipientColumns,
  onProgress?: (recipientCount: number) => void,
): Promise<ManifestSource> {
  const shards: ManifestShard[] = []
  let writtenCount = 0
  for (const [regionIndex, rows] of partition(columns, limits.shardRecipientCount).entries()) {
    const shard = buildShard(columns, rows, source.id, regionIndex)
    const file = shardFileName(source.id, regionIndex)
    const digest = await writeShardFile(join(directory, file), shard)
    shards.push({ file, ...digest, recipientCount: shard.recipientCount, box: shard.box })
    writtenCount += rows.length
    onProgress?.(writtenCount)
    await setImmediate()
  }
  const { recipientCount, contactCount } = columns
  return { id: source.id, label: source.label, recipientCount, contactCount, shards }
}

/** Makes the files of a source of one snapshot the files of another one, too. */
export async function carryOver(from: string, to: string, source: ManifestSource): Promise<void> {
  for (const { file } of source.shards) {
    try {
      await link(join(from, file), join(to, file))
    } catch {
      // Not every file system has links.
      await copyDurably(join(from, file), join(to, file))
    }
  }
}

async function copyDurably(from: string, to: string): Promise<void> {
  await copyFile(from, to, constants.COPYFILE_EXCL)
  await chmod(to, FILE_MODE)
  const file = await open(to, 'r')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}
