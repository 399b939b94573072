/**
 * Rows of a table that is followed as changes, by the rules by which an import takes rows
 * (sources/postgres/rows.ts has them for a copy).
 *
 * @module
 */
import type { RowChange } from '../changes/change.js'
import { isBlank } from '../phone-number.js'
import type { RowOptions } from '../sources/batch.js'
import type {
  OldRow,
  Relation,
  SentValue,
  Tuple,
} from '../sources/postgres/replication/messages.js'
import { readPoint } from '../sources/postgres/replication/point.js'
import {
  type FollowedTable,
  identityMissing,
  type TableColumn,
} from '../sources/postgres/replication/table.js'
import { E164Numbers } from '../sources/rows/e164.js'
import type { RejectReason } from '../sources/rows/rejects.js'
import {
  contactFault,
  keyFault,
  latFault,
  lngFault,
  parseDegrees,
  phoneFault,
  positionFault,
  unitsOf,
} from '../sources/rows/row-rules.js'
import { CopyNeeded } from './state.js'

interface RowReaderOptions {
  readonly rowOptions: RowOptions
  readonly onRejected: (reason: RejectReason) => void
}

export class RowReader {
  readonly #table: FollowedTable
  readonly #options: RowOptions
  readonly #numbers: E164Numbers | undefined
  readonly #onRejected: (reason: RejectReason) => void
  /** Where the columns are in the rows that come. */
  #places: ReadonlyMap<string, number> = new Map()

  constructor(table: FollowedTable, { rowOptions, onRejected }: RowReaderOptions) {
    this.#table = table
    this.#options = rowOptions
    const { e164Region } = rowOptions
    this.#numbers = e164Region === undefined ? undefined : new E164Numbers(e164Region)
    this.#onRejected = onRejected
  }

  /** @throws CopyNeeded  where the table is not what it was */
  begin({ columns }: Relation): void {
    const { name, columns: used } = this.#table
    for (const column of Object.values(used)) {
      const found = columns.find((each) => each.name === column?.name)
      if (column === undefined) continue
      if (found === undefined) {
        throw stopped(
          `${name} has no column "${column.name}" any more, or its publication leaves it out`,
          ANEW,
        )
      }
      if (found.typeOid !== column.typeOid) {
        throw stopped(`the column "${column.name}" of ${name} has another type than before`, ANEW)
      }
    }
    if (columns.find((each) => each.name === used.key.name)?.isIdentity !== true) {
      throw stopped(identityMissing(name, used.key.name), ANEW)
    }
    this.#places = new Map(columns.map((column, at) => [column.name, at]))
  }

  /** A row that is new. */
  inserted(row: Tuple): RowChange[] {
    return this.#put(row, undefined)
  }

  /** @param old  undefined where its key is what it was */
  updated(row: Tuple, old: OldRow | undefined): RowChange[] {
    if (old === undefined) return this.#put(row, undefined)
    const { key } = this.#table.columns
    const before = this.#keyText(this.#value(old.tuple, key))
    const sent = this.#value(row, key)
    const after = this.#keyText(sent === undefined ? this.#value(old.tuple, key) : sent)
    const put = this.#put(row, old.isWhole ? old.tuple : undefined)
    return before === undefined || before === after
      ? put
      : [{ op: 'delete', identity: before }, ...put]
  }

  deleted({ tuple }: OldRow): RowChange[] {
    const key = this.#keyText(this.#value(tuple, this.#table.columns.key))
    return key === undefined ? [] : [{ op: 'delete', identity: key }]
  }

