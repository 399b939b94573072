/**
 * Single points against the few edges that still matter, four at a time: `testLeaf` of leaf.ts.
 *
 * The determinant is taken as a·lat − b·lng + c, with c computed once an edge; its rounding error
 * stays within the slack of the edge (see edges.ts). Doubt is cast on any point near the line of an
 * edge, whatever its latitude: that is rare, and the exact test decides it alike.
 *
 * @module
 */
import { PACKED_EDGE_BYTES } from '../zone-header'
import { appendMask } from './runs'
import {
  EAST,
  EDGE_INDEX,
  entryAt,
  firstLatOf,
  hasShell,
  held,
  holdsExactly,
  lastLatOf,
  latSpanOf,
  lngSpanOf,
  lowLatOf,
  lowLngOf,
  pointAt,
  ringBitOf,
  slackOf,
} from './state'

/** Where the parts of a packed edge lie. */
const LNG_SPAN = 0
const LAT_SPAN = 8
const CONSTANT = 16
const SLACK = 24
const BEFORE_FIRST_LAT = 32
const AFTER_LAST_LAT = 36
const RING_BIT = 40
const IS_EAST = 44

/**
 * Tests the points [start, end); returns how many are held, and appends them to the runs if wanted.
 *
 * @param packedAt  room for all the edges of the list
 */
export function testLeaf(
  start: i32,
  end: i32,
  list: usize,
  count: i32,
  crossed: i32,
  packedAt: usize,
  wantsRuns: bool,
): i32 {
  if (count == 1) return testOneEdge(start, end, list, crossed, wantsRuns)
  const packedEnd = pack(list, count, packedAt)
  const initial = i32x4.splat(crossed)
  const zero = f64x2.splat(0)
  let found = 0
  let mask: u64 = 0
  let shift = 0
  for (let point = start; point < end; point += 4) {
    const low = v128.load(pointAt(point))
    const high = v128.load(pointAt(point), 16)
    const lng = v128.shuffle<i32>(low, high, 0, 2, 4, 6)
    const lat = v128.shuffle<i32>(low, high, 1, 3, 5, 7)
    const lngLow = f64x2.convert_low_i32x4_s(lng)
    const lngHigh = f64x2.convert_low_i32x4_s(v128.shuffle<i32>(lng, lng, 2, 3, 2, 3))
    const latLow = f64x2.convert_low_i32x4_s(lat)
    const latHigh = f64x2.convert_low_i32x4_s(v128.shuffle<i32>(lat, lat, 2, 3, 2, 3))
    let bits = initial
    let doubts = i32x4.splat(0)
    for (let edge = packedAt; edge < packedEnd; edge += PACKED_EDGE_BYTES) {
      const spans = v128.and(
        i32x4.gt_s(lat, v128.load32_splat(edge, BEFORE_FIRST_LAT)),
        i32x4.lt_s(lat, v128.load32_splat(edge, AFTER_LAST_LAT)),
      )
      const spanBits = v128.and(spans, v128.load32_splat(edge, RING_BIT))
      if (load<i32>(edge, IS_EAST) != 0) {
        bits = v128.xor(bits, spanBits)
        continue
      }
      const a = v128.load64_splat(edge, LNG_SPAN)
      const b = v128.load64_splat(edge, LAT_SPAN)
      const c = v128.load64_splat(edge, CONSTANT)
      const slack = v128.load64_splat(edge, SLACK)
      const sideLow = side(a, b, c, lngLow, latLow)
      const sideHigh = side(a, b, c, lngHigh, latHigh)
      const isLeft = narrowMask(f64x2.gt(sideLow, zero), f64x2.gt(sideHigh, zero))
      const isNear = narrowMask(
        f64x2.le(f64x2.abs(sideLow), slack),
        f64x2.le(f64x2.abs(sideHigh), slack),
      )
      bits = v128.xor(bits, v128.and(spanBits, isLeft))
      doubts = v128.or(doubts, isNear)
    }
    let four = i32x4.bitmask(
      hasShell ? i32x4.eq(bits, i32x4.splat(1)) : i32x4.ne(bits, i32x4.splat(0)),
    )
    if (v128.any_true(doubts)) {
      four = settle(four, i32x4.bitmask(doubts), point, end, list, count, crossed)
    }
    if (end - point < 4) four &= (1 << (end - point)) - 1
    found += popcnt(four)
    if (!wantsRuns) continue
    mask |= (<u64>four) << shift
    shift += 4
    if (shift < 64 && point + 4 < end) continue
    appendMask(mask, point + 4 - shift)
    mask = 0
    shift = 0
  }
  return found
}

