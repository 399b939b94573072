/**
 * The chain of an audit. Each line carries the SHA-256 of the line before it, so that no line can be
 * changed, removed or put in between without changing all that follow.
 *
 * @module
 */
import { createHash } from 'node:crypto'
import type { Link } from '../chain/link.js'

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

/** What a line says it follows; undefined if it is no line of an audit. */
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
