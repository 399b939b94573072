/**
 * Draws the shapes of a request and unites them, on a thread of its own: it may take any time and
 * any memory.
 *
 * @module
 */
import type { Layer } from '../geometry/shapes.js'
import { limits } from '../limits.js'
import { agrees } from './check.js'
import type { Polygon, Region } from './clipper.js'
import { dissolve, regionOf } from './dissolve.js'
import { drawLayer, type Ledger, TooManyVertices } from './draw.js'
import type { Drawing, LayerChoice, OutlineOutcome, OutlineTask, Problem } from './task.js'

export function runTask(task: OutlineTask): OutlineOutcome {
  const ledger: Ledger = { vertexCount: limits.outlineVertexCount, hasShapesWithoutArea: false }
  const drawing = draw(task, ledger)
  if (drawing === undefined) return { kind: 'tooComplex' }
  const { hasShapesWithoutArea } = ledger
  const regions = task.problem ?? dissolveAll(task.choices, drawing)
  if (typeof regions !== 'string') return { kind: 'dissolved', hasShapesWithoutArea, regions }
  if (drawnVertexCount(task.choices, drawing) > limits.outlineVertexCount) {
    return { kind: 'tooComplex' }
  }
  return { kind: 'drawn', hasShapesWithoutArea, problem: regions, drawing }
}

function draw(
  { included, excluded, boundaries }: OutlineTask,
  ledger: Ledger,
): Drawing | undefined {
  const each = (layer: Layer) => drawLayer(layer, ledger)
  try {
    const shapes = { included: included.map(each), excluded: excluded.map(each) }
    // Whether the boundary has lines is not the client's doing.
    const borders = boundaries.map((layers) =>
      layers.flatMap((layer) => drawLayer(layer, { ...ledger })),
    )
    return { ...shapes, boundaries: borders }
  } catch (error) {
    if (error instanceof TooManyVertices) return undefined
    throw error
  }
}

function dissolveAll(choices: readonly LayerChoice[], drawing: Drawing): Region[] | Problem {
  const regions: Region[] = []
  let vertexCount = 0
  try {
    const included = drawing.included.map((layer) => layer.map(regionOf))
    const excluded = drawing.excluded.map((layer) => layer.map(regionOf))
    const boundaries = drawing.boundaries.map((polygons) => polygons.map(regionOf))
    for (const choice of choices) {
      const region = dissolve({
        included: choice.included.flatMap((layer) => included[layer]),
        excluded: choice.excluded.flatMap((layer) => excluded[layer]),
        boundaries,
      })
      vertexCount += vertexCountOf(region)
      if (vertexCount > limits.outlineVertexCount) return 'TooManyVertices'
      if (!agrees(region, chosen(choice, drawing))) return 'CheckFailed'
      regions.push(region)
    }
    return regions
  } catch {
    // The library throws plain errors of its own, on inputs that nobody can tell beforehand.
    return 'ClippingFailed'
  }
}

/** The polygons that hold for a choice. */
function chosen({ included, excluded }: LayerChoice, drawing: Drawing) {
  return {
    included: included.flatMap((layer) => drawing.included[layer]),
    excluded: excluded.flatMap((layer) => drawing.excluded[layer]),
    boundaries: drawing.boundaries,
  }
}

/** The vertices of an answer that lists the polygons of each choice. */
function drawnVertexCount(choices: readonly LayerChoice[], drawing: Drawing): number {
  let count = 0
  for (const choice of choices) {
    const { included, excluded, boundaries } = chosen(choice, drawing)
    count += vertexCountOf(included) + vertexCountOf(excluded) + vertexCountOf(boundaries.flat())
  }
  return count
}

function vertexCountOf(polygons: readonly Polygon[]): number {
  return polygons.flat().reduce((sum, ring) => sum + ring.length / 2, 0)
}