/** The same for a list of one edge that is not east, as most are: all of it stays in registers. */
function testOneEdge(
  start: i32,
  end: i32,
  list: usize,
  crossed: i32,
  wantsRuns: bool,
): i32 {
  const edge = entryAt(list, 0) & EDGE_INDEX
  const a = f64x2.splat(lngSpanOf(edge))
  const b = f64x2.splat(latSpanOf(edge))
  const c = f64x2.splat(constantOf(edge))
  const slack = f64x2.splat(slackOf(edge))
  const beforeFirst = i32x4.splat(firstLatOf(edge) - 1)
  const afterLast = i32x4.splat(lastLatOf(edge) + 1)
  const heldRight = held(crossed)
  const right = i32x4.splat(-i32(heldRight))
  const differs = i32x4.splat(-i32(heldRight != held(crossed ^ ringBitOf(edge))))
  const zero = f64x2.splat(0)
  let found = 0
  let mask: u64 = 0
  let shift = 0
  for (let point = start; point < end; point += 4) {
    const low = v128.load(pointAt(point))
    const high = v128.load(pointAt(point), 16)
    const lng = v128.shuffle<i32>(low, high, 0, 2, 4, 6)
    const lat = v128.shuffle<i32>(low, high, 1, 3, 5, 7)
    const lngHigh = f64x2.convert_low_i32x4_s(v128.shuffle<i32>(lng, lng, 2, 3, 2, 3))
    const latHigh = f64x2.convert_low_i32x4_s(v128.shuffle<i32>(lat, lat, 2, 3, 2, 3))
    const sideLow = side(a, b, c, f64x2.convert_low_i32x4_s(lng), f64x2.convert_low_i32x4_s(lat))
    const sideHigh = side(a, b, c, lngHigh, latHigh)
    const spans = v128.and(i32x4.gt_s(lat, beforeFirst), i32x4.lt_s(lat, afterLast))
    const isLeft = narrowMask(f64x2.gt(sideLow, zero), f64x2.gt(sideHigh, zero))
    const isNearLow = f64x2.le(f64x2.abs(sideLow), slack)
    const isNearHigh = f64x2.le(f64x2.abs(sideHigh), slack)
    let four = i32x4.bitmask(v128.xor(right, v128.and(differs, v128.and(spans, isLeft))))
    if (v128.any_true(v128.or(isNearLow, isNearHigh))) {
      const doubts = i64x2.bitmask(isNearLow) | (i64x2.bitmask(isNearHigh) << 2)
      four = settle(four, doubts, point, end, list, 1, crossed)
    }
    if (end - point < 4) four &= (1 << (end - point)) - 1
    found += popcnt(four)
    if (!wantsRuns) continue
    mask |= (<u64>four) << shift
    shift += 4
    if (shift < 64 && point + 4 < end) continue
    appendMask(mask, point + 4 - shift)
    mask = 0
    shift = 0
  }
  return found
}

/** Copies what the points are tested against to one place; returns its end. */
function pack(list: usize, count: i32, packedAt: usize): usize {
  let at = packedAt
  for (let i = 0; i < count; i++) {
    const entry = entryAt(list, i)
    const edge = entry & EDGE_INDEX
    store<f64>(at, lngSpanOf(edge), LNG_SPAN)
    store<f64>(at, latSpanOf(edge), LAT_SPAN)
    store<f64>(at, constantOf(edge), CONSTANT)
    store<f64>(at, slackOf(edge), SLACK)
    store<i32>(at, firstLatOf(edge) - 1, BEFORE_FIRST_LAT)
    store<i32>(at, lastLatOf(edge) + 1, AFTER_LAST_LAT)
    store<i32>(at, ringBitOf(edge), RING_BIT)
    store<i32>(at, entry & EAST, IS_EAST)
    at += PACKED_EDGE_BYTES
  }
  return at
}

@inline
function constantOf(edge: i32): f64 {
  return latSpanOf(edge) * lowLngOf(edge) - lngSpanOf(edge) * lowLatOf(edge)
}

@inline
function side(a: v128, b: v128, c: v128, lng: v128, lat: v128): v128 {
  return f64x2.add(f64x2.sub(f64x2.mul(a, lat), f64x2.mul(b, lng)), c)
}

/** Two masks of two 64-bit lanes as one of four 32-bit lanes. */
@inline
function narrowMask(low: v128, high: v128): v128 {
  return v128.shuffle<i32>(low, high, 0, 2, 4, 6)
}

/** Decides again the points of four whose bits are set in `doubts`. */
function settle(
  four: i32,
  doubts: i32,
  point: i32,
  end: i32,
  list: usize,
  count: i32,
  crossed: i32,
): i32 {
  for (; doubts != 0; doubts &= doubts - 1) {
    const lane = ctz(doubts)
    if (point + lane >= end) break
    const isHeld = i32(holdsExactly(point + lane, list, count, crossed))
    four = (four & ~(1 << lane)) | (isHeld << lane)
  }
  return four
}
