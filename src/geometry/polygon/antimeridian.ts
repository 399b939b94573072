/**
 * Longitudes are places modulo 360: what a ring means where it meets the antimeridian or a pole.
 *
 * A ring with a longitude beyond ±180, as map libraries draw them, is taken as drawn. In any other
 * ring an edge of more than 180 and less than 360 degrees runs the short way over the antimeridian.
 * An edge from exactly -180 to exactly 180 is as written, the seam of a band or of a polar cap,
 * unless another edge of its ring runs the short way: then it is no way at all. A ring that so goes
 * once round the globe holds the pole nearer to its mean latitude (geometry/polygon/nearer-pole.ts).
 *
 * Whole turns are integers, and each of these cases is decided on the longitudes as they were sent.
 * A vertex at another turn is its own longitude plus whole turns, added in one step: it is rounded
 * once, and not at all where it comes to lie within ±180.
 *
 * @module
 */

import { HALF_TURN, UNITS_PER_DEGREE, UNITS_PER_TURN } from '../units.js'
import { nearerPole } from './nearer-pole.js'
import { type SentPath, spansMoreThanHalfTurn } from './sent-path.js'

/** Rings are closed beyond the pole that they hold, so that the pole itself is inside. */
const BEYOND_POLE = 1e9
/** A ring drawn wider is a mistake, and would have to be looked for at as many turns. */
const TURNS_WIDE_MAX = 3
/** Nor may a ring round a pole run back farther on its way. */
const TURNS_BACK_MAX = 1

/** A span that rounding of units cannot make half a turn. */
const CLEARLY_SHORT = HALF_TURN - UNITS_PER_DEGREE

/** A ring in continuous longitudes: longitude and latitude in units, alternately, not closed. */
export type UnitRing = readonly number[] & {
  /**
   * Set on a ring round a pole, which is followed so far round that it is right for every longitude
   * within ±900 as it lies, and must not be moved by whole turns.
   */
  readonly isPolar?: true
  /** Set where vertices were moved by whole turns: what they were before, and by how many. */
  readonly sent?: { readonly vertices: readonly number[]; readonly turns: readonly number[] }
}

/** Why a ring has no one meaning. */
export type RingFault = 'AmbiguousPole' | 'SeveralTurns' | 'TooWide'

/** The ring in continuous longitudes, which may leave ±180. */
export function unwrapRing(path: SentPath): UnitRing | RingFault {
  const { units } = path
  const turns = turnsTheShortWay(path, true)
  if (turns === 'Beyond') return drawnRing(units)
  if (turns === 'AsWritten') return units
  // The way from the last vertex back to the first may end a turn further than it began.
  const turn = turns.pop() as number
  const ring = atTurns(units, turns)
  if (turn === 0) return isTooWide(ring) ? 'TooWide' : ring
  if (Math.abs(turn) > 1) return 'SeveralTurns'
  if (farthestBack(ring, turn) > TURNS_BACK_MAX * UNITS_PER_TURN) return 'TooWide'
  const pole = nearerPole(units, [...turns, turn])
  if (pole === undefined) return 'AmbiguousPole'
  if (turn > 0) return roundThePole(units, pole, turns)
  return roundThePole(reversed(units), pole, turns.toReversed())
}

/** The same for a line: it is not closed, and holds no pole. */
export function unwrapLine(path: SentPath): UnitRing | 'TooWide' {
  const turns = turnsTheShortWay(path, false)
  if (turns === 'Beyond') return drawnRing(path.units)
  if (turns === 'AsWritten') return path.units
  const line = atTurns(path.units, turns)
  return isTooWide(line) ? 'TooWide' : line
}

/**
 * A ring or a line as it was drawn, but for whole turns if all of it is more than one away. What is
 * taken away leaves fewer digits, so that no vertex is rounded, to whichever side the quotient is.
 */
export function drawnRing(vertices: readonly number[]): UnitRing | 'TooWide' {
  if (isTooWide(vertices)) return 'TooWide'
  const { min, max } = lngRange(vertices)
  const turn =
    min > 0 ? Math.floor(min / UNITS_PER_TURN) : max < 0 ? Math.ceil(max / UNITS_PER_TURN) : 0
  return movedRing(vertices, -turn)
}

