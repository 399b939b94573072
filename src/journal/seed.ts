/**
 * The journal of a machine that joins a cluster: it is begun where a cluster is founded, or behind what is copied
 * from another machine. Nobody else writes to the directory meanwhile.
 *
 * @module
 */
import type { Link } from '../chain/link.js'
import { syncDirectorySync } from '../durable-files.js'
import { committedPath, positionPath } from './files.js'
import { type JournalHead, NO_HEAD, openHead } from './head.js'
import { forgetBehind } from './known-batches.js'
import { PositionFile } from './position.js'
import { JournalWriter } from './writer.js'

/**
 * Makes the journal of a directory that of a cluster, with all that is in it, and begins one where there is none.
 *
 * @throws JournalDamaged
 */
export async function foundJournal(directory: string): Promise<Link> {
  const writer = new JournalWriter({ directory })
  try {
    const { sequence, hash } = noteAgreed(directory, writer.prepare())
    return { sequence, hash }
  } finally {
    await writer.release()
  }
}

/**
 * Begins a journal behind a batch, with the ids of those before it, in a directory without a journal.
 *
 * @param directory  whose `head/` has a copy of that of another machine (`copyHead`)
 * @param after  the batch, not behind that head
 */
export async function beginBehind(directory: string, { sequence, hash }: Link): Promise<void> {
  const store = openHead(directory, 'write')
  try {
    const begun: JournalHead = {
      sequence,
      hash,
      file: 0,
      bytes: 0,
      first: { file: 1, after: { sequence, hash } },
    }
    store.transact(({ head = NO_HEAD, tables, move }) => {
      if (head.sequence < sequence) throw new Error(`the head ends before batch ${sequence}`)
      forgetBehind(tables.batches, sequence)
      move(begun)
    })
    // A second time: only a move that another one follows is there after a power failure.
    store.transact(({ move }) => move(begun))
    writePosition(positionPath(directory), begun)
    noteAgreed(directory, begun)
  } finally {
    await store.close()
  }
}

function noteAgreed(directory: string, head: JournalHead): JournalHead {
  writePosition(committedPath(directory), head)
  syncDirectorySync(directory)
  return head
}

function writePosition(path: string, head: JournalHead): void {
  const file = PositionFile.openToWrite(path)
  file.read()
  file.write(head)
  file.sync()
  file.close()
}
