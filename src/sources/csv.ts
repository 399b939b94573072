/**
 * Where the records and fields of a CSV text are: strictly by RFC 4180, but with any delimiter
 * and with LF, CRLF and CR as line ends, even mixed.
 *
 * DuckDB's reader was tried first (1.5.6). With `store_rejects` it drops a record with an
 * unclosed quotation mark *and every record after it* without a word, and it stops at mixed line
 * ends. Who is missing from the list is not warned; so here a fault costs one physical line, and
 * is counted.
 *
 * @module
 */
import { limits } from '../limits.js'
import type { RejectReason } from './rejects.js'

/** Returned where the end of something is not in the bytes that are there yet. */
export const INCOMPLETE = -1

const LF = 0x0a
const CR = 0x0d
const QUOTE = 0x22

export class RecordScanner {
  /** Field `i` of the last record is at `[fieldStarts[i], fieldEnds[i])`, without its quotes. */
  readonly fieldStarts = new Int32Array(limits.recordBytes + 1)
  readonly fieldEnds = new Int32Array(limits.recordBytes + 1)
  /** 1 where a field contains quotation marks, which are doubled. */
  readonly fieldEscapes = new Uint8Array(limits.recordBytes + 1)
  fieldCount = 0
  /** Line ends inside the quotes of the last record. */
  lineBreakCount = 0
  /** Why the last record cannot be told apart into fields, if so: go on at the next line. */
  fault: RejectReason | undefined
  readonly #delimiter: number
  readonly #stops = new Uint8Array(256)

  constructor(delimiter: number) {
    this.#delimiter = delimiter
    for (const byte of [delimiter, LF, CR, QUOTE]) this.#stops[byte] = 1
  }

  /**
   * Reads the record that starts at `start`.
   *
   * @param isLast  whether the text ends at `end`
   * @returns where the next record starts, or INCOMPLETE if this one does not end before `end`
   */
  scan(bytes: Uint8Array, start: number, end: number, isLast: boolean): number {
    this.fieldCount = 0
    this.lineBreakCount = 0
    this.fault = undefined
    const scanEnd = Math.min(end, start + limits.recordBytes + 1)
    let at = start
    for (;;) {
      const isQuoted = at < scanEnd && bytes[at] === QUOTE
      at = isQuoted ? this.#quoted(bytes, at + 1, scanEnd) : this.#plain(bytes, at, scanEnd)
      if (at === INCOMPLETE) {
        const isOpenForGood = isLast || scanEnd < end || end - start > limits.recordBytes
        return isOpenForGood ? this.#fail('QuoteMalformed') : INCOMPLETE
      }
      if (at - start > limits.recordBytes) return this.#fail('RecordTooLong')
      if (at === end) return isLast ? end : INCOMPLETE
      if (bytes[at] !== this.#delimiter) break
      at++
    }
    if (bytes[at] !== LF && bytes[at] !== CR) return this.#fail('QuoteMalformed')
    return lineEnd(bytes, at, end, isLast)
  }

  #fail(fault: RejectReason): number {
    this.fault = fault
    return INCOMPLETE
  }

  /** Ends at what must be a delimiter or a line end, or at `end`. */
  #plain(bytes: Uint8Array, start: number, end: number): number {
    const stops = this.#stops
    let at = start
    while (at < end && stops[bytes[at]] === 0) at++
    this.#addField(start, at, 0)
    return at
  }

  /** As `#plain`; INCOMPLETE when the closing quotation mark is not there. */
  #quoted(bytes: Uint8Array, start: number, end: number): number {
    let escapes = 0
    for (let at = start; at < end; at++) {
      const byte = bytes[at]
      if (byte === LF || (byte === CR && bytes[at + 1] !== LF)) this.lineBreakCount++
      if (byte !== QUOTE) continue
      if (at + 1 < end && bytes[at + 1] === QUOTE) {
        escapes = 1
        at++
        continue
      }
      this.#addField(start, at, escapes)
      return at + 1
    }
    return INCOMPLETE
  }

  #addField(start: number, end: number, escapes: number): void {
    this.fieldStarts[this.fieldCount] = start
    this.fieldEnds[this.fieldCount] = end
    this.fieldEscapes[this.fieldCount] = escapes
    this.fieldCount++
  }
}

/** Where the line after the one at `start` begins, or INCOMPLETE. */
export function lineEnd(bytes: Uint8Array, start: number, end: number, isLast: boolean): number {
  let at = start
  while (at < end && bytes[at] !== LF && bytes[at] !== CR) at++
  if (at < end && bytes[at] === LF) return at + 1
  // After a CR at the end an LF may follow that belongs to it.
  if (at + 1 >= end) return isLast ? end : INCOMPLETE
  return bytes[at + 1] === LF ? at + 2 : at + 1
}

/** Copies a field whose quotation marks are doubled, with single ones; returns the bytes written. */
export function unescapeField(
  bytes: Uint8Array,
  start: number,
  end: number,
  into: Uint8Array,
): number {
  let count = 0
  for (let at = start; at < end; at++) {
    into[count++] = bytes[at]
    if (bytes[at] === QUOTE) at++
  }
  return count
}
