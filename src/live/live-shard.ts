/**
 * A shard of a snapshot as the thread of changes needs it: who is tied, single recipients, and all columns for as long as
 * a table is made of them. Where another machine holds the shard, its file has the columns.
 *
 * @module
 */
import { join } from 'node:path'
import { attachShard, hasColumns, type Shard } from '../shard/layout.js'
import { snapshotsDirectory } from '../snapshot/directory.js'
import { readManifest } from '../snapshot/format/manifest.js'
import { loadAlone } from '../snapshot/load/load-alone.js'
import { planAlone } from '../snapshot/load/plan-piece.js'
import { type Rows, rowsInFile, rowsInMemory } from '../snapshot/load/rows.js'
import type { Snapshot } from '../snapshot/snapshot.js'

export interface LiveShard {
  /** Without columns where another machine holds it. */
  readonly shard: Shard
  readonly rows: Rows
  /** To be forgotten soon. */
  columns(): Promise<Shard>
}

/** One that lies in memory. */
function inMemory(shard: Shard): LiveShard {
  return { shard, rows: rowsInMemory(shard), columns: async () => shard }
}

/**
 * All shards of a snapshot. Their rows are to be closed.
 *
 * @throws OperatorError
 */
export async function openShards(
  dataDirectory: string,
  { id, shards }: Pick<Snapshot, 'id' | 'shards'>,
): Promise<readonly LiveShard[]> {
  if (shards.every(hasColumns)) return shards.map((image) => inMemory(attachShard(image)))
  const { sources } = await readManifest(dataDirectory, id)
  const entries = sources.flatMap((source) => source.shards.map((entry) => ({ source, entry })))
  const directory = join(snapshotsDirectory(dataDirectory), id)
  const opened: LiveShard[] = []
  try {
    for (const [place, image] of shards.entries()) {
      const shard = attachShard(image)
      if (hasColumns(image)) opened.push(inMemory(shard))
      else {
        const { source, entry } = entries[place]
        const piece = await planAlone(directory, source, entry)
        const columns = async () => attachShard(await loadAlone(piece))
        opened.push({ shard, rows: rowsInFile(piece.path, piece.head), columns })
      }
    }
    return opened
  } catch (fault) {
    for (const { rows } of opened) rows.close()
    throw fault
  }
}
