/**
 * The physical lines of a text file, counted beside what DuckDB makes of it, so that afterwards every
 * one of them can be accounted for. Unpacks the file on the way, and so verifies length and checksum
 * of gzip and zstd: DuckDB reads a damaged file without complaint.
 *
 * @module
 */
import { isUtf8 } from 'node:buffer'
import { limits } from '../../limits.js'
import { grow } from '../columns/growing-column.js'
import { readInput } from '../files/input.js'
import { LongRowFinder, type LongRows, type RowFields } from './long-rows.js'
import { QuoteCheck } from './quotes.js'
import type { LineEnd } from './text-head.js'

export interface SurveyTask {
  readonly path: string
  /** The name of the file in messages. */
  readonly name: string
  /** How the first line ends. */
  readonly lineEnd: LineEnd
  /** Length of the byte order mark. */
  readonly markBytes: number
  /** Of rows whose fields may be in quotation marks. */
  readonly fields?: RowFields
}

export interface Survey {
  /** Whether some line ends otherwise than the first, be it inside a field. */
  readonly hasOtherLineEnds: boolean
  /** The first line longer than a record may be. */
  readonly longLine: number | undefined
  /** False only if there are bytes that are not UTF-8. */
  readonly isUtf8: boolean
  /** As `QuoteCheck`; false where there are no fields. */
  readonly hasLooseQuotes: boolean
  /** None where no quotation mark is loose. */
  readonly longRows: LongRows
  /** False only if there is no control character but LF. */
  readonly hasControls: boolean
  /** Physical lines, blank ones too; LF, CRLF and CR each end one, whatever the others do. */
  readonly lineCount: number
  /** The physical lines that are blank, ascending. */
  readonly blankLines: Uint32Array
}

/**
 * Reads all of a file once, or twice if quotation marks are loose; an OperatorError if it is damaged.
 *
 * @param onRead  called with the bytes read from disk so far
 */
export async function surveyFile(
  task: SurveyTask,
  onRead: (byteCount: number) => void,
): Promise<Survey> {
  const counter = new LineCounter(task.lineEnd)
  const { fields } = task
  const quotes = fields === undefined ? undefined : new QuoteCheck(fields.delimiter)
  for await (const bytes of unmarked(task, onRead)) {
    counter.push(bytes)
    quotes?.push(bytes)
  }
  quotes?.finish()
  const hasLooseQuotes = quotes?.hasLoose === true
  const longRows =
    fields === undefined || !hasLooseQuotes ? NO_LONG_ROWS : await findLongRows(task, fields)
  return { ...counter.finish(), hasLooseQuotes, longRows }
}

async function findLongRows(task: SurveyTask, fields: RowFields): Promise<LongRows> {
  const finder = new LongRowFinder(fields)
  for await (const bytes of unmarked(task, () => undefined)) finder.push(bytes)
  return finder.finish()
}

async function* unmarked(
  { path, name, markBytes }: SurveyTask,
  onRead: (byteCount: number) => void,
): AsyncGenerator<Uint8Array> {
  let restBytes = markBytes
  for await (const chunk of readInput(path, name, onRead)) {
    const skipped = Math.min(restBytes, chunk.length)
    restBytes -= skipped
    yield chunk.subarray(skipped)
  }
}

const NO_LONG_ROWS: LongRows = {
  lines: new Uint32Array(0),
  furtherCounts: new Uint32Array(0),
  doubts: new Uint8Array(0),
}
const LF = 0x0a
const CR = 0x0d
const SPACE = 0x20
/** A space in each byte of a word. */
const SPACE_WORD = 0x20202020

class LineCounter {
  readonly #lineEnd: LineEnd
  #lineCount = 0
  /** Of those, the ones that end in an LF or in a CR alone. */
  #lfCount = 0
  #crCount = 0
  #longLine: number | undefined
  /** Bytes of the line that is not over yet. */
  #openBytes = 0
  #followsCr = false
  #isUtf8 = true
  #hasControls = false
  #blankLines = new Uint32Array(16)
  #blankCount = 0

  constructor(lineEnd: LineEnd) {
    this.#lineEnd = lineEnd
  }

