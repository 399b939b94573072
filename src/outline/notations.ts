/**
 * Polygons as GeoJSON and as Esri write them, in degrees.
 *
 * @module
 */
import { withShortEdges } from '../geometry/polygon/short-edges.js'
import { doubleArea } from '../geometry/polygon/simple-loops.js'
import { UNITS_PER_DEGREE } from '../geometry/units.js'
import type { DrawnArea, PlainArea } from '../interface/outline.js'
import type { Polygon, Region, Ring } from './clipper.js'

/** The same area in both notations; polygons must not overlap. */
export function toArea(region: Region): PlainArea {
  // Winding is opposite: counterclockwise is outside in RFC 7946, 3.1.6, and inside for Esri.
  return {
    GeoJson: {
      type: 'MultiPolygon',
      coordinates: region.map((rings) => rings.map((ring, i) => toPositions(ring, i === 0))),
    },
    Rings: {
      type: 'polygon',
      rings: region.flatMap((rings) => rings.map((ring, i) => toPositions(ring, i !== 0))),
      spatialReference: { wkid: 4326, latestWkid: 4326 },
    },
  }
}

/**
 * A polygon as it was drawn. Holes are apart, since they may overlap and reach beyond the shell,
 * and would then be shown as area.
 */
export function toDrawnArea([shell, ...holes]: Polygon): DrawnArea {
  const area = toArea([[shell]])
  return holes.length === 0 ? area : { ...area, Holes: holes.map((hole) => toArea([[hole]])) }
}

/** Closed, with the winding that is asked for. */
function toPositions(ring: Ring, isCounterclockwise: boolean): number[][] {
  const positions: number[][] = []
  const units = withShortEdges(ring.map(Math.round))
  for (let i = 0; i < units.length; i += 2) {
    positions.push([degrees(units[i]), degrees(units[i + 1])])
  }
  if (doubleArea(ring) > 0 !== isCounterclockwise) positions.reverse()
  return [...positions, positions[0]]
}

/** Seven decimals at most. Adding nothing makes 0 of -0. */
function degrees(units: number): number {
  return units / UNITS_PER_DEGREE + 0
}
