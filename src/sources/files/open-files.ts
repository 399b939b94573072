/**
 * Tells what each input file is, so that all of them can be read. Standard input and the features of
 * collections are written into files of our own first.
 *
 * @module
 */
import { OperatorError } from '../../errors.js'
import { isWgs84Name } from '../../geometry/degrees.js'
import { hasFurtherPages } from '../../geometry/further-pages.js'
import type { ColumnNames } from '../batch.js'
import { featureLines } from '../json/feature-collection.js'
import type { Page } from '../json/pages.js'
import { type Encoding, markedEncoding, toUtf8 } from '../text/encoding.js'
import {
  type OpenedText,
  openCollection,
  openCsv,
  openFeatures,
  openObjects,
} from '../text/open-text.js'
import { HEAD_BYTES, readTextHead } from '../text/text-head.js'
import { type FileFormat, formatOfText, isCollection, isParquet } from './file-format.js'
import { assertKnownFormat, assertNotUtf32 } from './foreign-files.js'
import { inputBytes, type Packing, packingOf, readHead, readInput } from './input.js'
import { STANDARD_INPUT } from './input-paths.js'
import type { Spool } from './spool.js'

export type OpenedFile =
  | OpenedText
  /** Its columns are found when it is read, by DuckDB. */
  | { readonly kind: 'parquet'; readonly name: string; readonly path: string }
  /** A collection without a feature. */
  | { readonly kind: 'empty' }

export interface FileToRead {
  readonly opened: OpenedFile
  /** On disk. */
  readonly byteCount: number
  readonly page: Page
}

interface Found {
  readonly path: string
  readonly name: string
  readonly byteCount: number
  readonly packing: Packing
  readonly head: Buffer
}

/** How the files are to be read, as the operator says; each tells what is absent here itself. */
interface Told {
  readonly format?: FileFormat | undefined
  readonly encoding?: Encoding | undefined
}

export async function openFile(
  path: string,
  told: Told,
  wanted: ColumnNames,
  spool: Spool,
): Promise<FileToRead> {
  const isSpooled = path === STANDARD_INPUT
  const given = await findFile(
    isSpooled ? await spool.write(process.stdin) : path,
    isSpooled ? 'standard input' : path,
  )
  const found = await inUtf8(given, told.encoding, spool)
  const { name, byteCount } = found
  const frames: object[] = []
  const checkFrame = (frame: object) => {
    assertDegrees(name, frame)
    frames.push(frame)
  }
  const opened = await openFound(found, told.format, wanted, spool, checkFrame)
  const isWhole = opened.kind === 'empty' || !frames.some(hasFurtherPages)
  return { byteCount, opened, page: { name, isLast: frames.length === 0 ? undefined : isWhole } }
}

async function findFile(path: string, name: string): Promise<Found> {
  const byteCount = await inputBytes(path)
  const head = await readHead(path, name, HEAD_BYTES)
  return { path, name, byteCount, packing: await packingOf(path), head }
}

/** The same, or a copy of it in UTF-8. */
async function inUtf8(found: Found, told: Encoding | undefined, spool: Spool): Promise<Found> {
  const { path, name, head } = found
  if (isParquet(head)) return found
  assertNotUtf32(name, head)
  const encoding = told ?? markedEncoding(head) ?? 'utf-8'
  if (encoding === 'utf-8') return found
  const content = readInput(path, name, () => undefined)
  return findFile(await spool.write(toUtf8(name, content, encoding)), name)
}

async function openFound(
  found: Found,
  format: FileFormat | undefined,
  wanted: ColumnNames,
  spool: Spool,
  checkFrame: (frame: object) => void,
): Promise<OpenedFile> {
  const { path, name, byteCount, packing, head } = found
  if (format === 'parquet' || (format === undefined && isParquet(head))) {
    if (packing === 'none') return { kind: 'parquet', name, path }
    throw new OperatorError('InputRejected', `${name} is ${packing} around Parquet: unpack it`)
  }
  assertKnownFormat(name, head)
  const text = readTextHead(name, head)
  const kind = format ?? formatOfText(name, text, head)
  if (kind === 'csv') return openCsv({ ...found, text }, wanted)
  if (kind === 'ndjson') return openObjects({ ...found, text }, wanted)
  if (!isCollection(text.firstText, head)) return openFeatures({ ...found, text }, wanted)
  const content = readInput(path, name, () => undefined)
  const linesPath = await spool.write(featureLines(name, content, checkFrame))
  const opened = await openCollection(name, byteCount, linesPath, wanted)
  return opened ?? { kind: 'empty' }
}

const CRS_NAME_CHAR_COUNT = 60

/** @throws OperatorError  `InputRejected` if a collection has other coordinates than degrees of WGS 84 */
function assertDegrees(name: string, { crs }: { crs?: unknown }): void {
  if (crs === undefined || crs === null) return
  const called = nameOf(crs)
  if (typeof called === 'string' && isWgs84Name(called)) return
  const system =
    typeof called === 'string'
      ? JSON.stringify(called.slice(0, CRS_NAME_CHAR_COUNT))
      : 'a system that it does not name'
  throw new OperatorError(
    'InputRejected',
    `${name} has coordinates in ${system}, as its "crs" says, and must have degrees of WGS 84: ` +
      'transform them, for example with ogr2ogr -t_srs EPSG:4326 -lco RFC7946=YES',
  )
}

/** Before GeoJSON 1.0, a system could be given by the code of EPSG. */
function nameOf(crs: unknown): unknown {
  if (typeof crs === 'string') return crs
  const { name, code } =
    (crs as { properties?: { name?: unknown; code?: unknown } }).properties ?? {}
  return name ?? (code === undefined ? undefined : `EPSG:${code}`)
}
