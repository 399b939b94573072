/**
 * Which edges matter in the cells of the tree: `narrow` of descend.ts, but for both halves of a
 * cell at once. What the whole cell has settled is not asked again: a half differs from it in one
 * side, so that two determinants decide for both, where each alone would take two. Edges that turn
 * out not to matter are written and then overwritten, since a branch would be mispredicted.
 *
 * @module
 */
import { BOX, EDGE_COUNT } from '../zone-header'
import {
  EAST,
  EAST_SHIFT,
  EDGE_INDEX,
  entryAt,
  held,
  highLatOf,
  latSpanOf,
  lngSpanOf,
  lowLatOf,
  lowLngOf,
  maxLngOf,
  minLngOf,
  ringBitOf,
  slackOf,
} from './state'

/** What the last call left of the first half (the root is one), the second, and the middle. */
export let firstCount: i32 = 0
export let firstCrossed: i32 = 0
export let firstTouching: bool = false
export let secondCount: i32 = 0
export let secondCrossed: i32 = 0
export let secondTouching: bool = false
export let middleCrossed: i32 = 0
export let middleDoubtful: bool = false

/** Writes the entries of the edges that matter in the box of the shard to `list`. */
export function narrowRoot(zone: usize, list: usize): void {
  const minLng = <f64>load<i32>(zone, BOX)
  const minLat = <f64>load<i32>(zone, BOX + 4)
  const maxLng = <f64>load<i32>(zone, BOX + 8)
  const maxLat = <f64>load<i32>(zone, BOX + 12)
  const edgeCount = load<i32>(zone, EDGE_COUNT)
  let end = list
  let crossed = 0
  let touching = false
  for (let edge = 0; edge < edgeCount; edge++) {
    const low = lowLatOf(edge)
    const high = highLatOf(edge)
    if (high < minLat || low > maxLat || maxLngOf(edge) < minLng) continue
    let east = minLngOf(edge) > maxLng
    if (!east) {
      // Largest and smallest determinant over the cell, at two of its corners.
      const lngSpan = lngSpanOf(edge)
      const latSpan = latSpanOf(edge)
      const lowLng = lowLngOf(edge)
      const slack = slackOf(edge)
      const northwards = lngSpan > 0
      const westmost =
        lngSpan * ((northwards ? maxLat : minLat) - low) - latSpan * (minLng - lowLng)
      if (westmost < -slack) continue
      const eastmost =
        lngSpan * ((northwards ? minLat : maxLat) - low) - latSpan * (maxLng - lowLng)
      east = eastmost > slack
    }
    if (!east) touching = true
    else if (low <= minLat && high > maxLat) {
      crossed ^= ringBitOf(edge)
      continue
    } else if (low == high) continue
    store<i32>(end, east ? edge | EAST : edge)
    end += 4
  }
  firstCount = <i32>((end - list) >> 2)
  firstCrossed = crossed
  firstTouching = touching
}

/**
 * Splits a cell at the longitude of its middle item (lng, lat). The entries of the western half go
 * to `first`, those of the eastern one to `second`; each has room for `count`.
 */
export function splitByLng(
  list: usize,
  count: i32,
  crossed: i32,
  lng: f64,
  lat: f64,
  minLat: f64,
  maxLat: f64,
  first: usize,
  second: usize,
): void {
  const end = list + ((<usize>count) << 2)
  let firstEnd = first
  let secondEnd = second
  let westCrossed = crossed
  let middle = crossed
  let westTouching = 0
  let eastTouching = 0
  let doubtful = 0
  for (let at = list; at < end; at += 4) {
    const entry = load<i32>(at)
    const edge = entry & EDGE_INDEX
    const low = lowLatOf(edge)
    const high = highLatOf(edge)
    const bit = ringBitOf(edge)
    const spansLat = i32(low <= lat) & i32(lat < high)
    if ((entry & EAST) != 0) {
      middle ^= bit & -spansLat
      store<i32>(firstEnd, entry)
      firstEnd += 4
      store<i32>(secondEnd, entry)
      secondEnd += 4
      continue
    }
    const lngSpan = lngSpanOf(edge)
    const slack = slackOf(edge)
    const rise = latSpanOf(edge) * (lng - lowLngOf(edge))
    const south = lngSpan * (minLat - low) - rise
    const north = lngSpan * (maxLat - low) - rise
    const side = lngSpan * (lat - low) - rise
    middle ^= bit & -(spansLat & i32(side > 0))
    doubtful |= i32(abs(side) <= slack) & i32(lat >= low) & i32(lat <= high)

    const isEast = i32(min(south, north) > slack) | i32(minLngOf(edge) > lng)
    const spansCell = i32(low <= minLat) & i32(high > maxLat)
    westCrossed ^= bit & -(isEast & spansCell)
    westTouching |= isEast ^ 1
    store<i32>(firstEnd, edge | (isEast << EAST_SHIFT))
    firstEnd += <usize>(((isEast & (spansCell | i32(low == high))) ^ 1) << 2)

    const matters = i32(max(south, north) >= -slack) & i32(maxLngOf(edge) >= lng)
    eastTouching |= matters
    store<i32>(secondEnd, edge)
    secondEnd += <usize>(matters << 2)
  }
  firstCount = <i32>((firstEnd - first) >> 2)
  firstCrossed = westCrossed
  firstTouching = westTouching != 0
  secondCount = <i32>((secondEnd - second) >> 2)
  secondCrossed = crossed
  secondTouching = eastTouching != 0
  middleCrossed = middle
  middleDoubtful = doubtful != 0
}

