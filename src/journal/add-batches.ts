/**
 * Changes of a source that are in the journal, and in no snapshot yet.
 *
 * @module
 */
import type { LastChanges } from '../changes/last-changes.js'
import { OperatorError } from '../errors.js'
import { JournalGone } from './damaged.js'
import { journalDirectory } from './files.js'
import { JournalReader } from './reader.js'

/**
 * Adds the changes behind a sequence, up to the batch that is the last one now.
 *
 * @returns the sequence of that batch; 0 where there is none
 * @throws JournalDamaged
 * @throws OperatorError  `JournalDamaged`, where some of the batches are kept no more
 */
export function addBatches(
  dataDirectory: string,
  sourceId: number,
  since: number,
  changes: LastChanges,
): number {
  const journal = new JournalReader(journalDirectory(dataDirectory))
  try {
    let reached = Math.max(since, journal.head().sequence)
    for (const batch of journal.read(since)) {
      reached = batch.sequence
      if (batch.sourceId !== sourceId) continue
      for (const change of batch.changes) changes.add(change)
    }
    return reached
  } catch (fault) {
    if (!(fault instanceof JournalGone)) throw fault
    throw new OperatorError('JournalDamaged', `${fault.message}: import source ${sourceId} again`)
  } finally {
    journal.close()
  }
}
