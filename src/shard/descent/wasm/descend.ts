/**
 * The descent of descend.ts over shared memory, with the same answers.
 *
 * It works in one scratch zone, whose header (zone-header.ts) says what is asked. When the buffer
 * of runs is full it returns and goes on later: all that it has to remember is on its stack.
 *
 * @module
 */
import {
  BOUND_COUNT,
  BOUND_COUNT_MAX,
  BOUNDS_AT,
  BOUNDS_SPARE_COUNT,
  BOX,
  BUDGET,
  DONE,
  EDGE_COUNT,
  FOUND_COUNT,
  FRAME_BYTES,
  FULL,
  LEAF_SIZE,
  LEFT_RECIPIENT,
  LISTS_AT,
  NODE_SIZE,
  PACKED_AT,
  RIGHT_RECIPIENT,
  ROOT_AXIS,
  SINK,
  SPENT,
  STACK_AT,
  TIED_SET_AT,
  TOP_AT,
  WANTS_RUNS,
} from '../zone-header'
import { testLeaf } from './leaf'
import { append, boundCount, openRuns } from './runs'
import {
  cornerHeld,
  firstCount,
  firstCrossed,
  firstTouching,
  middleCrossed,
  middleDoubtful,
  narrowRoot,
  secondCount,
  secondCrossed,
  secondTouching,
  splitByLat,
  splitByLng,
} from './split'
import { held, holdsExactly, loadState, pointAt } from './state'

/**
 * A frame of the stack: a range of items that edges touch, still to be split or tested, or with
 * the axis HELD a range that is inside, kept for its turn. Lists of entries from FREE on are unused
 * while the frame waits.
 */
const LEFT = 0
const RIGHT = 4
const AXIS = 8
const LIST = 12
const LIST_COUNT = 16
const CROSSED = 20
const FREE = 24
const MIN_LNG = 28
const MIN_LAT = 32
const MAX_LNG = 36
const MAX_LAT = 40

const BY_LNG = 0
const HELD = 2

/** How a half of a cell lies to the edges; 0 is outside. */
const INSIDE = 1
const TOUCHED = 2

/** Up to this many, testing more points costs less than splitting the range once more. */
const LEAF_EDGE_COUNT = 8

export function start(zone: usize): i32 {
  loadState(zone)
  const stack = <usize>load<u32>(zone, STACK_AT)
  const list = <usize>load<u32>(zone, LISTS_AT)
  const minLat = load<i32>(zone, BOX + 4)
  const left = load<i32>(zone, LEFT_RECIPIENT)
  const right = load<i32>(zone, RIGHT_RECIPIENT)
  store<f64>(zone, load<f64>(zone, BUDGET) - <f64>load<i32>(zone, EDGE_COUNT), BUDGET)
  narrowRoot(zone, list)
  let top = stack
  if (firstTouching) {
    top = pushRange(stack, left, right, load<i32>(zone, ROOT_AXIS))
    pushEdges(stack, list, firstCount, firstCrossed, list + ((<usize>firstCount) << 2))
    memory.copy(stack + MIN_LNG, zone + BOX, 16)
  } else if (cornerHeld(list, firstCount, firstCrossed, <f64>minLat)) {
    top = pushRange(stack, left, right + 1, HELD)
  }
  store<i32>(zone, <i32>top, TOP_AT)
  return resume(zone)
}

/** Goes on where the last call stopped, with an empty buffer of runs. */
export function resume(zone: usize): i32 {
  loadState(zone)
  const boundsAt = <usize>load<u32>(zone, BOUNDS_AT)
  openRuns(boundsAt, <usize>load<u32>(zone, TIED_SET_AT))
  const status = run(zone)
  store<i32>(zone, boundCount(), BOUND_COUNT)
  return status
}

