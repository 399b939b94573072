/**
 * Arrays of positions, taken out of the text: their numbers, and where rings and polygons start.
 *
 * @module
 */
import {
  ARRAY_COUNT_MAX,
  ARRAY_DEPTH,
  ARRAY_NAME,
  ARRAY_POLYGON,
  ARRAY_RING,
  ARRAY_WORDS,
  ARRAYS,
  COORDINATES,
  HAS_THREE,
  IS_CLOSED,
  IS_NARROW,
  POLYGON_ENDS,
  RING_BITS,
  RING_COUNT_MAX,
  RING_BOUNDS,
  RING_STARTS,
  VERTEX_COUNT_MAX,
  VERTICES,
} from '../layout'
import { entry } from './address'
import { numberEnd, readNumber } from './number'

export let arrayCount: i32 = 0
/** Brackets and commas of the last array. */
export let arrayItemCount: i32 = 0
export let arrayDepth: i32 = 0

const DEPTH_MAX: i32 = 4
const LNG_MAX: f64 = 1e15
const LAT_MAX: f64 = 9e8
const HALF_TURN: f64 = 1.8e9
/** A unit less, so that no rounding takes a vertex to the antimeridian when it is moved by a turn. */
const CLEARLY_WITHIN: f64 = HALF_TURN - 1
/** A degree less than half a turn: no rounding makes it more. */
const CLEARLY_SHORT: f64 = HALF_TURN - 1e7

let vertexCount: i32 = 0
let ringCount: i32 = 0
let polygonCount: i32 = 0

export function forgetArrays(): void {
  arrayCount = 0
  vertexCount = 0
  ringCount = 0
  polygonCount = 0
}

/** Past white space. */
@inline
export function skipSpace(from: usize): usize {
  let at = from
  while (true) {
    const byte = <u32>load<u8>(at)
    if (byte > 0x20 || (byte != 0x20 && byte != 0x0a && byte != 0x0d && byte != 0x09)) return at
    at++
  }
}

/**
 * Takes out an array of positions, nested up to four deep and nowhere empty.
 *
 * @param from  the bracket that opens it
 * @returns where it ends; 0, and nothing taken, if it is another array
 */
export function takeArray(from: usize, name: i32): usize {
  if (arrayCount >= ARRAY_COUNT_MAX) return 0
  const firstRing = ringCount
  const firstPolygon = polygonCount
  const firstVertex = vertexCount
  const array = entry(ARRAYS, arrayCount, ARRAY_WORDS << 2)
  let depth: i32 = 0
  let at = from
  while (load<u8>(at) == 0x5b) {
    depth++
    at = skipSpace(at + 1)
  }
  store<i32>(array + (ARRAY_NAME << 2), name)
  store<i32>(array + (ARRAY_DEPTH << 2), depth)
  store<i32>(array + (ARRAY_RING << 2), firstRing)
  store<i32>(array + (ARRAY_POLYGON << 2), firstPolygon)
  const end: usize = depth > DEPTH_MAX ? 0 : takePositions(at, depth, name == COORDINATES)
  if (end == 0) {
    ringCount = firstRing
    polygonCount = firstPolygon
    vertexCount = firstVertex
    return 0
  }
  arrayCount++
  arrayDepth = depth
  // The next array would start here, so this is where the last one ends.
  store<i32>(array + ((ARRAY_WORDS + ARRAY_RING) << 2), ringCount)
  store<i32>(array + ((ARRAY_WORDS + ARRAY_POLYGON) << 2), polygonCount)
  return end
}

