/**
 * What a journal holds, at a look.
 *
 * @module
 */
import { existsSync, statSync } from 'node:fs'
import { journalFileNumbers, journalPath } from './files.js'
import { JournalReader } from './reader.js'

interface JournalSummary {
  /** The first batch that is kept; one more than the last one where none is. */
  readonly firstSequence: number
  /** 0 before the first batch. */
  readonly lastSequence: number
  /** Of all files of records. */
  readonly byteLength: number
}

/**
 * @returns undefined where there is none
 * @throws JournalDamaged  where it has no position
 */
export function summaryOfJournal(directory: string): JournalSummary | undefined {
  if (!existsSync(directory)) return undefined
  const reader = new JournalReader(directory)
  try {
    const { sequence, first } = reader.head()
    const sizes = journalFileNumbers(directory).map(
      (number) => statSync(journalPath(directory, number), { throwIfNoEntry: false })?.size ?? 0,
    )
    return {
      firstSequence: first.after.sequence + 1,
      lastSequence: sequence,
      byteLength: sizes.reduce((sum, size) => sum + size, 0),
    }
  } finally {
    reader.close()
  }
}
