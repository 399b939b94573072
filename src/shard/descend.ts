/**
 * The hot loop: which recipients of a shard does a table of edges hold?
 *
 * A kd-tree laid out by KDBush is implicit: each subtree is one contiguous range of indexes, split
 * at its middle item, alternately by longitude and latitude. Going down, each cell carries the
 * edges that still matter and the rings already known to be crossed an odd number of times on the
 * way east. An edge above, below or west of the cell cannot matter and is dropped; one wholly east
 * of it that spans its full height is crossed from every point and flips its ring's bit. When no
 * edge touches the cell, all its points lie alike and the whole range is accepted or rejected
 * unread: the cost follows the boundary of the shape, not the number of people inside.
 *
 * @module
 */
import { type EdgeTable, exactSide, holds } from '../geometry/edges.js'
import type { Shard } from './layout.js'
import type { RunList } from './runs.js'

/** Edge tests that one descent may take before it gives up. */
export interface Budget {
  edgeTestCount: number
}

/**
 * Counts the recipients that `edges` hold, and appends them to `runs` unless that is null.
 *
 * @param hasShell  whether ring bit SHELL_BIT is a shell; see `holds`
 * @returns the count, or -1 when the budget is spent (then `runs` is incomplete)
 */
export function descend(
  shard: Shard,
  edges: EdgeTable,
  hasShell: boolean,
  budget: Budget,
  runs: RunList | null,
): number {
  if (shard.recipientCount === 0 || !overlaps(shard, edges)) return 0
  reserve(edges.edgeCount)
  const { coords, nodeSize } = shard
  let found = 0
  let top = pushRoot(shard, edges)
  while (top > 0) {
    top -= FRAME
    const left = frames[top]
    const right = frames[top + 1]
    const touching = narrow(edges, top)
    budget.edgeTestCount -= frames[top + 4] + 1
    if (budget.edgeTestCount < 0) return -1
    if (!touching) {
      if (!holds(cornerBits(edges, top), 0, hasShell)) continue
      found += right + 1 - left
      runs?.append(left, right + 1)
    } else if (right - left > nodeSize) {
      top = pushChildren(coords, top)
    } else {
      budget.edgeTestCount -= narrowed.count * (right + 1 - left)
      found += testLeaf(coords, left, right + 1, edges, hasShell, runs)
    }
  }
  return found
}

/**
 * A frame of the stack: a range of items with the edges and the cell handed down by its parent.
 *
 *   0 left   1 right   2 axis   3 listStart   4 listCount   5 crossed bits
 *   6 min lng   7 min lat   8 max lng   9 max lat
 *
 * The item that splits a range belongs to neither half: it is a frame of its own between them, its
 * cell no larger than itself, so that runs come out in order.
 */
const FRAME = 10
/** A level leaves two frames behind while it goes down with the third. */
const frames = new Int32Array(FRAME * 80)

/** Lists of edges, each right behind its parent's; deeper ones overwrite those already used. */
let lists = new Uint32Array(0)
const TREE_DEPTH = 34

/** What `narrow` leaves behind for the frame it was called on. */
const narrowed = { start: 0, count: 0, crossedBits: 0 }

function reserve(edgeCount: number): void {
  if (edgeCount * TREE_DEPTH > lists.length) lists = new Uint32Array(2 * edgeCount * TREE_DEPTH)
  if (edgeCount > leaf.bits.length) leaf = leafColumns(2 * edgeCount)
}

function overlaps({ box }: Shard, { bounds }: EdgeTable): boolean {
  return (
    bounds[0] <= box.maxLng &&
    bounds[2] >= box.minLng &&
    bounds[1] <= box.maxLat &&
    bounds[3] >= box.minLat
  )
}

function pushRoot(shard: Shard, edges: EdgeTable): number {
  for (let edge = 0; edge < edges.edgeCount; edge++) lists[edge] = edge
  const { box } = shard
  frames.set([0, shard.recipientCount - 1, 0, 0, edges.edgeCount, 0])
  frames.set([box.minLng, box.minLat, box.maxLng, box.maxLat], 6)
  return FRAME
}

/** Drops the edges that no longer matter in the frame's cell; true if one of the rest touches it. */
function narrow(edges: EdgeTable, frame: number): boolean {
  const { lowLngs, lowLats, lngSpans, latSpans, minLngs, maxLngs, slacks, highLats, ringBits } =
    edges
  const parentStart = frames[frame + 3]
  const parentEnd = parentStart + frames[frame + 4]
  const minLng = frames[frame + 6]
  const minLat = frames[frame + 7]
  const maxLng = frames[frame + 8]
  const maxLat = frames[frame + 9]
  let crossedBits = frames[frame + 5]
  let touching = false
  let end = parentEnd
  for (let i = parentStart; i < parentEnd; i++) {
    const edge = lists[i]
    const low = lowLats[edge]
    const high = highLats[edge]
    if (high < minLat || low > maxLat || maxLngs[edge] < minLng) continue
    let east = minLngs[edge] > maxLng
    if (!east) {
      // Largest and smallest determinant over the cell, at two of its corners.
      const lngSpan = lngSpans[edge]
      const latSpan = latSpans[edge]
      const lowLng = lowLngs[edge]
      const westmost =
        lngSpan * ((lngSpan > 0 ? maxLat : minLat) - low) - latSpan * (minLng - lowLng)
      if (westmost < -slacks[edge]) continue
      const eastmost =
        lngSpan * ((lngSpan > 0 ? minLat : maxLat) - low) - latSpan * (maxLng - lowLng)
      east = eastmost > slacks[edge]
    }
    if (!east) touching = true
    else if (low <= minLat && high > maxLat) {
      crossedBits ^= ringBits[edge]
      continue
    } else if (low === high) continue
    lists[end++] = edge
  }
  narrowed.start = parentEnd
  narrowed.count = end - parentEnd
  narrowed.crossedBits = crossedBits
  return touching
}

