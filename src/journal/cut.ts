/**
 * Removes the files of a journal that nobody needs any more.
 *
 * @module
 */
import { existsSync } from 'node:fs'
import { journalFileNumbers } from './files.js'
import { isClusterJournal, JournalReader } from './reader.js'
import { firstRecordOf } from './walk.js'
import { JournalWriter } from './writer.js'

/**
 * Removes the files of which all batches are at or below a sequence, never the newest one. The ids of their batches
 * stay known.
 *
 * @returns how many were removed
 * @throws JournalDamaged
 * @throws Error  of the system
 */
export async function cutJournal(directory: string, upTo: number): Promise<number> {
  if (!existsSync(directory) || !hasOldFiles(directory, upTo)) return 0
  const writer = new JournalWriter({ directory, isClustered: isClusterJournal(directory) })
  try {
    return writer.truncate(upTo)
  } finally {
    await writer.release()
  }
}

/**
 * Whether there are files of which all batches are at or below a sequence, which is known without the lock, and without
 * the ids of all batches.
 *
 * @throws JournalDamaged
 */
export function hasOldFiles(directory: string, upTo: number): boolean {
  const reader = new JournalReader(directory)
  try {
    const { first, file } = reader.head()
    // Of somebody who was killed as he removed them.
    if (journalFileNumbers(directory).some((number) => number < first.file)) return true
    if (first.file >= file) return false
    const next = firstRecordOf(directory, first.file + 1)
    return next !== undefined && next.sequence <= upTo + 1
  } finally {
    reader.close()
  }
}
