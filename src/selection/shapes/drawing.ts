/**
 * What was drawn, as both ways to read it return it.
 *
 * @module
 */
import type { Shapes } from '../../geometry/shapes.js'
import type { NamedArea } from '../named-areas.js'
import type { SourceReference } from '../source-ids.js'
import type { FeatureExtents, FeatureNote } from './feature-extents.js'
import type { LayerCollector } from './layers.js'

export interface Drawing {
  readonly shapes: Shapes
  readonly extents: FeatureExtents
  readonly notes: readonly FeatureNote[] | undefined
  /** Where all of it is whole areas of the gazetteer, for all sources: which they are. */
  readonly named: readonly NamedArea[] | undefined
  /** The sources that features are limited to. */
  readonly sourceReferences: readonly SourceReference[]
}

/** @param layers  that have all of it */
export function drawingOf(
  layers: LayerCollector,
  sourceReferences: readonly SourceReference[],
): Drawing {
  const shapes = layers.shapes()
  const { extents, notes } = layers.features
  return { shapes, extents, notes, named: layers.named, sourceReferences }
}