/** The same at the latitude of the middle item; the southern half is the first. */
export function splitByLat(
  list: usize,
  count: i32,
  crossed: i32,
  lng: f64,
  lat: f64,
  minLng: f64,
  minLat: f64,
  maxLng: f64,
  maxLat: f64,
  first: usize,
  second: usize,
): void {
  const end = list + ((<usize>count) << 2)
  let firstEnd = first
  let secondEnd = second
  let southCrossed = crossed
  let northCrossed = crossed
  let middle = crossed
  let southTouching = 0
  let northTouching = 0
  let doubtful = 0
  for (let at = list; at < end; at += 4) {
    const entry = load<i32>(at)
    const edge = entry & EDGE_INDEX
    const flag = entry >>> EAST_SHIFT
    const low = lowLatOf(edge)
    const high = highLatOf(edge)
    const bit = ringBitOf(edge)
    const slack = slackOf(edge)
    const lngSpan = lngSpanOf(edge)
    const latSpan = latSpanOf(edge)
    const lowLng = lowLngOf(edge)
    const run = lngSpan * (lat - low)
    const side = run - latSpan * (lng - lowLng)
    const isWest = i32(run - latSpan * (minLng - lowLng) < -slack)
    const isEast = i32(run - latSpan * (maxLng - lowLng) > slack)
    const spansLat = i32(low <= lat) & i32(lat < high)
    middle ^= bit & -(spansLat & (i32(side > 0) | flag))
    doubtful |= i32(abs(side) <= slack) & i32(lat >= low) & i32(lat <= high) & (flag ^ 1)

    // An edge that leans east has more of the south to its left, so it may be east of the north
    // half by its point on the split and west of the south half by the same; else the reverse.
    const leansEast = i32(lngSpan > 0)
    const leansWest = leansEast ^ 1
    const flat = i32(low == high)
    const southEast = flag | (leansWest & isEast)
    const southSpan = i32(low <= minLat) & i32(high > lat)
    const inSouth = (i32(low > lat) | (leansEast & isWest)) ^ 1
    const southKept = inSouth & ((southEast & (southSpan | flat)) ^ 1)
    southCrossed ^= bit & -(inSouth & southEast & southSpan)
    southTouching |= southKept & (southEast ^ 1)
    store<i32>(firstEnd, edge | (southEast << EAST_SHIFT))
    firstEnd += <usize>(southKept << 2)

    const northEast = flag | (leansEast & isEast)
    const northSpan = i32(low <= lat) & i32(high > maxLat)
    const inNorth = (i32(high < lat) | (leansWest & isWest)) ^ 1
    const northKept = inNorth & ((northEast & (northSpan | flat)) ^ 1)
    northCrossed ^= bit & -(inNorth & northEast & northSpan)
    northTouching |= northKept & (northEast ^ 1)
    store<i32>(secondEnd, edge | (northEast << EAST_SHIFT))
    secondEnd += <usize>(northKept << 2)
  }
  firstCount = <i32>((firstEnd - first) >> 2)
  firstCrossed = southCrossed
  firstTouching = southTouching != 0
  secondCount = <i32>((secondEnd - second) >> 2)
  secondCrossed = northCrossed
  secondTouching = northTouching != 0
  middleCrossed = middle
  middleDoubtful = doubtful != 0
}

/** Whether a cell that no edge touches is inside, told by a corner of the latitude `lat`. */
export function cornerHeld(list: usize, count: i32, crossed: i32, lat: f64): bool {
  for (let i = 0; i < count; i++) {
    const edge = entryAt(list, i) & EDGE_INDEX
    crossed ^= ringBitOf(edge) & -(i32(lowLatOf(edge) <= lat) & i32(lat < highLatOf(edge)))
  }
  return held(crossed)
}
