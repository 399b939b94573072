/**
 * Checks a region against the shapes that it was made of: points beside many edges of both must be inside both or
 * outside both. Clipping has faults that are not noticed otherwise, such as a ring that is missing, or full instead of
 * empty.
 *
 * @module
 */
import { GLOBE } from '../geometry/polygon/antimeridian.js'
import { POLE_UNITS } from '../geometry/units.js'
import type { Polygon, Region, Ring } from './clipper.js'

/** Polygons that may overlap, and whose rings may cross themselves. */
interface Shapes {
  readonly included: readonly Polygon[]
  readonly excluded: readonly Polygon[]
  readonly boundaries: readonly (readonly Polygon[])[]
}

export function agrees(region: Region, { included, excluded, boundaries }: Shapes): boolean {
  const drawn = [...included, ...excluded, ...boundaries.flat()]
  const edgeCount = [...drawn, ...region].flat().reduce((sum, ring) => sum + ring.length / 2, 0)
  const sampleCount = Math.min(SAMPLES_MAX, Math.ceil(EDGE_TESTS_MAX / (edgeCount + 1)))
  const isWrong = (point: Point) => {
    const expected = boundaries.reduce<Verdict>(
      (verdict, boundary) => both(verdict, anyOf(boundary, point)),
      without(anyOf(included, point), anyOf(excluded, point)),
    )
    return expected !== undefined && expected !== isInRegion(region, point)
  }
  const samples = [...samplesBeside(region, sampleCount), ...samplesBeside(drawn, sampleCount)]
  return !samples.some(isWrong)
}

const SAMPLES_MAX = 128
/** A tenth of a second. */
const EDGE_TESTS_MAX = 5_000_000
/** Vertices are rounded, and again where regions are united over and over. */
const DOUBT_UNITS = 8

type Point = readonly [lng: number, lat: number]

/** Points on both sides of the middles of `count` edges, evenly spread over all. */
function samplesBeside(polygons: readonly Polygon[], count: number): Point[] {
  const rings = polygons.flat()
  const edgeCount = rings.reduce((sum, ring) => sum + ring.length / 2, 0)
  const points: Point[] = []
  const step = Math.max(1, edgeCount / count)
  let next = 0
  let first = 0
  for (const ring of rings) {
    for (; next < first + ring.length / 2; next += step) {
      const [ax, ay, bx, by] = edgeOf(ring, Math.floor(next - first))
      const length = Math.hypot(bx - ax, by - ay)
      if (length === 0) continue
      const [east, north] = [(ay - by) / length, (bx - ax) / length]
      const away = 2 * DOUBT_UNITS
      const [lng, lat] = [(ax + bx) / 2, (ay + by) / 2]
      points.push([lng + away * east, lat + away * north], [lng - away * east, lat - away * north])
    }
    first += ring.length / 2
  }
  return points.filter(([lng, lat]) => Math.abs(lng) < GLOBE.max && Math.abs(lat) < POLE_UNITS)
}

function edgeOf(ring: Ring, edge: number): readonly [number, number, number, number] {
  const from = 2 * edge
  const to = (from + 2) % ring.length
  return [ring[from], ring[from + 1], ring[to], ring[to + 1]]
}

/** Undefined if rounding may have decided. */
type Verdict = boolean | undefined

function both(a: Verdict, b: Verdict): Verdict {
  if (a === false || b === false) return false
  return a === undefined || b === undefined ? undefined : true
}

function without(a: Verdict, b: Verdict): Verdict {
  return both(a, b === undefined ? undefined : !b)
}

function anyOf(polygons: readonly Polygon[], point: Point): Verdict {
  let verdict: Verdict = false
  for (const [shell, ...holes] of polygons) {
    let isInside = isInRing(shell, point)
    for (const hole of holes) {
      if (isInside === false) break
      isInside = without(isInside, isInRing(hole, point))
    }
    if (isInside === true) return true
    if (isInside === undefined) verdict = undefined
  }
  return verdict
}

/** By the even-odd rule; undefined beside an edge. */
function isInRing(ring: Ring, [lng, lat]: Point): Verdict {
  let isInside = false
  for (let edge = 0; edge < ring.length / 2; edge++) {
    const [ax, ay, bx, by] = edgeOf(ring, edge)
    if (isBeside(ax, ay, bx, by, lng, lat)) return undefined
    if (ay > lat !== by > lat && lng < ax + ((lat - ay) / (by - ay)) * (bx - ax)) {
      isInside = !isInside
    }
  }
  return isInside
}

function isBeside(ax: number, ay: number, bx: number, by: number, x: number, y: number): boolean {
  if (Math.min(ax, bx) > x + DOUBT_UNITS || Math.max(ax, bx) < x - DOUBT_UNITS) return false
  if (Math.min(ay, by) > y + DOUBT_UNITS || Math.max(ay, by) < y - DOUBT_UNITS) return false
  const [dx, dy] = [bx - ax, by - ay]
  const lengthSquare = dx * dx + dy * dy
  const along = lengthSquare === 0 ? 0 : ((x - ax) * dx + (y - ay) * dy) / lengthSquare
  const share = Math.max(0, Math.min(1, along))
  return Math.hypot(x - ax - share * dx, y - ay - share * dy) < DOUBT_UNITS
}

function isInRegion(region: Region, [lng, lat]: Point): boolean {
  let isInside = false
  for (const ring of region.flat()) {
    for (let edge = 0; edge < ring.length / 2; edge++) {
      const [ax, ay, bx, by] = edgeOf(ring, edge)
      if (ay > lat !== by > lat && lng < ax + ((lat - ay) / (by - ay)) * (bx - ax)) {
        isInside = !isInside
      }
    }
  }
  return isInside
}
