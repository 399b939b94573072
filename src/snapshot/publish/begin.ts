/**
 * Begins a snapshot in which some sources are new or replaced. Until its draft is published and CURRENT
 * renamed, nothing has changed: if anything fails, the old snapshot stays the current one.
 *
 * @module
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createDirectory, DIRECTORY_MODE, TEMPORARY } from '../../durable-files.js'
import { OperatorError } from '../../errors.js'
import { limits } from '../../limits.js'
import type { Log } from '../../log.js'
import { refusalText } from '../../system-refusals.js'
import { generationOf, listSnapshots, snapshotsDirectory } from '../directory.js'
import { readReference } from '../retention/reference.js'
import { readBase } from './base.js'
import { Draft } from './draft.js'
import { finishFirst } from './finish-first.js'
import type { DataLock } from './lock.js'
import { removeTemporaries } from './make-current.js'

interface DraftOptions {
  readonly log: Log
  /** Whether SIGINT, SIGTERM and SIGHUP end the process, which is so unless said otherwise. */
  readonly endsOnSignal?: boolean
  /** Called when it is about to become current: from then on nobody may end the process. */
  readonly onCommit?: () => void
  /**
   * Imports whose snapshots stay, the new one among them; `limits.snapshotCount` unless given. Infinity where none
   * may go.
   */
  readonly keepCount?: number | undefined
}

/** `publish` or `discard` must follow. */
export async function beginSnapshot(
  lock: DataLock,
  { log, endsOnSignal = true, onCommit, keepCount = limits.snapshotCount }: DraftOptions,
): Promise<Draft> {
  const { dataDirectory, assertHeld } = lock
  const snapshots = snapshotsDirectory(dataDirectory)
  try {
    await createDirectory(snapshots)
    await removeTemporaries(snapshots)
    await finishFirst(lock, log)
    const existing = await listSnapshots(dataDirectory)
    const generation = Math.max(0, ...existing.map(generationOf)) + 1
    const base = await readBase(dataDirectory)
    const reference = await readReference(dataDirectory)
    const temporary = join(snapshots, `${generation}${TEMPORARY}`)
    // In one step with what removes it, so that no signal comes between them.
    mkdirSync(temporary, { mode: DIRECTORY_MODE })
    const place = { dataDirectory, temporary, generation, base, reference, assertHeld, log }
    return new Draft({ ...place, endsOnSignal, onCommit, keepCount })
  } catch (error) {
    if (error instanceof OperatorError) throw error
    throw new OperatorError(
      'Failed',
      `cannot make a snapshot in ${dataDirectory}: ${refusalText(error)}`,
      { cause: error },
    )
  }
}
