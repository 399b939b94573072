/**
 * Finds out how a text file is to be read: its columns and its layout.
 *
 * @module
 */
import { isUtf8 } from 'node:buffer'
import { OperatorError } from '../../errors.js'
import { limits } from '../../limits.js'
import type { ColumnNames } from '../batch.js'
import { type ChosenColumns, chooseColumns, shownNames } from '../choose-columns.js'
import { type Packing, packingOf, readHead } from '../files/input.js'
import {
  featureRows,
  firstLineFault,
  JSON_DELIMITER,
  jsonNames,
  objectRows,
} from '../json/json-query.js'
import { chooseWithPoint } from '../rows/point-column.js'
import { csvRows } from './csv-query.js'
import { columnNames, type Header, readHeader, usedIndexes } from './header.js'
import type { TextFile } from './read-text.js'
import { HEAD_BYTES, readTextHead, type TextHead } from './text-head.js'

export interface OpenedText {
  readonly kind: 'text'
  readonly file: TextFile
  readonly columns: ChosenColumns
}

/** The facts about a file before it is opened. */
interface FoundText {
  readonly path: string
  readonly name: string
  readonly byteCount: number
  readonly packing: Packing
  readonly text: TextHead
  readonly head: Buffer
}

export function openCsv(found: FoundText, wanted: ColumnNames): OpenedText {
  const { name, path, packing, text } = found
  if (text.firstBytes.length > limits.recordBytes) {
    throw new OperatorError(
      'InputRejected',
      `${name} has no header: its first line is longer than ${limits.recordBytes} bytes`,
    )
  }
  const header = headerOf(name, text, wanted)
  const file: TextFile = {
    ...{ name, byteCount: found.byteCount, markBytes: text.markBytes, unit: 'line', kind: 'CSV' },
    fieldCountReason: 'FieldCountWrong',
    rows: (from, isPlain) => csvRows(from, header, isPlain),
    fields: { ...header, usedIndexes: usedIndexes(header) },
    layout: {
      ...{ path, packing, delimiter: header.delimiter, quotation: '"' },
      columnCount: header.columnCount,
      skippedCount: text.firstLine,
      lineEnd: text.lineEnd,
    },
  }
  return { kind: 'text', file, columns: header.chosen }
}

function headerOf(name: string, text: TextHead, wanted: ColumnNames): Header {
  try {
    return readHeader(name, text.firstText, wanted)
  } catch (error) {
    if (isUtf8(text.firstBytes)) throw error
    const names = columnNames(Buffer.from(text.firstBytes).toString('latin1'))
    throw new OperatorError(
      'InputRejected',
      `${name} is not UTF-8, as its header shows: try --encoding windows-1252, as old Windows programs ` +
        `and Excel write it; by that, it has ${shownNames(names)}`,
    )
  }
}

export function openObjects(found: FoundText, wanted: ColumnNames): OpenedText {
  const names = namesIn(found, (line) => line)
  const choice = chooseWithPoint(found.name, names, wanted)
  const rows = (from: string) => objectRows(from, choice)
  return {
    kind: 'text',
    columns: choice.chosen,
    file: { ...jsonFile(found), kind: 'JSON lines', rows },
  }
}

function namesIn({ name, head }: FoundText, pick: (line: object) => unknown): string[] {
  const names = jsonNames(head, pick)
  const fault = names.length > 0 ? undefined : firstLineFault(head)
  if (fault === undefined) return names
  throw new OperatorError(
    'InputRejected',
    fault === 'spread'
      ? `${name} has an object that goes over several lines: write its objects as one a line, for example with jq -c .`
      : `${name} has a first line that is not JSON: write one object a line, with texts and names in double quotes, no NaN and no comma behind it`,
  )
}

/** One feature a line. */
export function openFeatures(found: FoundText, wanted: ColumnNames): OpenedText {
  if (wanted.lat !== undefined || wanted.lng !== undefined) {
    throw new OperatorError(
      'Usage',
      `--lat and --lng are not for GeoJSON (${found.name}): its points have positions`,
    )
  }
  const names = namesIn(found, (line) => (line as { properties?: unknown }).properties)
  const isPosition = (name: string) => /^(lat|lng)$/i.test(name.trim())
  const named = names.filter((name) => !isPosition(name))
  const columns = chooseColumns(found.name, [...named, 'lat', 'lng'], {
    ...wanted,
    ...{ lat: 'lat', lng: 'lng' },
  })
  const rows = (from: string) => featureRows(from, columns)
  const file: TextFile = { ...jsonFile(found), kind: 'GeoJSON', rows }
  return { kind: 'text', columns: { ...columns, lat: undefined, lng: undefined }, file }
}

/** The same features out of a collection, written there one a line. */
export async function openCollection(
  name: string,
  byteCount: number,
  linesPath: string,
  wanted: ColumnNames,
): Promise<OpenedText | undefined> {
  const head = await readHead(linesPath, name, HEAD_BYTES)
  if (head.length === 0) return undefined
  const packing = await packingOf(linesPath)
  const text = readTextHead(name, head)
  const found = { path: linesPath, name, byteCount, packing, text, head }
  const opened = openFeatures(found, wanted)
  return { ...opened, file: { ...opened.file, unit: 'feature' } }
}

function jsonFile(found: FoundText): Omit<TextFile, 'kind' | 'rows'> {
  const { name, path, packing, byteCount, text } = found
  return {
    ...{ name, byteCount, markBytes: text.markBytes, unit: 'line' as const },
    fieldCountReason: 'JsonInvalid',
    layout: {
      ...{ path, packing, delimiter: JSON_DELIMITER, quotation: '', columnCount: 1 },
      skippedCount: 0,
      lineEnd: text.lineEnd,
    },
  }
}
