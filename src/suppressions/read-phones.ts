/**
 * Phones out of text files: one a line, or a column of CSV; plain or gzip.
 *
 * @module
 */
import { createReadStream } from 'node:fs'
import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { type CsvError, type Info, parse } from 'csv-parse'
import { OperatorError } from '../errors.js'
import { limits } from '../limits.js'
import { type NotationFault, type PhoneFault, phoneTextFault } from '../phone-number.js'
import { isRefusal, whyUnread } from '../system-refusals.js'

/** Faults of normalization. */
type NumberFault = NotationFault | 'NumberImpossible' | 'NumberExtension'
export type RowFault = PhoneFault | NumberFault | 'FieldCountWrong' | 'EncodingInvalid'

/** Rejected rows; their content is not kept. */
interface RejectedRows {
  count: number
  /** Where the first of them are, such as `list.csv:7`. */
  readonly places: string[]
}

/** Returns a number in its normal form. */
export type Normalize = (phone: string) => {
  readonly number: string
  readonly fault: NumberFault | undefined
}

/** Returns the columns of a header that may have the phones. */
type FindColumns = (names: readonly string[]) => readonly string[]

export interface PhonesRead {
  rowCount: number
  /** Rows whose number was changed. */
  normalizedCount: number
  /** Each once, with its index among them. */
  readonly phones: Map<string, number>
  /** In the order in which they were read. */
  readonly files: FilePhones[]
  readonly rejects: Map<RowFault, RejectedRows>
}

interface FilePhones {
  readonly name: string
  /** The indexes of its phones, each once. */
  readonly indexes: number[]
}

/**
 * Reads files in turn.
 *
 * @param paths  `-` is standard input
 * @param column  what the column of phones is called, in any letter case; if absent it is the one that
 *   `findColumns` gives, or there is no header and one phone a line
 * @param normalize  applied to each number; numbers stay as they are if it is absent
 * @throws OperatorError  InputRejected
 */
export async function readPhones(
  paths: readonly string[],
  column: string | undefined,
  findColumns: FindColumns,
  normalize: Normalize = (number) => ({ number, fault: undefined }),
): Promise<PhonesRead> {
  const counts = { rowCount: 0, normalizedCount: 0 }
  const read: PhonesRead = { ...counts, phones: new Map(), files: [], rejects: new Map() }
  for (const path of paths) {
    const name = path === '-' ? 'standard input' : path
    try {
      await readFile(path, name, { column, findColumns }, read, normalize)
    } catch (fault) {
      throw refused(name, fault)
    }
  }
  return read
}

/** Messages of the library may quote the file, so only codes are passed on. */
function refused(name: string, fault: unknown): OperatorError {
  if (fault instanceof OperatorError) return fault
  const { code = 'unknown fault', lines } = fault as Partial<CsvError> & { lines?: number }
  const place = lines === undefined ? '' : `, line ${lines}`
  const known = isRefusal(fault) ? whyUnread(fault) : FAULT_TEXTS[code]
  const what = known ?? `cannot be read (${code})`
  return new OperatorError('InputRejected', `${name}${place} ${what}`)
}

const STRAY_QUOTE =
  'has a quotation mark where none may be, so that rows cannot be told apart: close it, or remove it'

const FAULT_TEXTS: Readonly<Record<string, string>> = {
  Z_BUF_ERROR: 'is cut off',
  Z_DATA_ERROR: 'is damaged',
  INVALID_OPENING_QUOTE: STRAY_QUOTE,
  CSV_INVALID_CLOSING_QUOTE: STRAY_QUOTE,
  CSV_QUOTE_NOT_CLOSED: STRAY_QUOTE,
  CSV_MAX_RECORD_SIZE: `has a row of more than ${limits.recordBytes} bytes`,
}

async function readFile(
  path: string,
  name: string,
  wanted: Wanted,
  read: PhonesRead,
  normalize: Normalize,
): Promise<void> {
  const source: AsyncIterable<Buffer> = path === '-' ? process.stdin : createReadStream(path)
  const plain = await unpacked(source)
  const { head, rest } = await headOf(plain)
  if (head.includes(0) || PACKED.some((magic) => head.subarray(0, magic.length).equals(magic))) {
    throw new OperatorError(
      'InputRejected',
      `${name} is not text in UTF-8: save a workbook as "CSV UTF-8", and unpack an archive; gzip is read`,
    )
  }
  const header = headerOf(head, wanted, name)
  const { column } = wanted
  if (column !== undefined && header === undefined) {
    throw new OperatorError(
      'InputRejected',
      `${name} has no column ${JSON.stringify(column)}: name one of its first line with --number`,
    )
  }
  const parser = parse({
    bom: true,
    delimiter: header === undefined ? DELIMITERS : header.delimiter,
    info: true,
    max_record_size: limits.recordBytes,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    skip_empty_lines: true,
  })
  // A fault of any part ends the parser, which is read below.
  pipeline(Readable.from(joined(head, rest)), parser, () => {})
  const add = phoneAdder(read, name)
  let isHeader = header !== undefined
  for await (const { record, info } of parser as AsyncIterable<Row>) {
    if (isHeader) {
      isHeader = false
      continue
    }
    read.rowCount++
    const isWhole = record.length === (header?.columnCount ?? 1)
    const phone = record[header?.index ?? 0]
    const rough = isWhole ? rowFault(phone) : 'FieldCountWrong'
    const { number, fault } = rough === undefined ? normalize(phone) : { number: '', fault: rough }
    if (fault !== undefined) reject(read, fault, `${name}:${info.lines}`)
    else {
      if (number !== phone) read.normalizedCount++
      add(number)
    }
  }
}

