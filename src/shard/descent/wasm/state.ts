/**
 * What one call works on, out of the header of the zone, and how the columns of edges are read.
 *
 * @module
 */
import {
  COORDS_AT,
  FIRST_LATS,
  HAS_SHELL,
  HIGH_LATS,
  LAST_LATS,
  LAT_SPANS,
  LNG_SPANS,
  LOW_LATS,
  LOW_LNGS,
  MAX_LNGS,
  MIN_LNGS,
  RING_BITS,
  SLACKS,
} from '../zone-header'

/**
 * Whether the edges hold a point that rounding leaves in doubt, by exact arithmetic.
 *
 * @param list  address of the entries of the edges that still matter
 */
@external('kernel', 'holdsExactly')
export declare function holdsExactly(
  point: i32,
  list: usize,
  listCount: i32,
  crossedBits: i32,
): bool

/** Flag of an entry: the edge lies wholly east of the cell, so that only its latitudes matter. */
export const EAST: i32 = 1 << 30
export const EAST_SHIFT: i32 = 30
export const EDGE_INDEX: i32 = EAST - 1

let coordsAt: usize = 0
export let hasShell: bool = true
let lowLngs: usize = 0
let lowLats: usize = 0
let highLats: usize = 0
let lngSpans: usize = 0
let latSpans: usize = 0
let minLngs: usize = 0
let maxLngs: usize = 0
let slacks: usize = 0
let ringBits: usize = 0
let firstLats: usize = 0
let lastLats: usize = 0

export function loadState(zone: usize): void {
  coordsAt = load<u32>(zone, COORDS_AT)
  hasShell = load<i32>(zone, HAS_SHELL) != 0
  lowLngs = load<u32>(zone, LOW_LNGS)
  lowLats = load<u32>(zone, LOW_LATS)
  highLats = load<u32>(zone, HIGH_LATS)
  lngSpans = load<u32>(zone, LNG_SPANS)
  latSpans = load<u32>(zone, LAT_SPANS)
  minLngs = load<u32>(zone, MIN_LNGS)
  maxLngs = load<u32>(zone, MAX_LNGS)
  slacks = load<u32>(zone, SLACKS)
  ringBits = load<u32>(zone, RING_BITS)
  firstLats = load<u32>(zone, FIRST_LATS)
  lastLats = load<u32>(zone, LAST_LATS)
}

@inline
export function entryAt(list: usize, index: i32): i32 {
  return load<i32>(list + ((<usize>index) << 2))
}

@inline
export function pointAt(index: i32): usize {
  return coordsAt + ((<usize>index) << 3)
}

@inline
function float(column: usize, edge: i32): f64 {
  return load<f64>(column + ((<usize>edge) << 3))
}

@inline
function whole(column: usize, edge: i32): i32 {
  return load<i32>(column + ((<usize>edge) << 2))
}

@inline export function lowLngOf(edge: i32): f64 { return float(lowLngs, edge) }
@inline export function lowLatOf(edge: i32): f64 { return float(lowLats, edge) }
@inline export function highLatOf(edge: i32): f64 { return float(highLats, edge) }
@inline export function lngSpanOf(edge: i32): f64 { return float(lngSpans, edge) }
@inline export function latSpanOf(edge: i32): f64 { return float(latSpans, edge) }
@inline export function minLngOf(edge: i32): f64 { return float(minLngs, edge) }
@inline export function maxLngOf(edge: i32): f64 { return float(maxLngs, edge) }
@inline export function slackOf(edge: i32): f64 { return float(slacks, edge) }
@inline export function ringBitOf(edge: i32): i32 { return whole(ringBits, edge) }
@inline export function firstLatOf(edge: i32): i32 { return whole(firstLats, edge) }
@inline export function lastLatOf(edge: i32): i32 { return whole(lastLats, edge) }

/** `holds` of edges.ts for a point that touches no edge. */
@inline
export function held(crossedBits: i32): bool {
  return hasShell ? crossedBits == 1 : crossedBits != 0
}
