/**
 * What lies behind the head of an audit: lines of a writer that died, or lost power, before the head was
 * moved, or was moved for good.
 *
 * @module
 */
import {
  closeSync,
  existsSync,
  fdatasyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
} from 'node:fs'
import { completeLines, follows, hashOf, type Link, previousOf } from './chain.js'
import { auditPath, type FileNumber } from './files.js'
import type { Head } from './head.js'
import { writeAll } from './write-all.js'

interface Recovered {
  readonly head: Head
  readonly takenLineCount: number
  /** Of a line that was torn, or does not go on with the chain. */
  readonly cutBytes: number
}

/**
 * Takes the lines that go on with the chain, and cuts off what comes then in the file of the head.
 *
 * @param refused  the file in which a write of this process failed: what is behind the head there was
 *   refused, and is not taken
 */
export function recover(directory: string, head: Head, refused: FileNumber | undefined): Recovered {
  let recovered = head
  let takenLineCount = 0
  let cutBytes = 0
  for (let file = Math.max(1, head.file); ; file++) {
    const path = auditPath(directory, file)
    if (!existsSync(path)) break
    const bytes = readFileSync(path)
    const start = file === head.file ? head.bytes : 0
    const behind = bytes.subarray(start)
    const { taken, end } = file === refused ? NOTHING : goingOn(behind, recovered)
    // One in which nothing goes on is begun anew when it is needed.
    if (taken.length === 0 && file > head.file) break
    const fd = openSync(path, 'r+')
    try {
      // Written once more: what a dead writer could not sync may be in memory alone, and pass for synced.
      writeAll(fd, behind.subarray(0, end), start)
      ftruncateSync(fd, start + end)
      fdatasyncSync(fd)
    } finally {
      closeSync(fd)
    }
    takenLineCount += taken.length
    cutBytes += behind.length - end
    const link = taken.at(-1) ?? recovered
    const day = start === 0 ? dayOf(bytes) : recovered.day
    recovered = { ...recovered, ...link, file, bytes: start + end, day }
  }
  return { head: recovered, takenLineCount, cutBytes }
}

/** The lines that go on with the chain, and where they end. */
function goingOn(bytes: Uint8Array, head: Link): { readonly taken: Link[]; readonly end: number } {
  const taken: Link[] = []
  let end = 0
  for (const line of completeLines(bytes).lines) {
    const previous = taken.at(-1) ?? head
    if (!follows(line, previous)) break
    taken.push({ sequence: previous.sequence + 1, hash: hashOf(line) })
    end += line.length + 1
  }
  return { taken, end }
}

const NOTHING = { taken: [], end: 0 }

/** Of the first line, on which its file was begun. */
function dayOf(bytes: Buffer): string {
  const start = bytes.subarray(0, 256).toString('latin1')
  return previousOf(bytes) === undefined ? '' : (/"time":"(\d{4}-\d\d-\d\d)/.exec(start)?.[1] ?? '')
}
