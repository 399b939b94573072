/**
 * The shapes of a layer as polygons on the globe, each as it was drawn: they may overlap, and their
 * rings may cross themselves.
 *
 * @module
 */

import type { LayerPart } from '../geometry/layer-parts.js'
import { clippedToGlobe } from '../geometry/polygon/clip-to-globe.js'
import { type Polygons, ringsOf } from '../geometry/polygon/polygons.js'
import { doubleArea, simpleLoops } from '../geometry/polygon/simple-loops.js'
import {
  drawReaches,
  OUTLINE_TOLERANCE_METRES,
  outlineTolerance,
} from '../geometry/reach/draw-reaches.js'
import type { Layer } from '../geometry/shapes.js'
import type { Polygon, Ring } from './clipper.js'

export interface Ledger {
  /** How many vertices may still be drawn. */
  vertexCount: number
  /** Whether there were lines, points or empty rings, which are left out. */
  hasShapesWithoutArea: boolean
}

/** Thrown when shapes take more vertices than an answer may have. */
export class TooManyVertices extends Error {}

/** @throws TooManyVertices */
export function drawLayer(layer: Layer, ledger: Ledger): Polygon[] {
  // Every part may have what is left before any of them is drawn.
  const parts = drawnParts.map(({ outline }) => outline(layer, ledger.vertexCount))
  return parts.flatMap((polygons) => {
    if (polygons === undefined) throw new TooManyVertices()
    return drawPolygons(polygons, ledger)
  })
}

/** How far the outline of layers may lie off their limit, either way. */
export function toleranceOf(layers: readonly Layer[]): number {
  const tolerances = layers.flatMap((layer) =>
    drawnParts.map(({ toleranceMetres }) => toleranceMetres(layer)),
  )
  return tolerances.reduce(greater, OUTLINE_TOLERANCE_METRES)
}

function greater(a: number, b: number): number {
  return Math.max(a, b)
}

interface DrawnPart {
  /** Polygons whose union is what the part covers; undefined if they have more vertices than given. */
  outline(layer: Layer, vertexCountMax: number): Polygons | undefined
  /** How far they may lie off its limit. */
  toleranceMetres(layer: Layer): number
}

const drawnParts = Object.values<DrawnPart>({
  polygons: {
    outline: ({ polygons }) => polygons,
    toleranceMetres: () => 0,
  },
  reaches: {
    outline: ({ reaches }, vertexCountMax) => drawReaches(reaches, vertexCountMax),
    toleranceMetres: ({ reaches }) => outlineTolerance(reaches.radiiMetres.reduce(greater, 0)),
  },
} satisfies Record<LayerPart, DrawnPart>)

function drawPolygons(polygons: Polygons, ledger: Ledger): Polygon[] {
  const { polygonStarts } = polygons
  const drawn: Polygon[] = []
  for (let polygon = 0; polygon + 1 < polygonStarts.length; polygon++) {
    const rings = ringsOf(polygons, polygon)
    const [shell, ...holes] = rings.map(clippedToGlobe)
    if (!hasArea(shell)) {
      // A shape with an area has none on the globe if it only touches the antimeridian.
      if (!hasArea(rings[0])) ledger.hasShapesWithoutArea = true
      continue
    }
    const kept = [shell, ...holes.filter(hasArea)]
    for (const ring of kept) ledger.vertexCount -= ring.length / 2
    if (ledger.vertexCount < 0) throw new TooManyVertices()
    drawn.push(kept)
  }
  return drawn
}

/** A ring of two parts of opposite winding has an area of 0 and holds something all the same. */
function hasArea(ring: Ring): boolean {
  if (ring.length < 6) return false
  return Math.abs(doubleArea(ring)) > ROUNDING * ring.length || simpleLoops(ring).length > 0
}

/** Several times the rounding of a term of the area of a ring round the globe, in square units. */
const ROUNDING = 10_000
