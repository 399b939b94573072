/**
 * Directories of machines of a cluster, made without a service.
 *
 * @module
 */
import { type Entry, encodeEntry } from '../../../src/cluster/entries.js'
import { writeFacts, writeState } from '../../../src/cluster/state-file.js'
import { prepareBatch, prepareEntry } from '../../../src/journal/batch.js'
import { journalDirectory } from '../../../src/journal/files.js'
import { setJournalLog } from '../../../src/journal/seed.js'
import { JournalWriter } from '../../../src/journal/writer.js'

export const GENERATION = '0123456789abcdef'

let lastPlace = 1

/** Appends batches of recipients, and entries, each by itself as the log says it. */
export function appendEach(writer: JournalWriter, ...entries: readonly ('batch' | Entry)[]): void {
  for (const entry of entries) {
    const batchId = `${++lastPlace}`
    const changes = [{ op: 'delete', identity: batchId } as const]
    const prepared =
      entry === 'batch'
        ? prepareBatch({ sourceId: 1, batchId, changes })
        : prepareEntry(batchId, encodeEntry(entry))
    const log = { generation: GENERATION, place: lastPlace }
    writer.append([prepared], { log, timeMs: Date.now() })
  }
}

/** Writes the journal of a machine, which begins a file with each batch. */
export async function writerOfFiles(data: string): Promise<JournalWriter> {
  const directory = journalDirectory(data)
  await setJournalLog(directory, { generation: GENERATION, place: 0 })
  return new JournalWriter({ directory, isClustered: true, fileBytes: 1, unindexedCount: 1 })
}

/**
 * Makes a directory that of a machine `site-a` of a cluster with `site-b`.
 *
 * @param entries  that are in the journal, and not in the store yet
 */
export async function makeClustered(data: string, entries: readonly Entry[] = []): Promise<void> {
  const directory = journalDirectory(data)
  const { sequence } = await setJournalLog(directory, { generation: GENERATION, place: 0 })
  if (entries.length > 0) {
    const writer = new JournalWriter({ directory, isClustered: true })
    const prepared = entries.map((entry, at) => prepareEntry(`entry ${at}`, encodeEntry(entry)))
    try {
      writer.append(prepared, { log: { generation: GENERATION, place: 1 }, timeMs: Date.now() })
    } finally {
      await writer.release()
    }
  }
  const members = ['site-a', 'site-b'].map((name) => {
    return { name, incarnation: `of ${name}`, maxLagMs: 60_000 }
  })
  const [{ name, incarnation }] = members
  await writeState(data, {
    clusterId: 'main',
    name,
    incarnation,
    isFounder: true,
    foundedSequence: sequence,
  })
  await writeFacts(data, { sequence, members, leaving: [] })
}
