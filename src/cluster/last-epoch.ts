/**
 * The last epoch of which a journal tells, for a cluster that is founded with it: epochs only grow.
 *
 * @module
 */
import { journalDirectory } from '../journal/files.js'
import { JournalReader } from '../journal/reader.js'
import { ENTRY_SOURCE } from '../journal/record.js'
import { decodeEntry } from './entries.js'

/**
 * Reads all of the journal.
 *
 * @returns 0 where there was none
 * @throws JournalDamaged
 */
export function lastEpochIn(dataDirectory: string): number {
  const reader = new JournalReader(journalDirectory(dataDirectory), 'written')
  try {
    let last = 0
    for (const { sourceId, content } of reader.records(reader.head().first.after.sequence)) {
      const entry = sourceId === ENTRY_SOURCE ? decodeEntry(content) : undefined
      if (entry?.kind === 'epoch') last = entry.epoch
    }
    return last
  } finally {
    reader.close()
  }
}
