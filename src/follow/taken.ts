/**
 * What the journal has of a table that is followed, and the file of the state does not say yet: that is written once a second,
 * and a server that fails over loses just its last transactions.
 *
 * @module
 */
import { journalDirectory } from '../journal/files.js'
import { JournalReader } from '../journal/reader.js'
import { parseLsn } from '../sources/postgres/replication/lsn.js'
import type { FollowState } from './state.js'

/** The sequence of the last batch in a journal. */
export function lastSequence(dataDirectory: string): number {
  return withReader(dataDirectory, (journal) => journal.head().sequence)
}

/** What ids of batches begin with: a text for the server, the slot and the copy. */
export function idPrefixOf({ systemId, slot, copySequence }: FollowState): string {
  return `pg:${systemId}:${slot}:${copySequence === undefined ? '' : `${copySequence}:`}`
}

/** Places of transactions behind that of the state, of which the journal has changes. */
export function takenBehind(
  dataDirectory: string,
  sourceId: number,
  state: FollowState,
): ReadonlySet<bigint> {
  const prefix = idPrefixOf(state)
  return withReader(dataDirectory, (journal) => {
    const taken = new Set<bigint>()
    const since = Math.max(state.sequence ?? 0, journal.head().first.after.sequence)
    for (const record of journal.records(since)) {
      if (record.sourceId !== sourceId || !record.batchId.startsWith(prefix)) continue
      const [place] = record.batchId.slice(prefix.length).split(':')
      const lsn = parseLsn(place)
      if (lsn >= state.confirmedLsn) taken.add(lsn)
    }
    return taken
  })
}

function withReader<Result>(
  dataDirectory: string,
  use: (journal: JournalReader) => Result,
): Result {
  const journal = new JournalReader(journalDirectory(dataDirectory))
  try {
    return use(journal)
  } finally {
    journal.close()
  }
}