  push(bytes: Uint8Array): void {
    if (bytes.length === 0) return
    if (this.#isUtf8 && !isUtf8(withoutCutEnds(bytes))) this.#isUtf8 = false
    if (this.#followsCr || bytes.includes(CR)) this.#pushAny(bytes)
    else this.#pushLf(bytes)
  }

  finish(): Omit<Survey, 'hasLooseQuotes' | 'longRows'> {
    if (this.#openBytes > 0) this.#endLine(this.#openBytes)
    const endCount = this.#lineCount - (this.#openBytes > 0 ? 1 : 0)
    const crLfCount = endCount - this.#lfCount - this.#crCount
    const likeFirst = { '\n': this.#lfCount, '\r': this.#crCount, '\r\n': crLfCount }
    return {
      hasOtherLineEnds: likeFirst[this.#lineEnd] < endCount,
      longLine: this.#longLine,
      isUtf8: this.#isUtf8,
      hasControls: this.#hasControls,
      lineCount: this.#lineCount,
      blankLines: this.#blankLines.slice(0, this.#blankCount),
    }
  }

  #pushAny(bytes: Uint8Array): void {
    this.#hasControls = true
    let lineStart = 0
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at]
      if (byte > CR || (byte !== LF && byte !== CR)) continue
      const followsCr = at === lineStart && this.#openBytes === 0 && this.#followsCr
      if (byte === LF && followsCr) {
        // The second half of a CRLF, whose first half has ended the line.
        this.#crCount--
      } else {
        if (byte === LF) this.#lfCount++
        else this.#crCount++
        this.#endLine(at - lineStart + this.#openBytes)
      }
      this.#openBytes = 0
      this.#followsCr = byte === CR
      lineStart = at + 1
    }
    this.#openBytes += bytes.length - lineStart
    if (lineStart < bytes.length) this.#followsCr = false
  }

  /** The same where there is no CR, four bytes at a time. */
  #pushLf(bytes: Uint8Array): void {
    const padded = (4 - (bytes.byteOffset & 3)) & 3
    const wordsStart = Math.min(padded, bytes.length)
    const wordCount = (bytes.length - wordsStart) >> 2
    const wordsEnd = wordsStart + 4 * wordCount
    const words = new Int32Array(bytes.buffer, bytes.byteOffset + wordsStart, wordCount)
    let lineStart = -this.#openBytes
    const takeControl = (at: number) => {
      if (bytes[at] !== LF) {
        this.#hasControls = true
        return
      }
      this.#lfCount++
      this.#endLine(at - lineStart)
      lineStart = at + 1
    }
    for (let at = 0; at < wordsStart; at++) if (bytes[at] < SPACE) takeControl(at)
    for (let word = 0; word < wordCount; word++) {
      const four = words[word]
      // The bit 0x20 of each byte that has it and the two above it off: the byte is below a space.
      let found = ~(four | (four >>> 1) | (four >>> 2)) & SPACE_WORD
      while (found !== 0) {
        const bit = found & -found
        takeControl(wordsStart + 4 * word + ((31 - Math.clz32(bit)) >> 3))
        found ^= bit
      }
    }
    for (let at = wordsEnd; at < bytes.length; at++) if (bytes[at] < SPACE) takeControl(at)
    this.#openBytes = bytes.length - lineStart
  }

  #endLine(byteCount: number): void {
    this.#lineCount++
    if (byteCount > limits.recordBytes) this.#longLine ??= this.#lineCount
    if (byteCount === 0) this.#addBlankLine()
  }

  #addBlankLine(): void {
    if (this.#blankCount === this.#blankLines.length) {
      this.#blankLines = grow(this.#blankLines, this.#blankCount + 1)
    }
    this.#blankLines[this.#blankCount++] = this.#lineCount
  }
}

/** Without the parts of characters that were cut in two by the end of a piece. */
function withoutCutEnds(bytes: Uint8Array): Uint8Array {
  let start = 0
  while (start < 3 && start < bytes.length && (bytes[start] & 0xc0) === 0x80) start++
  let end = bytes.length
  for (let back = 1; back <= 3 && back <= bytes.length - start; back++) {
    const byte = bytes[bytes.length - back]
    if (byte >= 0xc0) end = bytes.length - back
    if ((byte & 0xc0) !== 0x80) break
  }
  return bytes.subarray(start, end)
}
