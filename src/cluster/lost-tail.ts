/**
 * Whether it is lost what a machine has noted of its journal, and the journal says it no more.
 *
 * @module
 */
import { JournalDamaged } from '../journal/damaged.js'
import { journalDirectory } from '../journal/files.js'
import { JournalReader } from '../journal/reader.js'
import { readTail } from './state-file.js'

/** Then nobody here can say who the members are. */
export function isTailLost(dataDirectory: string): boolean {
  const reader = new JournalReader(journalDirectory(dataDirectory), 'written')
  try {
    return readTail(dataDirectory).sequence < reader.head().first.after.sequence
  } catch (fault) {
    // Whoever reads the journal next says what is to be done.
    if (fault instanceof JournalDamaged) return false
    throw fault
  } finally {
    reader.close()
  }
}
