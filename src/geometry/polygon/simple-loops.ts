/**
 * A ring that crosses or touches itself, taken apart into loops that do not.
 *
 * The ring gets a vertex wherever it meets itself. An edge that it runs along an even number of
 * times bounds nothing by the even-odd rule and is dropped, and the others are followed: each time
 * the way comes back to a vertex, what lies between is a loop.
 *
 * @module
 */
import { orient2d } from 'robust-predicates'

/**
 * Loops of at least three vertices and some area; none where the ring holds nothing, and one where
 * it does not meet itself. A place is inside the ring by the even-odd rule where it is inside an
 * odd number of loops.
 */
export function simpleLoops(ring: readonly number[]): number[][] {
  const { lngs, lats, neighbours, edges, keyOf } = edgesOnce(withNodes(ring))
  const loops: number[][] = []
  const cursors = new Uint32Array(lngs.length)
  const places = new Int32Array(lngs.length).fill(-1)
  const nextOf = (vertex: number): number | undefined => {
    const around = neighbours[vertex]
    while (cursors[vertex] < around.length) {
      const next = around[cursors[vertex]++]
      if (edges.delete(keyOf(vertex, next))) return next
    }
    return undefined
  }
  for (let start = 0; start < lngs.length; start++) {
    const path = [start]
    places[start] = 0
    // As many edges lead to a vertex as from it, so that the way ends where it began.
    for (let next = nextOf(start); next !== undefined; next = nextOf(next)) {
      if (places[next] >= 0) {
        const loop = path.splice(places[next])
        for (const vertex of loop) places[vertex] = -1
        loops.push(loop.flatMap((vertex) => [lngs[vertex], lats[vertex]]))
      }
      places[next] = path.length
      path.push(next)
    }
    places[start] = -1
  }
  return loops.filter((loop) => Math.abs(doubleArea(loop)) >= DOUBLE_AREA_MIN)
}

/**
 * Twice the area of a ring in square units, positive if it is counterclockwise. The sum of doubles is
 * taken for what it is unless rounding could have decided its sign, or whether it is anything at all.
 */
export function doubleArea(ring: readonly number[]): number {
  let sum = 0
  let magnitude = 0
  for (let i = 2; i + 3 < ring.length; i += 2) {
    const [x1, y1] = [ring[i] - ring[0], ring[i + 1] - ring[1]]
    const [x2, y2] = [ring[i + 2] - ring[0], ring[i + 3] - ring[1]]
    sum += x1 * y2 - x2 * y1
    magnitude += Math.abs(x1 * y2) + Math.abs(x2 * y1)
  }
  // Differences, products and each addition are off by 2 ** -53 of what has been added up so far.
  const error = magnitude * ring.length * 2 ** -51
  return Math.abs(sum) > error + DOUBLE_AREA_MIN ? sum : exactDoubleArea(ring)
}

function exactDoubleArea(ring: readonly number[]): number {
  const fixed = ring.map((units) => BigInt(Math.round(units * STEPS_PER_UNIT)))
  let sum = 0n
  for (let i = 0; i < fixed.length; i += 2) {
    const to = (i + 2) % fixed.length
    sum += fixed[i] * fixed[to + 1] - fixed[to] * fixed[i + 1]
  }
  return Number(sum) / STEPS_PER_UNIT ** 2
}

/** Coordinates of drawings are whole units or, where edges cross, parts of them. */
const STEPS_PER_UNIT = 2 ** 40

/** Less than a loop of whole units has: what rounding leaves of loops without area. */
const DOUBLE_AREA_MIN = 0.5

/** The edges that a ring runs along an odd number of times, by the numbers of their ends. */
function edgesOnce(ring: readonly number[]) {
  const lngs: number[] = []
  const lats: number[] = []
  const numbers = new Map<string, number>()
  const numberOf = (lng: number, lat: number): number => {
    const key = `${lng} ${lat}`
    const known = numbers.get(key)
    if (known !== undefined) return known
    numbers.set(key, lngs.length)
    lngs.push(lng)
    return lats.push(lat) - 1
  }
  const keyOf = (a: number, b: number) => Math.min(a, b) * ring.length + Math.max(a, b)
  const edges = new Map<number, readonly [number, number]>()
  for (let i = 0; i < ring.length; i += 2) {
    const to = (i + 2) % ring.length
    const [a, b] = [numberOf(ring[i], ring[i + 1]), numberOf(ring[to], ring[to + 1])]
    if (a !== b && !edges.delete(keyOf(a, b))) edges.set(keyOf(a, b), [a, b])
  }
  const neighbours = lngs.map((): number[] => [])
  for (const [a, b] of edges.values()) {
    neighbours[a].push(b)
    neighbours[b].push(a)
  }
  return { lngs, lats, neighbours, edges, keyOf }
}

/** The ring with a vertex wherever two of its edges meet. */
function withNodes(ring: readonly number[]): number[] {
  const nodes = nodesOfEdges(ring)
  const noded: number[] = []
  for (let from = 0; from < ring.length; from += 2) {
    noded.push(ring[from], ring[from + 1])
    const own = nodes.get(from)
    if (own === undefined) continue
    const to = (from + 2) % ring.length
    const [lngSpan, latSpan] = [ring[to] - ring[from], ring[to + 1] - ring[from + 1]]
    const axis = Math.abs(lngSpan) >= Math.abs(latSpan) ? 0 : 1
    const sign = Math.sign(axis === 0 ? lngSpan : latSpan)
    own.sort((a, b) => sign * (a[axis] - b[axis]))
    for (const [lng, lat] of own) noded.push(lng, lat)
  }
  return noded
}

