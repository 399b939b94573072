/**
 * What lies behind the head of a journal: groups of a writer that died, or lost power, before the head was
 * moved, or was moved for good. A group is taken whole or not at all.
 *
 * @module
 */
import { existsSync, readFileSync } from 'node:fs'
import { type Continuation, recover, settle } from '../chain/last-file.js'
import type { FileNumber, Link } from '../chain/link.js'
import { journalPath } from './files.js'
import type { JournalHead, JournalPlace } from './head.js'
import { follows, isRecord, type JournalRecord, nextMagic, readRecord } from './record.js'
import { damagedAt, firstRecordOf } from './walk.js'

interface RecoveredRecords {
  readonly head: JournalHead
  readonly taken: readonly JournalRecord[]
  /** Of a group that was torn, or does not continue the chain. */
  readonly cutBytes: number
}

/**
 * Takes the groups that continue the chain, and cuts off what comes then.
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
    continuationIn(bytes, file, start) {
      const found = wholeGroups(bytes, link)
      link = found.taken.at(-1) ?? link
      if (file !== refused && isFollowed(bytes.subarray(found.end), link, directory, file)) {
        const place = { ...link, file, bytes: start + found.end }
        throw damagedAt(directory, place, 'is not as it was written, and later batches follow')
      }
      return found
    },
    refused,
  })
  const { sequence, hash } = link
  return { head: { ...head, ...end, sequence, hash }, taken, cutBytes }
}

/** The ends of the groups that continue the chain, and are whole. They are on disk then, and nothing is cut. */
export function groupEnds(directory: string, head: JournalHead): JournalPlace[] {
  const ends: JournalPlace[] = []
  let link: Link = head
  for (let file = Math.max(1, head.file); existsSync(journalPath(directory, file)); file++) {
    const start = file === head.file ? head.bytes : 0
    const path = journalPath(directory, file)
    const behind = readFileSync(path).subarray(start)
    const { taken, end } = wholeGroups(behind, link)
    if (taken.length === 0 && file > head.file) break
    if (end > 0) settle(path, behind.subarray(0, end), start, { cutsRest: false })
    let bytes = start
    for (const { sequence, hash, length, groupIndex, groupCount } of taken) {
      bytes += length
      link = { sequence, hash }
      if (groupIndex + 1 === groupCount) ends.push({ ...link, file, bytes })
    }
  }
  return ends
}

/** The groups that continue the chain and are whole. */
export function wholeGroups(bytes: Buffer, previous: Link): Continuation<JournalRecord> {
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