/**
 * Follows a ring round a pole, turn after turn, from where not even a part that runs back reaches
 * ±180 to where none does any more, and closes it beyond the pole.
 *
 * @param ring  one turn to the east, with its vertices at the given turns, if any
 * @param pole  1 for the north pole, -1 for the south pole
 */
export function roundThePole(
  ring: readonly number[],
  pole: number,
  turns?: readonly number[],
): UnitRing {
  const turnOf = (i: number) => turns?.[i / 2] ?? 0
  const { min, max } = lngRange(turns === undefined ? ring : atTurns(ring, turns))
  // Two turns more than that, for polygons whose other rings lie within ±720: so it does not matter
  // to which side a quotient is rounded.
  const before = Math.floor((max + HALF_TURN) / UNITS_PER_TURN) + 3
  const after = Math.floor((HALF_TURN - min) / UNITS_PER_TURN) + 3
  const round: number[] = []
  for (let turn = -before; turn <= after; turn++) {
    for (let i = 0; i < ring.length; i += 2) {
      round.push(ring[i] + (turnOf(i) + turn) * UNITS_PER_TURN, ring[i + 1])
    }
  }
  round.push(round[round.length - 2], pole * BEYOND_POLE, round[0], pole * BEYOND_POLE)
  return Object.assign(round, { isPolar: true } as const)
}

/** A ring that lost, on its way through a list, that it was followed round a pole. */
export function closedBeyondPole(ring: number[]): UnitRing {
  const isPolar = Math.abs(ring[ring.length - 1]) === BEYOND_POLE
  return isPolar ? Object.assign(ring, { isPolar } as const) : ring
}

export function reversed(ring: readonly number[]): number[] {
  const backwards: number[] = []
  for (let i = ring.length - 2; i >= 0; i -= 2) backwards.push(ring[i], ring[i + 1])
  return backwards
}

