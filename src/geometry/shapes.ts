/**
 * The shapes that a request drew, ready to be searched for: plain data and typed arrays.
 *
 * @module
 */
import { type LayerParts, NO_PARTS } from './layer-parts.js'
import type { Polygons } from './polygon/polygons.js'

/** Source ids; null is every source. */
export type SourceFilter = readonly number[] | null

/** Geometries that hold for the same sources: what any of the parts covers. */
export interface Layer extends LayerParts {
  readonly sourceIds: SourceFilter
}

/** The `count` recipients of a source that are nearest to a position in units, within ±180 degrees. */
export interface Nearest {
  readonly sourceIds: SourceFilter
  readonly lng: number
  readonly lat: number
  readonly count: number
  /** Whether they are taken away instead of selected. */
  readonly isExcluded: boolean
}

/**
 * Who is selected in each source: who is in any included layer but in no excluded one; and where an
 * included `nearest` holds for the source, of these only the nearest, or of all that are not
 * excluded if no included layer holds for it.
 */
export interface Shapes {
  readonly included: readonly Layer[]
  readonly excluded: readonly Layer[]
  readonly nearest: readonly Nearest[]
}

/** Shapes that are polygons alone, for every source. */
export function including(polygons: Polygons): Shapes {
  return {
    included: [{ ...NO_PARTS, sourceIds: null, polygons }],
    excluded: [],
    nearest: [],
  }
}

/** Whether something that is limited to some sources holds for this one. */
export function holdsFor({ sourceIds }: { readonly sourceIds: SourceFilter }, id: number): boolean {
  return sourceIds === null || sourceIds.includes(id)
}
