/**
 * The end of the descent: single points against the few edges that still matter.
 *
 * @module
 */
import { type EdgeTable, exactSide, holds, SHELL_BIT } from '../../geometry/polygon/edges.js'
import type { RunList } from '../runs.js'

/**
 * The edges that still matter in a cell, as entries [start, start + count): the index of an edge,
 * with the flag EAST on one that lies wholly east of the cell, so that only its latitudes matter.
 */
export interface ActiveEdges {
  entries: Int32Array
  start: number
  count: number
  /** Rings already known to be crossed an odd number of times from every point of the cell. */
  crossedBits: number
}

export const EAST = 1 << 30
export const EDGE_INDEX = EAST - 1

/** Whether the point set of the edges holds one point. */
export function holdsPoint(
  lng: number,
  lat: number,
  edges: EdgeTable,
  active: ActiveEdges,
  hasShell: boolean,
): boolean {
  let crossed = active.crossedBits
  for (let i = active.start; i < active.start + active.count; i++) {
    const entry = active.entries[i]
    const edge = entry & EDGE_INDEX
    const spans = spanMask(lat, edges.firstLats[edge], edges.lastLats[edge])
    if ((entry & EAST) !== 0) {
      crossed ^= spans & edges.ringBits[edge]
      continue
    }
    const low = edges.lowLats[edge]
    const side =
      edges.lngSpans[edge] * (lat - low) - edges.latSpans[edge] * (lng - edges.lowLngs[edge])
    if (Math.abs(side) <= edges.slacks[edge] && lat >= low && lat <= edges.highLats[edge]) {
      return holdsExactly(lng, lat, edges, active, hasShell)
    }
    crossed ^= spans & -Number(side > 0) & edges.ringBits[edge]
  }
  return holds(crossed, 0, hasShell)
}

/** Tests the points [start, end); returns how many are held, and appends them to `runs` if any. */
export function testLeaf(
  coords: Int32Array,
  start: number,
  end: number,
  edges: EdgeTable,
  active: ActiveEdges,
  hasShell: boolean,
  runs: RunList | null,
): number {
  if (crossPoints(coords, start, end, edges, active)) {
    return collectDoubtful(coords, start, end, edges, active, hasShell, runs)
  }
  const count = end - start
  let found = 0
  for (let i = 0; i < count; i++) {
    // What `holds` says of a point that touches no edge, without a call for each.
    const held = hasShell ? crossedOf[i] === SHELL_BIT : crossedOf[i] !== 0
    found += Number(held)
    if (held) runs?.append(start + i, start + i + 1)
  }
  return found
}

/** Ring bits crossed from each point of a leaf, and DOUBT where rounding could decide. */
let crossedOf = new Int32Array(128)
const DOUBT = 1 << 30

/**
 * Fills `crossedOf`, edge by edge; true if a point is in doubt. No branch depends on which side a
 * point lies on: that is a coin toss, and a wrong guess costs more than the arithmetic.
 */
function crossPoints(
  coords: Int32Array,
  start: number,
  end: number,
  edges: EdgeTable,
  active: ActiveEdges,
): boolean {
  const count = end - start
  if (count > crossedOf.length) crossedOf = new Int32Array(2 * count)
  const points = crossedOf
  for (let i = 0; i < count; i++) points[i] = active.crossedBits
  let doubtful = false
  for (let i = active.start; i < active.start + active.count; i++) {
    const entry = active.entries[i]
    const edge = entry & EDGE_INDEX
    const bits = edges.ringBits[edge]
    const first = edges.firstLats[edge]
    const last = edges.lastLats[edge]
    if ((entry & EAST) !== 0) {
      for (let p = 0, at = 2 * start + 1; p < count; p++, at += 2) {
        points[p] ^= spanMask(coords[at], first, last) & bits
      }
      continue
    }
    const low = edges.lowLats[edge]
    const high = edges.highLats[edge]
    const lowLng = edges.lowLngs[edge]
    const lngSpan = edges.lngSpans[edge]
    const latSpan = edges.latSpans[edge]
    const slack = edges.slacks[edge]
    for (let p = 0, at = 2 * start; p < count; p++, at += 2) {
      const lat = coords[at + 1]
      const side = lngSpan * (lat - low) - latSpan * (coords[at] - lowLng)
      points[p] ^= spanMask(lat, first, last) & -Number(side > 0) & bits
      if (Math.abs(side) <= slack && lat >= low && lat <= high) {
        points[p] |= DOUBT
        doubtful = true
      }
    }
  }
  return doubtful
}

/**
 * All bits set if the half-open latitudes of an edge span `lat`, none otherwise. Latitudes differ
 * by less than 2 ** 31 units, so neither difference overflows.
 */
function spanMask(lat: number, first: number, last: number): number {
  return ~(((lat - first) | (last - lat)) >> 31)
}

function collectDoubtful(
  coords: Int32Array,
  start: number,
  end: number,
  edges: EdgeTable,
  active: ActiveEdges,
  hasShell: boolean,
  runs: RunList | null,
): number {
  let found = 0
  for (let point = start; point < end; point++) {
    const crossed = crossedOf[point - start]
    const held =
      (crossed & DOUBT) === 0
        ? holds(crossed, 0, hasShell)
        : holdsExactly(coords[2 * point], coords[2 * point + 1], edges, active, hasShell)
    if (!held) continue
    found++
    runs?.append(point, point + 1)
  }
  return found
}

/** The same as `holdsPoint` with exact arithmetic, for a point that rounding leaves in doubt. */
export function holdsExactly(
  lng: number,
  lat: number,
  edges: EdgeTable,
  active: ActiveEdges,
  hasShell: boolean,
): boolean {
  let crossed = active.crossedBits
  let touched = 0
  for (let i = active.start; i < active.start + active.count; i++) {
    const edge = active.entries[i] & EDGE_INDEX
    const low = edges.lowLats[edge]
    const high = edges.highLats[edge]
    if (lat < low || lat > high) continue
    const side = exactSide(edges, edge, lng, lat)
    if (side === 0 && lng >= edges.minLngs[edge] && lng <= edges.maxLngs[edge]) {
      touched |= edges.ringBits[edge]
    } else if (side > 0 && lat < high) crossed ^= edges.ringBits[edge]
  }
  return holds(crossed, touched, hasShell)
}
