/**
 * Transformations that add vertices to edges, and parts that change nothing.
 *
 * @module
 */
import type { Random } from '../../support/random/world.js'
import { isFine } from '../exact.js'
import { REDRAWN, ROUNDED } from '../leeway.js'
import { continuousLngs, NEAR_DEGREES, type Reading, readPath } from '../reading.js'
import { mapPaths, type Path, type Shape, type Vertex } from '../shape.js'
import { rotated } from './rewrite.js'
import { pairOf, type Transformation } from './transformation.js'

/**
 * Adds vertices that are exactly on their edges: of whole units anywhere on the edge, else along a
 * parallel or a meridian; where there are none, a vertex twice. The arcs of a corridor are no
 * straight lines, so that its vertices are only repeated.
 */
export const addCollinear: Transformation = (shape, random) => {
  const isStraight = shape.metres === undefined || shape.kind === 'polygons'
  const changed = insertInto(shape, random, (from, to, turns) =>
    isStraight
      ? (onWholeEdge(from, to, turns, random) ?? alongAxis(from, to, turns, random))
      : from,
  )
  return changed && pairOf(changed, ROUNDED)
}

/** Splits edges at places that are on them but for the rounding of a double. */
export const split: Transformation = (shape, random) => {
  if (shape.kind !== 'polygons' && shape.metres !== undefined) return undefined
  const changed = insertInto(shape, random, ([fromLng, fromLat], [toLng, toLat], turns) => {
    const share = random.unit()
    return [fromLng + share * (toLng + 360 * turns - fromLng), fromLat + share * (toLat - fromLat)]
  })
  return changed && pairOf(changed, REDRAWN)
}

/** Adds a hole that cuts nothing out: beside its shell, without area, or there already. */
export const addHole: Transformation = (shape, random) => {
  if (shape.kind !== 'polygons') return undefined
  const at = random.between(0, shape.parts.length - 1)
  const rings = shape.parts[at]
  const known = rings.length > 1 && random.unit() < 0.5 ? random.pick(rings.slice(1)) : undefined
  const hole =
    known === undefined
      ? random.pick([holeBeside, flatHole])(rings[0], random)
      : rotated(known, random.between(0, known.length - 1))
  if (hole === undefined) return undefined
  return pairOf({ ...shape, parts: shape.parts.with(at, [...rings, hole]) }, ROUNDED)
}

/** Adds a hole of fewer than three different vertices, as thinning leaves them. */
export const addCollapsedHole: Transformation = (shape, random) => {
  if (shape.kind !== 'polygons') return undefined
  const at = random.between(0, shape.parts.length - 1)
  const rings = shape.parts[at]
  const vertex = random.pick(rings[0])
  const other = random.pick([vertex, random.pick(rings[0])])
  const hole = random.pick<Path>([[vertex], [vertex, other], [vertex, other, vertex]])
  return pairOf({ ...shape, parts: shape.parts.with(at, [...rings, hole]) }, ROUNDED)
}

/** Draws a part of the shape twice, from another vertex on. */
export const repeatPart: Transformation = (shape, random) => {
  const part = random.pick(shape.parts)
  const again =
    shape.kind === 'polygons'
      ? part.map((ring) => rotated(ring, random.between(0, ring.length - 1)))
      : part
  return pairOf({ ...shape, parts: [...shape.parts, again] }, ROUNDED)
}

/** A place on the way from a vertex to the next, which is so many turns away from its number. */
type Between = (from: Vertex, to: Vertex, turns: number) => Vertex

function insertInto(shape: Shape, random: Random, between: Between): Shape | undefined {
  let hasChanged = false
  const isRing = shape.kind === 'polygons'
  const changed = mapPaths(shape, (path) => {
    let longer = path
    for (let count = random.between(1, 3); count > 0; count--) {
      const next = withVertex(longer, isRing, random, between)
      hasChanged ||= next !== longer
      longer = next
    }
    return longer
  })
  return hasChanged ? changed : undefined
}

