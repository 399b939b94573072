/**
 * The physical lines of a CSV file, counted before it is read, so that afterwards every one of
 * them can be accounted for. Unpacks gzip on the way, and so verifies its length and checksum:
 * DuckDB reads a damaged file without complaint.
 *
 * @module
 */
import { OperatorError } from '../errors.js'
import { limits } from '../limits.js'
import { isGzip, readInput } from './input.js'
import { grow } from './text-column.js'

export type LineEnd = '\n' | '\r\n' | '\r'

export interface Survey {
  readonly isGzip: boolean
  /** The first line that is not blank, without its end and without a byte order mark. */
  readonly header: string
  /** The physical line of the header; the first of the file is 1. */
  readonly headerLine: number
  /** How the header ends; the other lines should end alike. */
  readonly lineEnd: LineEnd
  /** Whether some line ends otherwise, be it inside a field. */
  readonly hasOtherLineEnds: boolean
  /** The first line longer than a record may be. */
  readonly longLine: number | undefined
  /** Physical lines, blank ones too; LF, CRLF and CR each end one, whatever the others do. */
  readonly lineCount: number
  /** The physical lines that are blank, ascending. */
  readonly blankLines: Uint32Array
}

const LF = 0x0a
const CR = 0x0d
/** A byte order mark, the header, and the end of its line. */
const HEAD_BYTES = 3 + limits.recordBytes + 2

/** Reads all of a file once; an OperatorError if it is damaged, empty or not UTF-8 at all. */
export async function surveyFile(
  path: string,
  onRead: (byteCount: number) => void,
): Promise<Survey> {
  let head: Uint8Array | undefined = new Uint8Array(0)
  let counter: LineCounter | undefined
  for await (const chunk of readInput(path, onRead)) {
    if (head === undefined) {
      counter?.push(chunk)
      continue
    }
    head = Buffer.concat([head, chunk])
    if (head.length < HEAD_BYTES) continue
    counter = new LineCounter(path, head)
    head = undefined
  }
  if (head !== undefined) counter = new LineCounter(path, head)
  if (counter === undefined) throw new Error('a file has a beginning')
  return { isGzip: await isGzip(path), ...counter.finish() }
}

class LineCounter {
  readonly #header: string
  readonly #headerLine: number
  readonly #lineEnd: LineEnd
  #lineCount = 0
  /** Of those, the ones that end in an LF or in a CR alone. */
  #lfCount = 0
  #crCount = 0
  #longLine: number | undefined
  /** Bytes of the line that is not over yet. */
  #openBytes = 0
  #followsCr = false
  #blankLines = new Uint32Array(16)
  #blankCount = 0

  /** @param head  the beginning of the file, which holds the header unless that is too long */
  constructor(path: string, head: Uint8Array) {
    const markBytes = byteOrderMarkBytes(path, head)
    let start = markBytes
    while (head[start] === LF || head[start] === CR) start++
    if (start === head.length) {
      throw new OperatorError('InputRejected', `${path} is empty: it has not even a header`)
    }
    let end = start
    while (end < head.length && head[end] !== LF && head[end] !== CR) end++
    if (end - start > limits.recordBytes) {
      throw new OperatorError(
        'InputRejected',
        `${path} has no header: its first line is longer than ${limits.recordBytes} bytes`,
      )
    }
    this.#header = new TextDecoder().decode(head.subarray(start, end))
    this.#lineEnd = head[end] !== CR ? '\n' : head[end + 1] === LF ? '\r\n' : '\r'
    this.push(head.subarray(markBytes, start))
    this.#headerLine = this.#lineCount + 1
    this.push(head.subarray(start))
  }

  push(bytes: Uint8Array): void {
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
  }

  finish(): Omit<Survey, 'isGzip'> {
    if (this.#openBytes > 0) this.#endLine(this.#openBytes)
    const endCount = this.#lineCount - (this.#openBytes > 0 ? 1 : 0)
    const crLfCount = endCount - this.#lfCount - this.#crCount
    const likeHeader = { '\n': this.#lfCount, '\r': this.#crCount, '\r\n': crLfCount }
    return {
      header: this.#header,
      headerLine: this.#headerLine,
      lineEnd: this.#lineEnd,
      hasOtherLineEnds: likeHeader[this.#lineEnd] < endCount,
      longLine: this.#longLine,
      lineCount: this.#lineCount,
      blankLines: this.#blankLines.subarray(0, this.#blankCount),
    }
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

function byteOrderMarkBytes(path: string, bytes: Uint8Array): number {
  const [first, second, third] = bytes
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) {
    throw new OperatorError('InputRejected', `${path} is UTF-16: save it as UTF-8`)
  }
  return first === 0xef && second === 0xbb && third === 0xbf ? 3 : 0
}