interface Row {
  readonly record: readonly string[]
  readonly info: Info
}

const DELIMITERS = [',', ';', '\t', '|']

function rowFault(phone: string): RowFault | undefined {
  return phone.includes('\ufffd') ? 'EncodingInvalid' : phoneTextFault(phone)
}

/** Adds phones of one file. */
function phoneAdder({ phones, files }: PhonesRead, name: string): (phone: string) => void {
  const indexes: number[] = []
  files.push({ name, indexes })
  const earlierCount = phones.size
  /** Phones of earlier files that this one has as well. */
  const shared = new Set<number>()
  return (phone) => {
    const index = phones.get(phone) ?? phones.size
    if (index === phones.size) phones.set(phone, index)
    else if (index >= earlierCount || shared.has(index)) return
    else shared.add(index)
    indexes.push(index)
    if (phones.size <= limits.suppressionCount) return
    const most = limits.suppressionCount
    throw new OperatorError('InputRejected', `there are more than ${most} numbers in the files`)
  }
}

function reject({ rejects }: PhonesRead, fault: RowFault, place: string): void {
  const rows = rejects.get(fault) ?? { count: 0, places: [] }
  rejects.set(fault, rows)
  rows.count++
  if (rows.places.length < limits.rejectExampleCount) rows.places.push(place)
}

/** The content of a file, whether it is packed or not. */
async function unpacked(source: AsyncIterable<Buffer>): Promise<AsyncIterator<Buffer>> {
  const iterator = source[Symbol.asyncIterator]()
  const first = await iterator.next()
  const start: Buffer = first.done === true ? Buffer.alloc(0) : first.value
  const whole = joined(start, iterator)
  if (start[0] !== GZIP[0] || start[1] !== GZIP[1]) return whole
  const unzip = createGunzip()
  pipeline(Readable.from(whole), unzip, () => {})
  return unzip[Symbol.asyncIterator]()
}

const GZIP = [0x1f, 0x8b]
/** The first bytes of zstd, pzstd, xz and bzip2; zip has zeros soon. */
const PACKED = ['28b52ffd', '502a4d18', 'fd377a58', '425a68'].map((hex) => Buffer.from(hex, 'hex'))

async function* joined(head: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  if (head.length > 0) yield head
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value
}

/** The first line at least, as far as a record may be long. */
async function headOf(rest: AsyncIterator<Buffer>): Promise<{ head: Buffer; rest: typeof rest }> {
  let head = Buffer.alloc(0)
  while (head.length < limits.recordBytes && !/[^\s]\s*[\r\n]/.test(head.toString('latin1'))) {
    const next = await rest.next()
    if (next.done === true) break
    head = Buffer.concat([head, next.value])
  }
  return { head, rest }
}

interface Wanted {
  readonly column: string | undefined
  readonly findColumns: FindColumns
}

interface Header {
  readonly delimiter: string
  readonly columnCount: number
  readonly index: number
}

/** Undefined where the first line does not name the column: then there is one phone a line. */
function headerOf(head: Buffer, { column, findColumns }: Wanted, file: string): Header | undefined {
  const [line = ''] = head
    .toString()
    .replace('\ufeff', '')
    .trimStart()
    .split(/[\r\n]/, 1)
  for (const delimiter of DELIMITERS) {
    const names = line.split(delimiter).map((name) =>
      name
        .trim()
        .replace(/^"(.*)"$/, '$1')
        .trim(),
    )
    const isNamed = (name: string) => name.toLowerCase() === column?.toLowerCase()
    const found = column === undefined ? findColumns(names) : names.filter(isNamed).slice(0, 1)
    if (found.length > 1) throw unclear(file, found)
    if (found.length > 0) {
      return { delimiter, columnCount: names.length, index: names.indexOf(found[0]) }
    }
  }
  return undefined
}

function unclear(file: string, [first, second]: readonly string[]): OperatorError {
  return new OperatorError(
    'InputRejected',
    `${file} has the columns "${first}" and "${second}", either may be the number: name one of them with --number`,
  )
}
