/**
 * What lies behind the head of a journal: groups of a writer that died, or lost power, before the head was
 * moved, or was moved for good. A group is taken whole or not at all.
 *
 * @module
 */
import type { Link } from '../chain/link.js'
import type { FileNumber } from '../chain/numbered-files.js'
import { type GoingOn, recover } from '../chain/remains.js'
import { journalPath } from './files.js'
import type { JournalHead } from './head.js'
import { follows, isRecord, type JournalRecord, nextMagic, readRecord } from './record.js'
import { damagedAt, firstRecordOf } from './walk.js'

interface RecoveredRecords {
  readonly head: JournalHead
  readonly taken: readonly JournalRecord[]
  /** Of a group that was torn, or does not go on with the chain. */
  readonly cutBytes: number
}

/**
 * Takes the groups that go on with the chain, and cuts off what comes then.
 *
 * @param refused  the file in which a write of this process failed
 * @throws JournalDamaged  where something comes then that was written after a sync
 */
export function recoverRecords(
  directory: string,
  head: JournalHead,
  refused: FileNumber | undefined,
): RecoveredRecords {
  let link: Link = head
  const { end, taken, cutBytes } = recover<JournalRecord>(head, {
    pathOf: (number) => journalPath(directory, number),
    goingOn(bytes, file, start) {
      const going = wholeGroups(bytes, link)
      link = going.taken.at(-1) ?? link
      if (file !== refused && isFollowed(bytes.subarray(going.end), link, directory, file)) {
        const place = { ...link, file, bytes: start + going.end }
        throw damagedAt(directory, place, 'is not as it was written, and later batches follow')
      }
      return going
    },
    refused,
  })
  const { sequence, hash } = link
  return { head: { ...head, ...end, sequence, hash }, taken, cutBytes }
}

/** The groups that go on with the chain and are whole. */
export function wholeGroups(bytes: Buffer, previous: Link): GoingOn<JournalRecord> {
  const records: JournalRecord[] = []
  let takenCount = 0
  let at = 0
  let end = 0
  for (;;) {
    const found = readRecord(bytes, at)
    if (!isRecord(found) || !follows(found, records.at(-1) ?? previous)) break
    records.push(found)
    at += found.length
    if (found.groupIndex + 1 < found.groupCount) continue
    takenCount = records.length
    end = at
  }
  return { taken: records.slice(0, takenCount), end }
}

/**
 * Whether there is a group that was begun after the next one: that one was on disk then, and may have been
 * acknowledged. The last group alone may be torn, in any of its pages.
 */
function isFollowed(
  rest: Buffer,
  { sequence }: Link,
  directory: string,
  file: FileNumber,
): boolean {
  const isLater = (record: JournalRecord) => record.sequence - record.groupIndex > sequence + 1
  for (let at = nextMagic(rest, 0); at >= 0; at = nextMagic(rest, at + 1)) {
    const found = readRecord(rest, at)
    if (isRecord(found) && isLater(found)) return true
  }
  const next = firstRecordOf(directory, file + 1)
  return next !== undefined && isLater(next)
}
