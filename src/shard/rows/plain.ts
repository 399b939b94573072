/**
 * Recipients as bytes in TypeScript, for shards that lie in no arena and for threads without a zone.
 * Tests compare the encoder in wasm/ with it.
 *
 * @module
 */
import { degreesBytes, writeDegrees } from '../../geometry/degrees.js'
import type { Shard } from '../layout.js'
import { type RowFormat, rowBytesMax, rowTexts } from './row-format.js'

/**
 * Writes rows of `runs`, in order, until one does not begin at `lastAt` or before.
 *
 * @returns how many recipients, and in how many bytes
 */
export function encodePlainly(
  shard: Shard,
  runs: Uint32Array,
  kind: RowFormat['kind'],
  prefix: Uint8Array,
  into: Uint8Array,
  lastAt: number,
): { rowCount: number; byteCount: number } {
  const { beforeFirst, beforeSecond, end: rowEnd, isLngFirst } = rowTexts[kind]
  const [first, second] = isLngFirst ? [0, 1] : [1, 0]
  const writePhone = phoneWriters[kind]
  const { coords } = shard
  let at = 0
  let rowCount = 0
  for (let run = 0; run < runs.length && at <= lastAt; run += 2) {
    const end = runs[run + 1]
    let recipient = runs[run]
    for (; recipient < end && at <= lastAt; recipient++) {
      at = copy(prefix, into, at)
      at = writePhone(shard, recipient, into, at)
      at = copy(beforeFirst, into, at)
      at = writeDegrees(coords[2 * recipient + first], into, at)
      at = copy(beforeSecond, into, at)
      at = writeDegrees(coords[2 * recipient + second], into, at)
      at = copy(rowEnd, into, at)
    }
    rowCount += recipient - runs[run]
  }
  return { rowCount, byteCount: at }
}

/** How many bytes `encodePlainly` would write, where there is room for all. */
export function plainRowBytes(
  shard: Shard,
  runs: Uint32Array,
  kind: RowFormat['kind'],
  prefixBytes: number,
): number {
  const { beforeFirst, beforeSecond, end: rowEnd } = rowTexts[kind]
  const textBytes = prefixBytes + beforeFirst.length + beforeSecond.length + rowEnd.length
  const writePhone = phoneWriters[kind]
  // Phones are written there, so that their escapes are in one place.
  const room = new Uint8Array(rowBytesMax(kind, 0))
  const { coords } = shard
  let byteCount = 0
  for (let run = 0; run < runs.length; run += 2) {
    const end = runs[run + 1]
    for (let recipient = runs[run]; recipient < end; recipient++) {
      byteCount += textBytes + writePhone(shard, recipient, room, 0)
      byteCount += degreesBytes(coords[2 * recipient + 1]) + degreesBytes(coords[2 * recipient])
    }
  }
  return byteCount
}

/** Writes a phone at `at`, escaped, and returns where it ends. */
type PhoneWriter = (shard: Shard, recipient: number, bytes: Uint8Array, at: number) => number

const phoneWriters: Readonly<Record<RowFormat['kind'], PhoneWriter>> = {
  json: writeJsonPhone,
  ndjson: writeJsonPhone,
  csv: writeCsvPhone,
  geojson: writeJsonPhone,
  jsv: writeJsvPhone,
}

const SPACE = 32
const COMMA = 44
const QUOTE = 34
const BACKSLASH = 92
const COLON = 58

function writeJsonPhone(
  { phones, phoneOffsets }: Shard,
  recipient: number,
  bytes: Uint8Array,
  at: number,
): number {
  let end = at
  for (let i = phoneOffsets[recipient]; i < phoneOffsets[recipient + 1]; i++) {
    const byte = phones[i]
    if (byte === QUOTE || byte === BACKSLASH) bytes[end++] = BACKSLASH
    bytes[end++] = byte
  }
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
  let quoted = start < stop && (phones[start] === 0x5b || phones[start] === 0x7b)
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
