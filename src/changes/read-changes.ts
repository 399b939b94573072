/**
 * Reads changes from a file of NDJSON: one row a line, all of them or none.
 *
 * @module
 */
import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { OperatorError } from '../errors.js'
import { limits } from '../limits.js'
import { whyUnread } from '../system-refusals.js'
import { ChangeFault, type ChangeRules, readChange } from './change.js'
import type { LastChanges } from './last-changes.js'
import { LINE_END, rowText } from './row-text.js'

/**
 * @param path  of the file, compressed if it ends in `.gz`; `-` is standard input
 * @param changes  gets them
 * @returns the number of rows
 * @throws OperatorError  `InputRejected`, which names the first bad rows
 */
export async function readChanges(
  path: string,
  rules: ChangeRules,
  changes: LastChanges,
): Promise<number> {
  const name = path === '-' ? 'standard input' : path
  const faults: string[] = []
  let faultCount = 0
  let rowCount = 0
  const take = ({ text, line }: RowText) => {
    if (++rowCount > limits.appliedChangeCount) {
      throw rejected(
        `${name} has more than ${limits.appliedChangeCount} changes: import the source, or apply several files`,
      )
    }
    if (rowCount === 1 && CSV_HEADER.test(text)) {
      throw rejected(
        `${name} looks like CSV: import takes it, as all recipients of a source; apply takes NDJSON, one change a line, such as {"op":"upsert",…}`,
      )
    }
    try {
      changes.add(readChange(text, rules))
    } catch (error) {
      if (!(error instanceof ChangeFault)) throw error
      if (++faultCount <= limits.failuresShownCount) {
        faults.push(`${name}:${line}: ${error.message}`)
      }
    }
  }
  for await (const rows of rowsOf(name, openInput(path))) for (const row of rows) take(row)
  if (faultCount === 0) return rowCount
  const rest = faultCount > faults.length ? '; …' : ''
  throw rejected(`${faultCount} of ${rowCount} changes are bad: ${faults.join('; ')}${rest}`)
}

/** Names in the first line, or values, and no bracket of JSON. */
const CSV_HEADER = /^[^{[]*[,;\t|][^{[]*$/

function openInput(path: string): Readable {
  const file = path === '-' ? process.stdin : createReadStream(path)
  if (!path.endsWith('.gz')) return file
  const unpacked = createGunzip()
  file.on('error', (error: Error) => unpacked.destroy(error))
  return file.pipe(unpacked)
}

interface RowText {
  readonly text: string
  /** The first is 1. */
  readonly line: number
}

/** Lines that are not blank, as many at a time as came together. */
async function* rowsOf(name: string, input: Readable): AsyncGenerator<RowText[]> {
  let rest: Buffer = Buffer.alloc(0)
  let line = 0
  const textOf = (bytes: Buffer): RowText | undefined => {
    line++
    try {
      const text = rowText(bytes, line)
      return text === undefined ? undefined : { text, line }
    } catch (error) {
      throw rejected(`${name}:${line}: ${(error as ChangeFault).message}`)
    }
  }
  try {
    for await (const piece of input) {
      const bytes = Buffer.concat([rest, piece as Buffer])
      const rows: RowText[] = []
      let start = 0
      for (let end = bytes.indexOf(LINE_END); end >= 0; end = bytes.indexOf(LINE_END, start)) {
        const row = textOf(bytes.subarray(start, end))
        start = end + 1
        if (row !== undefined) rows.push(row)
      }
      yield rows
      rest = bytes.subarray(start)
      // It is too long already, wherever it ends.
      if (rest.length > limits.recordBytes) textOf(rest)
    }
  } catch (error) {
    if (error instanceof OperatorError) throw error
    throw new OperatorError('InputRejected', `${name} ${whyUnread(error)}`, { cause: error })
  }
  const last = rest.length === 0 ? undefined : textOf(rest)
  if (last !== undefined) yield [last]
}

function rejected(message: string): OperatorError {
  return new OperatorError('InputRejected', message)
}