/** Longitudes [min, max], closed, in units. */
interface LngRange {
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

/** The part that two ranges share; empty when its least is greater than its greatest. */
export function overlapOf(a: LngRange, b: LngRange): LngRange {
  return { min: Math.max(a.min, b.min), max: Math.min(a.max, b.max) }
}

/** By how many whole turns to move a ring so that it meets a range. */
export function turnsOfRing(ring: UnitRing, onto: LngRange): number[] {
  return ring.isPolar === true ? [0] : turnsOnto(lngRange(ring), onto)
}

/** By how many whole turns to move longitudes so that they meet others. */
function turnsOnto(range: LngRange, onto: LngRange): number[] {
  const turns: number[] = []
  // The quotient may be rounded up to a whole number. Sums are compared instead, which are exact
  // for whole units, and for others rounded as the vertices themselves are.
  let turn = Math.ceil((onto.min - range.max) / UNITS_PER_TURN) - 1
  if (range.max + turn * UNITS_PER_TURN < onto.min) turn++
  for (; range.min + turn * UNITS_PER_TURN <= onto.max; turn++) turns.push(turn)
  return turns
}

/** A ring as it lies when it is moved by so many whole turns. */
export function movedRing(ring: UnitRing, turn: number): UnitRing {
  if (turn === 0) return ring
  const { vertices, turns } = ring.sent ?? { vertices: ring, turns: undefined }
  return vertices.map((value, i) =>
    i % 2 === 0 ? value + ((turns?.[i / 2] ?? 0) + turn) * UNITS_PER_TURN : value,
  )
}

/** A ring that runs along a line and back: it has no inside, and is all boundary. */
export function thereAndBack(line: UnitRing): UnitRing {
  const vertexCount = line.length / 2
  const way = Array.from({ length: vertexCount }, (_, vertex) => vertex)
  for (let vertex = vertexCount - 2; vertex > 0; vertex--) way.push(vertex)
  const along = (units: readonly number[]) =>
    way.flatMap((vertex) => [units[2 * vertex], units[2 * vertex + 1]])
  const { sent } = line
  if (sent === undefined) return along(line)
  const turns = way.map((vertex) => sent.turns[vertex])
  return Object.assign(along(line), { sent: { vertices: along(sent.vertices), turns } })
}

/** A ring that is not round a pole, moved by whole turns to within ±720. */
export function centred(ring: UnitRing): UnitRing {
  const { min, max } = lngRange(ring)
  return movedRing(ring, -Math.round((min + max) / 2 / UNITS_PER_TURN))
}

/** The same place with a longitude within ±180. What is taken away leaves fewer digits: exact. */
export function lngOnGlobe(lng: number): number {
  if (lng >= GLOBE.min && lng <= GLOBE.max) return lng
  return lng - UNITS_PER_TURN * Math.round(lng / UNITS_PER_TURN)
}

/**
 * At which turn each vertex lies when each is reached the short way from the one before, and the
 * first once more at the end of a ring; or why the path is not followed in that way.
 */
function turnsTheShortWay(path: SentPath, isClosed: boolean): number[] | 'Beyond' | 'AsWritten' {
  const { units } = path
  const vertexCount = units.length / 2
  let isShort = false
  let from = isClosed ? vertexCount - 1 : 0
  let before = units[2 * from]
  for (let to = 0; to < vertexCount; to++) {
    const lng = units[2 * to]
    if (lng < -HALF_TURN || lng > HALF_TURN) return 'Beyond'
    // Almost every edge is far shorter, and is passed over without a call.
    if (!isShort && Math.abs(lng - before) > CLEARLY_SHORT) {
      isShort = spansMoreThanHalfTurn(path, from, to) && !isSeam(before, lng)
    }
    from = to
    before = lng
  }
  if (!isShort) return 'AsWritten'
  const turns = [0]
  for (let at = 0; at < (isClosed ? vertexCount : vertexCount - 1); at++) {
    const to = (at + 1) % vertexCount
    const isFar = spansMoreThanHalfTurn(path, at, to)
    turns.push(turns[at] - (isFar ? Math.sign(units[2 * to] - units[2 * at]) : 0))
  }
  return turns
}

/**
 * Whether a ring that is written as it lies is read so: beyond ±180 it is, but within, an edge of more than half a
 * turn is taken the short way.
 */
export function isTakenAsItLies(ring: readonly number[]): boolean {
  const { min, max } = lngRange(ring)
  if (min < GLOBE.min || max > GLOBE.max) return true
  let before = ring[ring.length - 2]
  for (let i = 0; i < ring.length; i += 2) {
    if (Math.abs(ring[i] - before) > CLEARLY_SHORT && !isSeam(before, ring[i])) return false
    before = ring[i]
  }
  return true
}

/** A limit, and no case: beside it a rounded difference may say either, and either is right. */
function isTooWide(ring: readonly number[]): boolean {
  const { min, max } = lngRange(ring)
  return max - min > TURNS_WIDE_MAX * UNITS_PER_TURN
}

/**
 * By how much a ring runs back on its way round the globe, at most: the same from whichever vertex it
 * is followed. A limit, too.
 *
 * @param turn  1 where it goes eastwards, -1 where it goes westwards
 */
function farthestBack(ring: readonly number[], turn: number): number {
  let farthest = Number.NEGATIVE_INFINITY
  let back = 0
  for (const round of [0, UNITS_PER_TURN]) {
    for (let i = 0; i < ring.length; i += 2) {
      const way = turn * ring[i] + round
      farthest = Math.max(farthest, way)
      back = Math.max(back, farthest - way)
    }
  }
  return back
}

/** From one side of the antimeridian to the other: compared as sent, without a sum. */
function isSeam(from: number, to: number): boolean {
  return (from === GLOBE.min && to === GLOBE.max) || (from === GLOBE.max && to === GLOBE.min)
}

function atTurns(vertices: readonly number[], turns: readonly number[]): UnitRing {
  const moved = vertices.map((value, i) =>
    i % 2 === 0 ? value + turns[i / 2] * UNITS_PER_TURN : value,
  )
  return Object.assign(moved, { sent: { vertices, turns } })
}
