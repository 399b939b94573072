/**
 * Areas as collections of features, for clients that read maps: each source of areas is one of these.
 *
 * @module
 */
import type { Feature } from '../../format/geojson.js'
import type { Bounds } from '../../geometry/bounds.js'
import { HALF_TURN, toUnits, UNITS_PER_DEGREE } from '../../geometry/units.js'
import type { Asker } from '../../selection/access.js'

/** West, south, east and north in degrees. West beyond east is a box over the antimeridian. */
export type Box = readonly [west: number, south: number, east: number, north: number]

/** A source of collections, with unique ids. */
export interface FeatureCollections {
  /** How many there are for a client. */
  count(asker: Asker): number
  /** In a stable order. */
  page(asker: Asker, skipCount: number, takeCount: number): readonly { readonly id: string }[]
  /**
   * Undefined if the collection does not exist.
   *
   * @throws ServiceError  Forbidden, where there is one and the client may not read it
   */
  open(id: string, asker: Asker): Promise<FeatureCollectionSource | undefined>
}

/** One collection, as it was when it was opened. */
export interface FeatureCollectionSource {
  readonly id: string
  readonly title: string
  readonly description: string
  /** Around all areas; undefined if no area has a geometry. */
  readonly extent: Box | undefined
  /**
   * It may be shorter than the limit, but not empty where there is more.
   *
   * @param box  the page has what meets it and what has no geometry; undefined for all
   */
  page(box: Box | undefined, limit: number, offset: number): Promise<FeaturePage>
  feature(id: string): Promise<Feature | undefined>
}

interface FeaturePage {
  readonly features: readonly Feature[]
  /** On all pages. */
  readonly matchedCount: number
}

export function boxOf({ minLng, minLat, maxLng, maxLat }: Readonly<Bounds>): Box {
  const degrees = (units: number) => units / UNITS_PER_DEGREE
  return [degrees(minLng), degrees(minLat), degrees(maxLng), degrees(maxLat)]
}

/** Two where it runs over the antimeridian. */
export function boundsOfBox([west, south, east, north]: Box): Bounds[] {
  const lats = { minLat: toUnits(south), maxLat: toUnits(north) }
  const [minLng, maxLng] = [toUnits(west), toUnits(east)]
  if (west <= east) return [{ minLng, maxLng, ...lats }]
  return [
    { minLng, maxLng: HALF_TURN, ...lats },
    { minLng: -HALF_TURN, maxLng, ...lats },
  ]
}
