/**
 * What the snapshots of a data directory need of the journal of changes: whoever goes back to one of them gets the
 * changes that came since, too.
 *
 * @module
 */
import { listSnapshots } from '../directory.js'
import { readIdentities } from '../identities/list.js'

/** The snapshot that needs most of the journal. */
export interface NeededChanges {
  readonly snapshotId: string
  /** It has all batches up to this one. */
  readonly appliedSequence: number
}

/**
 * A source without identities takes no changes, and needs none.
 *
 * @returns undefined where no snapshot says what it needs
 * @throws OperatorError  as `readIdentities`
 */
export async function neededChanges(dataDirectory: string): Promise<NeededChanges | undefined> {
  let most: NeededChanges | undefined
  for (const snapshotId of await listSnapshots(dataDirectory)) {
    for (const { appliedSequence = 0 } of await readIdentities(dataDirectory, snapshotId)) {
      if (most === undefined || appliedSequence < most.appliedSequence) {
        most = { snapshotId, appliedSequence }
      }
    }
  }
  return most
}
