/**
 * Opens a snapshot: every byte of it is verified before any of it is used.
 *
 * @module
 */
import { OperatorError } from '../../errors.js'
import { type ArenaPool, createArenaPool } from '../../shard/arena-pool.js'
import { readCurrent } from '../directory.js'
import { readManifest } from '../format/manifest.js'
import type { Snapshot, SnapshotSource } from '../snapshot.js'
import { type LoadOptions, loadSnapshot, summaryOf } from './load.js'

interface OpenOptions extends LoadOptions {
  /** Where it is put; in arenas of its own for one thread unless given. */
  readonly arenas?: ArenaPool
}

/**
 * Loads the current snapshot into shared memory, that one or none.
 *
 * @throws OperatorError `SnapshotMissing` or `SnapshotCorrupt`
 */
export async function openSnapshot(
  dataDirectory: string,
  { arenas = createArenaPool(1), ...options }: OpenOptions = {},
): Promise<Snapshot> {
  const id = await readCurrent(dataDirectory)
  if (id === undefined) throw missing(dataDirectory)
  return await loadSnapshot(dataDirectory, id, arenas, options)
}

/** The sources of the current snapshot by its manifest alone; none if there is no snapshot. */
export async function listSources(dataDirectory: string): Promise<SnapshotSource[]> {
  const id = await readCurrent(dataDirectory)
  if (id === undefined) return []
  return (await readManifest(dataDirectory, id)).sources.map(summaryOf)
}

export function missing(dataDirectory: string): OperatorError {
  return new OperatorError(
    'SnapshotMissing',
    `there is no snapshot in ${dataDirectory}: make one with ` +
      `\`hickory import --data ${dataDirectory} --source 1 --label NAME FILE…\``,
  )
}