/** The rings crossed from every point of a cell that no edge touches, told by one of its corners. */
function cornerBits(edges: EdgeTable, frame: number): number {
  const lat = frames[frame + 7]
  let bits = narrowed.crossedBits
  for (let i = narrowed.start; i < narrowed.start + narrowed.count; i++) {
    const edge = lists[i]
    if (edges.lowLats[edge] <= lat && lat < edges.highLats[edge]) bits ^= edges.ringBits[edge]
  }
  return bits
}

/** Replaces the frame at `top` by its two halves and the item between; returns the new top. */
function pushChildren(coords: Int32Array, top: number): number {
  const left = frames[top]
  const axis = frames[top + 2]
  const middle = (left + frames[top + 1]) >> 1
  const lng = coords[2 * middle]
  const lat = coords[2 * middle + 1]
  const split = axis === 0 ? lng : lat
  const between = top + FRAME
  const lower = between + FRAME
  frames[top + 2] = axis ^ 1
  frames[top + 3] = narrowed.start
  frames[top + 4] = narrowed.count
  frames[top + 5] = narrowed.crossedBits
  frames.copyWithin(between, top, between)
  frames.copyWithin(lower, top, between)
  // The half that comes last in order lies lowest on the stack.
  frames[top] = middle + 1
  frames[top + 6 + axis] = split
  frames[between] = middle
  frames[between + 1] = middle
  frames[between + 6] = lng
  frames[between + 7] = lat
  frames[between + 8] = lng
  frames[between + 9] = lat
  frames[lower + 1] = middle - 1
  frames[lower + 8 + axis] = split
  return lower + FRAME
}

/** The edges of one leaf side by side, so that the inner loop reads memory in order. */
let leaf = leafColumns(64)

function leafColumns(capacity: number) {
  return { numbers: new Float64Array(6 * capacity), bits: new Int32Array(capacity) }
}

/** Tests the points [start, end) one by one; returns how many are held. */
function testLeaf(
  coords: Int32Array,
  start: number,
  end: number,
  edges: EdgeTable,
  hasShell: boolean,
  runs: RunList | null,
): number {
  const edgeCount = gatherLeaf(edges)
  const { numbers, bits } = leaf
  const { crossedBits } = narrowed
  let found = 0
  for (let point = start; point < end; point++) {
    const lng = coords[2 * point]
    const lat = coords[2 * point + 1]
    let crossed = crossedBits
    let doubtful = 0
    for (let i = 0, at = 0; i < edgeCount; i++, at += 6) {
      const rise = lat - numbers[at + 1]
      const side = numbers[at + 3] * rise - numbers[at + 4] * (lng - numbers[at])
      const slack = numbers[at + 5]
      const below = numbers[at + 2] - lat
      // No branches here: which side a point lies on is a coin toss, and a wrong guess costs more
      // than the arithmetic (loadtest/micro shows it).
      crossed ^= -(bit(rise >= 0) & bit(below > 0) & bit(side > 0)) & bits[i]
      doubtful |= bit(side <= slack) & bit(side >= -slack) & bit(rise >= 0) & bit(below >= 0)
    }
    const held =
      doubtful === 0 ? holds(crossed, 0, hasShell) : holdsExactly(edges, lng, lat, hasShell)
    if (held) {
      found++
      runs?.append(point, point + 1)
    }
  }
  return found
}

function bit(truth: boolean): number {
  return truth ? 1 : 0
}

function gatherLeaf(edges: EdgeTable): number {
  const { numbers, bits } = leaf
  for (let i = 0, at = 0; i < narrowed.count; i++, at += 6) {
    const edge = lists[narrowed.start + i]
    numbers[at] = edges.lowLngs[edge]
    numbers[at + 1] = edges.lowLats[edge]
    numbers[at + 2] = edges.highLats[edge]
    numbers[at + 3] = edges.lngSpans[edge]
    numbers[at + 4] = edges.latSpans[edge]
    numbers[at + 5] = edges.slacks[edge]
    bits[i] = edges.ringBits[edge]
  }
  return narrowed.count
}

/** The same test with exact arithmetic, for a point that rounding leaves in doubt. */
function holdsExactly(edges: EdgeTable, lng: number, lat: number, hasShell: boolean): boolean {
  let crossed = narrowed.crossedBits
  let touched = 0
  for (let i = narrowed.start; i < narrowed.start + narrowed.count; i++) {
    const edge = lists[i]
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
