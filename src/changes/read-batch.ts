/**
 * Reads the changes of one request: all rows or none. A thread that has others to answer goes on with them
 * in between.
 *
 * @module
 */
import { setImmediate as turn } from 'node:timers/promises'
import { limits } from '../limits.js'
import { type Change, ChangeFault, type ChangeRules, changeOf, readChange } from './change.js'
import { LINE_END, rowText } from './row-text.js'

/** Lines of NDJSON, or values as JSON has them. */
export type GivenRows = Uint8Array | readonly unknown[]

/** Some rows are bad; says nothing of phones and positions. */
export class BadRows extends Error {
  /** The first bad row, of which 1 is the first of all. */
  readonly firstRow: number

  constructor(message: string, firstRow: number) {
    super(message)
    this.firstRow = firstRow
  }
}

/** There are more than `limits.batchChangeCount` rows. */
export class TooManyRows extends Error {}

/**
 * @returns in the order in which they were given
 * @throws BadRows, TooManyRows
 */
export async function readBatch(rows: GivenRows, rules: ChangeRules): Promise<Change[]> {
  const changes: Change[] = []
  const faults: { readonly row: number; readonly problem: string }[] = []
  let rowCount = 0
  let faultCount = 0
  let sinceMs = performance.now()
  for (const { row, read } of rows instanceof Uint8Array ? linesOf(rows) : valuesOf(rows)) {
    if (row % ROWS_BETWEEN_LOOKS === 0 && performance.now() - sinceMs > HELD_MS) {
      await turn()
      sinceMs = performance.now()
    }
    try {
      const change = read(rules)
      if (change === undefined) continue
      changes.push(change)
    } catch (fault) {
      if (!(fault instanceof ChangeFault)) throw fault
      if (++faultCount <= limits.failuresShownCount) faults.push({ row, problem: fault.message })
    }
    if (++rowCount > limits.batchChangeCount) throw new TooManyRows()
  }
  if (faultCount === 0) return changes
  const shown = faults.map(({ row, problem }) => `row ${row}: ${problem}`).join('; ')
  const rest = faultCount > faults.length ? '; …' : ''
  const message = `${faultCount} of ${rowCount} changes are bad: ${shown}${rest}`
  throw new BadRows(message, faults[0].row)
}

interface Row {
  /** 1 is the first one. */
  readonly row: number
  /** Undefined for a line that is blank. */
  read(rules: ChangeRules): Change | undefined
}

function* valuesOf(values: readonly unknown[]): Generator<Row> {
  for (const [at, value] of values.entries()) {
    yield { row: at + 1, read: (rules) => changeOf(value, rules) }
  }
}

function* linesOf(bytes: Uint8Array): Generator<Row> {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  let start = 0
  for (let row = 1; start < body.length; row++) {
    const found = body.indexOf(LINE_END, start)
    const line = body.subarray(start, found < 0 ? body.length : found)
    start += line.length + 1
    yield {
      row,
      read(rules) {
        const text = rowText(line, row)
        return text === undefined ? undefined : readChange(text, rules)
      },
    }
  }
}

/** A thread is held no longer. */
const HELD_MS = 5
const ROWS_BETWEEN_LOOKS = 64