/** @param from  the first number, in so many brackets */
function takePositions(from: usize, depth: i32, inUnits: bool): usize {
  let at = from
  let itemCount = depth
  while (true) {
    if (vertexCount >= VERTEX_COUNT_MAX) return 0
    const lng = inUnits ? readNumber(at, true) : readNumber(at, false)
    if (numberEnd == 0) return 0
    at = skipSpace(numberEnd)
    if (load<u8>(at) != 0x2c) return 0
    at = skipSpace(at + 1)
    const lat = inUnits ? readNumber(at, true) : readNumber(at, false)
    if (numberEnd == 0) return 0
    at = skipSpace(numberEnd)
    if (!(abs(lng) <= LNG_MAX) || (inUnits && !(abs(lat) <= LAT_MAX))) return 0
    itemCount++
    while (load<u8>(at) == 0x2c) {
      // A height, which says nothing, but has to be a number.
      readNumber(skipSpace(at + 1), false)
      if (numberEnd == 0) return 0
      at = skipSpace(numberEnd)
      itemCount++
    }
    if (load<u8>(at) != 0x5d) return 0
    const vertex = entry(VERTICES, vertexCount, 16)
    store<f64>(vertex, lng)
    store<f64>(vertex, lat, 8)
    vertexCount++
    let closed: i32 = 1
    at = skipSpace(at + 1)
    while (closed < depth && load<u8>(at) == 0x5d) {
      if (++closed == 2) {
        if (!endRing(inUnits)) return 0
      } else if (closed == 3) endPolygon()
      at = skipSpace(at + 1)
    }
    if (closed == depth) break
    if (load<u8>(at) != 0x2c) return 0
    itemCount++
    for (; closed > 0; closed--) {
      at = skipSpace(at + 1)
      if (load<u8>(at) != 0x5b) return 0
      itemCount++
    }
    at = skipSpace(at + 1)
  }
  if (depth == 1 && !endRing(inUnits)) return 0
  arrayItemCount = itemCount
  return at
}

@inline
function endRing(inUnits: bool): bool {
  if (ringCount >= RING_COUNT_MAX) return false
  const ring = ringCount++
  store<u32>(entry(RING_STARTS, ring, 4), vertexCount, 4)
  if (inUnits) describeRing(ring)
  return true
}

@inline
function endPolygon(): void {
  // There are no more polygons than rings.
  store<u32>(entry(POLYGON_ENDS, polygonCount, 4), ringCount)
  polygonCount++
}

/** Notes what there is to know of a ring whose vertices are in units. */
export function describeRing(ring: i32): void {
  const starts = entry(RING_STARTS, ring, 4)
  const start = entry(VERTICES, load<u32>(starts), 16)
  const end = entry(VERTICES, load<u32>(starts, 4), 16)
  const firstLng = load<f64>(start)
  const firstLat = load<f64>(start, 8)
  let minLng = firstLng
  let maxLng = firstLng
  let minLat = firstLat
  let maxLat = firstLat
  let second: usize = 0
  let hasThree = false
  let lng = firstLng
  let lat = firstLat
  for (let vertex = start + 16; vertex < end; vertex += 16) {
    lng = load<f64>(vertex)
    lat = load<f64>(vertex, 8)
    if (lng < minLng) minLng = lng
    if (lng > maxLng) maxLng = lng
    if (lat < minLat) minLat = lat
    if (lat > maxLat) maxLat = lat
    if (hasThree || (lng == firstLng && lat == firstLat)) continue
    if (second == 0) second = vertex
    else hasThree = lng != load<f64>(second) || lat != load<f64>(second, 8)
  }
  let bits: u32 = hasThree ? HAS_THREE : 0
  if (end - start > 16 && lng == firstLng && lat == firstLat) bits |= IS_CLOSED
  const isWithin = minLng >= -CLEARLY_WITHIN && maxLng <= CLEARLY_WITHIN
  if (isWithin && maxLng - minLng <= CLEARLY_SHORT) bits |= IS_NARROW
  store<u32>(entry(RING_BITS, ring, 4), bits)
  const bounds = entry(RING_BOUNDS, ring, 32)
  store<f64>(bounds, minLng)
  store<f64>(bounds, minLat, 8)
  store<f64>(bounds, maxLng, 16)
  store<f64>(bounds, maxLat, 24)
}
