/**
 * A line of NDJSON as text.
 *
 * @module
 */
import { limits } from '../limits.js'
import { ChangeFault } from './change.js'

export const LINE_END = 0x0a

/**
 * @param line  1 for the first one of its file, which may begin with a byte order mark
 * @returns undefined for a blank line
 * @throws ChangeFault
 */
export function rowText(bytes: Buffer, line: number): string | undefined {
  if (bytes.length > limits.recordBytes) {
    throw new ChangeFault(`the row is longer than ${limits.recordBytes} bytes`)
  }
  const text = bytes.toString('utf8')
  if (text.includes('\ufffd') && !Buffer.from(text).equals(bytes)) {
    throw new ChangeFault('the row is not UTF-8')
  }
  const row = line === 1 ? text.replace(/^\ufeff/, '') : text
  return row.trim() === '' ? undefined : row
}
