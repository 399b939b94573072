/**
 * Which rings lie clearly within one another.
 *
 * @module
 */
import { placedPath, placeIn } from './place.js'
import { continuousLngs, readPath } from './reading.js'
import type { Path, Shape, Vertex } from './shape.js'

/**
 * Whether a list of its rings has one meaning: it is one ring, or one shell with holes that are well
 * inside of it and apart.
 */
export function isUnambiguous({ kind, parts }: Shape): boolean {
  if (kind !== 'polygons') return true
  if (parts.length > 1) return false
  const [shell, ...holes] = parts[0]
  if (holes.length === 0) return true
  return holes.length === 1 && isWellInside(holes[0], shell)
}

function isWellInside(hole: Path, shell: Path): boolean {
  const [outer, inner] = [shell, hole].map((ring) => readPath(ring, true))
  if (outer === undefined || inner === undefined || outer.turn !== 0 || inner.turn !== 0)
    return false
  const placed = placedPath(shell, outer, true)
  const outerLngs = continuousLngs(shell, outer)
  const innerLngs = continuousLngs(hole, inner)
  const first = Math.floor((innerLngs[0] - Math.min(...outerLngs)) / 360) * 360
  const at = (lngs: readonly number[], ring: Path, shift: number) =>
    ring.map(([, lat], i): Vertex => [lngs[i] + shift, lat])
  const [shellAt, holeAt] = [at(outerLngs, shell, 0), at(innerLngs, hole, -first)]
  // Wider than a turn, the hole could be in it at several.
  if (widthOf(shellAt) > 359 || widthOf(holeAt) > 179) return false
  const isIn = ([lng, lat]: Vertex) => placeIn(placed, Math.round(lng * 1e7), Math.round(lat * 1e7))
  return holeAt.every((vertex) => isIn(vertex) === 'interior') && !isMeeting(shellAt, holeAt)
}

function widthOf(ring: Path): number {
  const lngs = ring.map(([lng]) => lng)
  return Math.max(...lngs) - Math.min(...lngs)
}

/** Whether edges meet, or nearly. */
function isMeeting(a: Path, b: Path): boolean {
  const edges = (ring: Path) => ring.map((from, i) => [from, ring[(i + 1) % ring.length]] as const)
  return edges(a).some(([p, q]) =>
    edges(b).some(
      ([r, s]) => sideOf(p, q, r) * sideOf(p, q, s) <= 0 && sideOf(r, s, p) * sideOf(r, s, q) <= 0,
    ),
  )
}

/** 0 for what is nearly on the line. */
function sideOf([ax, ay]: Vertex, [bx, by]: Vertex, [px, py]: Vertex): number {
  const cross = (bx - ax) * (py - ay) - (by - ay) * (px - ax)
  const near = 1e-6 * (Math.abs(bx - ax) + Math.abs(by - ay))
  return Math.abs(cross) <= near ? 0 : Math.sign(cross)
}
