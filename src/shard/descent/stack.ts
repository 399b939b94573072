/**
 * The cells of a kd-tree that a descent has yet to look at.
 *
 * A frame is a range of items with its cell, and what its parent handed down: a list of the edges or
 * arcs that still matter, and the rings already crossed.
 *
 *   0 left   1 right   2 axis   3 listStart   4 listCount   5 crossed bits
 *   6 min lng   7 min lat   8 max lng   9 max lat
 *
 * The item that splits a range belongs to neither half. If it is held, it is a frame of its own
 * between them, with the axis HELD and nothing else, so that runs come out in order.
 *
 * @module
 */
import type { Subtree } from './enclose.js'

export const FRAME = 10
export const HELD = 2
/** Halvings of the largest shard, amply: a list for each level has to be kept. */
export const TREE_DEPTH = 34
/** One descent at a time. A level leaves two frames behind while it goes down with the third. */
export const frames = new Int32Array(FRAME * 80)

/** The data that a frame hands down to both its halves. */
interface HandedDown {
  start: number
  count: number
  crossedBits: number
}

/** Begins with a subtree and the first `listCount` entries; returns the top of the stack. */
export function pushRoot(root: Readonly<Subtree>, listCount: number): number {
  frames.set([root.left, root.right, Number(root.isByLat), 0, listCount, 0])
  frames.set([root.minLng, root.minLat, root.maxLng, root.maxLat], 6)
  return FRAME
}

/**
 * Replaces the frame at `top` by its two halves and, if it is held, the item between them; the
 * half that comes last in order lies lowest on the stack. Returns the new top.
 */
export function pushChildren(
  top: number,
  middle: number,
  lng: number,
  lat: number,
  isMiddleHeld: boolean,
  handedDown: HandedDown,
): number {
  const left = frames[top]
  const right = frames[top + 1]
  const byLng = frames[top + 2] === 0
  const minLng = frames[top + 6]
  const minLat = frames[top + 7]
  const maxLng = frames[top + 8]
  const maxLat = frames[top + 9]
  let next = pushFrame(top, middle + 1, right, byLng, handedDown)
  frames[top + 6] = byLng ? lng : minLng
  frames[top + 7] = byLng ? minLat : lat
  frames[top + 8] = maxLng
  frames[top + 9] = maxLat
  if (isMiddleHeld) {
    frames[next] = middle
    frames[next + 2] = HELD
    next += FRAME
  }
  const last = next
  next = pushFrame(last, left, middle - 1, byLng, handedDown)
  frames[last + 6] = minLng
  frames[last + 7] = minLat
  frames[last + 8] = byLng ? lng : maxLng
  frames[last + 9] = byLng ? maxLat : lat
  return next
}

/** Writes all but the cell of a frame whose parent was split by longitude or by latitude. */
function pushFrame(
  frame: number,
  left: number,
  right: number,
  byLng: boolean,
  { start, count, crossedBits }: HandedDown,
): number {
  frames[frame] = left
  frames[frame + 1] = right
  frames[frame + 2] = byLng ? 1 : 0
  frames[frame + 3] = start
  frames[frame + 4] = count
  frames[frame + 5] = crossedBits
  return frame + FRAME
}
