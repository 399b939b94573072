/**
 * Finds the snapshot and the source that a command names.
 *
 * @module
 */
import { OperatorError } from '../errors.js'
import { limits } from '../limits.js'
import { currentMissing, listSnapshots, readCurrent } from '../snapshot/directory.js'
import { missing } from '../snapshot/load/open.js'

/** What CURRENT holds, which may be anything: it is one file that can be damaged, too. */
interface CurrentState {
  readonly snapshotId: string | undefined
  /** Why it names no snapshot that is there; undefined if it does. */
  readonly fault: string | undefined
}

export interface SnapshotIds {
  /** Of those that are there, by ascending generation. */
  readonly ids: readonly string[]
  readonly current: CurrentState
}

/** @throws OperatorError `SnapshotMissing`, where there is none and never was */
export async function readSnapshotIds(dataDirectory: string): Promise<SnapshotIds> {
  const ids = await listSnapshots(dataDirectory)
  let snapshotId: string | undefined
  let fault: string | undefined
  try {
    snapshotId = await readCurrent(dataDirectory)
    if (snapshotId === undefined) fault = currentMissing(dataDirectory)
    else if (!ids.includes(snapshotId)) fault = `CURRENT names ${snapshotId}, which is not there`
  } catch (error) {
    fault = (error as Error).message
  }
  if (ids.length === 0 && snapshotId === undefined) throw missing(dataDirectory)
  return { ids, current: { snapshotId, fault } }
}

/** @param given  an id, or `current` */
export function chosenId({ ids, current }: SnapshotIds, given: string): string {
  if (given === 'current') {
    if (current.fault === undefined && current.snapshotId !== undefined) return current.snapshotId
    throw new OperatorError('SnapshotCorrupt', `${current.fault}; there are ${named(ids)}`)
  }
  if (ids.includes(given)) return given
  throw new OperatorError('Usage', `there is no snapshot ${given}; there are ${named(ids)}`)
}

/** @throws OperatorError  Usage */
export function parseSourceId(text: string): number {
  const id = /^[0-9]{1,10}$/.test(text) ? Number(text) : Number.NaN
  if (id <= limits.sourceIdMax) return id
  throw new OperatorError(
    'Usage',
    `--source is an integer from 0 to ${limits.sourceIdMax}, not "${text}"`,
  )
}

function named(ids: readonly string[]): string {
  return ids.length === 0 ? 'none' : ids.join(', ')
}
