/**
 * Recipients as bytes of JSON or CSV, straight from the columns: no object and no string a row.
 *
 * @module
 */
import { DEGREES_BYTES, writeDegrees } from '../geometry/degrees.js'
import type { Shard } from './layout.js'

export type RowFormat =
  /** Members of a JSON array, with a comma before each. */
  | { readonly kind: 'json' }
  /** CSV records ending in CRLF; `prefix` is what each begins with, escaped, its comma included. */
  | { readonly kind: 'csv'; readonly prefix: string }

/** Encodes the recipients of `runs`, [start, end) pairs, in order. */
export function encodeRows(shard: Shard, runs: Uint32Array, format: RowFormat): Uint8Array {
  const prefix = ascii.encode(format.kind === 'csv' ? format.prefix : JSON_BEFORE_NUMBER)
  const bytes = new Uint8Array(mostBytes(shard, runs, prefix.length))
  const writeRow = format.kind === 'csv' ? writeCsvRow : writeJsonRow
  let at = 0
  for (let run = 0; run < runs.length; run += 2) {
    for (let recipient = runs[run]; recipient < runs[run + 1]; recipient++) {
      at = writeRow(shard, recipient, prefix, bytes, at)
    }
  }
  return bytes.subarray(0, at)
}

const ascii = new TextEncoder()
const JSON_BEFORE_NUMBER = ',{"Number":"'
const jsonBeforeLat = ascii.encode('","LatLng":{"Lat":')
const jsonBeforeLng = ascii.encode(',"Lng":')
const jsonEnd = ascii.encode('}}')

const COMMA = 44
const QUOTE = 34
const BACKSLASH = 92
const CR = 13
const LF = 10

/** Bytes of a row beyond its prefix and its number: the fixed text and two coordinates. */
const ROW_REST_BYTES =
  jsonBeforeLat.length + jsonBeforeLng.length + jsonEnd.length + 2 * DEGREES_BYTES + 2

function mostBytes(shard: Shard, runs: Uint32Array, prefixBytes: number): number {
  let bytes = 0
  for (let run = 0; run < runs.length; run += 2) {
    const start = runs[run]
    const end = runs[run + 1]
    // Escaping at most doubles a number, and it gets two quotes; no control character is in it.
    bytes += 2 * (shard.numberOffsets[end] - shard.numberOffsets[start])
    bytes += (end - start) * (prefixBytes + 2 + ROW_REST_BYTES)
  }
  return bytes
}

function writeJsonRow(
  shard: Shard,
  recipient: number,
  prefix: Uint8Array,
  bytes: Uint8Array,
  at: number,
): number {
  let end = copy(prefix, bytes, at)
  const { numbers, numberOffsets } = shard
  for (let i = numberOffsets[recipient]; i < numberOffsets[recipient + 1]; i++) {
    const byte = numbers[i]
    if (byte === QUOTE || byte === BACKSLASH) bytes[end++] = BACKSLASH
    bytes[end++] = byte
  }
  end = copy(jsonBeforeLat, bytes, end)
  end = writeDegrees(shard.coords[2 * recipient + 1], bytes, end)
  end = copy(jsonBeforeLng, bytes, end)
  end = writeDegrees(shard.coords[2 * recipient], bytes, end)
  return copy(jsonEnd, bytes, end)
}

function writeCsvRow(
  shard: Shard,
  recipient: number,
  prefix: Uint8Array,
  bytes: Uint8Array,
  at: number,
): number {
  let end = copy(prefix, bytes, at)
  end = writeCsvNumber(shard, recipient, bytes, end)
  bytes[end++] = COMMA
  end = writeDegrees(shard.coords[2 * recipient + 1], bytes, end)
  bytes[end++] = COMMA
  end = writeDegrees(shard.coords[2 * recipient], bytes, end)
  bytes[end++] = CR
  bytes[end++] = LF
  return end
}

/** A field is quoted when it holds a comma or a quote, or begins like a list or an object. */
function writeCsvNumber(
  { numbers, numberOffsets }: Shard,
  recipient: number,
  bytes: Uint8Array,
  at: number,
): number {
  const start = numberOffsets[recipient]
  const stop = numberOffsets[recipient + 1]
  let quoted = numbers[start] === 0x5b || numbers[start] === 0x7b
  for (let i = start; i < stop && !quoted; i++) {
    quoted = numbers[i] === COMMA || numbers[i] === QUOTE
  }
  let end = at
  if (quoted) bytes[end++] = QUOTE
  for (let i = start; i < stop; i++) {
    if (numbers[i] === QUOTE) bytes[end++] = QUOTE
    bytes[end++] = numbers[i]
  }
  if (quoted) bytes[end++] = QUOTE
  return end
}

function copy(from: Uint8Array, to: Uint8Array, at: number): number {
  for (let i = 0; i < from.length; i++) to[at + i] = from[i]
  return at + from.length
}
