/**
 * Recipients as bytes of JSON, NDJSON, CSV or JSV, straight from the columns: a row makes no object
 * and no string.
 *
 * @module
 */
import { DEGREES_BYTES, writeDegrees } from '../geometry/degrees.js'
import { limits } from '../limits.js'
import type { Shard } from './layout.js'

export type RowFormat =
  /** Members of a JSON array, with a comma before each. */
  | { readonly kind: 'json' }
  /** Lines of JSON; `prefix` is what each begins with, up to the phone. */
  | { readonly kind: 'ndjson'; readonly prefix: string }
  /** CSV records ending in CRLF; `prefix` is what each begins with, escaped, its comma included. */
  | { readonly kind: 'csv'; readonly prefix: string }
  /** Members of a JSV list within a quoted field of CSV, with a comma before each. */
  | { readonly kind: 'jsv' }

/**
 * Encodes the recipients of `runs`, [start, end) pairs, in order, as far as there is room for them.
 *
 * @param into  room for one row at least
 * @returns how many recipients, and in how many bytes
 */
export function encodeRows(
  shard: Shard,
  runs: Uint32Array,
  format: RowFormat,
  into: Uint8Array,
): { rowCount: number; byteCount: number } {
  const { before, write, growth, quoteBytes } = rowKinds[format.kind]
  const prefix = ascii.encode('prefix' in format ? format.prefix : before)
  const rowBytes = prefix.length + quoteBytes + ROW_REST_BYTES + growth * limits.phoneBytes
  const lastAt = into.length - rowBytes
  let at = 0
  let rowCount = 0
  for (let run = 0; run < runs.length && at <= lastAt; run += 2) {
    const end = runs[run + 1]
    let recipient = runs[run]
    while (recipient < end && at <= lastAt) at = write(shard, recipient++, prefix, into, at)
    rowCount += recipient - runs[run]
  }
  return { rowCount, byteCount: at }
}

interface RowKind {
  /** The beginning of each row, where the format does not say. */
  readonly before: string
  readonly write: RowWriter
  /** Bytes that one of a phone becomes at most. */
  readonly growth: number
  /** Bytes of the quotes around a phone, at most. */
  readonly quoteBytes: number
}

/** Writes one row at `at` and returns where it ends. */
type RowWriter = (
  shard: Shard,
  recipient: number,
  prefix: Uint8Array,
  bytes: Uint8Array,
  at: number,
) => number

/** No control character is in a phone, so that escapes are quotes and backslashes alone. */
const rowKinds: Readonly<Record<RowFormat['kind'], RowKind>> = {
  json: { before: ',{"Number":"', write: writeJsonRow, growth: 2, quoteBytes: 0 },
  ndjson: { before: '', write: writeNdjsonRow, growth: 2, quoteBytes: 0 },
  csv: { before: '', write: writeCsvRow, growth: 2, quoteBytes: 2 },
  // Quotes are doubled as JSV, and again as CSV.
  jsv: { before: ',{Number:', write: writeJsvRow, growth: 4, quoteBytes: 4 },
}

const ascii = new TextEncoder()
const jsonBeforeLat = ascii.encode('","LatLng":{"Lat":')
const jsonBeforeLng = ascii.encode(',"Lng":')
const jsvBeforeLat = ascii.encode(',LatLng:{Lat:')
const jsvBeforeLng = ascii.encode(',Lng:')
const endOfBoth = ascii.encode('}}')

const SPACE = 32
const COMMA = 44
const QUOTE = 34
const BACKSLASH = 92
const COLON = 58
const CR = 13
const LF = 10

/** Bytes of a row beyond prefix and phone: the fixed text, longest in NDJSON, and coordinates. */
const ROW_REST_BYTES =
  jsonBeforeLat.length + jsonBeforeLng.length + endOfBoth.length + 1 + 2 * DEGREES_BYTES

function writeJsonRow(
  shard: Shard,
  recipient: number,
  prefix: Uint8Array,
  bytes: Uint8Array,
  at: number,
): number {
  let end = copy(prefix, bytes, at)
  const { phones, phoneOffsets } = shard
  for (let i = phoneOffsets[recipient]; i < phoneOffsets[recipient + 1]; i++) {
    const byte = phones[i]
    if (byte === QUOTE || byte === BACKSLASH) bytes[end++] = BACKSLASH
    bytes[end++] = byte
  }
  end = copy(jsonBeforeLat, bytes, end)
  end = writeDegrees(shard.coords[2 * recipient + 1], bytes, end)
  end = copy(jsonBeforeLng, bytes, end)
  end = writeDegrees(shard.coords[2 * recipient], bytes, end)
  return copy(endOfBoth, bytes, end)
}

