/**
 * Which recipients of a shard lie within reach of any of some arcs?
 *
 * The descent is that of descend.ts with distances for edges: each cell carries the arcs that may
 * still reach into it. An arc whose reach ends before the cell is dropped; one that reaches past all
 * of the cell accepts the whole range unread.
 *
 * @module
 */
import type { ReachTable } from '../geometry/reach-table.js'
import type { Budget } from './budget.js'
import type { Shard } from './layout.js'
import { CUT, createCell, IN, OUT, setCell, sideOfArc } from './reach-cell.js'
import { reachesPoint, testReachLeaf } from './reach-leaf.js'
import type { RunList } from './runs.js'

/** What it takes to test an arc against a cell or a point, and to place a point, in edge tests. */
const ARC_COST = 16
const PLACE_COST = 24

/**
 * Counts the recipients within reach, and appends them to `runs` unless that is null.
 *
 * @returns the count, or -1 when the budget is spent (then `runs` is incomplete)
 */
export function descendReach(
  shard: Shard,
  table: ReachTable,
  budget: Budget,
  runs: RunList | null,
): number {
  if (shard.recipientCount === 0 || table.arcCount === 0) return 0
  const { coords, nodeSize } = shard
  reserve(table.arcCount)
  let found = 0
  let top = pushRoot(shard, table)
  while (top > 0) {
    top -= FRAME
    const left = frames[top]
    const right = frames[top + 1]
    if (frames[top + 2] === HELD) {
      found++
      runs?.append(left, left + 1)
      continue
    }
    budget.edgeTestCount -= ARC_COST * frames[top + 4] + PLACE_COST
    if (budget.edgeTestCount < 0) return -1
    const state = narrow(table, top)
    if (state === OUT) continue
    if (state === IN) {
      found += right + 1 - left
      runs?.append(left, right + 1)
    } else if (right - left > nodeSize) {
      const middle = (left + right) >> 1
      const lng = coords[2 * middle]
      const lat = coords[2 * middle + 1]
      const activeEnd = activeStart + activeCount
      const isHeld = reachesPoint(coords, middle, table, active, activeStart, activeEnd)
      top = pushChildren(top, middle, lng, lat, isHeld)
    } else {
      budget.edgeTestCount -= (ARC_COST * activeCount + PLACE_COST) * (right + 1 - left)
      if (budget.edgeTestCount < 0) return -1
      const activeEnd = activeStart + activeCount
      found += testReachLeaf(coords, left, right + 1, table, active, activeStart, activeEnd, runs)
    }
  }
  return found
}

/**
 * A frame of the stack, as in descend.ts.
 *
 *   0 left   1 right   2 axis, or HELD   3 listStart   4 listCount
 *   5 min lng   6 min lat   7 max lng   8 max lat
 */
const FRAME = 9
const HELD = 2
const frames = new Int32Array(FRAME * 80)
const TREE_DEPTH = 34

let active = new Int32Array(0)
let activeStart = 0
let activeCount = 0

function reserve(arcCount: number): void {
  if (arcCount * TREE_DEPTH > active.length) active = new Int32Array(2 * arcCount * TREE_DEPTH)
}

function pushRoot({ box, recipientCount }: Shard, { arcCount }: ReachTable): number {
  for (let arc = 0; arc < arcCount; arc++) active[arc] = arc
  frames.set([0, recipientCount - 1, 0, 0, arcCount])
  frames.set([box.minLng, box.minLat, box.maxLng, box.maxLat], 5)
  return FRAME
}

const cell = createCell()

/** Leaves the arcs that may reach into the frame's cell, and says whether any or one does wholly. */
function narrow(table: ReachTable, frame: number): number {
  const start = frames[frame + 3]
  const end = start + frames[frame + 4]
  setCell(cell, frames[frame + 5], frames[frame + 6], frames[frame + 7], frames[frame + 8])
  let put = end
  for (let i = start; i < end; i++) {
    const side = sideOfArc(table, active[i], cell)
    if (side === IN) return IN
    if (side === CUT) active[put++] = active[i]
  }
  activeStart = end
  activeCount = put - end
  return activeCount === 0 ? OUT : CUT
}

/** As in descend.ts. */
function pushChildren(
  top: number,
  middle: number,
  lng: number,
  lat: number,
  isMiddleHeld: boolean,
): number {
  const left = frames[top]
  const right = frames[top + 1]
  const byLng = frames[top + 2] === 0
  const minLng = frames[top + 5]
  const minLat = frames[top + 6]
  const maxLng = frames[top + 7]
  const maxLat = frames[top + 8]
  let next = pushFrame(top, middle + 1, right, byLng)
  frames[top + 5] = byLng ? lng : minLng
  frames[top + 6] = byLng ? minLat : lat
  frames[top + 7] = maxLng
  frames[top + 8] = maxLat
  if (isMiddleHeld) {
    frames[next] = middle
    frames[next + 2] = HELD
    next += FRAME
  }
  const last = next
  next = pushFrame(last, left, middle - 1, byLng)
  frames[last + 5] = minLng
  frames[last + 6] = minLat
  frames[last + 7] = byLng ? lng : maxLng
  frames[last + 8] = byLng ? maxLat : lat
  return next
}

function pushFrame(frame: number, left: number, right: number, byLng: boolean): number {
  frames[frame] = left
  frames[frame + 1] = right
  frames[frame + 2] = byLng ? 1 : 0
  frames[frame + 3] = activeStart
  frames[frame + 4] = activeCount
  return frame + FRAME
}
