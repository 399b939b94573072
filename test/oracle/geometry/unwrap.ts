/**
 * What rings and lines are on a globe, where longitudes are places modulo 360. Everything is decided
 * on exact decimals, and longitudes are moved by whole turns without rounding.
 *
 * A point is looked for at every turn around an unwrapped ring. A ring that goes once round the
 * globe is followed several times round and closed far beyond the pole that it holds, so that no
 * seam is anywhere near a point: what is inside is what an even number of its edges parts from
 * the pole.
 *
 * @module
 */
import { type ExactPath, type ExactVertex, turnedVertex, turnOf } from '../decimal.js'
import type { Verdict } from '../verdict.js'
import { preparePlaceInPath } from './exact.js'

/** What a request must be refused for. */
export class Refused extends Error {}

export interface GlobeRing {
  /** Unwrapped, with its first vertex again at the end, one turn further if it holds a pole. */
  readonly path: ExactPath
  /** The same as a ring in the plane, such that turning points by `turns` is all there is to do. */
  readonly planar: ExactPath
  readonly turns: readonly number[]
}

export const TURN_UNITS = 3_600_000_000
const TURNS_MAX = 3n
const TURNS_BACK_MAX = 1n
const BEYOND_THE_POLE_UNITS = 10_000_000_000n
const DEGREE_UNITS = 10_000_000n

/** Whether it has three different points as they are sent. */
export function hasThreePoints({ vertices }: ExactPath): boolean {
  return new Set(vertices.map(({ lng, lat }) => `${lng} ${lat}`)).size >= 3
}

/** A ring without area is its points and edges. */
export function globeRing(ring: ExactPath): GlobeRing {
  const { unitScale } = ring
  const vertices = withoutClosing(ring.vertices)
  const path = besideGreenwich(unwrapped({ unitScale, vertices: [...vertices, vertices[0]] }))
  const turn = path.vertices[path.vertices.length - 1].lng - path.vertices[0].lng
  const once = { unitScale, vertices: path.vertices.slice(0, -1) }
  if (turn === 0n) {
    refuseBeyond(TURNS_MAX, once)
    return { path, planar: path, turns: turnsOf(path) }
  }
  if (absolute(turn) > turnOf(unitScale)) throw new Refused('SeveralTurns')
  const direction = turn > 0n ? 1 : -1
  refuseFarBack(once, direction)
  return { path, planar: roundAndRound(once, direction, poleOf(path)), turns: [0] }
}

/** A line without a distance around it; it is not closed, and holds no pole. */
export function globeLine(line: ExactPath): ExactPath {
  const path = besideGreenwich(unwrapped(line))
  refuseBeyond(TURNS_MAX, path)
  return path
}

/** By how many turns to move who is within ±180 so that they may meet a path. */
export function turnsOf(path: ExactPath): number[] {
  const turn = turnOf(path.unitScale)
  const [west, east] = endsOf(path)
  const first = Number(west / turn) - 2
  const last = Number(east / turn) + 2
  return Array.from({ length: last - first + 1 }, (_, at) => first + at)
}

/**
 * Each vertex by the short way from the one before it; a line that is drawn beyond ±180, or of which
 * no edge runs the short way over the antimeridian, is as written.
 */
function unwrapped(path: ExactPath): ExactPath {
  const { vertices, unitScale } = path
  const turn = turnOf(unitScale)
  const steps = vertices.slice(1).map(({ lng }, at) => lng - vertices[at].lng)
  const isLong = (step: bigint) => 2n * absolute(step) > turn
  const isDrawnBeyond = vertices.some(({ lng }) => isLong(lng))
  const runsTheShortWay = steps.some((step) => isLong(step) && absolute(step) < turn)
  if (isDrawnBeyond || !runsTheShortWay) return path
  let turns = 0
  return {
    unitScale,
    vertices: vertices.map((vertex, at) => {
      const step = at === 0 ? 0n : steps[at - 1]
      // More than half a turn to the east is a shorter way to the west, and the other way round.
      if (isLong(step)) turns -= step > 0n ? 1 : -1
      return turnedVertex(vertex, turns, unitScale)
    }),
  }
}