type Node = readonly [lng: number, lat: number]

/** By the offset of the first end of each edge: where others meet it between its ends. */
function nodesOfEdges(ring: readonly number[]): Map<number, Node[]> {
  const nodes = new Map<number, Node[]>()
  const add = (from: number, node: Node) => {
    const own = nodes.get(from)
    if (own === undefined) nodes.set(from, [node])
    else own.push(node)
  }
  const { offsets, easts, souths, norths, wests } = edgesByWest(ring)
  // Edges that reach as far east as the one that is looked at: rings of ten thousands of vertices
  // may have thousands of them, so this is done in place.
  const open = new Int32Array(offsets.length)
  let openCount = 0
  for (let edge = 0; edge < offsets.length; edge++) {
    const [west, south, north] = [wests[edge], souths[edge], norths[edge]]
    let keptCount = 0
    for (let i = 0; i < openCount; i++) {
      const other = open[i]
      if (easts[other] < west) continue
      open[keptCount++] = other
      if (souths[other] <= north && norths[other] >= south) {
        meet(ring, offsets[edge], offsets[other], add)
      }
    }
    open[keptCount++] = edge
    openCount = keptCount
  }
  return nodes
}

/** Edges as columns: the offset of the first end in the ring, and the bounds. */
function edgesByWest(ring: readonly number[]) {
  const bound = (take: (a: number, b: number) => number, from: number, axis: 0 | 1) =>
    take(ring[from + axis], ring[((from + 2) % ring.length) + axis])
  const starts = Array.from({ length: ring.length / 2 }, (_, i) => 2 * i)
  const west = Float64Array.from(starts, (from) => bound(Math.min, from, 0))
  const offsets = Int32Array.from(starts).sort((a, b) => west[a / 2] - west[b / 2])
  const column = (take: (a: number, b: number) => number, axis: 0 | 1) =>
    Float64Array.from(offsets, (from) => bound(take, from, axis))
  return {
    offsets,
    wests: column(Math.min, 0),
    easts: column(Math.max, 0),
    souths: column(Math.min, 1),
    norths: column(Math.max, 1),
  }
}

/** Adds to each of two edges where the other meets it. */
function meet(
  ring: readonly number[],
  from1: number,
  from2: number,
  add: (from: number, node: Node) => void,
): void {
  const [to1, to2] = [(from1 + 2) % ring.length, (from2 + 2) % ring.length]
  const [ax, ay, bx, by] = [ring[from1], ring[from1 + 1], ring[to1], ring[to1 + 1]]
  const [cx, cy, dx, dy] = [ring[from2], ring[from2 + 1], ring[to2], ring[to2 + 1]]
  // Signs, which are exact: a product of two tiny determinants could come out as nothing.
  const sideC = Math.sign(orient2d(ax, ay, bx, by, cx, cy))
  const sideD = Math.sign(orient2d(ax, ay, bx, by, dx, dy))
  if (sideC * sideD > 0) return
  const sideA = Math.sign(orient2d(cx, cy, dx, dy, ax, ay))
  const sideB = Math.sign(orient2d(cx, cy, dx, dy, bx, by))
  if (sideA * sideB > 0) return
  if (sideC === 0 && isBetween(ax, ay, bx, by, cx, cy)) add(from1, [cx, cy])
  if (sideD === 0 && isBetween(ax, ay, bx, by, dx, dy)) add(from1, [dx, dy])
  if (sideA === 0 && isBetween(cx, cy, dx, dy, ax, ay)) add(from2, [ax, ay])
  if (sideB === 0 && isBetween(cx, cy, dx, dy, bx, by)) add(from2, [bx, by])
  if (sideA * sideB < 0 && sideC * sideD < 0) {
    const node = crossing([ax, ay], [bx, by], [cx, cy], [dx, dy])
    add(from1, node)
    add(from2, node)
  }
}

/** Whether a place on the line of an edge from a to b is on the edge, but none of its ends. */
function isBetween(ax: number, ay: number, bx: number, by: number, x: number, y: number): boolean {
  if ((x === ax && y === ay) || (x === bx && y === by)) return false
  return isWithin(x, ax, bx) && isWithin(y, ay, by)
}

function isWithin(value: number, a: number, b: number): boolean {
  return Math.min(a, b) <= value && value <= Math.max(a, b)
}

/**
 * The same place in whatever order and direction the edges are given: a line runs there and back. The
 * ends of one edge are on either side of the other, so that the share of the way between is of two
 * determinants of different signs, whose difference rounding cannot make nothing.
 */
function crossing(a: Node, b: Node, c: Node, d: Node): Node {
  const [[p, q], [r, s]] = [inOrder(a, b), inOrder(c, d)].sort(
    ([p, q], [r, s]) => p[0] - r[0] || p[1] - r[1] || q[0] - s[0] || q[1] - s[1],
  )
  const sideR = orient2d(p[0], p[1], q[0], q[1], r[0], r[1])
  const sideS = orient2d(p[0], p[1], q[0], q[1], s[0], s[1])
  const share = sideR / (sideR - sideS)
  return [snapped(r[0] + share * (s[0] - r[0])), snapped(r[1] + share * (s[1] - r[1]))]
}

/** Where three edges meet in one place, each two of them give it with other last digits. */
function snapped(units: number): number {
  return Math.round(units * NODES_PER_UNIT) / NODES_PER_UNIT
}

/** A prime, since vertices of drawings lie on grids, and their crossings at fractions of them. */
const NODES_PER_UNIT = 1_021

function inOrder(a: Node, b: Node): readonly [Node, Node] {
  return a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]) ? [a, b] : [b, a]
}
