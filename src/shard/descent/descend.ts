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
import { meets } from '../../geometry/bounds.js'
import { type EdgeTable, holds } from '../../geometry/polygon/edges.js'
import type { Budget } from '../budget.js'
import type { Shard } from '../layout.js'
import type { RunList } from '../runs.js'
import { emptySubtree, enclose } from './enclose.js'
import { type ActiveEdges, EAST, EDGE_INDEX, holdsPoint, testLeaf } from './leaf.js'
import { FRAME, frames, HELD, pushChildren, pushRoot, TREE_DEPTH } from './stack.js'

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
  if (shard.recipientCount === 0 || !meets(shard.box, edges.bounds)) return 0
  reserve(edges.edgeCount)
  const { coords, nodeSize } = shard
  let found = 0
  for (let edge = 0; edge < edges.edgeCount; edge++) active.entries[edge] = edge
  enclose(shard, edges.bounds, root)
  let top = pushRoot(root, edges.edgeCount)
  while (top > 0) {
    top -= FRAME
    const left = frames[top]
    if (frames[top + 2] === HELD) {
      found++
      runs?.append(left, left + 1)
      continue
    }
    const right = frames[top + 1]
    const touching = narrow(edges, top)
    budget.edgeTestCount -= frames[top + 4] + 1
    if (budget.edgeTestCount < 0) return -1
    if (!touching) {
      if (!holds(cornerBits(edges, top), 0, hasShell)) continue
      found += right + 1 - left
      runs?.append(left, right + 1)
    } else if (right - left > nodeSize) {
      const middle = (left + right) >> 1
      const lng = coords[2 * middle]
      const lat = coords[2 * middle + 1]
      const middleHeld = holdsPoint(lng, lat, edges, active, hasShell)
      top = pushChildren(top, middle, lng, lat, middleHeld, active)
    } else {
      budget.edgeTestCount -= active.count * (right + 1 - left)
      if (budget.edgeTestCount < 0) return -1
      found += testLeaf(coords, left, right + 1, edges, active, hasShell, runs)
    }
  }
  return found
}

const root = emptySubtree()

/**
 * What `narrow` leaves behind for the frame it was called on. Each list of entries lies right
 * behind its parent's; deeper ones overwrite those already used.
 */
const active: ActiveEdges = { entries: new Int32Array(0), start: 0, count: 0, crossedBits: 0 }

function reserve(edgeCount: number): void {
  if (edgeCount * TREE_DEPTH > active.entries.length) {
    active.entries = new Int32Array(2 * edgeCount * TREE_DEPTH)
  }
}

/** Drops the edges that no longer matter in the frame's cell; true if one of the rest touches it. */
function narrow(edges: EdgeTable, frame: number): boolean {
  const { lowLngs, lowLats, lngSpans, latSpans, minLngs, maxLngs, slacks, highLats, ringBits } =
    edges
  const { entries } = active
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
    const edge = entries[i] & EDGE_INDEX
    const low = lowLats[edge]
    const high = highLats[edge]
    if (high < minLat || low > maxLat) continue
    // An edge east of a cell is east of all cells in it.
    let east = (entries[i] & EAST) !== 0
    if (!east) {
      if (maxLngs[edge] < minLng) continue
      east = minLngs[edge] > maxLng
    }
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
    entries[end++] = east ? edge | EAST : edge
  }
  active.start = parentEnd
  active.count = end - parentEnd
  active.crossedBits = crossedBits
  return touching
}

/** The rings crossed from every point of a cell that no edge touches, told by one of its corners. */
function cornerBits(edges: EdgeTable, frame: number): number {
  const lat = frames[frame + 7]
  let bits = active.crossedBits
  for (let i = active.start; i < active.start + active.count; i++) {
    const edge = active.entries[i] & EDGE_INDEX
    if (edges.lowLats[edge] <= lat && lat < edges.highLats[edge]) bits ^= edges.ringBits[edge]
  }
  return bits
}
