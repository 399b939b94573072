/**
 * The files of one source in a snapshot that is being made.
 *
 * @module
 */
import { constants } from 'node:fs'
import { chmod, copyFile, link, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { FILE_MODE, syncFile } from '../../durable-files.js'
import { OperatorError } from '../../errors.js'
import { limits } from '../../limits.js'
import { type Cell, isShard, wholeCell } from '../../shard/build/partition.js'
import type { RecipientColumns } from '../../shard/columns.js'
import { type ManifestShard, type ManifestSource, shardFileName } from '../format/manifest.js'
import type { IdentitiesFile, SourceIdentities } from '../identities/list.js'
import { type BuildThreads, cut, type SourceTask, write } from './build-tasks.js'

/** The id and the label of a source in a snapshot. */
export interface SourceName {
  readonly id: number
  readonly label: string
}

interface WriteOptions {
  /** Called with the recipients written so far. */
  readonly onProgress?: ((recipientCount: number) => void) | undefined
  /** `limits.shardRecipientCount` unless given. */
  readonly shardRecipientCount?: number
}

/** What a manifest and the list of identities say of a source. */
interface WrittenSource {
  readonly source: ManifestSource
  /** Undefined where the identities of its recipients are not known. */
  readonly identities: SourceIdentities | undefined
}

/**
 * Cuts a source into shards, builds and writes them: as many at a time, and in memory, as there are
 * threads. What was written stays there if it fails.
 *
 * @param columns  in shared memory, unless the threads are this one
 */
export async function writeSource(
  directory: string,
  { id, label }: SourceName,
  columns: RecipientColumns,
  threads: BuildThreads,
  { onProgress, shardRecipientCount = limits.shardRecipientCount }: WriteOptions = {},
): Promise<WrittenSource> {
  const { recipientCount, contactCount } = columns
  const shards: ManifestShard[] = []
  const files: IdentitiesFile[] = []
  if (recipientCount > 0) {
    const order = () => new Uint32Array(new SharedArrayBuffer(4 * recipientCount))
    const source = { directory, sourceId: id, columns, orders: [order(), order()] } as const
    const whole = wholeCell(columns, source.orders, shardRecipientCount)
    let writtenCount = 0
    await writeCell(source, whole, threads, (cell, { shard, identities }) => {
      shards[cell.firstShard] = shard
      if (identities !== undefined) files[cell.firstShard] = identities
      writtenCount += shard.recipientCount
      onProgress?.(writtenCount)
    })
  }
  const { identities } = columns
  return {
    source: { id, label, recipientCount, contactCount, shards },
    identities: identities && { id, hasKeys: identities.keys !== null, files },
  }
}

/** Removes what there is of a source. */
export async function removeSource(directory: string, id: number): Promise<void> {
  for (const file of await readdir(directory)) {
    if (file.startsWith(`${id}-`)) await rm(join(directory, file))
  }
}

/**
 * Makes files of one snapshot files of another one, too.
 *
 * @throws OperatorError `SnapshotCorrupt` if one is missing
 */
export async function carryOver(
  from: string,
  to: string,
  files: readonly { readonly file: string }[],
): Promise<void> {
  for (const { file } of files) {
    try {
      await link(join(from, file), join(to, file))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
        throw new OperatorError('SnapshotCorrupt', `${join(from, file)} is missing`)
      }
      // Not every file system has links.
      await copyDurably(join(from, file), join(to, file))
    }
  }
}

/** Cells that are apart are cut and written at the same time. */
async function writeCell(
  source: SourceTask,
  cell: Cell,
  threads: BuildThreads,
  onWritten: (cell: Cell, written: Awaited<ReturnType<typeof write>>) => void,
): Promise<void> {
  // Time for others, such as the renewal of the lock, should the threads be this one.
  await setImmediate()
  if (isShard(cell)) {
    const file = shardFileName(source.sourceId, cell.firstShard)
    onWritten(cell, await write(threads, source, cell, file))
    return
  }
  const [left, right] = await cut(threads, source, cell)
  await Promise.all([
    writeCell(source, left, threads, onWritten),
    writeCell(source, right, threads, onWritten),
  ])
}

async function copyDurably(from: string, to: string): Promise<void> {
  await copyFile(from, to, constants.COPYFILE_EXCL)
  await chmod(to, FILE_MODE)
  await syncFile(to)
}
