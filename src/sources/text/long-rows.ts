/**
 * The records of a CSV file that go over several lines, told apart byte by byte beside DuckDB. A line
 * end in a field is nothing unusual, but a stray quotation mark looks alike and takes rows with it.
 *
 * @module
 */
import { limits } from '../../limits.js'
import { grow } from '../columns/growing-column.js'

/** Where a row has its fields. */
export interface RowFields {
  /** One byte. */
  readonly delimiter: string
  readonly phoneIndex: number
  readonly latIndex: number
  /** That of the latitude if one column has points. */
  readonly lngIndex: number
  /** The columns that are not ignored. */
  readonly usedIndexes: readonly number[]
}

export interface LongRows {
  /** The physical lines on which they begin, ascending. */
  readonly lines: Uint32Array
  /** The lines of each behind its first. */
  readonly furtherCounts: Uint32Array
  /** Of `doubt`. */
  readonly doubts: Uint8Array
}

/** Whether other rows may be in one, in ascending order. */
export const doubt = {
  none: 0,
  /** A line of it looks like a row, or a mark is in text without marks; no used column has lines. */
  ignored: 1,
  used: 2,
  /** A quotation mark is not closed, or is closed in front of text. */
  malformed: 3,
} as const

type Place = 'recordStart' | 'fieldStart' | 'plain' | 'quoted' | 'closed' | 'closedBlank'

const [QUOTE, LF, CR, SPACE] = Buffer.from('"\n\r ')
const HEXADECIMAL_POINT = /^[0-9a-f]{42,}$/i

export class LongRowFinder {
  readonly #fields: RowFields
  readonly #delimiter: number
  /** As far as a field must be there for a line to be a row. */
  readonly #fieldCountMin: number
  #lines = new Uint32Array(16)
  #furtherCounts = new Uint32Array(16)
  #doubts = new Uint8Array(16)
  #count = 0

  #place: Place = 'recordStart'
  #line = 1
  #followsCr = false
  /** The part of the line that came before, as far as it is needed. */
  #carried = Buffer.alloc(0)
  /** Of the record. */
  #fieldIndex = 0
  #furtherCount = 0
  #isMalformed = false
  #isLoose = false
  #hasUsedBreak = false
  #hasRow = false
  #startsLikeRow = false
  /** Where on this line a field was closed that was opened before it; -1 if it was not. */
  #closedAt = -1
  #lastQuoteAt = -1

  constructor(fields: RowFields) {
    this.#fields = fields
    this.#delimiter = fields.delimiter.charCodeAt(0)
    this.#fieldCountMin = Math.max(fields.phoneIndex, fields.latIndex, fields.lngIndex) + 1
  }

  push(bytes: Uint8Array): void {
    let lineStart = 0
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at]
      if (byte === LF || byte === CR) {
        // The first half of a CRLF has ended the line.
        if (byte === CR || !this.#followsCr) this.#endLine(bytes.subarray(lineStart, at))
        this.#followsCr = byte === CR
        lineStart = at + 1
        continue
      }
      this.#followsCr = false
      this.#take(byte, this.#carried.length + at - lineStart)
    }
    if (this.#carried.length > limits.recordBytes) return
    this.#carried = Buffer.concat([this.#carried, bytes.subarray(lineStart)])
  }

  /** After the last byte. */
  finish(): LongRows {
    if (this.#place === 'quoted') {
      this.#isMalformed = true
      this.#place = 'closed'
    }
    this.#endLine(new Uint8Array(0))
    return {
      lines: this.#lines.slice(0, this.#count),
      furtherCounts: this.#furtherCounts.slice(0, this.#count),
      doubts: this.#doubts.slice(0, this.#count),
    }
  }

  #take(byte: number, at: number): void {
    const place = this.#place
    if (place === 'quoted') {
      if (byte !== QUOTE) return
      this.#place = 'closed'
      this.#lastQuoteAt = at
    } else if (byte === this.#delimiter) {
      this.#endField()
      this.#fieldIndex++
      this.#place = 'fieldStart'
    } else if (byte === QUOTE) {
      if (place === 'plain' || place === 'closedBlank') this.#isLoose = true
      if (place !== 'plain') this.#place = 'quoted'
    } else if (place === 'closed' || place === 'closedBlank') {
      // DuckDB passes over blanks beside quotation marks, but not at the start of a record.
      this.#place = byte === SPACE ? 'closedBlank' : 'plain'
      if (byte !== SPACE) this.#isMalformed = true
    } else if (byte !== SPACE || place !== 'fieldStart') this.#place = 'plain'
  }

  #endField(): void {
    const isClosed = this.#place === 'closed' || this.#place === 'closedBlank'
    if (isClosed && this.#closedAt === -1) this.#closedAt = this.#lastQuoteAt
  }

  #endLine(rest: Uint8Array): void {
    const isInside = this.#place === 'quoted'
    if (!isInside) this.#endField()
    if (isInside || this.#furtherCount > 0) {
      const line = Buffer.concat([this.#carried, rest])
      this.#lookAt(line.length > limits.recordBytes ? '' : line.toString('latin1'))
    }
    if (isInside) {
      this.#furtherCount++
      if (this.#fields.usedIndexes.includes(this.#fieldIndex)) this.#hasUsedBreak = true
    } else {
      if (this.#furtherCount > 0) this.#addRow()
      this.#place = 'recordStart'
      this.#fieldIndex = 0
      this.#furtherCount = 0
      this.#isMalformed = this.#isLoose = this.#hasUsedBreak = this.#hasRow = false
    }
    this.#line++
    this.#carried = Buffer.alloc(0)
    this.#closedAt = -1
  }

  /** Of a row that was swallowed, all or all but its end is within the quotation marks. */
  #lookAt(line: string): void {
    if (this.#furtherCount === 0) {
      this.#startsLikeRow = line.split(this.#fields.delimiter).length >= this.#fieldCountMin
    } else if (this.#closedAt === -1 || this.#startsLikeRow) {
      this.#hasRow ||= this.#isLikeRow(line)
    } else {
      this.#hasRow ||= this.#isLikeRow(line.slice(0, this.#closedAt))
    }
  }

  #isLikeRow(line: string): boolean {
    const { delimiter, phoneIndex, latIndex, lngIndex } = this.#fields
    const texts = line.replaceAll('"', '').split(delimiter)
    if (texts.length < this.#fieldCountMin || !/^[^a-z]*[0-9][^a-z]*$/i.test(texts[phoneIndex])) {
      return false
    }
    if (latIndex === lngIndex) return HEXADECIMAL_POINT.test(texts[latIndex].trim())
    return isWithin(texts[latIndex], 90) && isWithin(texts[lngIndex], 180)
  }

  #addRow(): void {
    if (this.#count === this.#lines.length) {
      this.#lines = grow(this.#lines, this.#count + 1)
      this.#furtherCounts = grow(this.#furtherCounts, this.#count + 1)
      this.#doubts = grow(this.#doubts, this.#count + 1)
    }
    this.#lines[this.#count] = this.#line - this.#furtherCount
    this.#furtherCounts[this.#count] = this.#furtherCount
    this.#doubts[this.#count++] = this.#doubt()
  }

  #doubt(): number {
    if (this.#isMalformed) return doubt.malformed
    if (!this.#hasRow && !this.#isLoose) return doubt.none
    return this.#hasUsedBreak ? doubt.used : doubt.ignored
  }
}

function isWithin(text: string, degreesMax: number): boolean {
  return text.trim() !== '' && Math.abs(Number(text.replace(',', '.'))) <= degreesMax
}
