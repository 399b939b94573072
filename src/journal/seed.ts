/**
 * The journal of a machine that joins a cluster: it is begun where a cluster is founded, or behind what is copied
 * from another machine. Nobody else writes to the directory meanwhile.
 *
 * @module
 */
import type { Link } from '../chain/link.js'
import { syncDirectorySync } from '../durable-files.js'
import { positionPath } from './files.js'
import { type JournalHead, type LogPlace, NO_HEAD, openHead } from './head.js'
import { forgetBehind } from './known-batches.js'
import { PositionFile } from './position.js'
import { isClusterJournal } from './reader.js'
import { JournalWriter } from './writer.js'

/**
 * Makes the journal of a directory that of a cluster, with all that is in it, and begins one where there is none; or one
 * that is of no cluster any more.
 *
 * @param log  undefined to leave; with an empty log the journal of a founder goes on
 * @returns the last batch
 * @throws JournalDamaged
 */
export async function setJournalLog(directory: string, log: LogPlace | undefined): Promise<Link> {
  const writer = new JournalWriter({ directory, isClustered: isClusterJournal(directory) })
  try {
    return writer.setLog(log)
  } finally {
    await writer.release()
  }
}

/**
 * Begins a journal behind a batch, with the ids of those before it, in a directory without a journal.
 *
 * @param directory  whose `head/` has a copy of that of another machine (`copyHead`)
 * @param after  the batch, not behind that head
 * @param log  of which it is; what comes next is copied from another machine
 */
export async function beginBehind(
  directory: string,
  { sequence, hash }: Link,
  log: LogPlace,
): Promise<void> {
  const store = openHead(directory, 'write')
  try {
    const begun: JournalHead = {
      sequence,
      hash,
      file: 0,
      bytes: 0,
      first: { file: 1, after: { sequence, hash } },
      log,
    }
    store.transact(({ head = NO_HEAD, tables, move }) => {
      if (head.sequence < sequence) throw new Error(`the head ends before batch ${sequence}`)
      forgetBehind(tables.batches, sequence)
      move(begun)
    })
    // A second time: only a move that another one follows is there after a power failure.
    store.transact(({ move }) => move(begun))
    writePosition(positionPath(directory), begun)
    syncDirectorySync(directory)
  } finally {
    await store.close()
  }
}

function writePosition(path: string, head: JournalHead): void {
  const file = PositionFile.openToWrite(path)
  file.read()
  file.write(head)
  file.sync()
  file.close()
}
