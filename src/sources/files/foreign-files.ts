/**
 * Files of which the first bytes say that they are none that an import reads, and what to do with each.
 *
 * @module
 */
import { OperatorError } from '../../errors.js'
import { markedEncoding } from '../text/encoding.js'

interface ForeignFormat {
  readonly magic: readonly number[]
  readonly what: string
  readonly advice: string
}

const UNZIP = 'take the file out of it: unzip -p FILE.zip | hickory import … --format csv -'

const foreignFormats: readonly ForeignFormat[] = [
  { magic: bytesOf('PK\x03\x04'), what: 'a ZIP archive', advice: UNZIP },
  { magic: bytesOf('PK\x05\x06'), what: 'an empty ZIP archive', advice: UNZIP },
  {
    magic: [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1],
    what: 'a document of Excel or Word',
    advice: 'open it there and save it as "CSV UTF-8"',
  },
  { magic: bytesOf('%PDF-'), what: 'a PDF', advice: 'export the list as CSV where it comes from' },
  { magic: bytesOf('SQLite format 3'), what: 'a SQLite database', advice: 'export a table as CSV' },
  { magic: bytesOf('BZh'), what: 'packed with bzip2', advice: 'unpack it, or pack it with gzip' },
  {
    magic: [0xfd, ...bytesOf('7zXZ'), 0],
    what: 'packed with xz',
    advice: 'unpack it, or pack it with gzip',
  },
  { magic: bytesOf('7z\xbc\xaf'), what: 'a 7-Zip archive', advice: 'unpack it' },
  { magic: bytesOf('ARROW1'), what: 'an Arrow file', advice: 'write it as Parquet' },
  { magic: bytesOf('PARE'), what: 'an encrypted Parquet file', advice: 'write it in the clear' },
  { magic: bytesOf('ORC'), what: 'an ORC file', advice: 'write it as Parquet' },
  { magic: bytesOf('Obj\x01'), what: 'an Avro file', advice: 'write it as Parquet' },
  {
    magic: [0, 0, 0x27, 0x0a],
    what: 'a shapefile',
    advice: 'write it as GeoJSON: ogr2ogr -f GeoJSONSeq -t_srs EPSG:4326 people.geojsonl FILE.shp',
  },
  { magic: bytesOf('<?xml'), what: 'XML', advice: 'export the list as CSV where it comes from' },
  { magic: bytesOf('<!DOCTYPE'), what: 'HTML', advice: 'is it the page of a failed download?' },
  { magic: bytesOf('<html'), what: 'HTML', advice: 'is it the page of a failed download?' },
]

/** Names in the first entry of a workbook, which is a ZIP archive. */
const WORKBOOK = /\[Content_Types\]\.xml|_rels\/\.rels|xl\//
const ODS = /mimetypeapplication\/vnd\.oasis\.opendocument\.spreadsheet/

/** @throws OperatorError  `InputRejected` for UTF-32, whose mark begins as that of UTF-16 does */
export function assertNotUtf32(name: string, head: Buffer): void {
  const start = head.subarray(0, 4 * UNITS_LOOKED_AT)
  const isWide = (zeros: readonly number[]) =>
    start.length >= 8 && start.every((byte, at) => (byte === 0) === zeros.includes(at % 4))
  const mark = head.toString('hex', 0, 4)
  const hasMark = mark === 'fffe0000' || mark === '0000feff'
  if (!hasMark && !isWide([1, 2, 3]) && !isWide([0, 1, 2])) return
  throw new OperatorError('InputRejected', `${name} is UTF-32, which is not read: save it as UTF-8`)
}

/** @throws OperatorError  `InputRejected` for a head that is no text and not Parquet */
export function assertKnownFormat(name: string, head: Buffer): void {
  const found = foreignFormats.find(({ magic }) => magic.every((byte, at) => head[at] === byte))
  if (found !== undefined) throw refused(name, isWorkbook(head) ? workbook : found)
  if (markedEncoding(head) !== undefined) return
  const unmarked = unmarkedUtf16(head)
  if (unmarked !== undefined) {
    throw new OperatorError(
      'InputRejected',
      `${name} looks like UTF-16 without a mark: read it with --encoding ${unmarked}`,
    )
  }
  if (isBinary(head)) {
    throw new OperatorError(
      'InputRejected',
      `${name} is binary and neither Parquet, gzip nor zstd: export the list as CSV, NDJSON or Parquet`,
    )
  }
}

const workbook: Omit<ForeignFormat, 'magic'> = {
  what: 'a workbook of a spreadsheet (XLSX or ODS)',
  advice: 'open it there and save it as "CSV UTF-8", with the column of numbers as text',
}

function isWorkbook(head: Buffer): boolean {
  const start = head.toString('latin1', 0, ENTRY_BYTES)
  return start.startsWith('PK') && (WORKBOOK.test(start) || ODS.test(start))
}

const ENTRY_BYTES = 4_096

function refused(name: string, { what, advice }: Omit<ForeignFormat, 'magic'>): OperatorError {
  return new OperatorError('InputRejected', `${name} is ${what}, which is not read: ${advice}`)
}

/** Whether many of the first bytes are control characters that texts do not have. */
function isBinary(head: Buffer): boolean {
  const start = head.subarray(0, BYTES_LOOKED_AT)
  const isOdd = (byte: number) => byte < 0x09 || (byte > 0x0d && byte < 0x1c)
  return start.filter(isOdd).length * CONTROL_SHARE > start.length
}

const BYTES_LOOKED_AT = 1_024
/** One of so many. */
const CONTROL_SHARE = 20

/** Where every second byte of the beginning is zero, as of letters and digits of UTF-16. */
function unmarkedUtf16(head: Buffer): 'utf-16le' | 'utf-16be' | undefined {
  const start = head.subarray(0, 2 * UNITS_LOOKED_AT)
  if (start.length < 4) return undefined
  const isZero = (parity: number) => start.every((byte, at) => at % 2 !== parity || byte === 0)
  if (isZero(1) && !isZero(0)) return 'utf-16le'
  return isZero(0) && !isZero(1) ? 'utf-16be' : undefined
}

const UNITS_LOOKED_AT = 16

function bytesOf(text: string): number[] {
  return [...Buffer.from(text, 'latin1')]
}
