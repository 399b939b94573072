/**
 * Reads an audit directory again, and says whether it is as it was written: each line, their order, the
 * first one and the last one.
 *
 * @module
 */
import { readFileSync } from 'node:fs'
import { HeadMissing } from '../chain/head-store.js'
import type { FileNumber, Link } from '../chain/link.js'
import {
  auditFileName,
  auditFileNumbers,
  auditPath,
  type Head,
  NO_HEAD,
  openHead,
} from './directory.js'
import { completeLines, follows, hashOf, previousOf } from './entry.js'

/** The first place at which an audit is not as it was written. */
interface Damage {
  readonly file: string
  /** From 1 on; undefined where the whole file is meant. */
  readonly line: number | undefined
  readonly problem: string
}

interface Verdict {
  readonly fileCount: number
  /** Lines that are as they were written, up to the damage. */
  readonly lineCount: number
  /** The first line that is kept; later than 1 where old files have expired. */
  readonly firstSequence: number
  /** The last line, by the head. Noted elsewhere, it shows later whether all was written anew. */
  readonly last: Link
  /** Behind the last line: of a writer that is at work, or died. The next one settles it. */
  readonly behindBytes: number
  readonly damage: Damage | undefined
}

export async function verifyAudit(directory: string): Promise<Verdict> {
  for (;;) {
    const head = await readHead(directory)
    if (head === undefined) return missing()
    const verdict = verifyUpTo(directory, head)
    if (verdict.damage === undefined) return verdict
    // Files may have expired meanwhile.
    const now = await readHead(directory)
    if (now === undefined || now.first.file === head.first.file) return verdict
  }
}

/** @returns undefined if it is missing or cannot be read */
async function readHead(directory: string): Promise<Head | undefined> {
  try {
    const store = openHead(directory, 'read')
    try {
      return store.read() ?? NO_HEAD
    } finally {
      await store.close()
    }
  } catch (fault) {
    if (fault instanceof HeadMissing || fault instanceof SyntaxError) return undefined
    throw fault
  }
}

/** Without the head, it is unknown whether there were more files. */
function missing(): Verdict {
  const last = { sequence: 0, hash: '' }
  const damage = { file: 'head', line: undefined, problem: 'is missing or damaged' }
  return { fileCount: 0, lineCount: 0, firstSequence: 0, last, behindBytes: 0, damage }
}

function verifyUpTo(directory: string, head: Head): Verdict {
  const { first } = head
  const present = new Set(auditFileNumbers(directory))
  let link = first.after
  let before: LinePosition | undefined
  let damage: Damage | undefined
  let behindBytes = 0
  let fileCount = 0
  for (let file = first.file; file <= head.file && damage === undefined; file++) {
    if (!present.has(file)) {
      damage = { file: auditFileName(file), line: undefined, problem: 'is missing' }
      break
    }
    fileCount++
    const all = readFileSync(auditPath(directory, file))
    const bytes = file === head.file ? all.subarray(0, head.bytes) : all
    behindBytes += all.length - bytes.length
    const { lines, end } = completeLines(bytes)
    for (const [at, line] of lines.entries()) {
      const place = { file, line: at + 1 }
      if (!follows(line, link)) {
        const next = lines[at + 1] ?? firstLineOf(directory, file + 1, present)
        damage = damageAt(place, before, line, link, isIntact(line, next, head))
        break
      }
      link = { sequence: link.sequence + 1, hash: hashOf(line) }
      before = place
    }
    if (damage === undefined && end < bytes.length) {
      damage = at({ file, line: lines.length + 1 }, 'is not a whole line')
    }
  }
  damage ??= tailDamage(link, head, before)
  for (const file of present) if (file > head.file) fileCount++
  const lineCount = link.sequence - first.after.sequence
  const { sequence, hash } = head
  return {
    fileCount,
    lineCount,
    firstSequence: first.after.sequence + 1,
    last: { sequence, hash },
    behindBytes,
    damage,
  }
}

interface LinePosition {
  readonly file: FileNumber
  readonly line: number
}

function at({ file, line }: LinePosition, problem: string): Damage {
  return { file: auditFileName(file), line, problem }
}

/** Why a line does not follow the one before it. */
function damageAt(
  place: LinePosition,
  before: LinePosition | undefined,
  line: Uint8Array,
  link: Link,
  isIntact: boolean,
): Damage {
  const named = previousOf(line)
  if (named === undefined || !isIntact) return at(place, 'was changed, or is out of its place')
  if (named.sequence > link.sequence) {
    const count = named.sequence - link.sequence
    return at(
      place,
      `comes too early: ${count} ${count === 1 ? 'line' : 'lines'} before it are gone`,
    )
  }
  if (named.sequence < link.sequence) return at(place, 'is out of its place')
  return before === undefined
    ? at(place, 'does not follow what has expired before it')
    : at(before, 'was changed')
}

/** Whether a line is as it was written, by what follows it. */
function isIntact(line: Uint8Array, next: Uint8Array | undefined, head: Link): boolean {
  const hash = hashOf(line)
  return next === undefined ? hash === head.hash : previousOf(next)?.hash === hash
}

function firstLineOf(
  directory: string,
  file: FileNumber,
  present: ReadonlySet<FileNumber>,
): Uint8Array | undefined {
  if (!present.has(file)) return undefined
  return completeLines(readFileSync(auditPath(directory, file))).lines[0]
}

/** The head says what the last line is. */
function tailDamage(link: Link, head: Head, before: LinePosition | undefined): Damage | undefined {
  if (link.sequence === head.sequence && link.hash === head.hash) return undefined
  const place = before ?? { file: head.file, line: 1 }
  if (link.sequence === head.sequence) return at(place, 'was changed')
  const count = head.sequence - link.sequence
  if (count < 0) return at(place, 'is behind the last line that was written')
  return at(
    { file: place.file, line: before === undefined ? 1 : place.line + 1 },
    `is missing: ${count} ${count === 1 ? 'line' : 'lines'} at the end are gone`,
  )
}
