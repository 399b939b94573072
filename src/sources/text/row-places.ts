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
import { doubt, type LongRows } from './long-rows.js'
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
 * A record of several lines must be one for DuckDB and for the survey, and the file is refused if other
 * rows may be in it. There is less doubt of one that is accepted: its own fields are right.
 *
 * @returns the lines of accepted rows behind the first of each, so that they can be told
 */
export function placeRows(read: TextRead, tally: RejectTally): number {
  const { name, unit, survey, broken } = read
  const { lineCount, blankLines, longRows } = survey
  const { rowCount, special } = read.scan
  let line = read.skippedCount + 1
  /** Counted as DuckDB does: a field with line ends inside does not add to it. */
  let record = line
  let blankIndex = blankLines.findIndex((blank) => blank >= line)
  if (blankIndex === -1) blankIndex = blankLines.length
  let brokenIndex = 0
  let specialIndex = 0
  let longIndex = longRows.lines.findIndex((start) => start >= line)
  let acceptedFurtherCount = 0
  /** A record of several lines in which rows may be. */
  let doubtIndex: number | undefined
  /** Where DuckDB and the survey differ, and where a quotation mark at least is wrong. */
  let differLine: number | undefined
  let quoteLine: number | undefined

  /** Goes behind a record. @returns its lines behind the first */
  const pass = (doubtMin: number) => {
    let furtherCount = 0
    if (longIndex !== -1 && longRows.lines[longIndex] === line) {
      if (longRows.doubts[longIndex] >= doubtMin) doubtIndex ??= longIndex
      furtherCount = longRows.furtherCounts[longIndex++]
    }
    line += 1 + furtherCount
    record++
    while (furtherCount > 0 && blankLines[blankIndex] < line) blankIndex++
    return furtherCount
  }
  const passBlankAndBroken = () => {
    for (;;) {
      if (blankLines[blankIndex] === line) {
        blankIndex++
        line++
        record++
      } else if (broken.records[brokenIndex] === record) {
        const reason = reasonOf(broken.reasons[brokenIndex++])
        if (reason === 'QuoteMalformed') quoteLine ??= line
        tally.add(reason, { file: name, line, unit })
        pass(doubt.ignored)
      } else {
        return
      }
    }
  }

  for (let row = 0; row < rowCount; row++) {
    passBlankAndBroken()
    const isSpecial = special.rows[specialIndex] === row
    const code = isSpecial ? special.reasons[specialIndex] : ACCEPTED
    const breakCount = isSpecial ? special.breaks[specialIndex] : 0
    const start = line
    if (code !== ACCEPTED) {
      const place = { file: name, line, unit }
      tally.add(reasonOf(code), place, read.texts?.next(), special.cells[specialIndex])
    }
    if (isSpecial) specialIndex++
    const furtherCount = pass(code === ACCEPTED ? doubt.used : doubt.ignored)
    if (furtherCount !== breakCount) differLine ??= start
    if (code === ACCEPTED) acceptedFurtherCount += furtherCount
  }
  passBlankAndBroken()

  const isComplete = line === lineCount + 1 && brokenIndex === broken.records.length
  if (isComplete && (doubtIndex ?? differLine) === undefined) return acceptedFurtherCount
  doubtIndex ??= malformedIndex(longRows)
  if (doubtIndex !== undefined) throw doubtRefusal(read, doubtIndex)
  const lostCount = Math.max(1, lineCount + 1 - line)
  // If there is no sign of it, it begins where the rows that were read end.
  throw refusal(read, lostCount, differLine ?? quoteLine ?? survey.longLine ?? line)
}

/** The first that is not closed: DuckDB leaves it out without a word. */
function malformedIndex({ doubts }: LongRows): number | undefined {
  const index = doubts.indexOf(doubt.malformed)
  return index === -1 ? undefined : index
}

function doubtRefusal(read: TextRead, index: number): Error {
  const { lines, furtherCounts, doubts } = read.survey.longRows
  const further = furtherCounts[index]
  const last = Math.min(lines[index] + further, read.survey.lineCount)
  const end =
    doubts[index] === doubt.malformed
      ? `What it opens goes on to line ${last}, and is not closed in front of a delimiter or line end`
      : `The row goes on to line ${last}, and what it has in quotation marks looks like other rows`
  const fault = `${faultAt(read.name, lines[index])} ${end}: close it, or double it within text`
  return notRows(read, last - lines[index], fault)
}

function refusal(read: TextRead, lostCount: number, faultLine: number): Error {
  const { name, unit, survey } = read
  const reason = survey.hasOtherLineEnds
    ? lineEndHint(survey)
    : faultLine === survey.longLine
      ? `${unit} ${faultLine} is longer than ${limits.recordBytes} bytes`
      : faultAt(name, faultLine)
  return notRows(read, lostCount, reason)
}

function faultAt(name: string, line: number): string {
  return `the first fault is at ${name}:${line}, is a quotation mark opened there and never closed?`
}

function notRows({ name, unit, survey }: TextRead, lostCount: number, reason: string): Error {
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
