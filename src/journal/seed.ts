/**
 * The journal of a machine that joins a cluster: it is begun where a cluster is founded, or behind what is copied
 * from another machine. Nobody else writes to the directory meanwhile.
 *
 * @module
 */
import { syncDirectory } from '../chain/last-file.js'
import type { Link } from '../chain/link.js'
import { committedPath, positionPath } from './files.js'
import { type JournalHead, NO_HEAD, openHead } from './head.js'
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
 * Begins a journal behind a head that was copied, in a directory without a journal.
 *
 * @param directory  whose `head/` has the copy (`copyHead`)
 * @returns the last batch of which it has the id
 */
export async function beginBehindHead(directory: string): Promise<Link> {
  const store = openHead(directory, 'write')
  try {
    const link = store.transact(({ head = NO_HEAD, move }) => {
      const { sequence, hash } = head
      move({ sequence, hash, file: 0, bytes: 0, first: { file: 1, after: { sequence, hash } } })
      return { sequence, hash }
    })
    // A second time: only a move that another one follows is there after a power failure.
    const begun = store.transact(({ head = NO_HEAD, move }) => {
      move(head)
      return head
    })
    writePosition(positionPath(directory), begun)
    noteAgreed(directory, begun)
    return link
  } finally {
    await store.close()
  }
}

function noteAgreed(directory: string, head: JournalHead): JournalHead {
  writePosition(committedPath(directory), head)
  syncDirectory(directory)
  return head
}

function writePosition(path: string, head: JournalHead): void {
  const file = PositionFile.openToWrite(path)
  file.read()
  file.write(head)
  file.sync()
  file.close()
}
