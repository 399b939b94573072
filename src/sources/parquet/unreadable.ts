/**
 * What DuckDB says of a Parquet file that it does not read, in words that hold no values of it.
 *
 * @module
 */
import { OperatorError } from '../../errors.js'

/** Files that are whole: by what DuckDB says of each, what is wrong and what to do. */
const whole: readonly (readonly [said: RegExp, words: string])[] = [
  [/Invalid string encoding/, 'a text in it is not UTF-8: write it again with texts in UTF-8'],
  [
    /Unsupported compression codec/,
    'it is compressed in a way that is not read: write it again with snappy or zstd',
  ],
  [/\(no references\)/, 'its rows are in other files: name those instead of it'],
  [/Geoparquet column/, 'what it says of its geometries is not GeoParquet 1: write it again'],
]

/** No cause either: it would have the words of DuckDB. */
export function unreadable(name: string, error: unknown): OperatorError {
  if (error instanceof OperatorError) return error
  const { message } = error as Error
  const [, words] = whole.find(([said]) => said.test(message)) ?? []
  const [kind] = /^[A-Z][A-Za-z ]{0,40} (Error|Exception)(?=:)/.exec(message) ?? ['unknown error']
  return new OperatorError(
    'InputRejected',
    words === undefined
      ? `${name} cannot be read as Parquet: it is damaged or cut off (DuckDB: ${kind})`
      : `${name} is refused: ${words}`,
  )
}
