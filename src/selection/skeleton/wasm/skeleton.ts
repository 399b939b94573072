/**
 * One pass over a body of JSON: moves the arrays of positions behind the members that have them into
 * flat numbers, and leaves a short text in which the place of each among them stands for it.
 *
 * What is left is read by JSON.parse, so this pass need not know whether it is JSON. It must only
 * not make JSON of what was none, and must leave no number of the client where one of its own could
 * stand.
 *
 * @module
 */
import {
  ARRAY_COUNT,
  COORDINATES,
  HAS_MORE_THAN_ASCII,
  INPUT,
  INPUT_BYTES_MAX,
  PATHS,
  POINTS,
  RING_STARTS,
  RINGS,
  TEXT,
  VERTICES,
} from '../layout'
import { entry } from './address'
import { arrayCount, arrayDepth, arrayItemCount, describeRing, forgetArrays, skipSpace, takeArray } from './arrays'
import { unitsOf } from './number'

export { place } from './kept-texts'

const LAT_DEGREES_MAX: f64 = 90
const LNG_DEGREES_MAX: f64 = 1e8

/**
 * Reads the body that lies at INPUT.
 *
 * @returns how long the text is that is left; -1 where the body has to be read the long way
 */
export function scan(
  inputBytes: i32,
  depthMax: i32,
  memberCountMax: i32,
  itemCountMax: i32,
): i32 {
  if (inputBytes > INPUT_BYTES_MAX) return -1
  const end = entry(INPUT, inputBytes, 1)
  // Nothing is read on from here.
  v128.store(end, i64x2.splat(0))
  forgetArrays()
  let at: usize = INPUT
  let to: usize = TEXT
  let depth: i32 = 0
  let memberCount: i32 = 0
  let itemCount: i32 = 0
  let high: u32 = 0
  while (at < end) {
    const byte = <u32>load<u8>(at++)
    store<u8>(to++, byte)
    if (byte == 0x22) {
      const from = at
      let isEscaped = false
      // To the closing quote.
      while (true) {
        if (at >= end) return -1
        const chars = v128.load(at)
        v128.store(to, chars)
        const quotes = i8x16.bitmask(i8x16.eq(chars, i8x16.splat(0x22)))
        const stops = quotes | i8x16.bitmask(i8x16.eq(chars, i8x16.splat(0x5c)))
        if (stops == 0) {
          high |= i8x16.bitmask(chars)
          at += 16
          to += 16
          continue
        }
        const count = ctz(stops)
        high |= i8x16.bitmask(chars) & ((1 << count) - 1)
        at += count
        to += count
        if (((quotes >> count) & 1) != 0) break
        isEscaped = true
        store<u16>(to, load<u16>(at))
        high |= <u32>load<u8>(at + 1) & 0x80
        at += 2
        to += 2
      }
      if (at >= end) return -1
      const length = at - from
      store<u8>(to++, 0x22)
      at++
      const colon = skipSpace(at)
      if (load<u8>(colon) != 0x3a) continue
      // Its name could be any.
      if (isEscaped) return -1
      memberCount++
      store<u8>(to++, 0x3a)
      at = colon + 1
      const name = nameAt(from, length)
      if (name < 0) continue
      const value = skipSpace(at)
      const first = <u32>load<u8>(value)
      // A number of the client: it would be taken for one of ours.
      if (first - 0x30 <= 9 || first == 0x2d) return -1
      if (first != 0x5b) continue
      const after = takeArray(value, name)
      if (after == 0) continue
      const next = <u32>load<u8>(after)
      // What follows a number could make it another one.
      if (next != 0x2c && next != 0x7d) return -1
      if (depth + arrayDepth > depthMax) return -1
      itemCount += arrayItemCount
      to = writeNumber(to, arrayCount - 1)
      at = after
    } else if (byte == 0x2c) itemCount++
    else if (byte == 0x3a) memberCount++
    else if (byte == 0x7b || byte == 0x5b) {
      itemCount++
      if (++depth > depthMax) return -1
    } else if (byte == 0x7d || byte == 0x5d) depth--
    else high |= byte & 0x80
  }
  if (memberCount > memberCountMax || itemCount > itemCountMax) return -1
  store<i32>(ARRAY_COUNT, arrayCount)
  store<i32>(HAS_MORE_THAN_ASCII, high != 0 ? 1 : 0)
  return <i32>(to - TEXT)
}

/**
 * Brings the vertices of a ring from degrees to units.
 *
 * @returns whether all are places
 */
export function toUnits(ring: i32): bool {
  const starts = entry(RING_STARTS, ring, 4)
  const end = entry(VERTICES, load<u32>(starts, 4), 16)
  for (let vertex = entry(VERTICES, load<u32>(starts), 16); vertex < end; vertex += 16) {
    const lng = load<f64>(vertex)
    const lat = load<f64>(vertex, 8)
    if (!(abs(lng) <= LNG_DEGREES_MAX) || !(abs(lat) <= LAT_DEGREES_MAX)) return false
    store<f64>(vertex, unitsOf(lng))
    store<f64>(vertex, unitsOf(lat), 8)
  }
  describeRing(ring)
  return true
}

/** Which member a name in any letter case is; -1 for all that are not taken out. */
@inline
function nameAt(at: usize, length: usize): i32 {
  if (length == 11) {
    const isStart = (load<u64>(at) | 0x2020202020202020) == 0x616e6964726f6f63
    const isEnd = (load<u32>(at, 7) | 0x20202020) == 0x73657461
    return isStart && isEnd ? COORDINATES : -1
  }
  if (length == 5) {
    const start = load<u32>(at) | 0x20202020
    if ((load<u8>(at, 4) | 0x20) != 0x73) return -1
    if (start == 0x676e6972) return RINGS
    return start == 0x68746170 ? PATHS : -1
  }
  if (length != 6) return -1
  const isPoints =
    (load<u32>(at) | 0x20202020) == 0x6e696f70 && (load<u16>(at, 4) | 0x2020) == 0x7374
  return isPoints ? POINTS : -1
}

function writeNumber(to: usize, number: i32): usize {
  let power = 1
  while (power * 10 <= number) power *= 10
  let end = to
  for (; power > 0; power /= 10) store<u8>(end++, 0x30 + ((number / power) % 10))
  return end
}
