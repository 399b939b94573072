/**
 * Tells what each input file is, so that all of them can be read. Standard input and the features of
 * collections are written into files of our own first.
 *
 * @module
 */
import { OperatorError } from '../../errors.js'
import type { ColumnNames } from '../batch.js'
import { featureLines } from '../json/feature-collection.js'
import {
  type OpenedText,
  openCollection,
  openCsv,
  openFeatures,
  openObjects,
} from '../text/open-text.js'
import { HEAD_BYTES, readTextHead } from '../text/text-head.js'
import { type FileFormat, formatOfText, isCollection, isParquet } from './file-format.js'
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
}

interface Found {
  readonly path: string
  readonly name: string
  readonly byteCount: number
  readonly packing: Packing
  readonly head: Buffer
}

export async function openFile(
  path: string,
  format: FileFormat | undefined,
  wanted: ColumnNames,
  spool: Spool,
): Promise<FileToRead> {
  const isSpooled = path === STANDARD_INPUT
  const found = await findFile(
    isSpooled ? await spool.write(process.stdin) : path,
    isSpooled ? 'standard input' : path,
  )
  return { byteCount: found.byteCount, opened: await openFound(found, format, wanted, spool) }
}

async function findFile(path: string, name: string): Promise<Found> {
  const byteCount = await inputBytes(path)
  const head = await readHead(path, name, HEAD_BYTES)
  return { path, name, byteCount, packing: await packingOf(path), head }
}

async function openFound(
  found: Found,
  format: FileFormat | undefined,
  wanted: ColumnNames,
  spool: Spool,
): Promise<OpenedFile> {
  const { path, name, byteCount, packing, head } = found
  if (format === 'parquet' || (format === undefined && isParquet(head))) {
    if (packing === 'none') return { kind: 'parquet', name, path }
    throw new OperatorError('InputRejected', `${name} is ${packing} around Parquet: unpack it`)
  }
  const text = readTextHead(name, head)
  const kind = format ?? formatOfText(name, text, head)
  if (kind === 'csv') return openCsv({ ...found, text }, wanted)
  if (kind === 'ndjson') return openObjects({ ...found, text }, wanted)
  if (!isCollection(text.firstText, head)) return openFeatures({ ...found, text }, wanted)
  const content = readInput(path, name, () => undefined)
  const linesPath = await spool.write(featureLines(name, content))
  const opened = await openCollection(name, byteCount, linesPath, wanted)
  return opened ?? { kind: 'empty' }
}
