/**
 * Transformations that write the same vertices in another way.
 *
 * @module
 */
import type { Random } from '../../support/random/world.js'
import { toSeven } from '../coordinates.js'
import { isFine } from '../exact.js'
import { isReadable } from '../generate.js'
import { MOVED, ROUNDED } from '../leeway.js'
import { roundingOf } from '../place.js'
import { isSameReading, type Reading, readPath } from '../reading.js'
import { mapPaths, type Path, type Shape, type Vertex } from '../shape.js'
import { pairOf, type Transformation } from './transformation.js'

/**
 * Moves each ring and line by whole turns of its own, written in continuous longitudes; places of
 * circles and corridors move one by one. A ring round a pole has no continuous longitudes that
 * close, so it stays; so does one that would be read otherwise where it came to lie.
 */
export function shiftBy(drawTurns: (random: Random) => number): Transformation {
  return (shape, random) => {
    let hasMoved = false
    let farthest = 0
    const follow = (turns: number) => {
      hasMoved ||= turns !== 0
      farthest = Math.max(farthest, Math.abs(turns))
      return turns
    }
    const isLoose =
      shape.kind === 'points' || (shape.kind === 'lines' && shape.metres !== undefined)
    const changed = mapPaths(shape, (path) => {
      if (isLoose) return path.map((vertex) => turned(vertex, follow(drawTurns(random))))
      const reading = readPath(path, shape.kind === 'polygons')
      if (reading === undefined || reading.turn !== 0) return path
      const turns = drawTurns(random)
      const moved = path.map((vertex, i) => turned(vertex, reading.turns[i] + turns))
      if (!isSame(path, reading, moved, shape)) return path
      follow(turns)
      hasMoved ||= !reading.isAsDrawn
      return moved
    })
    // Vertices at -180 and 180 of one ring may come to be the same, and then be too few.
    if (!hasMoved || !isReadable(changed)) return undefined
    const fineUnits = roundingOf((farthest + 4) * 3.6e9)
    return pairOf(changed, { ...ROUNDED, fineUnits })
  }
}

export const rotate: Transformation = (shape, random) => {
  if (shape.kind !== 'polygons') return undefined
  const changed = mapPaths(shape, (ring) => rotated(ring, random.between(1, ring.length - 1)))
  return pairOf({ ...changed, isClosed: random.unit() < 0.5 }, ROUNDED)
}

export const reverse: Transformation = (shape) =>
  pairOf(
    mapPaths(shape, (path) => path.toReversed()),
    ROUNDED,
  )

/** Writes vertices at exactly ±180 from the other side, in rings that run the short way anyway. */
export const swapSeam: Transformation = (shape, random) => {
  let hasSwapped = false
  const changed = mapPaths(shape, (path) => {
    const reading = readPath(path, shape.kind === 'polygons')
    if (reading === undefined || reading.isAsDrawn) return path
    const swapped = path.map(
      ([lng, lat]): Vertex => [Math.abs(lng) === 180 ? random.pick([-180, 180]) : lng, lat],
    )
    if (!isSame(path, reading, swapped, shape)) return path
    hasSwapped ||= swapped.some(([lng], i) => lng !== path[i][0])
    return swapped
  })
  return hasSwapped && isReadable(changed) ? pairOf(changed, ROUNDED) : undefined
}

/** Moves each coordinate by less than half a unit. */
export const perturb: Transformation = (shape, random) => {
  const away = (coordinate: number) => coordinate + (random.unit() - 0.5) * 0.999e-7
  return moveEach(shape, away)
}

export const round: Transformation = (shape) =>
  shape.parts.flat(3).some(isFine) ? moveEach(shape, toSeven) : undefined

/**
 * Not where that changes the meaning: of an edge of nearly half a turn, of a ring as drawn that
 * hardly goes beyond ±180, of a ring round a pole whose mean latitude is nearly 1, of vertices that
 * fall together. A ring that runs the short way stays within ±180.
 */
function moveEach(shape: Shape, move: (coordinate: number) => number) {
  let isKept = true
  const changed = mapPaths(shape, (path) => {
    const reading = readPath(path, shape.kind === 'polygons')
    const mostDegrees = reading?.isAsDrawn === false ? 180 : 1e8
    const moved = path.map(
      ([lng, lat]): Vertex => [clampedTo(mostDegrees, move(lng)), clampedTo(90, move(lat))],
    )
    isKept &&= reading !== undefined && isSame(path, reading, moved, shape)
    return moved
  })
  return isKept && isReadable(changed) ? pairOf(changed, MOVED) : undefined
}

export function rotated(ring: Path, start: number): Path {
  return [...ring.slice(start), ...ring.slice(0, start)]
}

/** A vertex so many turns away; without rounding if it has at most seven decimals. */
export function turned([lng, lat]: Vertex, turns: number): Vertex {
  if (turns === 0) return [lng, lat]
  if (isFine(lng)) return [lng + 360 * turns, lat]
  return [(Math.round(lng * 1e7) + turns * 3.6e9) / 1e7, lat]
}

function isSame(path: Path, reading: Reading, changed: Path, shape: Shape): boolean {
  const changedReading = readPath(changed, shape.kind === 'polygons')
  return changedReading !== undefined && isSameReading(path, reading, changed, changedReading)
}

function clampedTo(most: number, value: number): number {
  return Math.max(-most, Math.min(most, value))
}
