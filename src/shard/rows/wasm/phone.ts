/**
 * Phones that are not written as they are: as plain.ts escapes them, byte by byte.
 *
 * @module
 */
import { ESCAPE_CSV, ESCAPE_JSON, SIGNS } from '../zone-header'

/**
 * Whether a phone is looked at byte by byte: one with a sign, of no bytes, or of more than one vector.
 *
 * @param text  its first 16 bytes
 */
@inline
export function isLookedAt(zone: usize, text: v128, byteCount: u32): bool {
  const signAt = ctz(i8x16.bitmask(signsIn(text, v128.load(zone, SIGNS))) | 0x10000)
  return byteCount - 1 >= <u32>signAt
}

/** -1 where a byte is one of the signs, or looks like one. */
@inline
export function signsIn(text: v128, signs: v128): v128 {
  const lowered = v128.or(text, i8x16.splat(0x20))
  return i8x16.eq(lowered, v128.swizzle(signs, v128.and(text, i8x16.splat(0x0f))))
}

/** Writes the phone at [start, end) and returns where it ends. */
export function writeEscaped(escapes: i32, start: usize, end: usize, at: usize): usize {
  if (escapes == ESCAPE_JSON) return writeJson(start, end, at)
  return escapes == ESCAPE_CSV ? writeCsv(start, end, at) : writeJsv(start, end, at)
}

function writeJson(start: usize, end: usize, at: usize): usize {
  for (let from = start; from < end; from++) {
    const byte = load<u8>(from)
    if (byte == QUOTE || byte == BACKSLASH) store<u8>(at++, BACKSLASH)
    store<u8>(at++, byte)
  }
  return at
}

function writeCsv(start: usize, end: usize, at: usize): usize {
  let isQuoted = start < end && (load<u8>(start) == OPENING_BRACKET || load<u8>(start) == OPENING_BRACE)
  for (let from = start; from < end; from++) {
    const byte = load<u8>(from)
    if (byte == COMMA || byte == QUOTE) isQuoted = true
  }
  if (isQuoted) at = writeQuotes(1, at)
  for (let from = start; from < end; from++) {
    const byte = load<u8>(from)
    if (byte == QUOTE) at = writeQuotes(1, at)
    store<u8>(at++, byte)
  }
  return isQuoted ? writeQuotes(1, at) : at
}

function writeJsv(start: usize, end: usize, at: usize): usize {
  let isBlank = true
  let hasSign = false
  for (let from = start; from < end; from++) {
    const byte = load<u8>(from)
    if (byte != SPACE) isBlank = false
    if (isJsvSign(byte)) hasSign = true
  }
  const isQuoted = isBlank || hasSign
  if (isQuoted) at = writeQuotes(2, at)
  for (let from = start; from < end; from++) {
    const byte = load<u8>(from)
    if (byte == QUOTE) at = writeQuotes(3, at)
    store<u8>(at++, byte)
  }
  return isQuoted ? writeQuotes(2, at) : at
}

@inline
function isJsvSign(byte: u8): bool {
  const bracket = byte & ~32
  return byte == COMMA || byte == COLON || byte == QUOTE || bracket == OPENING_BRACKET || bracket == CLOSING_BRACKET
}

@inline
function writeQuotes(count: i32, at: usize): usize {
  for (let i = 0; i < count; i++) store<u8>(at + i, QUOTE)
  return at + count
}

const SPACE: u8 = 0x20
const QUOTE: u8 = 0x22
const COMMA: u8 = 0x2c
const COLON: u8 = 0x3a
const OPENING_BRACKET: u8 = 0x5b
const BACKSLASH: u8 = 0x5c
const CLOSING_BRACKET: u8 = 0x5d
const OPENING_BRACE: u8 = 0x7b
