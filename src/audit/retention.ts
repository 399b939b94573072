/**
 * Which files of an audit are old enough to go. Nothing goes unless the operator says after how many days.
 *
 * @module
 */
import { closeSync, openSync, readSync } from 'node:fs'
import type { FileNumber } from '../chain/numbered-files.js'
import { previousOf } from './chain.js'
import { auditPath } from './files.js'
import type { Head } from './head.js'

/**
 * The first file to keep, and the line before it.
 *
 * @param keepDays  undefined keeps all
 */
export function firstKept(
  directory: string,
  head: Head,
  keepDays: number | undefined,
  now: Date,
): Head['first'] {
  let { first } = head
  if (keepDays === undefined) return first
  const since = new Date(now.getTime() - keepDays * DAY_MS).toISOString()
  // All of a file is older than the first line of the next one, which also names its last line.
  while (first.file < head.file) {
    const next = firstLine(directory, first.file + 1)
    const after = previousOf(next)
    const time = TIME.exec(next.toString('latin1'))?.[1]
    if (after === undefined || time === undefined || time >= since) break
    first = { file: first.file + 1, after }
  }
  return first
}

/** As much of it as is needed; nothing if it cannot be read. */
function firstLine(directory: string, file: FileNumber): Buffer {
  const bytes = Buffer.alloc(FIRST_BYTES)
  try {
    const fd = openSync(auditPath(directory, file), 'r')
    try {
      return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, 0))
    } finally {
      closeSync(fd)
    }
  } catch {
    // Damage is for `hickory audit verify` to tell.
    return Buffer.alloc(0)
  }
}

const TIME = /,"time":"([^"]+)"/
const FIRST_BYTES = 256
const DAY_MS = 86_400_000