/** The path itself where it would be read otherwise with another vertex. */
function withVertex(path: Path, isRing: boolean, random: Random, between: Between): Path {
  const at = random.between(0, path.length - (isRing ? 1 : 2))
  const reading = readPath(path, isRing)
  if (at < 0 || reading === undefined) return path
  const isLast = at === path.length - 1
  const next = isLast ? 0 : at + 1
  const turns = reading.turns[next] + (isLast ? reading.turn : 0) - reading.turns[at]
  const vertex = inRange(between(path[at], path[next], turns), reading, random)
  const longer = path.toSpliced(at + 1, 0, vertex)
  const longerReading = readPath(longer, isRing)
  const isSame =
    longerReading?.turn === reading.turn &&
    longerReading.pole === reading.pole &&
    longerReading.turns.toSpliced(at + 1, 1).every((each, i) => each === reading.turns[i]) &&
    isBetween(longer, longerReading, at, path[next][0] + 360 * (reading.turns[at] + turns))
  return isSame ? longer : path
}

function isBetween(path: Path, reading: Reading, at: number, nextLng: number): boolean {
  const lngs = continuousLngs(path, reading)
  const [west, east] = [Math.min(lngs[at], nextLng), Math.max(lngs[at], nextLng)]
  return lngs[at + 1] > west - NEAR_DEGREES && lngs[at + 1] < east + NEAR_DEGREES
}

/** Within ±180 where all others are. */
function inRange([lng, lat]: Vertex, { isAsDrawn }: Reading, random: Random): Vertex {
  if (isAsDrawn || Math.abs(lng) < 180) return [lng, lat]
  if (Math.abs(lng) === 180) return [random.pick([-180, 180]), lat]
  const turns = -Math.sign(lng)
  if (isFine(lng)) return [lng + 360 * turns, lat]
  return [(Math.round(lng * 1e7) + turns * 3.6e9) / 1e7, lat]
}

function onWholeEdge(
  [fromLng, fromLat]: Vertex,
  [toLng, toLat]: Vertex,
  turns: number,
  random: Random,
): Vertex | undefined {
  if ([fromLng, fromLat, toLng, toLat].some(isFine)) return undefined
  const [x, y] = [Math.round(fromLng * 1e7), Math.round(fromLat * 1e7)]
  const [dx, dy] = [Math.round(toLng * 1e7) + turns * 3.6e9 - x, Math.round(toLat * 1e7) - y]
  const steps = commonDivisor(Math.abs(dx), Math.abs(dy))
  if (steps < 2) return undefined
  const step = 1 + Math.floor(random.unit() * (steps - 1))
  return [(x + (dx / steps) * step) / 1e7, (y + (dy / steps) * step) / 1e7]
}

function alongAxis(from: Vertex, to: Vertex, turns: number, random: Random): Vertex {
  const share = random.unit()
  if (turns !== 0) return from
  if (from[1] === to[1]) return [from[0] + share * (to[0] - from[0]), from[1]]
  if (from[0] === to[0]) return [from[0], from[1] + share * (to[1] - from[1])]
  return from
}

function commonDivisor(a: number, b: number): number {
  return b === 0 ? a : commonDivisor(b, a % b)
}

/** On the side of the shell that is away from the pole in it, and along it. */
function holeBeside(shell: Path, random: Random): Path | undefined {
  const pole = readPath(shell, true)?.pole ?? 0
  const lats = shell.map(([, lat]) => lat)
  const side = pole === 0 ? random.pick([-1, 1]) : -pole
  const near = side > 0 ? Math.max(...lats) : Math.min(...lats)
  const far = Math.max(-90, Math.min(90, near + side * (1 + 5 * random.unit())))
  if (near === far) return undefined
  const west = random.between(-180, 100)
  const east = west + random.between(1, 80)
  return [
    [west, near],
    [east, near],
    [east, far],
    [west, far],
  ]
}

function flatHole(shell: Path, random: Random): Path | undefined {
  const [lng, lat] = random.pick(shell)
  if (Math.abs(lng) > 170) return undefined
  return [
    [lng, lat],
    [lng + 1 + random.unit(), lat],
    [lng - random.unit(), lat],
  ]
}
