/**
 * Draws the shapes of a request and unites them, on a thread of its own, since it may take any time and any memory.
 *
 * @module
 */
import { doubleArea, simpleLoops } from '../geometry/polygon/simple-loops.js'
import type { Layer } from '../geometry/shapes.js'
import { limits } from '../limits.js'
import { agrees } from './check.js'
import {
  differenceOf,
  intersectionOf,
  oddOf,
  type Polygon,
  type Region,
  type Ring,
  unionOf,
} from './clipper.js'
import { drawLayer, type Ledger, TooManyVertices } from './draw.js'

/** The layers that hold for some sources, as indexes into those of a task. */
export interface LayerChoice {
  readonly included: readonly number[]
  readonly excluded: readonly number[]
}

export interface OutlineTask {
  readonly included: readonly Layer[]
  readonly excluded: readonly Layer[]
  /** The outcome is cut off at each of them. */
  readonly boundaries: readonly (readonly Layer[])[]
  readonly choices: readonly LayerChoice[]
  /** Why not to unite the shapes, if it has been tried. */
  readonly problem: Problem | undefined
}

/** Why shapes could not be united. */
export type Problem =
  /** The outcome has more vertices than an answer may have. */
  | 'TooManyVertices'
  | 'TookTooLong'
  | 'OutOfMemory'
  | 'ClippingFailed'
  /** The outcome did not agree with the shapes at some place. */
  | 'CheckFailed'

export type OutlineOutcome =
  | {
      readonly kind: 'dissolved'
      readonly hasShapesWithoutArea: boolean
      /** One a choice. */
      readonly regions: readonly Region[]
    }
  | {
      readonly kind: 'drawn'
      readonly hasShapesWithoutArea: boolean
      readonly problem: Problem
      readonly drawing: Drawing
    }
  /** There is more to draw than an answer may hold. */
  | { readonly kind: 'tooComplex' }

/** Each layer as it was drawn: polygons may overlap, and their rings cross themselves. */
export interface Drawing {
  readonly included: readonly (readonly Polygon[])[]
  readonly excluded: readonly (readonly Polygon[])[]
  readonly boundaries: readonly (readonly Polygon[])[]
}

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
    // The library throws plain errors of its own, on inputs that cannot be told beforehand.
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

/** The places in any of the included shapes, in none of the excluded, and within every boundary. */
interface Selection {
  readonly included: readonly Region[]
  readonly excluded: readonly Region[]
  readonly boundaries: readonly (readonly Region[])[]
}

function dissolve({ included, excluded, boundaries }: Selection): Region {
  const area = included.length === 0 ? [] : reduced(included)
  if (area.length === 0) return []
  let left = tidied(excluded.length === 0 ? unionOf(area) : differenceOf(area, [reduced(excluded)]))
  for (const boundary of boundaries) {
    if (left.length === 0) break
    const within = reduced(boundary)
    left = within.length === 0 ? [] : tidied(intersectionOf(left, within))
  }
  return left
}

/**
 * Unites regions by few, over and over: the work grows with how many lie over each other, and what
 * is united does not.
 */
function reduced(regions: readonly Region[]): Region {
  let parts = regions
  while (parts.length > UNITED_AT_ONCE) {
    const chunks: Region[] = []
    for (let i = 0; i < parts.length; i += UNITED_AT_ONCE) {
      chunks.push(tidied(unionOf(parts.slice(i, i + UNITED_AT_ONCE).flat())))
    }
    parts = chunks
  }
  return parts.flat()
}

const UNITED_AT_ONCE = 8

/**
 * The region of a polygon whose rings may cross themselves: its shell by the even-odd rule, without
 * the inside of each other ring.
 */
function regionOf(polygon: Polygon): Region {
  const [shell, ...holes] = polygon.map(simpleLoops)
  if (shell.length <= 1 && holes.every((loops) => loops.length <= 1)) {
    return shell.length === 0 ? [] : [[shell[0], ...holes.flat()]]
  }
  return tidied(differenceOf(evenOdd(shell), holes.map(evenOdd)))
}

function evenOdd(loops: readonly Ring[]): Region {
  return oddOf(loops.map((loop) => [[loop]]))
}

/**
 * In whole units, without what rounding leaves of rings that are narrower than one. A shell that vanishes
 * takes its holes along.
 */
function tidied(region: Region): Region {
  return region.flatMap((polygon) => {
    const [shell, ...holes] = polygon.map(tidiedRing)
    return isRing(shell) ? [[shell, ...holes.filter(isRing)]] : []
  })
}

/** Rounded, and without vertices that are repeated or that an edge runs back from. */
function tidiedRing(ring: Ring): Ring {
  const kept: number[] = []
  for (let i = 0; i < ring.length; i += 2) {
    // Adding nothing makes 0 of -0.
    const [lng, lat] = [Math.round(ring[i]) + 0, Math.round(ring[i + 1]) + 0]
    if (isAt(kept, kept.length - 2, lng, lat)) continue
    if (isAt(kept, kept.length - 4, lng, lat)) kept.length -= 2
    else kept.push(lng, lat)
  }
  while (kept.length > 2 && isAt(kept, kept.length - 2, kept[0], kept[1])) kept.length -= 2
  return kept
}

function isAt(ring: readonly number[], at: number, lng: number, lat: number): boolean {
  return at >= 0 && ring[at] === lng && ring[at + 1] === lat
}

function isRing(ring: Ring): boolean {
  return ring.length >= 6 && doubleArea(ring) !== 0
}
