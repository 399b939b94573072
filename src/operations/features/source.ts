/**
 * Areas as collections of features, for whoever reads maps: whatever has areas is one of these.
 *
 * @module
 */
import type { Feature } from '../../format/geojson.js'
import type { Bounds } from '../../geometry/bounds.js'
import type { Asker } from '../../selection/access.js'

/** Something that has collections. Their ids are no other's. */
export interface FeatureCollections {
  /** How many there are. */
  count(): number
  /** In an order that stays. */
  page(skipCount: number, takeCount: number): readonly { readonly id: string }[]
  /** Undefined where there is no such collection. */
  open(id: string, asker: Asker): Promise<FeatureCollectionSource | undefined>
}

/** One collection, as it was when it was opened. */
export interface FeatureCollectionSource {
  readonly id: string
  readonly title: string
  readonly description: string
  /** Around all areas, in units of 1e-7 degree; undefined where none has a place. */
  readonly extent: Bounds | undefined
  /**
   * @param boxes  in units; what meets any of them, or is nowhere, is in the page. Undefined is everything
   */
  page(boxes: readonly Bounds[] | undefined, limit: number, offset: number): Promise<FeaturePage>
  feature(id: string): Promise<Feature | undefined>
}

export interface FeaturePage {
  readonly features: readonly Feature[]
  /** On all pages. */
  readonly matchedCount: number
}
