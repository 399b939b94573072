/**
 * What a ring or a line means, decided on its numbers as they are sent: by which whole turns its
 * vertices follow one another, and which pole it goes round. Written from the documentation alone,
 * and without a sum of longitudes: whole turns are counted.
 *
 * @module
 */
import { compareSpan } from './exact.js'
import type { Path, Vertex } from './shape.js'

export interface Reading {
  /** Whether longitudes are taken as they are sent, each edge as it is written. */
  readonly isAsDrawn: boolean
  /** Whole turns to be added to the longitude of each vertex, which make it continuous. */
  readonly turns: readonly number[]
  /** Turns of a ring from its first vertex round to it again: ±1 round a pole. */
  readonly turn: number
  /** The pole that is inside: 1 for the north pole, -1 for the south pole, else 0. */
  readonly pole: number
  /**
   * Whether the reading stays the same when each coordinate is moved by up to `NEAR_DEGREES`, as
   * long as none of a ring that is not as drawn leaves ±180 by that.
   */
  readonly isFirm: boolean
}

export const NEAR_DEGREES = 1e-6
/** Longitudes of one ring or line may spread over three turns, round a pole over two. */
const SPREAD_DEGREES = 3 * 360
const POLAR_SPREAD_DEGREES = 2 * 360
/** Round the globe so near the equator, a ring could hold either pole. */
const AMBIGUOUS_LAT = 1

/** Undefined for what is refused, and for what is too near to that for this to decide. */
export function readPath(path: Path, isRing: boolean): Reading | undefined {
  const edges = edgesOf(path, isRing)
  const isBeyond = path.some(([lng]) => Math.abs(lng) > 180)
  const isShort = ([from, to]: Edge) =>
    compareSpan(from, to, 180) > 0 && compareSpan(from, to, 360) < 0
  const isAsDrawn = isBeyond || !edges.some(isShort)
  const turns = [0]
  if (isAsDrawn) for (let i = 1; i < path.length; i++) turns.push(0)
  else for (const [from, to] of edges) turns.push((turns.at(-1) ?? 0) + turnOf(from, to))
  const turn = isRing && !isAsDrawn ? (turns.pop() ?? 0) : 0
  if (Math.abs(turn) > 1) return undefined
  const spread = spreadOf(path, turns, turn)
  if (spread > (turn === 0 ? SPREAD_DEGREES : POLAR_SPREAD_DEGREES) - NEAR_DEGREES) return undefined
  const lat = turn === 0 ? 0 : meanLat(path)
  if (turn !== 0 && Math.abs(lat) < AMBIGUOUS_LAT + NEAR_DEGREES) return undefined
  const isFirm = isAsDrawn ? isFirmlyDrawn(path, edges) : edges.every((edge) => !isNear(edge, 180))
  const isFirmlyShort = isAsDrawn || edges.some((edge) => isShort(edge) && !isNear(edge, 360))
  return { isAsDrawn, turns, turn, pole: Math.sign(lat), isFirm: isFirm && isFirmlyShort }
}

/** Continuous longitudes in degrees, nearly. */
export function continuousLngs(path: Path, { turns }: Reading): number[] {
  return path.map(([lng], i) => lng + 360 * turns[i])
}

/** Whether two paths of as many vertices mean the same but for whole turns and `NEAR_DEGREES`. */
export function isSameReading(a: Path, readingA: Reading, b: Path, readingB: Reading): boolean {
  if (readingA.turn !== readingB.turn || readingA.pole !== readingB.pole) return false
  const [lngsA, lngsB] = [continuousLngs(a, readingA), continuousLngs(b, readingB)]
  const shift = 360 * Math.round((lngsB[0] - lngsA[0]) / 360)
  return lngsA.every((lng, i) => Math.abs(lngsB[i] - lng - shift) < 2 * NEAR_DEGREES)
}

/** How many vertices differ from all before them by more than so many degrees. */
export function differentCount(path: Path, apartDegrees: number): number {
  const different: Vertex[] = []
  for (const [lng, lat] of path) {
    const apart = apartDegrees + Math.abs(lng) * 2 ** -50
    const isNew = different.every(
      ([x, y]) => Math.abs(x - lng) > apart || Math.abs(y - lat) > apart,
    )
    if (isNew) different.push([lng, lat])
  }
  return different.length
}

type Edge = readonly [fromLng: number, toLng: number]

function edgesOf(path: Path, isRing: boolean): Edge[] {
  const ends = isRing ? [...path.slice(1), path[0]] : path.slice(1)
  return ends.map(([to], i) => [path[i][0], to])
}

/** The turns by which the short way to the next longitude leaves the numbers as sent. */
function turnOf(from: number, to: number): number {
  return compareSpan(from, to, 180) > 0 ? -Math.sign(to - from) : 0
}

function isNear([from, to]: Edge, degrees: number): boolean {
  return Math.abs(Math.abs(to - from) - degrees) < 2 * NEAR_DEGREES
}

/** A ring without an edge of half a turn or more is the same whether it is taken as drawn or not. */
function isFirmlyDrawn(path: Path, edges: readonly Edge[]): boolean {
  return (
    path.some(([lng]) => Math.abs(lng) > 180 + NEAR_DEGREES) ||
    edges.every(([from, to]) => Math.abs(to - from) < 180 - 2 * NEAR_DEGREES)
  )
}

function spreadOf(path: Path, turns: readonly number[], turn: number): number {
  const lngs = path.map(([lng], i) => lng + 360 * turns[i])
  const all = [...lngs, lngs[0] + 360 * turn]
  return Math.max(...all) - Math.min(...all)
}

/** Along the ring: each edge weighs as many degrees of longitude as it runs over. */
function meanLat(path: Path): number {
  let sum = 0
  let weight = 0
  path.forEach(([lng, lat], i) => {
    const [nextLng, nextLat] = path[(i + 1) % path.length]
    const way = Math.abs(nextLng - lng)
    const width = Math.min(way, 360 - way)
    sum += (width * (lat + nextLat)) / 2
    weight += width
  })
  return sum / weight
}
