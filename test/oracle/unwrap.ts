/**
 * What rings and lines are on a globe, where longitudes are places modulo 360. Vertices are given
 * in degrees with at most 11 decimals, and longitudes are moved by whole turns without rounding.
 *
 * A point is looked for at every turn around an unwrapped ring. A ring that goes once round the
 * globe is followed several times round and closed far beyond the pole that it holds, so that no
 * seam is anywhere near a point: what is inside is what an even number of its edges parts from
 * the pole.
 *
 * @module
 */
import { type PlaceInRing, preparePlace } from './exact.js'

/** Longitude and latitude in degrees. */
export type Vertex = readonly number[]

/** What a request must be refused for. */
export class Refused extends Error {}

export interface GlobeRing {
  /** Unwrapped, with its first vertex again at the end, one turn further if it holds a pole. */
  readonly path: readonly Vertex[]
  /** The same as a ring in the plane, such that turning points by `turns` is all there is to do. */
  readonly planar: readonly Vertex[]
  readonly turns: readonly number[]
}

export const TURN_UNITS = 3_600_000_000
const TURN_DEGREES = 360
/** A longitude within ±540 that is unwrapped or drawn does not leave these. */
const ALL_TURNS = [-4, -3, -2, -1, 0, 1, 2, 3, 4]
const BEYOND_THE_POLE = 1_000

export function globeRing(ring: readonly Vertex[]): GlobeRing {
  const vertices = withoutClosing(ring)
  const isDifferent = (vertex: Vertex, at: number) =>
    vertices.findIndex(([lng, lat]) => lng === vertex[0] && lat === vertex[1]) === at
  if (vertices.filter(isDifferent).length < 3) throw new Refused('DegenerateRing')
  const path = unwrapped([...vertices, vertices[0]])
  const turn = difference(path[0][0], path[path.length - 1][0])
  if (turn === 0) return { path, planar: path, turns: ALL_TURNS }
  if (Math.abs(turn) > TURN_DEGREES) throw new Refused('SeveralTurns')
  return { path, planar: roundAndRound(path, turn, poleOf(vertices)), turns: [0] }
}

/**
 * Each vertex by the short way from the one before it; a line that is drawn beyond ±180, or of which
 * no edge runs the short way over the antimeridian, is as written.
 */
export function unwrapped(path: readonly Vertex[]): readonly Vertex[] {
  const steps = path.slice(1).map(([lng], at) => Math.abs(difference(path[at][0], lng)))
  const isDrawnBeyond = path.some(([lng]) => Math.abs(lng) > 180)
  if (isDrawnBeyond || !steps.some((step) => step > 180 && step < 360)) return path
  let turns = 0
  return path.map(([lng, lat], at) => {
    const step = at === 0 ? 0 : difference(path[at - 1][0], lng)
    // More than half a turn to the east is a shorter way to the west, and the other way round.
    if (Math.abs(step) > 180) turns -= Math.sign(step)
    return [moved(lng, turns), lat]
  })
}

/** Whether a point is inside of a ring at any turn, and whether it is on it or inside. */
export function preparePlaces(
  ring: GlobeRing,
): (lngUnits: number, latUnits: number) => { readonly holds: boolean; readonly cuts: boolean } {
  const placeOf = preparePlace(ring.planar)
  return (lngUnits, latUnits) => {
    const places = ring.turns.map(
      (turn): PlaceInRing => placeOf(lngUnits + turn * TURN_UNITS, latUnits),
    )
    const cuts = places.includes('interior')
    return { holds: cuts || places.includes('boundary'), cuts }
  }
}

export function moved(lng: number, turns: number): number {
  return turns === 0 ? lng : rounded(lng + turns * TURN_DEGREES)
}

/** What lies between two decimals, as a decimal. */
function difference(from: number, to: number): number {
  return rounded(to - from)
}

/** Sums of decimals are off by less than half of the eleventh decimal. */
function rounded(degrees: number): number {
  return Number(degrees.toFixed(11))
}

function withoutClosing(ring: readonly Vertex[]): readonly Vertex[] {
  const [first, last] = [ring[0], ring[ring.length - 1]]
  const isClosed = ring.length > 1 && first[0] === last[0] && first[1] === last[1]
  return isClosed ? ring.slice(0, -1) : ring
}

function poleOf(vertices: readonly Vertex[]): number {
  const latUnits = vertices.reduce((sum, [, lat]) => sum + Math.round(lat * 1e7), 0)
  if (Math.abs(latUnits) < 1e7 * vertices.length) throw new Refused('AmbiguousPole')
  return Math.sign(latUnits)
}

function roundAndRound(path: readonly Vertex[], turn: number, pole: number): Vertex[] {
  const once = path.slice(0, -1)
  const furthest = Math.max(...path.map(([lng]) => Math.abs(lng)))
  const reach = Math.ceil(furthest / TURN_DEGREES) + 2
  const rounds = Array.from({ length: 2 * reach + 1 }, (_, at) =>
    once.map(([lng, lat]) => [moved(lng, Math.sign(turn) * (at - reach)), lat]),
  ).flat()
  const [west, east] = [rounds[0], rounds[rounds.length - 1]].map(([lng]) => lng)
  return [...rounds, [east, pole * BEYOND_THE_POLE], [west, pole * BEYOND_THE_POLE]]
}
