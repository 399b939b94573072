/**
 * Groups of a journal as they are on disk, for another machine that copies them.
 *
 * @module
 */
import type { Link } from '../chain/link.js'
import type { JournalReader } from './reader.js'
import { hasItsDigest, type JournalRecord } from './record.js'
import { wholeGroups } from './remains.js'

export interface Groups {
  /** The record before the first one. */
  readonly previous: Link
  /** The last record. */
  readonly last: Link
  readonly bytes: Buffer
}

/**
 * The groups behind a sequence that a reader sees: as many as fit, and at least one.
 *
 * @returns undefined where there is none
 * @throws JournalGone, JournalDamaged
 */
export function groupsBehind(
  reader: JournalReader,
  since: number,
  mostBytes: number,
): Groups | undefined {
  const records: JournalRecord[] = []
  let takenCount = 0
  let byteCount = 0
  for (const record of reader.records(since)) {
    byteCount += record.length
    if (takenCount > 0 && byteCount > mostBytes) break
    records.push(record)
    if (record.groupIndex + 1 === record.groupCount) takenCount = records.length
  }
  const taken = records.slice(0, takenCount)
  const [first] = taken
  const last = taken.at(-1)
  if (first === undefined || last === undefined) return undefined
  return {
    previous: { sequence: first.sequence - 1, hash: first.previous },
    last: { sequence: last.sequence, hash: last.hash },
    bytes: Buffer.concat(taken.map(({ bytes }) => bytes)),
  }
}

/**
 * The records of groups that came from another machine.
 *
 * @returns undefined where they do not follow `previous` and one another, or have other contents than they say
 */
export function recordsOfGroups({
  previous,
  bytes,
}: Omit<Groups, 'last'>): readonly JournalRecord[] | undefined {
  const { taken, end } = wholeGroups(bytes, previous)
  if (end < bytes.length || !taken.every(hasItsDigest)) return undefined
  return taken
}
