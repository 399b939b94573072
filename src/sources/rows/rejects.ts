/**
 * Why rows of an input were not taken: counted by reason, with a few places to look at. The
 * values are not kept, because phones and positions are personal data: they go to a sink if there is
 * one, for an operator who asks for them. Of positions, the cells are counted.
 *
 * @module
 */
import { limits } from '../../limits.js'
import { NO_CELL, RejectedCells, type RejectedMap } from './rejected-cells.js'
import { NO_TEXTS, type RowTexts } from './rejected-texts.js'

/** Every reason, with what it says to a person. A row is rejected for the first that applies. */
export const rejectReasons = {
  QuoteMalformed: 'a quotation mark is not closed, or stands where none may stand',
  RecordTooLong: `the record is longer than ${limits.recordBytes} bytes`,
  FieldCountWrong: 'the record has more or fewer fields than the header',
  EncodingInvalid:
    'the record is not UTF-8; if the file is of another encoding, --encoding reads it',
  JsonInvalid: 'the line is not a JSON object, or has a member twice',
  FeatureInvalid: 'the object is not a GeoJSON Feature',
  GeometryNotPoint: 'the geometry is missing or not a Point',
  GeometryProjected:
    'the point is in another coordinate system than EPSG:4326: transform it to degrees of WGS 84',
  NumberInvalid: 'the number is neither a text nor a whole number',
  ContactInvalid: 'the contact is neither a text nor a whole number',
  NumberEmpty: 'the number is missing or only white space',
  NumberTooLong: `the number is longer than ${limits.phoneBytes} bytes`,
  NumberUnprintable: 'the number contains a control character',
  NumberFormula: 'the number starts with = or @, which spreadsheets would run',
  NumberErrorCell: 'the number is an error of a spreadsheet, such as #N/A or ####',
  NumberQuoted:
    'the number begins with a quotation mark, by which spreadsheets mark a text: export it without',
  NumberDecimal:
    'the number is a decimal number, such as 9.99E+11, 9990000001.0 or 29.76: digits may be lost; ' +
    'export the column as text, and write 11 912345678 where 11.912345678 is a telephone number',
  NumberAmount: 'the number is an amount or a date, such as $5, 12 %, 9,990,000,001 or 5/5/2026',
  NumberSeveral:
    'the field has more than one number (write a row for each), or a sign that no number has',
  NumberLetters: 'the number has letters, and not only those of an extension (x12, ext. 12)',
  NumberForeignDigits:
    'the number has digits of another script, which are no keys of a telephone: --normalize reads them',
  NumberWithoutDigits: 'the number has no digit',
  NumberZero: 'the number has no digit other than 0',
  LatMissing: 'the latitude is missing',
  LatInvalid: 'the latitude is not a decimal number (--decimal-comma reads 29,76)',
  LatOutOfRange: 'the latitude is not between -90 and 90',
  LngMissing: 'the longitude is missing',
  LngInvalid: 'the longitude is not a decimal number (--decimal-comma reads 29,76)',
  LngOutOfRange: 'the longitude is not between -180 and 180',
  PositionZero:
    'the position is exactly 0,0, which often means that it is not known (imports take it with --allow-null-island)',
  ContactTooLong: `the contact is longer than ${limits.contactBytes} bytes`,
  KeyMissing: 'the key is missing or only white space',
  KeyTooLong: `the key is longer than ${limits.keyBytes} bytes`,
  NumberImpossible:
    'the number is none that can be dialled: --normalize finds no calling code, or a wrong length',
  NumberExtension: 'the number has an extension, for which E.164 has no form (--normalize)',
  KeyRepeated: 'a row before it that was taken has the same key',
} as const

export type RejectReason = keyof typeof rejectReasons

/** Whether a row of this reason could be read, so that its position is what it seems to be. */
export function isReadable(reason: RejectReason): boolean {
  return !UNREADABLE.includes(reason)
}

const UNREADABLE: readonly RejectReason[] = [
  ...(['QuoteMalformed', 'RecordTooLong', 'FieldCountWrong', 'EncodingInvalid'] as const),
  ...(['JsonInvalid', 'FeatureInvalid', 'GeometryNotPoint', 'GeometryProjected'] as const),
]

/** The units of places in an input: lines of a text, rows of Parquet, features of a collection. */
export type PlaceUnit = 'line' | 'row' | 'feature'

/** Latitude and longitude in the place of each other, or metres in place of degrees. */
export type Misplacement = 'exchanged' | 'projected'

export interface RejectExample {
  readonly file: string
  /** The place of the record; the first is 1. Of a text, the physical line on which it starts. */
  readonly line: number
  readonly unit: PlaceUnit
}

/** The receiver of every rejected row, in the order of the input. */
export interface RejectedSink {
  add(reason: RejectReason, place: RejectExample, texts: RowTexts): void
}

export interface Rejects {
  readonly reason: RejectReason
  readonly count: number
  /** The first of them, in the order of the input. */
  readonly examples: readonly RejectExample[]
}

export class RejectTally {
  readonly #byReason = new Map<RejectReason, { count: number; examples: RejectExample[] }>()
  readonly #sink: RejectedSink | undefined
  readonly #cells = new RejectedCells()
  #count = 0

  constructor(sink: RejectedSink | undefined) {
    this.#sink = sink
  }

  get count(): number {
    return this.#count
  }

  /** @param cell  of its position, of `cellOf` */
  add(reason: RejectReason, place: RejectExample, texts = NO_TEXTS, cell = NO_CELL): void {
    this.#count++
    this.#cells.add(cell)
    this.#sink?.add(reason, place, texts)
    let entry = this.#byReason.get(reason)
    if (entry === undefined) {
      entry = { count: 0, examples: [] }
      this.#byReason.set(reason, entry)
    }
    entry.count++
    if (entry.examples.length < limits.rejectExampleCount) entry.examples.push(place)
  }

  /** Of the rows that have a position that could be used; undefined if there are none. */
  map(): RejectedMap | undefined {
    return this.#cells.map()
  }

  /** What is wrong with the positions of all of them; undefined if it is not one thing. */
  get misplacement(): Misplacement | undefined {
    if (this.#count === 0) return undefined
    if (this.#cells.exchangedCount === this.#count) return 'exchanged'
    return this.#cells.projectedCount === this.#count ? 'projected' : undefined
  }

  /** In the order of the table of reasons; reasons that did not occur are left out. */
  list(): Rejects[] {
    return (Object.keys(rejectReasons) as RejectReason[]).flatMap((reason) => {
      const entry = this.#byReason.get(reason)
      return entry === undefined ? [] : [{ reason, ...entry }]
    })
  }
}