function writeNdjsonRow(
  shard: Shard,
  recipient: number,
  prefix: Uint8Array,
  bytes: Uint8Array,
  at: number,
): number {
  const end = writeJsonRow(shard, recipient, prefix, bytes, at)
  bytes[end] = LF
  return end + 1
}

function writeCsvRow(
  shard: Shard,
  recipient: number,
  prefix: Uint8Array,
  bytes: Uint8Array,
  at: number,
): number {
  let end = copy(prefix, bytes, at)
  end = writeCsvPhone(shard, recipient, bytes, end)
  bytes[end++] = COMMA
  end = writeDegrees(shard.coords[2 * recipient + 1], bytes, end)
  bytes[end++] = COMMA
  end = writeDegrees(shard.coords[2 * recipient], bytes, end)
  bytes[end++] = CR
  bytes[end++] = LF
  return end
}

/** A field is quoted when it holds a comma or a quote, or begins like a list or an object. */
function writeCsvPhone(
  { phones, phoneOffsets }: Shard,
  recipient: number,
  bytes: Uint8Array,
  at: number,
): number {
  const start = phoneOffsets[recipient]
  const stop = phoneOffsets[recipient + 1]
  let quoted = phones[start] === 0x5b || phones[start] === 0x7b
  for (let i = start; i < stop && !quoted; i++) {
    quoted = phones[i] === COMMA || phones[i] === QUOTE
  }
  let end = at
  if (quoted) bytes[end++] = QUOTE
  for (let i = start; i < stop; i++) {
    if (phones[i] === QUOTE) bytes[end++] = QUOTE
    bytes[end++] = phones[i]
  }
  if (quoted) bytes[end++] = QUOTE
  return end
}

// Its end is written out as that of JSON is: shared, it cost 4 % (npm run bench -- --only encode).
function writeJsvRow(
  shard: Shard,
  recipient: number,
  prefix: Uint8Array,
  bytes: Uint8Array,
  at: number,
): number {
  let end = copy(prefix, bytes, at)
  end = writeJsvPhone(shard, recipient, bytes, end)
  end = copy(jsvBeforeLat, bytes, end)
  end = writeDegrees(shard.coords[2 * recipient + 1], bytes, end)
  end = copy(jsvBeforeLng, bytes, end)
  end = writeDegrees(shard.coords[2 * recipient], bytes, end)
  return copy(endOfBoth, bytes, end)
}

/** A text is quoted when it is blank or holds a sign of JSV; each quote is one of CSV, so two. */
function writeJsvPhone(
  { phones, phoneOffsets }: Shard,
  recipient: number,
  bytes: Uint8Array,
  at: number,
): number {
  const start = phoneOffsets[recipient]
  const stop = phoneOffsets[recipient + 1]
  let isBlank = true
  let hasSign = false
  for (let i = start; i < stop; i++) {
    const byte = phones[i]
    if (byte !== SPACE) isBlank = false
    if (isJsvSign(byte)) hasSign = true
  }
  let end = at
  if (isBlank || hasSign) end = writeQuotes(2, bytes, end)
  for (let i = start; i < stop; i++) {
    if (phones[i] === QUOTE) end = writeQuotes(3, bytes, end)
    bytes[end++] = phones[i]
  }
  if (isBlank || hasSign) end = writeQuotes(2, bytes, end)
  return end
}

/** One of `" , : { } [ ]`; braces are 32 beyond brackets. */
function isJsvSign(byte: number): boolean {
  const bracket = byte & ~32
  return byte === COMMA || byte === COLON || byte === QUOTE || bracket === 0x5b || bracket === 0x5d
}

function writeQuotes(count: number, bytes: Uint8Array, at: number): number {
  for (let i = 0; i < count; i++) bytes[at + i] = QUOTE
  return at + count
}

function copy(from: Uint8Array, to: Uint8Array, at: number): number {
  for (let i = 0; i < from.length; i++) to[at + i] = from[i]
  return at + from.length
}