function run(zone: usize): i32 {
  const nodeSize = load<i32>(zone, NODE_SIZE)
  const leafSize = load<i32>(zone, LEAF_SIZE)
  const wantsRuns = load<i32>(zone, WANTS_RUNS) != 0
  const boundsEnough = load<i32>(zone, BOUND_COUNT_MAX) - leafSize - BOUNDS_SPARE_COUNT
  const packedAt = <usize>load<u32>(zone, PACKED_AT)
  const stack = <usize>load<u32>(zone, STACK_AT)
  let top = <usize>load<u32>(zone, TOP_AT)
  let budget = load<f64>(zone, BUDGET)
  let found = 0
  let sink = 0
  let status = DONE
  while (top > stack) {
    if (boundCount() > boundsEnough) {
      status = FULL
      break
    }
    top -= FRAME_BYTES
    let left = load<i32>(top, LEFT)
    let right = load<i32>(top, RIGHT)
    let axis = load<i32>(top, AXIS)
    if (axis == HELD) {
      found += right - left
      if (wantsRuns) append(left, right)
      continue
    }
    let list = <usize>load<u32>(top, LIST)
    let count = load<i32>(top, LIST_COUNT)
    let crossed = load<i32>(top, CROSSED)
    let free = <usize>load<u32>(top, FREE)
    let minLng = load<i32>(top, MIN_LNG)
    let minLat = load<i32>(top, MIN_LAT)
    let maxLng = load<i32>(top, MAX_LNG)
    let maxLat = load<i32>(top, MAX_LAT)
    // Down to a leaf, or to a cell of which neither half is touched.
    while (true) {
      if (right - left <= (count <= LEAF_EDGE_COUNT ? leafSize : nodeSize)) {
        budget -= <f64>count * <f64>(right + 1 - left)
        if (budget >= 0) {
          found += testLeaf(left, right + 1, list, count, crossed, packedAt, wantsRuns)
        }
        break
      }
      budget -= <f64>(count + 1)
      if (budget < 0) break
      const middle = (left + right) >> 1
      sink ^= touch(left, middle - 1, leafSize) ^ touch(middle + 1, right, leafSize)
      const lng = load<i32>(pointAt(middle))
      const lat = load<i32>(pointAt(middle), 4)
      const second = free + ((<usize>count) << 2)
      if (axis == BY_LNG) {
        splitByLng(list, count, crossed, lng, lat, minLat, maxLat, free, second)
      } else {
        splitByLat(list, count, crossed, lng, lat, minLng, minLat, maxLng, maxLat, free, second)
      }
      const middleHeld = middleDoubtful
        ? holdsExactly(middle, list, count, crossed)
        : held(middleCrossed)
      const secondMinLng = axis == BY_LNG ? lng : minLng
      const secondMinLat = axis == BY_LNG ? minLat : lat
      const lower = firstTouching
        ? TOUCHED
        : i32(cornerHeld(free, firstCount, firstCrossed, minLat))
      const upper = secondTouching
        ? TOUCHED
        : i32(cornerHeld(second, secondCount, secondCrossed, secondMinLat))
      const first = free
      free = second + ((<usize>secondCount) << 2)
      if (lower == TOUCHED) {
        if (upper == TOUCHED) {
          const frame = top
          top = pushRange(frame, middle + 1, right, axis ^ 1)
          pushEdges(frame, second, secondCount, secondCrossed, free)
          pushCell(frame, secondMinLng, secondMinLat, maxLng, maxLat)
        }
        const heldFrom = middleHeld ? middle : middle + 1
        const heldTo = upper == INSIDE ? right + 1 : middle + 1
        if (heldFrom < heldTo) top = pushRange(top, heldFrom, heldTo, HELD)
        right = middle - 1
        if (axis == BY_LNG) maxLng = lng
        else maxLat = lat
        list = first
        count = firstCount
        crossed = firstCrossed
      } else {
        const heldFrom = lower == INSIDE ? left : middle
        const heldTo = middleHeld ? middle + 1 : middle
        if (heldFrom < heldTo) {
          found += heldTo - heldFrom
          if (wantsRuns) append(heldFrom, heldTo)
        }
        if (upper != TOUCHED) {
          if (upper == INSIDE) {
            found += right - middle
            if (wantsRuns) append(middle + 1, right + 1)
          }
          break
        }
        left = middle + 1
        minLng = secondMinLng
        minLat = secondMinLat
        list = second
        count = secondCount
        crossed = secondCrossed
      }
      axis ^= 1
    }
    if (budget < 0) {
      status = SPENT
      break
    }
  }
  store<i32>(zone, <i32>top, TOP_AT)
  store<f64>(zone, budget, BUDGET)
  store<i32>(zone, load<i32>(zone, FOUND_COUNT) + found, FOUND_COUNT)
  store<i32>(zone, sink, SINK)
  return status
}

/**
 * Loads what will be read of a half, long before it is needed: memory is slow, but takes many
 * orders at a time.
 */
@inline
function touch(left: i32, right: i32, leafSize: i32): i32 {
  if (right - left > leafSize) return load<i32>(pointAt((left + right) >> 1))
  let sink = 0
  const end = pointAt(right)
  for (let at = pointAt(left); at < end; at += 64) sink ^= load<i32>(at)
  return sink
}

@inline
function pushRange(frame: usize, left: i32, right: i32, axis: i32): usize {
  store<i32>(frame, left, LEFT)
  store<i32>(frame, right, RIGHT)
  store<i32>(frame, axis, AXIS)
  return frame + FRAME_BYTES
}

@inline
function pushEdges(frame: usize, list: usize, count: i32, crossed: i32, free: usize): void {
  store<i32>(frame, <i32>list, LIST)
  store<i32>(frame, count, LIST_COUNT)
  store<i32>(frame, crossed, CROSSED)
  store<i32>(frame, <i32>free, FREE)
}

@inline
function pushCell(frame: usize, minLng: i32, minLat: i32, maxLng: i32, maxLat: i32): void {
  store<i32>(frame, minLng, MIN_LNG)
  store<i32>(frame, minLat, MIN_LAT)
  store<i32>(frame, maxLng, MAX_LNG)
  store<i32>(frame, maxLat, MAX_LAT)
}
