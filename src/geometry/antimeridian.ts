/**
 * Longitudes are places modulo 360: what a ring means where it meets the antimeridian or a pole.
 *
 * A ring with a longitude beyond ±180, as map libraries draw them, is taken as drawn. In any other
 * ring an edge of more than 180 and less than 360 degrees runs the short way over the antimeridian.
 * An edge from exactly -180 to exactly 180 is as written, the seam of a band or of a polar cap,
 * unless another edge of its ring runs the short way: then it is no way at all. A ring that so goes
 * once round the globe holds the pole nearer to its mean latitude.
 *
 * @module
 */
import { UNITS_PER_TURN } from './units.js'

const HALF_TURN = UNITS_PER_TURN / 2
/** Rings are closed beyond the pole that they hold, so that the pole itself is inside. */
const BEYOND_POLE = 1e9
/** A ring round the globe whose mean latitude is within this of the equator could mean either. */
const EQUATOR_BAND = 1e7

/** A ring in continuous longitudes: longitude and latitude in units, alternately, not closed. */
export type UnitRing = readonly number[] & {
  /**
   * Set on a ring round a pole, which is followed so far round that it is right for every longitude
   * within ±540 as it lies, and must not be moved by whole turns.
   */
  readonly isPolar?: true
}

/** What is wrong with a ring that has no one meaning. */
export type RingFault = 'AmbiguousPole' | 'SeveralTurns'

/**
 * The ring in continuous longitudes, which may leave ±180.
 *
 * @param ring  longitudes and latitudes in units, alternately, not closed; it is not changed
 */
export function unwrapRing(ring: readonly number[]): UnitRing | RingFault {
  if (!runsTheShortWay(ring, true)) return ring
  const unwrapped = unwrapped180(ring)
  const last = ring.length - 2
  const turn = unwrapped[last] + shortWay(ring[last], ring[0]) - ring[0]
  if (turn === 0) return unwrapped
  const { min, max } = lngRange(unwrapped)
  if (Math.abs(turn) > UNITS_PER_TURN || max - min > 2 * UNITS_PER_TURN) return 'SeveralTurns'
  const lat = meanLat(ring)
  if (Math.abs(lat) < EQUATOR_BAND) return 'AmbiguousPole'
  const eastwards =
    turn > 0 ? unwrapped : reversed([...unwrapped.slice(2), ring[0] + turn, ring[1]])
  return roundThePole(eastwards, Math.sign(lat))
}

/**
 * Follows a ring round a pole, turn after turn, from where not even a part that runs back reaches
 * ±180 to where none does any more, and closes it beyond the pole.
 *
 * @param ring  one turn to the east
 * @param pole  1 for the north pole, -1 for the south pole
 */
export function roundThePole(ring: readonly number[], pole: number): UnitRing {
  const { min, max } = lngRange(ring)
  // One turn more than that, for polygons whose other rings are drawn up to ±540.
  const before = Math.floor((max + HALF_TURN) / UNITS_PER_TURN) + 2
  const after = Math.floor((HALF_TURN - min) / UNITS_PER_TURN) + 2
  const round: number[] = []
  for (let turn = -before; turn <= after; turn++) {
    for (let i = 0; i < ring.length; i += 2)
      round.push(ring[i] + turn * UNITS_PER_TURN, ring[i + 1])
  }
  round.push(round[round.length - 2], pole * BEYOND_POLE, round[0], pole * BEYOND_POLE)
  return Object.assign(round, { isPolar: true } as const)
}

export function reversed(ring: readonly number[]): number[] {
  const backwards: number[] = []
  for (let i = ring.length - 2; i >= 0; i -= 2) backwards.push(ring[i], ring[i + 1])
  return backwards
}

/** The same for a line: it is not closed, and holds no pole. */
export function unwrapLine(line: readonly number[]): readonly number[] {
  return runsTheShortWay(line, false) ? unwrapped180(line) : line
}

/** Longitudes [min, max], closed, in units. */
export interface LngRange {
  readonly min: number
  readonly max: number
}

/** Where the recipients are. */
export const GLOBE: LngRange = { min: -HALF_TURN, max: HALF_TURN }

export function lngRange(vertices: readonly number[]): LngRange {
  let min = vertices[0]
  let max = vertices[0]
  for (let i = 2; i < vertices.length; i += 2) {
    if (vertices[i] < min) min = vertices[i]
    if (vertices[i] > max) max = vertices[i]
  }
  return { min, max }
}

/** What is common to two ranges; empty when its least is greater than its greatest. */
export function overlapOf(a: LngRange, b: LngRange): LngRange {
  return { min: Math.max(a.min, b.min), max: Math.min(a.max, b.max) }
}

/** By how many units to move a ring, whole turns at a time, so that it meets a range. */
export function movesOfRing(ring: UnitRing, onto: LngRange): number[] {
  return ring.isPolar === true ? [0] : movesOnto(lngRange(ring), onto)
}

/** By how many units to move longitudes, whole turns at a time, so that they meet others. */
export function movesOnto(range: LngRange, onto: LngRange): number[] {
  const moves: number[] = []
  const first = Math.ceil((onto.min - range.max) / UNITS_PER_TURN)
  for (let turn = first; range.min + turn * UNITS_PER_TURN <= onto.max; turn++)
    moves.push(turn * UNITS_PER_TURN)
  return moves
}

/** A ring as it lies when its longitudes are moved by so many units. */
export function movedRing(ring: UnitRing, move: number): UnitRing {
  return move === 0 ? ring : ring.map((value, i) => (i % 2 === 0 ? value + move : value))
}

/** Whether an edge runs the short way over the antimeridian. */
function runsTheShortWay(vertices: readonly number[], isClosed: boolean): boolean {
  let found = false
  for (let i = 0; i < vertices.length; i += 2) {
    if (vertices[i] < -HALF_TURN || vertices[i] > HALF_TURN) return false
    if (i === 0 && !isClosed) continue
    const from = i > 0 ? i - 2 : vertices.length - 2
    const span = Math.abs(vertices[i] - vertices[from])
    if (span > HALF_TURN && span < UNITS_PER_TURN) found = true
  }
  return found
}

/** Follows the vertices, each by the short way from the one before. */
function unwrapped180(vertices: readonly number[]): number[] {
  const unwrapped = [vertices[0], vertices[1]]
  for (let i = 2; i < vertices.length; i += 2) {
    unwrapped.push(unwrapped[i - 2] + shortWay(vertices[i - 2], vertices[i]), vertices[i + 1])
  }
  return unwrapped
}

/** The way from one longitude within ±180 to another: half a turn at most, and as written if so. */
function shortWay(from: number, to: number): number {
  const way = to - from
  return Math.abs(way) <= HALF_TURN ? way : way - Math.sign(way) * UNITS_PER_TURN
}

function meanLat(ring: readonly number[]): number {
  let sum = 0
  for (let i = 1; i < ring.length; i += 2) sum += ring[i]
  return (2 * sum) / ring.length
}
