/**
 * The shapes of a request, as an audit records them: by a digest, and by a box around them.
 *
 * @module
 */
import { type Bounds, emptyBounds, extend } from '../geometry/bounds.js'
import { EARTH_RADIUS_METRES, haversineMetres } from '../geometry/great-circle.js'
import type { Reaches } from '../geometry/reach/reaches.js'
import type { Shapes } from '../geometry/shapes.js'
import { HALF_TURN, POLE_UNITS, RADIANS_PER_UNIT, UNITS_PER_DEGREE } from '../geometry/units.js'
import { shapesHash } from './shapes-hash.js'

interface ShapesRecord {
  /** SHA-256 of all that is selected by, in hexadecimal digits: the same for the same shapes. */
  readonly sha256: string
  /** West, south, east, north in degrees, of what is included; null where nothing is. */
  readonly bounds: readonly [number, number, number, number] | null
}

export function shapesRecord(shapes: Shapes): ShapesRecord {
  return { sha256: shapesHash(shapes).digest('hex'), bounds: boundsOf(shapes) }
}

function boundsOf({ included, nearest }: Shapes): ShapesRecord['bounds'] {
  const box = emptyBounds()
  for (const { polygons, reaches } of included) {
    const { bounds } = polygons
    for (let at = 0; at < bounds.length; at += 4) {
      // Rings round a pole are closed beyond it.
      extend(box, bounds[at], Math.max(bounds[at + 1], -POLE_UNITS))
      extend(box, bounds[at + 2], Math.min(bounds[at + 3], POLE_UNITS))
    }
    extendByReaches(box, reaches)
  }
  for (const { lng, lat, isExcluded } of nearest) if (!isExcluded) extend(box, lng, lat)
  if (box.minLng > box.maxLng) return null
  const { minLng, minLat, maxLng, maxLat } = box
  return [degrees(minLng), degrees(minLat), degrees(maxLng), degrees(maxLat)]
}

/** By boxes that hold each arc and its radius, and are somewhat larger than they need be. */
function extendByReaches(box: Bounds, { arcs, radiiMetres }: Reaches): void {
  for (let arc = 0; arc < radiiMetres.length; arc++) {
    const at = 4 * arc
    const ends = arcs.subarray(at, at + 4)
    const arcMetres = haversineMetres(ends[0], ends[1], ends[2], ends[3])
    // No place of an arc is farther from both ends than half of its length.
    const metres = radiiMetres[arc] + arcMetres / 2
    for (const end of [0, 2]) extendByCircle(box, ends[end], ends[end + 1], metres)
  }
}

function extendByCircle(box: Bounds, lng: number, lat: number, metres: number): void {
  const radians = metres / EARTH_RADIUS_METRES
  const latUnits = radians / RADIANS_PER_UNIT
  const south = Math.max(-POLE_UNITS, lat - latUnits)
  const north = Math.min(POLE_UNITS, lat + latUnits)
  const ratio = Math.sin(radians) / Math.cos(lat * RADIANS_PER_UNIT)
  const isRound = radians >= Math.PI / 2 || north === POLE_UNITS || south === -POLE_UNITS
  const lngUnits = isRound || ratio >= 1 ? HALF_TURN : Math.asin(ratio) / RADIANS_PER_UNIT
  const isAll = lngUnits === HALF_TURN
  extend(box, isAll ? -HALF_TURN : lng - lngUnits, south)
  extend(box, isAll ? HALF_TURN : lng + lngUnits, north)
}

/** With seven decimals. */
function degrees(units: number): number {
  return Math.round(units) / UNITS_PER_DEGREE
}
