/**
 * Which recipients of a shard lie within reach of any of some arcs?
 *
 * The descent is that of descend.ts with distances for edges: each cell carries the arcs that may
 * still reach into it. An arc whose reach ends before the cell is dropped; one that reaches past all
 * of the cell accepts the whole range unread.
 *
 * @module
 */
import type { ReachTable } from '../../geometry/reach/reach-table.js'
import type { Budget } from '../budget.js'
import { wholeOf } from '../descent/enclose.js'
import { FRAME, frames, HELD, pushChildren, pushRoot, TREE_DEPTH } from '../descent/stack.js'
import type { Shard } from '../layout.js'
import type { RunList } from '../runs.js'
import { CUT, createCell, IN, OUT, setCell, sideOfArc } from './reach-cell.js'
import { testReachLeaf } from './reach-leaf.js'

/** The costs of testing an arc against a cell or a point, and of placing a point, in edge tests. */
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
  for (let arc = 0; arc < table.arcCount; arc++) active.arcs[arc] = arc
  let top = pushRoot(wholeOf(shard), table.arcCount)
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
      const isHeld = testReachLeaf(coords, middle, middle + 1, table, active, null) === 1
      top = pushChildren(top, middle, lng, lat, isHeld, active)
    } else {
      budget.edgeTestCount -= (ARC_COST * active.count + PLACE_COST) * (right + 1 - left)
      if (budget.edgeTestCount < 0) return -1
      found += testReachLeaf(coords, left, right + 1, table, active, runs)
    }
  }
  return found
}

/** What `narrow` leaves behind: arcs, one behind the other; there are no rings to be crossed. */
const active = { arcs: new Int32Array(0), start: 0, count: 0, crossedBits: 0 }

function reserve(arcCount: number): void {
  if (arcCount * TREE_DEPTH > active.arcs.length) {
    active.arcs = new Int32Array(2 * arcCount * TREE_DEPTH)
  }
}

const cell = createCell()

/** Leaves the arcs that may reach into the frame's cell, and says whether any or one does wholly. */
function narrow(table: ReachTable, frame: number): number {
  const start = frames[frame + 3]
  const end = start + frames[frame + 4]
  setCell(cell, frames[frame + 6], frames[frame + 7], frames[frame + 8], frames[frame + 9])
  const { arcs } = active
  let put = end
  for (let i = start; i < end; i++) {
    const side = sideOfArc(table, arcs[i], cell)
    if (side === IN) return IN
    if (side === CUT) arcs[put++] = arcs[i]
  }
  active.start = end
  active.count = put - end
  return active.count === 0 ? OUT : CUT
}