/** The same moved by whole turns, so that doubles know it as well wherever it was drawn. */
function besideGreenwich({ vertices, unitScale }: ExactPath): ExactPath {
  const turns = -Number(vertices[0].lng / turnOf(unitScale))
  return { unitScale, vertices: vertices.map((vertex) => turnedVertex(vertex, turns, unitScale)) }
}

/** Whether a point is inside of a ring at any turn, and whether it is on it or inside. */
export function preparePlaces(
  ring: GlobeRing,
): (lngUnits: number, latUnits: number) => { readonly holds: Verdict; readonly cuts: Verdict } {
  const placeOf = preparePlaceInPath(ring.planar)
  return (lngUnits, latUnits) => {
    const places = new Set(
      ring.turns.map((turn) => placeOf(lngUnits + turn * TURN_UNITS, latUnits)),
    )
    const otherwise = places.has('doubtful') ? 'either' : 'outside'
    const cuts = places.has('interior') ? 'inside' : otherwise
    return { holds: places.has('boundary') ? 'inside' : cuts, cuts }
  }
}

function withoutClosing(vertices: readonly ExactVertex[]): readonly ExactVertex[] {
  const [first, last] = [vertices[0], vertices[vertices.length - 1]]
  const isClosed = vertices.length > 1 && first.lng === last.lng && first.lat === last.lat
  return isClosed ? vertices.slice(0, -1) : vertices
}

function refuseBeyond(turnsMax: bigint, path: ExactPath): void {
  const [west, east] = endsOf(path)
  if (east - west > turnsMax * turnOf(path.unitScale)) throw new Refused('SeveralTurns')
}

/** Every place on the way round against every one that is reached after it, once round and further. */
function refuseFarBack({ vertices, unitScale }: ExactPath, direction: number): void {
  const turn = turnOf(unitScale)
  const once = vertices.map(({ lng }) => BigInt(direction) * lng)
  const twice = [...once, ...once.map((lng) => lng + turn)]
  const isFar = (lng: bigint, at: number) =>
    twice.slice(at).some((later) => lng - later > TURNS_BACK_MAX * turn)
  if (twice.some(isFar)) throw new Refused('SeveralTurns')
}

function endsOf({ vertices }: ExactPath): [west: bigint, east: bigint] {
  const lngs = vertices.map(({ lng }) => lng)
  return [
    lngs.reduce((least, lng) => (lng < least ? lng : least)),
    lngs.reduce((most, lng) => (lng > most ? lng : most)),
  ]
}

/** The pole nearer to the mean latitude along the ring, by longitude covered. */
function poleOf({ vertices, unitScale }: ExactPath): bigint {
  let [covered, twiceLat] = [0n, 0n]
  for (const [at, to] of vertices.slice(1).entries()) {
    const from = vertices[at]
    const step = absolute(to.lng - from.lng)
    covered += step
    twiceLat += step * (from.lat + to.lat)
  }
  const isAmbiguous = absolute(twiceLat) < 2n * DEGREE_UNITS * unitScale * covered
  if (isAmbiguous) throw new Refused('AmbiguousPole')
  return twiceLat > 0n ? 1n : -1n
}

function roundAndRound(once: ExactPath, direction: number, pole: bigint): ExactPath {
  const { unitScale } = once
  const [west, east] = endsOf(once)
  const furthest = absolute(west) > absolute(east) ? absolute(west) : absolute(east)
  const reach = Number(furthest / turnOf(unitScale)) + 3
  const rounds = Array.from({ length: 2 * reach + 1 }, (_, at) =>
    once.vertices.map((vertex) => turnedVertex(vertex, direction * (at - reach), unitScale)),
  ).flat()
  const lat = pole * BEYOND_THE_POLE_UNITS * unitScale
  const closing = [rounds[rounds.length - 1], rounds[0]].map((vertex) => ({ ...vertex, lat }))
  return { unitScale, vertices: [...rounds, ...closing] }
}

function absolute(value: bigint): bigint {
  return value < 0n ? -value : value
}
