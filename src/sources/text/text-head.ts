/**
 * How a text file begins: its first line, and how its lines end.
 *
 * @module
 */
import { OperatorError } from '../../errors.js'
import { limits } from '../../limits.js'

export type LineEnd = '\n' | '\r\n' | '\r'

export interface TextHead {
  /** The first line that is not blank, without its end and without a byte order mark. */
  readonly firstText: string
  /** Its physical line; the first of the file is 1. */
  readonly firstLine: number
  /** How it ends; the other lines should end alike. */
  readonly lineEnd: LineEnd
  readonly markBytes: number
  /** As far as was looked; the text has other characters for what is not UTF-8. */
  readonly firstBytes: Uint8Array
}

const LF = 0x0a
const CR = 0x0d
const SEPARATOR_LINE = /^"?sep=[,;\t|]"?$/i
/** The bytes that tell the format of a file: the first line, and many more as a rule. */
export const HEAD_BYTES = 16 * limits.recordBytes

/** @param head  the beginning of the file, or all of it; an OperatorError if that is no text */
export function readTextHead(name: string, head: Uint8Array): TextHead {
  const markBytes = byteOrderMarkBytes(name, head)
  let { start, end, line: firstLine } = lineFrom(head, markBytes, 1)
  // Excel's own first line, above the header.
  if (SEPARATOR_LINE.test(textOf(head.subarray(start, end)))) {
    ;({ start, end, line: firstLine } = lineFrom(head, end, firstLine))
  }
  if (start === head.length) {
    throw new OperatorError(
      'InputRejected',
      `${name} is empty, without even a header: did the export fail?`,
    )
  }
  return {
    firstText: textOf(head.subarray(start, end)),
    firstLine,
    lineEnd: head[end] !== CR ? '\n' : head[end + 1] === LF ? '\r\n' : '\r',
    markBytes,
    firstBytes: head.subarray(start, end),
  }
}

/** The first line that is not blank. @param line  the number of the one at `from` */
function lineFrom(head: Uint8Array, from: number, line: number) {
  let start = from
  let number = line
  for (; head[start] === LF || head[start] === CR; start++) {
    if (head[start] === LF || head[start + 1] !== LF) number++
  }
  let end = start
  while (end < head.length && head[end] !== LF && head[end] !== CR) end++
  return { start, end, line: number }
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}

function byteOrderMarkBytes(name: string, bytes: Uint8Array): number {
  const [first, second, third] = bytes
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) {
    throw new OperatorError(
      'InputRejected',
      `${name} is UTF-16, as its first bytes say: leave out --encoding`,
    )
  }
  return first === 0xef && second === 0xbb && third === 0xbf ? 3 : 0
}
