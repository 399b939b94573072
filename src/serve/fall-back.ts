/**
 * Chooses the snapshot that a service starts with: the current one, or the newest intact one before
 * it. An answer from older data is better than none, as long as the service reports it.
 *
 * @module
 */
import { OperatorError, RESTORE } from '../errors.js'
import type { Log } from '../log.js'
import { type ArenaPool, createArenaPool } from '../shard/arena-pool.js'
import { currentMissing, listSnapshots, readCurrent } from '../snapshot/directory.js'
import { type LoadOptions, loadSnapshot } from '../snapshot/load/load.js'
import { missing } from '../snapshot/load/open.js'
import { isCorrupt, isNewer, isUnusable } from '../snapshot/open-file.js'
import { readLineage } from '../snapshot/retention/history.js'
import type { Snapshot } from '../snapshot/snapshot.js'
import type { Refusal } from './messages.js'

interface FallBackOptions extends LoadOptions {
  /** Where it is put; by default in arenas of its own for one thread. */
  readonly arenas?: ArenaPool
  readonly log: Log
}

export interface OpenedSnapshot {
  readonly snapshot: Snapshot
  /** What CURRENT names instead, or why it names nothing. */
  readonly refused: Refusal | undefined
}

/**
 * @throws OperatorError `SnapshotMissing`, `SnapshotCorrupt` naming all that was tried, `NewerFormat` where a
 *   later version wrote the current one, or `Failed` where the system does not let it read: these are no
 *   reasons to take what is older
 */
export async function openOrFallBack(
  dataDirectory: string,
  { arenas = createArenaPool(1), log, ...options }: FallBackOptions,
): Promise<OpenedSnapshot> {
  const { ids, refused: named } = await startCandidates(dataDirectory)
  const refusals: Refusal[] = named === undefined ? [] : [named]
  for (const id of ids) {
    try {
      const snapshot = await loadSnapshot(dataDirectory, id, arenas, options)
      const [refused] = refusals
      if (refused !== undefined) {
        const { snapshotId, reason } = refused
        log.error({ snapshotId, servedId: id, reason }, 'fell back to another snapshot')
      }
      return { snapshot, refused }
    } catch (error) {
      if (!isUnusable(error)) throw error
      // It is whole, so that nothing older may take its place unasked.
      if (isNewer(error) && refusals.length === 0) throw error
      log.error({ snapshotId: id, reason: error.message }, 'refused a snapshot')
      refusals.push({ snapshotId: id, reason: error.message })
    }
  }
  if (refusals.length === 0) throw missing(dataDirectory)
  throw noneWhole(dataDirectory, refusals)
}

/**
 * The snapshots to try, the best first: the current one and those that it was made from. The others were
 * never current, or an operator has rolled back from them.
 *
 * @returns `refused` says why CURRENT names none of them, if it does not
 */
export async function startCandidates(
  dataDirectory: string,
): Promise<{ ids: string[]; refused?: Refusal }> {
  const ids = (await listSnapshots(dataDirectory)).reverse()
  let current: string | undefined
  try {
    current = await readCurrent(dataDirectory)
  } catch (error) {
    // Where it only cannot be read now, what it names is not known to be gone.
    if (!isCorrupt(error)) throw error
    return { ids, refused: { reason: error.message } }
  }
  if (current === undefined) {
    return ids.length === 0 ? { ids } : { ids, refused: { reason: currentMissing(dataDirectory) } }
  }
  if (!ids.includes(current)) {
    const reason = `CURRENT names ${current}, which is not in ${dataDirectory}`
    return { ids, refused: { snapshotId: current, reason } }
  }
  return { ids: await readLineage(dataDirectory, current, ids.reverse()) }
}

function noneWhole(dataDirectory: string, refusals: readonly Refusal[]): OperatorError {
  const reasons = refusals.map(({ reason }) => reason).join('; ')
  return new OperatorError(
    'SnapshotCorrupt',
    `${reasons}. No older snapshot in ${dataDirectory} is intact; ${RESTORE}, or import the sources again`,
  )
}
