/**
 * Areas as collections of features, for whoever reads maps: whatever has areas is one of these.
 *
 * @module
 */
import type { Feature } from '../../format/geojson.js'
import type { Asker } from '../../selection/access.js'

/** West, south, east and north in degrees. West beyond east is a box over the antimeridian. */
export type Box = readonly [west: number, south: number, east: number, north: number]

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
  /** Around all areas; undefined where none has a place. */
  readonly extent: Box | undefined
  /**
   * @param box  what meets it, or is nowhere, is in the page. Undefined is everything
   */
  page(box: Box | undefined, limit: number, offset: number): Promise<FeaturePage>
  feature(id: string): Promise<Feature | undefined>
}

interface FeaturePage {
  readonly features: readonly Feature[]
  /** On all pages. */
  readonly matchedCount: number
}
