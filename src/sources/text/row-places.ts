/**
 * Where the rows of a text file are, and whether they are all there. Every line of the file must
 * belong to a row that was accepted, to one that was rejected, or be blank: DuckDB drops what
 * follows a quotation mark that is not closed without a word, and who is missing from the list is
 * not warned.
 *
 * @module
 */
import { OperatorError } from '../../errors.js'
import { limits } from '../../limits.js'
import type { RejectedTexts } from '../rows/rejected-texts.js'
import type { PlaceUnit, RejectTally } from '../rows/rejects.js'
import { ACCEPTED, reasonOf } from '../rows/row-query.js'
import type { RowScan } from '../rows/row-scan.js'
import type { BrokenRecords } from './broken-records.js'
import type { Survey } from './survey.js'

/** The records that were read of a file. */
interface TextRead {
  /** The name of the file in messages. */
  readonly name: string
  /** The unit that a line is. */
  readonly unit: PlaceUnit
  /** Lines before the first record. */
  readonly skippedCount: number
  readonly survey: Survey
  readonly scan: RowScan
  readonly broken: BrokenRecords
  /** Of the rejected rows of the scan. */
  readonly texts: RejectedTexts | undefined
}

/**
 * Goes through the file line by line, adds what was rejected to the tally, and throws an
 * OperatorError if lines are left over.
 *
 * A line end inside a field is believed only in a column that is ignored, of a row that is
 * accepted. Anywhere else it may be rows that were swallowed, and the file is refused.
 *
 * @returns the line ends inside fields of accepted rows, so that they can be told
 */
export function placeRows(read: TextRead, tally: RejectTally): number {
  const { name, unit, survey, broken } = read
  const { lineCount, blankLines } = survey
  const { rowCount, special } = read.scan
  let line = read.skippedCount + 1
  /** Counted as DuckDB does: a field with line ends inside does not add to it. */
  let record = line
  let blankIndex = blankLines.findIndex((blank) => blank >= line)
  if (blankIndex === -1) blankIndex = blankLines.length
  let brokenIndex = 0
  let specialIndex = 0
  let breakCount = 0
  /** Where rows may have been swallowed, and where a quotation mark at least is wrong. */
  let swallowLine: number | undefined
  let quoteLine: number | undefined

  const passBlankAndBroken = () => {
    for (;;) {
      if (blankLines[blankIndex] === line) {
        blankIndex++
      } else if (broken.records[brokenIndex] === record) {
        const reason = reasonOf(broken.reasons[brokenIndex])
        if (broken.areOneLine[brokenIndex] === 0) swallowLine ??= line
        if (reason === 'QuoteMalformed') quoteLine ??= line
        tally.add(reason, { file: name, line, unit })
        brokenIndex++
      } else {
        return
      }
      line++
      record++
    }
  }

  for (let row = 0; row < rowCount; row++) {
    passBlankAndBroken()
    if (special.rows[specialIndex] === row) {
      const code = special.reasons[specialIndex]
      if (code !== ACCEPTED) {
        const reason = reasonOf(code)
        if (reason === 'QuoteMalformed' || special.breaks[specialIndex] > 0) swallowLine ??= line
        const place = { file: name, line, unit }
        tally.add(reason, place, read.texts?.next(), special.cells[specialIndex])
      }
      breakCount += special.breaks[specialIndex]
      line += special.breaks[specialIndex++]
      while (blankLines[blankIndex] <= line) blankIndex++
    }
    line++
    record++
  }
  passBlankAndBroken()

  const isComplete = line === lineCount + 1 && brokenIndex === broken.records.length
  if (isComplete && swallowLine === undefined) return breakCount
  const blankCount = blankLines.filter((blank) => blank > read.skippedCount).length
  const takenCount = blankCount + rowCount + broken.records.length + breakCount
  const lostCount = Math.max(1, lineCount - read.skippedCount - takenCount)
  // If there is no sign of it, it begins where the rows that were read end.
  throw refusal(read, lostCount, swallowLine ?? quoteLine ?? survey.longLine ?? line)
}

function refusal(read: TextRead, lostCount: number, faultLine: number): Error {
  const { name, unit, survey } = read
  const reason = survey.hasOtherLineEnds
    ? lineEndHint(survey)
    : faultLine === survey.longLine
      ? `${unit} ${faultLine} is longer than ${limits.recordBytes} bytes`
      : `the first fault is at ${name}:${faultLine}, is a quotation mark opened there and never closed?`
  return new OperatorError(
    'InputRejected',
    `${name} is refused, because ${lostCount} of its ${survey.lineCount} ${unit}s could not be read as rows: ${reason}`,
  )
}

/** Advice for a file that as a whole is not CSV. */
export function lineEndHint(survey: Survey): string {
  return survey.hasOtherLineEnds
    ? 'its lines end in different ways (LF, CRLF, CR): save it with one kind of line end'
    : 'is a quotation mark not closed, are line ends mixed, or is a line extremely long?'
}
