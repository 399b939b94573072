/**
 * Checks the rows of a copy and hands on those that are taken.
 *
 * @module
 */
import { isBlank } from '../../phone-number.js'
import type { ReadReport, RecipientSink, RowOptions } from '../batch.js'
import { E164Numbers } from '../rows/e164.js'
import { KeySet } from '../rows/key-set.js'
import { cellOf, NO_CELL } from '../rows/rejected-cells.js'
import type { RowTexts } from '../rows/rejected-texts.js'
import { isReadable, type RejectedSink, type RejectReason, RejectTally } from '../rows/rejects.js'
import {
  contactFault,
  keyFault,
  latFault,
  lngFault,
  parseDegrees,
  phoneFault,
  positionFault,
  unitsOf,
} from '../rows/row-rules.js'
import { BatchBuilder } from './batch-builder.js'
import type { OnRow } from './copy-rows.js'
import { type CopyPlan, fields, NOT_POINT } from './query.js'

export class PostgresRows {
  readonly #plan: CopyPlan
  readonly #hasKey: boolean
  readonly #place: string
  readonly #builder: BatchBuilder
  readonly #options: RowOptions
  readonly #hasRejectedSink: boolean
  readonly #keys = new KeySet()
  readonly #numbers: E164Numbers | undefined
  /** The number of the row in E.164; undefined if it stays as it is. */
  #number: Buffer | undefined
  #normalizedCount = 0
  readonly #tally: RejectTally
  #lat: number | undefined
  #lng: number | undefined

  /** @param place  what rows are said to be in */
  constructor(
    plan: CopyPlan,
    place: string,
    sink: RecipientSink,
    options: RowOptions,
    rejected?: RejectedSink,
  ) {
    this.#tally = new RejectTally(rejected)
    this.#hasRejectedSink = rejected !== undefined
    this.#plan = plan
    this.#hasKey = plan.chosen.key !== undefined
    this.#place = place
    this.#options = options
    const { e164Region } = options
    this.#numbers = e164Region === undefined ? undefined : new E164Numbers(e164Region)
    this.#builder = new BatchBuilder(sink, this.#hasKey)
  }

  get rowCount(): number {
    return this.#builder.recipientCount + this.#tally.count
  }

  readonly take: OnRow = (bytes, starts, ends) => {
    const fault = this.#faultOf(bytes, starts, ends)
    if (fault !== undefined) {
      const place = { file: this.#place, line: this.rowCount + 1, unit: 'row' as const }
      const texts = this.#hasRejectedSink ? this.#textsOf(bytes, starts, ends) : undefined
      this.#tally.add(fault, place, texts, this.#cellOf(fault, bytes, starts, ends))
      return
    }
    const { phone, contact } = fields
    const lng = unitsOf(this.#lng ?? 0)
    const lat = unitsOf(this.#lat ?? 0)
    if (this.#number === undefined) this.#builder.add(lng, lat, bytes, starts[phone], ends[phone])
    else {
      this.#normalizedCount++
      this.#builder.add(lng, lat, this.#number, 0, this.#number.length)
    }
    if (starts[contact] !== ends[contact] && !isBlank(bytes, starts[contact], ends[contact])) {
      this.#builder.setContact(bytes, starts[contact], ends[contact])
    }
    if (this.#hasKey) this.#builder.setKey(bytes, starts[fields.key], ends[fields.key])
  }

  finish(): ReadReport {
    this.#builder.flush()
    return {
      rowCount: this.rowCount,
      acceptedCount: this.#builder.recipientCount,
      rejectedCount: this.#tally.count,
      rejects: this.#tally.list(),
      rejectedMap: this.#tally.map(),
      furtherLineCount: 0,
      normalizedCount: this.#normalizedCount,
    }
  }

  #textsOf(bytes: Buffer, starts: Int32Array, ends: Int32Array): RowTexts {
    const { phone, lat, lng } = fields
    const { isLatBinary, isLngBinary } = this.#plan
    return {
      phone: textAt(bytes, starts[phone], ends[phone], false),
      lat: textAt(bytes, starts[lat], ends[lat], isLatBinary),
      lng: textAt(bytes, starts[lng], ends[lng], isLngBinary),
    }
  }

  #cellOf(fault: RejectReason, bytes: Buffer, starts: Int32Array, ends: Int32Array): number {
    if (!isReadable(fault) || this.#positionFault(bytes, starts, ends) !== undefined) return NO_CELL
    return cellOf(unitsOf(this.#lng ?? 0), unitsOf(this.#lat ?? 0))
  }

  /** The first reason that applies; sets the position of the row. */
  #faultOf(bytes: Buffer, starts: Int32Array, ends: Int32Array): RejectReason | undefined {
    const { phone, contact } = fields
    return (
      pointFault(bytes, starts[fields.pointFault]) ??
      phoneFault(bytes, starts[phone], ends[phone], this.#numbers !== undefined) ??
      this.#positionFault(bytes, starts, ends) ??
      contactFault(bytes, starts[contact], ends[contact]) ??
      (this.#hasKey ? keyFault(bytes, starts[fields.key], ends[fields.key]) : undefined) ??
      this.#normalize(bytes, starts[phone], ends[phone]) ??
      (this.#hasKey ? this.#repeatFault(bytes, starts[fields.key], ends[fields.key]) : undefined)
    )
  }

  /** Last, so that a row that is not taken does not stand in the way of one with the same key. */
  #repeatFault(bytes: Buffer, start: number, end: number): RejectReason | undefined {
    return this.#keys.add(bytes, start, end) ? undefined : 'KeyRepeated'
  }

  /** Sets the number of the row. */
  #normalize(bytes: Buffer, start: number, end: number): RejectReason | undefined {
    if (this.#numbers === undefined) return undefined
    const text = bytes.toString('utf8', start, end)
    const { number, fault } = this.#numbers.read(text)
    this.#number = number === text ? undefined : Buffer.from(number)
    return fault
  }

  #positionFault(bytes: Buffer, starts: Int32Array, ends: Int32Array): RejectReason | undefined {
    const { lat, lng } = fields
    const { isLatBinary, isLngBinary } = this.#plan
    const { hasDecimalComma = false } = this.#options
    const degrees = (field: number, isBinary: boolean) =>
      degreesAt(bytes, starts[field], ends[field], isBinary, hasDecimalComma)
    this.#lat = degrees(lat, isLatBinary)
    this.#lng = degrees(lng, isLngBinary)
    const fault = latFault(this.#lat) ?? lngFault(this.#lng)
    if (fault !== undefined || this.#options.allowsNullIsland === true) return fault
    return positionFault(this.#lat ?? 0, this.#lng ?? 0)
  }
}

function pointFault(bytes: Buffer, start: number): RejectReason | undefined {
  return start !== -1 && bytes[start] === NOT_POINT ? 'GeometryNotPoint' : undefined
}

function textAt(bytes: Buffer, start: number, end: number, isBinary: boolean): string {
  if (start === -1) return ''
  return isBinary ? String(bytes.readDoubleBE(start)) : bytes.toString('utf8', start, end)
}

/** As of `parseDegrees`: a number of the database that is infinite is no decimal number. */
function degreesAt(
  bytes: Buffer,
  start: number,
  end: number,
  isBinary: boolean,
  hasDecimalComma: boolean,
): number | undefined {
  if (start === -1) return undefined
  if (!isBinary) return parseDegrees(bytes.toString('latin1', start, end), hasDecimalComma)
  const degrees = bytes.readDoubleBE(start)
  return Number.isFinite(degrees) ? degrees : Number.NaN
}
