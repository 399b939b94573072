/**
 * The rows of plain.ts over shared memory, with the same bytes.
 *
 * It works in a part of a scratch zone, whose header (zone-header.ts) says what is asked. Texts are
 * written 16 bytes at a time, and the next text over what was too much: a loop to the end of each
 * would be mispredicted each time. Digits are made for two recipients at a time.
 *
 * @module
 */
import {
  BEFORE_FIRST,
  BEFORE_FIRST_BYTES,
  BEFORE_SECOND,
  BEFORE_SECOND_BYTES,
  BETWEEN,
  BETWEEN_BYTES,
  COORDS_AT,
  END_BYTES,
  ESCAPES,
  LAST_ROW_AT,
  OFFSETS_AT,
  ORDER,
  PHONES_AT,
  ROW_COUNT,
  ROWS_AT,
  RUNS_AT,
  RUNS_END_AT,
  WHOLES,
  WHOLES_BELOW_ZERO,
} from '../zone-header'
import {
  belowHundred,
  digitsOf,
  headsOf,
  hundredsOf,
  paired,
  tailsOf,
  tenThousandsOf,
  wholesOf,
} from './degrees'
import { isLookedAt, writeEscaped } from './phone'

export { rowBytes } from './row-bytes'

/** Writes rows until there are no more, or there is no room for the next one. */
export function encode(zone: usize): void {
  const coords = <usize>load<u32>(zone, COORDS_AT)
  const offsets = <usize>load<u32>(zone, OFFSETS_AT)
  const phones = <usize>load<u32>(zone, PHONES_AT)
  const runsEnd = <usize>load<u32>(zone, RUNS_END_AT)
  const endBytes = <usize>load<u32>(zone, END_BYTES)
  const prefixBytes = <usize>load<u32>(zone, BETWEEN_BYTES) - endBytes
  const order = v128.load(zone, ORDER)
  // Where the phone of a row goes: its prefix is written with the end of the row before.
  const lastAt = <usize>load<u32>(zone, LAST_ROW_AT) + prefixBytes
  let at = <usize>load<u32>(zone, ROWS_AT)
  memory.copy(at, zone + BETWEEN + endBytes, prefixBytes)
  at += prefixBytes
  let run = <usize>load<u32>(zone, RUNS_AT)
  let rowCount: u32 = 0
  while (run < runsEnd && at <= lastAt) {
    const start = load<u32>(run)
    const end = load<u32>(run, 4)
    const endOffsetAt = offsets + (<usize>end << 2)
    let offsetAt = offsets + (<usize>start << 2)
    let pointAt = coords + (<usize>start << 3)
    let phone = phones + <usize>load<u32>(offsetAt)
    while (offsetAt < endOffsetAt) {
      // Of this recipient and the next; behind the last one, digits of something else go unused.
      const places = v128.swizzle(v128.load(pointAt), order)
      const units = i32x4.abs(places)
      const tenThousands = tenThousandsOf(units)
      const wholes = wholesOf(tenThousands)
      const heads = headsOf(tenThousands, wholes)
      const tails = tailsOf(units, tenThousands)
      const hundreds = paired(hundredsOf(heads), hundredsOf(tails))
      const rests = belowHundred(paired(heads, tails), hundreds)
      const wholeOffsets = wholeOffsetsOf(places, wholes)

      const middle = phones + <usize>load<u32>(offsetAt, 4)
      at = writePhone(zone, phone, middle, at)
      at = writePlace(
        zone,
        i32x4.extract_lane(wholeOffsets, 0),
        i32x4.extract_lane(wholeOffsets, 1),
        digitsOf(v128.shuffle<i16>(hundreds, rests, 0, 8, 1, 9, 2, 10, 3, 11)),
        at,
      )
      phone = middle
      offsetAt += 4
      if (offsetAt == endOffsetAt || at > lastAt) break

      const next = phones + <usize>load<u32>(offsetAt, 4)
      at = writePhone(zone, phone, next, at)
      at = writePlace(
        zone,
        i32x4.extract_lane(wholeOffsets, 2),
        i32x4.extract_lane(wholeOffsets, 3),
        digitsOf(v128.shuffle<i16>(hundreds, rests, 4, 12, 5, 13, 6, 14, 7, 15)),
        at,
      )
      phone = next
      offsetAt += 4
      pointAt += 16
      if (at > lastAt) break
    }
    const written = <u32>((offsetAt - offsets) >> 2)
    rowCount += written - start
    store<u32>(run, written)
    if (written >= end) run += 8
  }
  store<u32>(zone, <u32>run, RUNS_AT)
  store<u32>(zone, <u32>(at - prefixBytes), ROWS_AT)
  store<u32>(zone, rowCount, ROW_COUNT)
}

/** Where the texts of whole degrees are in their table. */
@inline
function wholeOffsetsOf(places: v128, wholes: v128): v128 {
  const belowZero = v128.and(i32x4.shr_s(places, 31), i32x4.splat(WHOLES_BELOW_ZERO))
  return v128.or(i32x4.shl(wholes, 3), belowZero)
}

/** Writes the phone at [phone, end), as it is or escaped. */
@inline
function writePhone(zone: usize, phone: usize, end: usize, at: usize): usize {
  const byteCount = <u32>(end - phone)
  const text = v128.load(phone)
  if (isLookedAt(zone, text, byteCount)) return writeEscaped(load<i32>(zone, ESCAPES), phone, end, at)
  v128.store(at, text)
  return at + byteCount
}

/** Writes what stands between two phones: the place of the first, its end and the next prefix. */
@inline
function writePlace(zone: usize, first: i32, second: i32, digits: v128, at: usize): usize {
  const isSet = i8x16.bitmask(i8x16.gt_s(digits, i8x16.splat(0)))
  // The first digit is always 0, and gives way to the point.
  const text = v128.or(digits, i64x2.splat(0x303030303030302e))
  v128.store(at, v128.load(zone, BEFORE_FIRST))
  v128.store(at, v128.load(zone, BEFORE_FIRST + 16), 16)
  const beforeBytes = <usize>load<u32>(zone, BEFORE_FIRST_BYTES)
  if (beforeBytes > 32) v128.store(at, v128.load(zone, BEFORE_FIRST + 32), 32)
  at += beforeBytes
  const firstWhole = load<u64>(zone + <usize>first, WHOLES)
  store<u32>(at, <u32>firstWhole)
  at += <usize>(firstWhole >> 32)
  v128.store_lane<u64>(at, text, 0)
  at += 32 - clz(isSet & 0xff)
  v128.store(at, v128.load(zone, BEFORE_SECOND))
  at += <usize>load<u32>(zone, BEFORE_SECOND_BYTES)
  const secondWhole = load<u64>(zone + <usize>second, WHOLES)
  store<u32>(at, <u32>secondWhole)
  at += <usize>(secondWhole >> 32)
  v128.store_lane<u64>(at, text, 1)
  at += 32 - clz(isSet >> 8)
  const betweenBytes = <usize>load<u32>(zone, BETWEEN_BYTES)
  v128.store(at, v128.load(zone, BETWEEN))
  v128.store(at, v128.load(zone, BETWEEN + 16), 16)
  for (let done: usize = 32; done < betweenBytes; done += 16) {
    v128.store(at + done, v128.load(zone + done, BETWEEN))
  }
  return at + betweenBytes
}
