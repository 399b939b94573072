/**
 * Reads a whole journal again, and says whether it is as it was written: each record and its content, their
 * order, the first one and the last one.
 *
 * @module
 */
import { existsSync, statSync } from 'node:fs'
import type { Link } from '../chain/link.js'
import { decodeChanges } from './content.js'
import { JournalDamaged } from './damaged.js'
import { headDirectory, journalPath } from './files.js'
import { firstPlace, type JournalHead, type JournalPlace, NO_HEAD, openHead } from './head.js'
import { JournalReader } from './reader.js'
import { ENTRY_SOURCE, hasItsDigest, type JournalRecord } from './record.js'
import { damagedAt, recordsBetween } from './walk.js'

interface JournalVerdict {
  readonly batchCount: number
  readonly changeCount: number
  /** The first batch that is kept. */
  readonly firstSequence: number
  /** The last batch; to be noted elsewhere, it shows later that nobody wrote all anew. */
  readonly last: Link
  /** Behind the last batch: of a writer that is at work, or died. The next one settles it. */
  readonly behindBytes: number
}

/**
 * Nothing has to be stopped meanwhile. A directory without a journal has no batches.
 *
 * @throws JournalDamaged
 */
export async function verifyJournal(directory: string): Promise<JournalVerdict> {
  for (;;) {
    const indexed = await indexedHead(directory)
    const position = headOf(directory)
    // After a power failure the position may be the older one, until the next writer settles it.
    const head = position.sequence < indexed.sequence ? indexed : position
    try {
      return verifyUpTo(directory, head, indexed)
    } catch (fault) {
      // Files may have been removed meanwhile.
      const isDamage = fault instanceof JournalDamaged
      if (!isDamage || headOf(directory).first.file === position.first.file) throw fault
    }
  }
}

function verifyUpTo(directory: string, head: JournalHead, indexed: JournalHead): JournalVerdict {
  let batchCount = 0
  let changeCount = 0
  let before: JournalPlace = firstPlace(head)
  for (const { record, place } of recordsBetween(directory, before, head)) {
    if (!hasItsContent(record)) throw damagedAt(directory, before, 'has another content')
    if (place.sequence === indexed.sequence && place.hash !== indexed.hash) {
      throw damagedAt(directory, before, 'is another one than the head says')
    }
    batchCount++
    changeCount += record.changeCount
    before = place
  }
  const { sequence, hash } = head
  const size = head.file === 0 ? 0 : statSync(journalPath(directory, head.file)).size
  return {
    batchCount,
    changeCount,
    firstSequence: head.first.after.sequence + 1,
    last: { sequence, hash },
    behindBytes: Math.max(0, size - head.bytes),
  }
}

function hasItsContent(record: JournalRecord): boolean {
  if (!hasItsDigest(record)) return false
  const { sourceId, content, changeCount } = record
  if (sourceId === ENTRY_SOURCE) return changeCount === 0
  try {
    return decodeChanges(content).length === changeCount
  } catch {
    return false
  }
}

function headOf(directory: string): JournalHead {
  const reader = new JournalReader(directory)
  try {
    return reader.head()
  } finally {
    reader.close()
  }
}

async function indexedHead(directory: string): Promise<JournalHead> {
  const isNew = !existsSync(headDirectory(directory)) && headOf(directory).sequence === 0
  if (isNew) return NO_HEAD
  const store = openHead(directory, 'read')
  try {
    return store.read() ?? NO_HEAD
  } finally {
    await store.close()
  }
}
