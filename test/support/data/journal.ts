/**
 * Journals of changes, made without a service.
 *
 * @module
 */
import { prepareBatch } from '../../../src/journal/batch.js'
import { journalDirectory } from '../../../src/journal/files.js'
import { JournalWriter } from '../../../src/journal/writer.js'

/** Appends batches `b1`, `b2` and so on to the journal of a data directory, each to a file of its own. */
export async function appendBatches(data: string, count: number) {
  const writer = new JournalWriter({ directory: journalDirectory(data), fileBytes: 100 })
  const batches = Array.from({ length: count }, (_, i) =>
    prepareBatch({
      sourceId: 1,
      batchId: `b${i + 1}`,
      changes: [{ op: 'delete', identity: '+9995550101\0' }],
    }),
  )
  try {
    return batches.flatMap((batch) => writer.append([batch]))
  } finally {
    await writer.release()
  }
}
