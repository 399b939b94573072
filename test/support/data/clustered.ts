/**
 * Directories of machines of a cluster, made without a service.
 *
 * @module
 */
import { type Entry, encodeEntry } from '../../../src/cluster/entries.js'
import { writeFacts, writeState } from '../../../src/cluster/state-file.js'
import { prepareEntry } from '../../../src/journal/batch.js'
import { journalDirectory } from '../../../src/journal/files.js'
import { setJournalLog } from '../../../src/journal/seed.js'
import { JournalWriter } from '../../../src/journal/writer.js'

/**
 * Makes a directory that of a machine `site-a` of a cluster with `site-b`.
 *
 * @param entries  that are in the journal, and not in the store yet
 */
export async function makeClustered(data: string, entries: readonly Entry[] = []): Promise<void> {
  const directory = journalDirectory(data)
  const generation = '0123456789abcdef'
  const { sequence } = await setJournalLog(directory, { generation, place: 0 })
  if (entries.length > 0) {
    const writer = new JournalWriter({ directory, isClustered: true })
    const prepared = entries.map((entry, at) => prepareEntry(`entry ${at}`, encodeEntry(entry)))
    try {
      writer.append(prepared, { log: { generation, place: 1 }, timeMs: Date.now() })
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
