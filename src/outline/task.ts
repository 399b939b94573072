/**
 * What crosses between a front thread and the thread that clips: plain data, and the environment in
 * which that is started.
 *
 * @module
 */
import type { Layer } from '../geometry/shapes.js'
import { limits } from '../limits.js'
import type { Polygon, Region } from './clipper.js'

/** Which layers hold for some sources, as indexes into those of a task. */
export interface LayerChoice {
  readonly included: readonly number[]
  readonly excluded: readonly number[]
}

export interface OutlineTask {
  readonly included: readonly Layer[]
  readonly excluded: readonly Layer[]
  /** What lies beyond any of them is cut off. */
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

/**
 * polygon-clipping reads its guards against endless loops from the environment when it is loaded, and
 * has no other way to be told.
 */
export const CLIPPING_ENVIRONMENT: Readonly<Record<string, string>> = {
  POLYGON_CLIPPING_MAX_QUEUE_SIZE: String(limits.clipEventCount),
  POLYGON_CLIPPING_MAX_SWEEPLINE_SEGMENTS: String(limits.clipEventCount),
}
