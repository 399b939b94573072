/**
 * The lines of an audit: what one says, and how it is chained. Each line carries the SHA-256 of the line before
 * it, so that no line can be changed, removed or put in between without changing all that follow. No line has
 * a phone or a position of a recipient; the box around the shapes of a request is in it.
 *
 * @module
 */
import { createHash } from 'node:crypto'
import type { Link } from '../chain/link.js'

/**
 * - `list`: recipients, or numbers of a suppression list, are sent to a client. Two lines: `begun`, on disk
 *   before the first byte is sent, and `ended`.
 * - `count`: recipients were counted for a client; only where the service is asked to.
 * - `change`: something stored is changed by a client, with the same two lines.
 * - `command`: a command changes something on this machine, with the same two lines.
 * - `service`: a service starts or stops.
 * - `audit`: something about the audit itself.
 */
type AuditEvent = 'list' | 'count' | 'change' | 'command' | 'service' | 'audit'

export interface AuditEntry {
  readonly event: AuditEvent
  readonly phase?: string
  /** Further members, in this order. Those that are undefined are left out. */
  readonly [name: string]: unknown
}

/** The members of a line, without braces. */
export function entryOf(entry: AuditEntry): string {
  return JSON.stringify(entry).slice(1, -1)
}

/**
 * Writes the line that follows another one.
 *
 * @param members  of a JSON object, without its braces
 */
export function chainedLine(
  previous: Link,
  time: Date,
  members: string,
): { readonly line: string; readonly link: Link } {
  const sequence = previous.sequence + 1
  const stamp = time.toISOString()
  const line = `{"sequence":${sequence},"previous":"${previous.hash}","time":"${stamp}",${members}}`
  return { line, link: { sequence, hash: hashOf(line) } }
}

/** SHA-256 of a line without its end, in hexadecimal digits. */
export function hashOf(line: string | Uint8Array): string {
  return createHash('sha256').update(line).digest('hex')
}

/** The line before, as a line names it; undefined if it is not a line of an audit. */
export function previousOf(line: Uint8Array): Link | undefined {
  const start = Buffer.from(line.buffer, line.byteOffset, Math.min(line.length, START_BYTES))
  const [, sequence, hash] = START.exec(start.toString('latin1')) ?? []
  return sequence === undefined ? undefined : { sequence: Number(sequence) - 1, hash }
}

/** Whether one line follows another. */
export function follows(line: Uint8Array, previous: Link): boolean {
  const named = previousOf(line)
  return named?.sequence === previous.sequence && named.hash === previous.hash
}

const START = /^\{"sequence":([1-9]\d{0,15}),"previous":"([\da-f]{64})","time":"/
const START_BYTES = 128

/** Complete lines of a piece of a file, without their ends, and the offset behind the last one. */
export function completeLines(bytes: Uint8Array): {
  readonly lines: readonly Uint8Array[]
  readonly end: number
} {
  const lines: Uint8Array[] = []
  let end = 0
  for (;;) {
    const at = bytes.indexOf(LINE_END, end)
    if (at < 0) return { lines, end }
    lines.push(bytes.subarray(end, at))
    end = at + 1
  }
}

const LINE_END = 0x0a
