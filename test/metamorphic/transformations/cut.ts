/**
 * A transformation that cuts a shape at the antimeridian by hand, as RFC 7946 asks for.
 *
 * Rings are cut that cross it at two places exactly, without a vertex there: between these the
 * antimeridian is inside, also of a ring that crosses itself, so that its two pieces may have it as
 * an edge. A hole must not cross it, for what is on its edge would not be cut out. A ring round a
 * pole that crosses it once becomes a ring along the pole.
 *
 * @module
 */
import { isReadable } from '../generate.js'
import { REDRAWN } from '../leeway.js'
import { type Reading, readPath } from '../reading.js'
import type { Path, Shape, Vertex } from '../shape.js'
import { turned } from './rewrite.js'
import { pairOf, type Transformation } from './transformation.js'

export const cut: Transformation = (shape) => {
  if (shape.kind === 'points' || shape.metres !== undefined) return undefined
  const parts: Path[][] = []
  for (const part of shape.parts) {
    const pieces = shape.kind === 'lines' ? cutLine(part[0]) : cutPolygon(part)
    if (pieces === undefined) return undefined
    parts.push(...pieces)
  }
  if (parts.length === shape.parts.length && shape.kind === 'lines') return undefined
  const changed: Shape = { ...shape, parts }
  // Nothing may run the short way any more, and no piece be without three different vertices.
  const isPlain = parts.flat().every((path) => readPath(path, shape.kind === 'polygons')?.isAsDrawn)
  return isPlain && isReadable(changed) ? pairOf(changed, REDRAWN) : undefined
}

/** A vertex where it is within ±180, and in which turn it is. */
interface Celled {
  readonly vertex: Vertex
  readonly cell: number
}

function cutPolygon([shell, ...holes]: readonly Path[]): Path[][] | undefined {
  const cells = cellsOf(shell, true)
  const turn = readPath(shell, true)?.turn ?? 0
  if (cells === undefined) return undefined
  const pieces = turn === 0 ? cutRing(cells) : cutCap(cells, turn, shell)
  if (pieces === undefined) return undefined
  const cut = [...pieces].map(([, piece]) => [piece])
  for (const hole of holes) {
    const holeCells = cellsOf(hole, true)
    const isWhole = holeCells?.every(({ cell }) => cell === holeCells[0].cell)
    if (holeCells === undefined || !isWhole) return undefined
    // Where the pieces lie apart, a hole of one cuts nothing out of the other.
    for (const rings of cut) rings.push(holeCells.map(({ vertex }) => vertex))
  }
  return cut
}

/** The pieces of each turn; undefined where a ring crosses the antimeridian more often than twice. */
function cutRing(cells: readonly Celled[]): Map<number, Path> | undefined {
  const pieces = new Map<number, Vertex[]>()
  let crossingCount = 0
  const into = (cell: number) => {
    const piece = pieces.get(cell) ?? []
    pieces.set(cell, piece)
    return piece
  }
  cells.forEach((from, i) => {
    const to = cells[(i + 1) % cells.length]
    into(from.cell).push(from.vertex)
    if (from.cell === to.cell) return
    const stepCount = Math.abs(to.cell - from.cell)
    crossingCount += stepCount === 1 ? 1 : Number.POSITIVE_INFINITY
    const lat = crossingLat(from, to)
    const side = Math.sign(to.cell - from.cell) * 180
    into(from.cell).push([side, lat])
    into(to.cell).push([-side, lat])
  })
  if (crossingCount > 2 || pieces.size > 2) return undefined
  return pieces
}

function cutCap(
  cells: readonly Celled[],
  turn: number,
  shell: Path,
): Map<number, Path> | undefined {
  const pole = readPath(shell, true)?.pole ?? 0
  const steps = cells.map(({ cell }, i) =>
    i + 1 < cells.length ? cells[i + 1].cell - cell : cells[0].cell + turn - cell,
  )
  if (steps.filter((step) => step !== 0).length !== 1) return undefined
  const last = steps.findIndex((step) => step !== 0)
  const to = cells[(last + 1) % cells.length]
  const lat = crossingLat(cells[last], { ...to, cell: cells[last].cell + turn })
  const round = [...cells.slice(last + 1), ...cells.slice(0, last + 1)].map(({ vertex }) => vertex)
  const start = -180 * turn
  const ring: Path = [
    [start, lat],
    ...round,
    [-start, lat],
    [-start, 90 * pole],
    [start, 90 * pole],
  ]
  return new Map([[0, ring]])
}

function cutLine([...line]: Path): Path[][] | undefined {
  const cells = cellsOf(line, false)
  if (cells === undefined) return undefined
  const pieces: Vertex[][] = [[]]
  for (const [i, from] of cells.entries()) {
    pieces.at(-1)?.push(from.vertex)
    const to = cells[i + 1]
    if (to === undefined || to.cell === from.cell) continue
    if (Math.abs(to.cell - from.cell) > 1) return undefined
    const lat = crossingLat(from, to)
    const side = (to.cell - from.cell) * 180
    pieces.at(-1)?.push([side, lat])
    pieces.push([[-side, lat]])
  }
  return pieces.map((piece) => [piece])
}

/** Undefined where a vertex is on the antimeridian, or its turn is not as clear as its place. */
function cellsOf(path: Path, isRing: boolean): Celled[] | undefined {
  const reading = readPath(path, isRing)
  if (reading === undefined) return undefined
  const cells = path.map((vertex, i) => celled(vertex, i, reading))
  return cells.every(({ vertex: [lng] }) => Math.abs(lng) < 180 - 1e-9) ? cells : undefined
}

function celled(vertex: Vertex, i: number, { isAsDrawn, turns }: Reading): Celled {
  if (!isAsDrawn) return { vertex, cell: turns[i] }
  const cell = Math.round(vertex[0] / 360)
  return { vertex: turned(vertex, -cell), cell }
}

function crossingLat(from: Celled, to: Celled): number {
  const way = to.vertex[0] - from.vertex[0] + 360 * (to.cell - from.cell)
  const share = (Math.sign(to.cell - from.cell) * 180 - from.vertex[0]) / way
  return from.vertex[1] + share * (to.vertex[1] - from.vertex[1])
}
