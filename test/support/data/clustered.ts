/**
 * Directories of machines of a cluster, made without a service.
 *
 * @module
 */
import { type Entry, encodeEntry } from '../../../src/cluster/entries.js'
import { writeState, writeTail } from '../../../src/cluster/state-file.js'
import { prepareEntry } from '../../../src/journal/batch.js'
import { journalDirectory } from '../../../src/journal/files.js'
import { foundJournal } from '../../../src/journal/seed.js'
import { JournalWriter } from '../../../src/journal/writer.js'

/**
 * Makes a directory that of a machine `site-a` in epoch 4 of a cluster with `site-b`.
 *
 * @param committed  entries that are committed, and not in the store yet
 * @param further  entries that are not committed
 */
export async function makeClustered(
  data: string,
  committed: readonly Entry[] = [],
  further: readonly Entry[] = [],
): Promise<void> {
  const directory = journalDirectory(data)
  const { sequence } = await foundJournal(directory)
  const writer = new JournalWriter({ directory, isClustered: true })
  const prepared = (entries: readonly Entry[], name: string) =>
    entries.map((entry, at) => prepareEntry(`${name} ${at}`, encodeEntry(entry)))
  try {
    if (committed.length > 0) writer.append(prepared(committed, 'committed'))
    writer.commit(sequence + committed.length)
    if (further.length > 0) writer.append(prepared(further, 'further'))
  } finally {
    await writer.release()
  }
  const members = ['site-a', 'site-b'].map((name) => ({ name, incarnation: `of ${name}` }))
  await writeState(data, {
    clusterId: 'main',
    ...members[0],
    epoch: 4,
    isFounder: true,
    foundedSequence: sequence,
  })
  await writeTail(data, { sequence, epochs: [], members, membersSequence: sequence })
}
