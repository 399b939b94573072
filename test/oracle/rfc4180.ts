/**
 * CSV as RFC 4180 has it: a reader of nothing else, and awkward files. The reader agrees with Python's
 * module csv in strict mode, as far as that is as strict.
 *
 * @module
 */
import fc from 'fast-check'

export interface CsvRecord {
  /** The physical line on which it begins; the first is 1. */
  readonly line: number
  readonly fields: readonly string[]
}

/** Without blank lines; undefined if the text is not CSV. */
export function csvRecords(text: string, delimiter: string): CsvRecord[] | undefined {
  const field = new RegExp(`"((?:[^"]|"")*)"|([^"\r\n${`\\${delimiter}`}]*)`, 'y')
  const end = new RegExp(`\\${delimiter}|\r\n|\r|\n|$`, 'y')
  const records: CsvRecord[] = []
  let fields: string[] = []
  let line = 1
  let start = 1
  for (let at = 0; at < text.length || fields.length > 0; ) {
    field.lastIndex = at
    const found = field.exec(text)
    end.lastIndex = field.lastIndex
    const ended = end.exec(text)
    if (found === null || ended === null) return undefined
    fields.push(found[1]?.replaceAll('""', '"') ?? found[2])
    at = end.lastIndex
    line += found[0].split(/\r\n|\r|\n/).length - 1
    if (ended[0] === delimiter) continue
    if (fields.length > 1 || found[0] !== '') records.push({ line: start, fields })
    fields = []
    line++
    start = line
  }
  return records
}

export interface AwkwardCsv {
  readonly delimiter: string
  readonly text: string
}

/** Numbers and coordinates that are accepted, and some that are not. */
const NUMBERS = { good: /^\+999\d+$/, bad: ['', 'none', '+999\n1', 'a\r\nb'] }
const DEGREES = { good: /^-?\d\.\d$/, bad: ['', 'x', '1.5\n', '200'] }
export const COLUMNS = ['number', 'lat', 'lng', 'contact', 'note', 'address']

/** Files of the columns above, in which each row of the right number of fields has a number of its own. */
export const awkwardCsv: fc.Arbitrary<AwkwardCsv> = fc
  .constantFrom(',', ';', '\t', '|')
  .chain((delimiter) => {
    const lineEnd = fc.constantFrom('\n', '\r\n', '\r')
    const piece = fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom('a', 'é', 'x y', 'St 5') },
      { weight: 2, arbitrary: fc.constantFrom('"', '""', delimiter, ' ', '\n', '\r\n', '\r') },
    )
    // What begins with a letter cannot close a stray quotation mark.
    const text = fc.array(piece, { maxLength: 5 }).map((pieces) => ['n', ...pieces].join(''))
    const degrees = fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom('1.5', '-2.5', '0.5') },
      { weight: 1, arbitrary: fc.constantFrom(...DEGREES.bad) },
    )
    const mostly = (often: fc.Arbitrary<string>, seldom: fc.Arbitrary<string>) =>
      fc.oneof({ weight: 3, arbitrary: often }, { weight: 1, arbitrary: seldom })
    const row = fc.record({
      number: mostly(fc.constant('good'), fc.constantFrom(...NUMBERS.bad)),
      rest: fc.tuple(degrees, degrees, ...[1, 2, 3].map(() => mostly(fc.constant(''), text))),
      lessOrMore: fc.oneof({ weight: 8, arbitrary: fc.constant(0) }, fc.constantFrom(-2, -1, 1)),
      areQuoted: fc.array(fc.boolean(), { minLength: 7, maxLength: 7 }),
      blankCount: fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, fc.constantFrom(1, 2)),
    })
    return fc
      .record({
        rows: fc.array(row, { minLength: 1, maxLength: 12 }),
        order: fc.shuffledSubarray([0, 1, 2, 3, 4, 5], { minLength: 6 }),
        lineEnd,
        hasMark: fc.boolean(),
        isEnded: fc.boolean(),
      })
      .map(({ rows, order, lineEnd, hasMark, isEnded }) => {
        const lines = rows.map(({ number, rest, lessOrMore, areQuoted, blankCount }, at) => {
          const values = [number === 'good' ? `+999${100 + at}` : number, ...rest]
          const fields = order.map((index) => values[index])
          if (lessOrMore > 0) fields.push('more')
          else fields.length += lessOrMore
          const written = fields.map((field, index) =>
            areQuoted[index] || /["\r\n]|^ | $/.test(field) || field.includes(delimiter)
              ? `"${field.replaceAll('"', '""')}"`
              : field,
          )
          return written.join(delimiter) + lineEnd.repeat(blankCount)
        })
        const header = order.map((index) => COLUMNS[index]).join(delimiter)
        const text = [header, ...lines].join(lineEnd) + (isEnded ? lineEnd : '')
        return { delimiter, text: (hasMark ? '\uFEFF' : '') + text }
      })
  })

/** Whether a row of these fields is accepted, by the values above. */
export function isTaken(header: readonly string[], fields: readonly string[]): boolean {
  const value = (name: string) => fields[header.indexOf(name)]
  return (
    fields.length === header.length &&
    NUMBERS.good.test(value('number')) &&
    DEGREES.good.test(value('lat')) &&
    DEGREES.good.test(value('lng'))
  )
}