  /** Whoever is in a row that an import would not take is not there. */
  #put(row: Tuple, old: Tuple | undefined): RowChange[] {
    const values = this.#values(row, old)
    const key = this.#keyText(values.key)
    const fault = this.#faultOf(values)
    if (fault !== undefined || key === undefined) {
      this.#onRejected(fault ?? 'KeyMissing')
      return key === undefined ? [] : [{ op: 'delete', identity: key }]
    }
    const { number, contact, lng, lat } = values
    const given = number.toString('utf8')
    return [
      {
        op: 'upsert',
        identity: key,
        phone: this.#numbers === undefined ? given : this.#numbers.read(given).number,
        lng: unitsOf(lng ?? 0),
        lat: unitsOf(lat ?? 0),
        contact: isBlank(contact, 0, contact.length) ? '' : contact.toString('utf8'),
        key,
      },
    ]
  }

  /** The first reason that applies, in the order of an import. */
  #faultOf(values: Values): RejectReason | undefined {
    const { number, contact, key, isPoint, lat, lng } = values
    if (!isPoint) return 'GeometryNotPoint'
    const { allowsNullIsland = false } = this.#options
    const isReadLater = this.#numbers !== undefined
    return (
      phoneFault(number, 0, number.length, isReadLater) ??
      latFault(lat) ??
      lngFault(lng) ??
      (allowsNullIsland ? undefined : positionFault(lat ?? 0, lng ?? 0)) ??
      contactFault(contact, 0, contact.length) ??
      keyFault(key, 0, key.length) ??
      this.#numbers?.read(number.toString('utf8')).fault
    )
  }

  #values(row: Tuple, old: Tuple | undefined): Values {
    const { number, contact, key, lat, lng } = this.#table.columns
    const value = (column: TableColumn) => {
      const sent = this.#value(row, column)
      if (sent !== undefined) return sent
      const before = old && this.#value(old, column)
      if (before !== undefined) return before
      throw stopped(
        `a row of ${this.#table.name} came without its "${column.name}", which is stored apart (TOAST) and did not change`,
        `ALTER TABLE ${this.#table.name} REPLICA IDENTITY FULL, and start again with --initial-copy`,
      )
    }
    const texts = {
      number: textOf(value(number), number),
      contact: contact === undefined ? EMPTY : textOf(value(contact), contact),
      key: textOf(value(key), key),
    }
    if (this.#table.isGeometry) return { ...texts, ...this.#pointOf(value(lat)) }
    const degrees = (column: TableColumn) => this.#degreesOf(value(column), column)
    return { ...texts, isPoint: true, lat: degrees(lat), lng: degrees(lng) }
  }

  #value(tuple: Tuple, { name }: TableColumn): SentValue {
    const at = this.#places.get(name)
    if (at === undefined) throw new Error('the server sent a row before it said what rows are')
    return tuple[at]
  }

  /** Undefined for what is no key of any recipient. */
  #keyText(value: SentValue): string | undefined {
    const key = textOf(value ?? null, this.#table.columns.key)
    return keyFault(key, 0, key.length) === undefined ? key.toString('utf8') : undefined
  }

  #pointOf(value: Buffer | null) {
    const point = value === null ? undefined : readPoint(value)
    if (point === undefined) return { isPoint: false, lat: undefined, lng: undefined }
    const { lat, lng, srid } = point
    if (srid === 0 || srid === WGS84) {
      return { isPoint: true, lat: finite(lat), lng: finite(lng) }
    }
    const { name, columns } = this.#table
    throw stopped(
      `"${columns.lat.name}" of ${name} has a point with the SRID ${srid}`,
      'only points in degrees (SRID 4326) can be followed: have a trigger fill such a column',
    )
  }

  #degreesOf(value: Buffer | null, { typeName }: TableColumn): number | undefined {
    if (value === null) return undefined
    const text = value.toString('latin1')
    if (BINARY.includes(typeName)) return finite(Number(text))
    return parseDegrees(text, this.#options.hasDecimalComma)
  }
}

interface Values {
  readonly number: Buffer
  readonly contact: Buffer
  readonly key: Buffer
  readonly isPoint: boolean
  readonly lat: number | undefined
  readonly lng: number | undefined
}

const EMPTY = Buffer.alloc(0)
const WGS84 = 4326
/** Types that an import reads as numbers. */
const BINARY: readonly string[] = ['float8', 'int2', 'int4', 'int8']
const ANEW = 'say what is to be read, and start again with --initial-copy'

/** As a cast to text gives it, which leaves out what fills char(n) up. */
function textOf(value: Buffer | null, { typeName }: TableColumn): Buffer {
  if (value === null) return EMPTY
  if (typeName !== 'bpchar') return value
  let end = value.length
  while (end > 0 && value[end - 1] === SPACE) end--
  return value.subarray(0, end)
}

const SPACE = 0x20

function finite(degrees: number): number {
  return Number.isFinite(degrees) ? degrees : Number.NaN
}

function stopped(what: string, advice: string): CopyNeeded {
  return new CopyNeeded(`${what}: ${advice}`)
}
