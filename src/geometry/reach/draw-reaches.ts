/**
 * Circles, corridors and margins as polygons.
 *
 * @module
 */

import { EARTH_RADIUS_METRES } from '../great-circle.js'
import { GLOBE, reversed, roundThePole, type UnitRing } from '../polygon/antimeridian.js'
import { PolygonList } from '../polygon/polygon-list.js'
import type { Polygons } from '../polygon/polygons.js'
import { POLE_UNITS, RADIANS_PER_UNIT, UNITS_PER_DEGREE } from '../units.js'
import { type Arc, arcBetween } from './arc.js'
import { type ArcChain, arcChains } from './arc-chains.js'
import { outlineOfBand } from './band-outline.js'
import type { BoundaryPath } from './boundary-path.js'
import { outlineOfReach } from './reach-outline.js'
import type { Reaches } from './reaches.js'

/** By how much the outline of what is within a radius may lie off its limit, either way. */
export function outlineTolerance(radiusMetres: number): number {
  return Math.max(OUTLINE_TOLERANCE_METRES, TOLERANCE_SHARE * radiusMetres)
}

/** A tolerance for which coordinates of seven decimals leave room several times over. */
export const OUTLINE_TOLERANCE_METRES = 0.1
const TOLERANCE_SHARE = 0.001
/** Half of the unit of coordinates: what is narrower is a line. */
const SMALLEST_METRES = 0.005
/** The part of the tolerance by which lines may be simplified. */
const SHARE_OF_LINES = 0.25

/**
 * Polygons whose union is what is within reach, or that have no area where that is hardly any;
 * undefined if they have more vertices than given.
 *
 * @param vertexCountMax  of all polygons together
 */
export function drawReaches(reaches: Reaches, vertexCountMax: number): Polygons | undefined {
  const polygons = new PolygonList()
  const slack = (radiusMetres: number) => SHARE_OF_LINES * outlineTolerance(radiusMetres)
  for (const chain of arcChains(reaches, slack)) {
    const arcs = arcsOf(chain)
    const { vertices, radiusMetres } = chain
    if (radiusMetres < SMALLEST_METRES) {
      polygons.addLine(vertices.flat())
      continue
    }
    const tolerance = outlineTolerance(radiusMetres)
    for (let i = 0; i < arcs.length; i++) {
      const isBand = arcs.length > 1 && isFarFromPoles(arcs[i], radiusMetres)
      const outline = isBand
        ? outlineOfBand(arcs, i, radiusMetres, tolerance)
        : outlineOfReach(arcs[i], radiusMetres, tolerance)
      addLeftOf(outline, polygons)
      if (polygons.vertexCount > vertexCountMax) return undefined
    }
  }
  return polygons.polygons()
}

function arcsOf({ vertices }: ArcChain): Arc[] {
  if (vertices.length === 1) return [arcBetween(vertices[0], vertices[0])]
  return vertices.slice(1).map((to, i) => arcBetween(vertices[i], to))
}

/** Whether lines that are straight in longitude and latitude are nearly so on the Earth. */
function isFarFromPoles({ from, to }: Arc, radiusMetres: number): boolean {
  if (radiusMetres > BAND_RADIUS_MAX_METRES) return false
  const reach = radiusMetres / EARTH_RADIUS_METRES / RADIANS_PER_UNIT
  return Math.max(Math.abs(from[1]), Math.abs(to[1])) + reach <= BAND_LAT_MAX
}

const BAND_RADIUS_MAX_METRES = 1_000_000
const BAND_LAT_MAX = 80 * UNITS_PER_DEGREE

/** Adds what lies to the left of a boundary: inside of it, outside, or round a pole. */
function addLeftOf(path: BoundaryPath | 'everywhere', into: PolygonList): void {
  if (path === 'everywhere') into.add(WHOLE_GLOBE, [])
  else if (path.turns > 0) into.add(roundThePole(path.ring, 1), [])
  else if (path.turns < 0) into.add(roundThePole(reversed(path.ring), -1), [])
  else if (path.isOutside) into.add(WHOLE_GLOBE, [path.ring])
  else into.add(path.ring, [])
}

const [SOUTH, NORTH] = [-POLE_UNITS, POLE_UNITS]
/** Right as it lies, like a ring round a pole: nothing of it is to be added a turn further. */
const WHOLE_GLOBE: UnitRing = Object.assign(
  [GLOBE.min, SOUTH, GLOBE.max, SOUTH, GLOBE.max, NORTH, GLOBE.min, NORTH],
  { isPolar: true } as const,
)
