/**
 * How long rows are, without writing them: only coordinates and phones have lengths of their own.
 *
 * @module
 */
import {
  BEFORE_FIRST_BYTES,
  BEFORE_SECOND_BYTES,
  BETWEEN_BYTES,
  COORDS_AT,
  ESCAPE_JSV,
  ESCAPES,
  OFFSETS_AT,
  PHONES_AT,
  RUNS_AT,
  RUNS_END_AT,
  SIGNS,
} from '../zone-header'
import { isLookedAt, signsIn, writeEscaped } from './phone'

/**
 * The bytes of the rows of all runs.
 *
 * @param room  for one phone, escaped
 */
export function rowBytes(zone: usize, room: usize): u32 {
  const coords = <usize>load<u32>(zone, COORDS_AT)
  const offsets = <usize>load<u32>(zone, OFFSETS_AT)
  const runsEnd = <usize>load<u32>(zone, RUNS_END_AT)
  const textBytes =
    load<u32>(zone, BEFORE_FIRST_BYTES) +
    load<u32>(zone, BEFORE_SECOND_BYTES) +
    load<u32>(zone, BETWEEN_BYTES)
  let byteCount: u32 = 0
  for (let run = <usize>load<u32>(zone, RUNS_AT); run < runsEnd; run += 8) {
    const start = load<u32>(run)
    const end = load<u32>(run, 4)
    byteCount += (end - start) * textBytes
    byteCount += degreesBytes(coords + (<usize>start << 3), coords + (<usize>end << 3))
    const phonesEnd = offsets + (<usize>end << 2)
    for (let at = offsets + (<usize>start << 2); at < phonesEnd; at += BLOCK_BYTES) {
      byteCount += phoneBytes(zone, room, at, min(at + BLOCK_BYTES, phonesEnd))
    }
  }
  return byteCount
}

/** Of the coordinates at [at, end). */
@inline
function degreesBytes(at: usize, end: usize): u32 {
  const coordCount = <u32>((end - at) >> 2)
  let more = i32x4.splat(0)
  for (; at + 16 <= end; at += 16) more = i32x4.add(more, moreBytesOf(v128.load(at)))
  // Of the last recipient there are two lanes.
  if (at < end) more = i32x4.add(more, v128.and(moreBytesOf(v128.load64_zero(at)), i64x2(-1, 0)))
  return coordCount * ONE_WHOLE_BYTES + sumOf(more)
}

@inline
function sumOf(lanes: v128): u32 {
  const halves = i32x4.add(lanes, v128.shuffle<i64>(lanes, lanes, 1, 0))
  return i32x4.extract_lane(halves, 0) + i32x4.extract_lane(halves, 1)
}

/** Bytes of a coordinate with one digit, a point and seven decimals. */
const ONE_WHOLE_BYTES: u32 = 9

/** How many bytes more than those each coordinate has: fewer with each decimal that it lacks. */
@inline
function moreBytesOf(places: v128): v128 {
  const units = i32x4.abs(places)
  let more = i32x4.shr_u(places, 31)
  more = i32x4.sub(more, i32x4.gt_s(units, i32x4.splat(99_999_999)))
  more = i32x4.sub(more, i32x4.gt_s(units, i32x4.splat(999_999_999)))
  more = i32x4.add(more, isMultiple(units, 0xcccccccd, 1, 429_496_729))
  more = i32x4.add(more, isMultiple(units, 0xc28f5c29, 2, 42_949_672))
  const ofThousand = isMultiple(units, 0x26e978d5, 3, 4_294_967)
  // Few are, or all are: this branch is seldom mispredicted.
  return v128.any_true(ofThousand) ? i32x4.add(more, fewDecimals(units, ofThousand)) : more
}

function fewDecimals(units: v128, ofThousand: v128): v128 {
  let more = i32x4.add(ofThousand, isMultiple(units, 0x3afb7e91, 4, 429_496))
  more = i32x4.add(more, isMultiple(units, 0x0bcbe61d, 5, 42_949))
  more = i32x4.add(more, isMultiple(units, 0x68c26139, 6, 4_294))
  // Without a decimal there is no point either.
  const isWhole = isMultiple(units, 0xae8d46a5, 7, 429)
  return i32x4.add(more, i32x4.shl(isWhole, 1))
}

/**
 * -1 where a number below 2^31 is a multiple of 10^k (Granlund and Montgomery: division by invariant
 * integers, 9).
 *
 * @param inverse  of 5^k, modulo 2^32
 * @param most  the largest number whose 10^k-fold is below 2^32
 */
@inline
function isMultiple(units: v128, inverse: u32, k: i32, most: u32): v128 {
  const products = i32x4.mul(units, i32x4.splat(inverse))
  const turned = v128.or(i32x4.shr_u(products, k), i32x4.shl(products, 32 - k))
  return i32x4.le_u(turned, i32x4.splat(most))
}

/** Phones that are looked at together: where none has a sign, their lengths are not needed. */
const BLOCK_BYTES: usize = 4 * 64

/** Of the phones whose offsets are at [at, end). */
@inline
function phoneBytes(zone: usize, room: usize, at: usize, end: usize): u32 {
  const phones = <usize>load<u32>(zone, PHONES_AT)
  const first = load<u32>(at)
  const last = load<u32>(end)
  const signs = v128.load(zone, SIGNS)
  let seen = i8x16.splat(0)
  // What lies behind the last phone may only make them be looked at in vain.
  for (let byte = first; byte < last; byte += 16) {
    seen = v128.or(seen, signsIn(v128.load(phones + <usize>byte), signs))
  }
  const escapes = load<i32>(zone, ESCAPES)
  if (escapes == ESCAPE_JSV) seen = v128.or(seen, emptiesIn(at, end))
  return v128.any_true(seen) ? eachPhoneBytes(zone, room, at, end) : last - first
}

/** Where a phone has no bytes, its offset is the next one, too. */
@inline
function emptiesIn(at: usize, end: usize): v128 {
  let seen = i32x4.splat(0)
  for (; at < end; at += 16) {
    seen = v128.or(seen, i32x4.eq(v128.load(at), v128.load(at, 4)))
  }
  return seen
}

function eachPhoneBytes(zone: usize, room: usize, at: usize, end: usize): u32 {
  const phones = <usize>load<u32>(zone, PHONES_AT)
  let byteCount: u32 = 0
  for (; at < end; at += 4) {
    const first = phones + <usize>load<u32>(at)
    const last = phones + <usize>load<u32>(at, 4)
    const plainBytes = <u32>(last - first)
    byteCount += isLookedAt(zone, v128.load(first), plainBytes)
      ? <u32>(writeEscaped(load<i32>(zone, ESCAPES), first, last, room) - room)
      : plainBytes
  }
  return byteCount
}
