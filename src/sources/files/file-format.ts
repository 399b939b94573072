/**
 * Tells the format of a file by how it begins, and by its name where that says nothing.
 *
 * @module
 */
import { OperatorError } from '../../errors.js'
import type { TextHead } from '../text/text-head.js'

export const fileFormats = ['csv', 'ndjson', 'parquet', 'geojson'] as const
export type FileFormat = (typeof fileFormats)[number]

const PARQUET_MAGIC = Buffer.from('PAR1')
/** Of names, behind which `.gz` or `.zst` may stand. */
const EXTENSIONS: readonly (readonly [RegExp, FileFormat])[] = [
  [/\.(geojson|geojsonl|geojsons)$/, 'geojson'],
  [/\.(ndjson|jsonl|json)$/, 'ndjson'],
  [/\.parquet$/, 'parquet'],
]

export function isParquet(head: Uint8Array): boolean {
  return PARQUET_MAGIC.equals(head.subarray(0, PARQUET_MAGIC.length))
}

/** Of a file that is not Parquet. */
export function formatOfText(name: string, { firstText }: TextHead, head: Buffer): FileFormat {
  const text = withoutSeparators(firstText).trimStart()
  const bareName = name.toLowerCase().replace(/\.(gz|zst)$/, '')
  const named = EXTENSIONS.find(([ending]) => ending.test(bareName))?.[1]
  if (text.startsWith('{')) {
    const isGeoJson = typeOf(parsed(text)) === 'Feature' || isCollection(firstText, head)
    return named === 'geojson' || isGeoJson ? 'geojson' : 'ndjson'
  }
  if (
    text.startsWith('[') &&
    (named === 'ndjson' || named === 'geojson' || parsed(text) !== undefined)
  ) {
    throw new OperatorError(
      'InputRejected',
      `${name} is one JSON array: write its objects as one a line, for example with jq -c '.[]'`,
    )
  }
  if (named === 'parquet') {
    throw new OperatorError('InputRejected', `${name} is not Parquet, although its name says so`)
  }
  return named ?? 'csv'
}

/** Whether GeoJSON is one FeatureCollection, and not a feature on each line. */
export function isCollection(firstText: string, head: Buffer): boolean {
  if (firstText.startsWith(RECORD_SEPARATOR)) return false
  const first = parsed(firstText)
  if (first !== undefined) return typeOf(first) === 'FeatureCollection'
  // It goes over several lines, or over more than was looked at.
  const text = head.toString('latin1')
  return (
    /"type"\s*:\s*"FeatureCollection"/.test(text) ||
    (/"features"\s*:\s*\[/.test(text) && /"type"\s*:\s*"Feature"/.test(text))
  )
}

/** The sign before texts of a GeoJSON text sequence. */
const RECORD_SEPARATOR = '\x1e'

function withoutSeparators(text: string): string {
  let start = 0
  while (text[start] === RECORD_SEPARATOR) start++
  return text.slice(start)
}

function typeOf(value: unknown): unknown {
  return (value as { type?: unknown } | null)?.type
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
