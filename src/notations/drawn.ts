/**
 * What a notation is read into: GeoJSON (RFC 7946), longitude before latitude in degrees, which the one
 * reader of drawings then takes. Readers of notations check what is theirs, the syntax; positions, rings and
 * bounds are checked where all drawings are.
 *
 * @module
 */

export type Position = readonly [lng: number, lat: number, ...others: number[]]

export type DrawnGeometry =
  | { readonly type: 'Point'; readonly coordinates: Position | readonly [] }
  | { readonly type: 'MultiPoint' | 'LineString'; readonly coordinates: readonly Position[] }
  | {
      readonly type: 'MultiLineString' | 'Polygon'
      readonly coordinates: readonly (readonly Position[])[]
    }
  | {
      readonly type: 'MultiPolygon'
      readonly coordinates: readonly (readonly (readonly Position[])[])[]
    }
  | { readonly type: 'GeometryCollection'; readonly geometries: readonly DrawnGeometry[] }

/** Where a feature is an area of the gazetteer, its geometry is null and `area` names it. */
export interface DrawnFeature {
  readonly type: 'Feature'
  readonly geometry: DrawnGeometry | null
  readonly properties: {
    readonly radius?: number
    /** Of the radius; metres unless given. */
    readonly units?: string
    readonly area?: string | readonly string[]
  }
}

export interface DrawnCollection {
  readonly type: 'FeatureCollection'
  readonly features: readonly DrawnFeature[]
}

/** What is read of a notation that has properties of its own, as they came, for the reader of drawings to check. */
export interface SentCollection {
  readonly type: 'FeatureCollection'
  readonly features: readonly SentFeature[]
  /** What its writer added to it. */
  readonly [foreign: string]: unknown
}

interface SentFeature {
  readonly type: 'Feature'
  readonly id?: string | number
  readonly geometry: DrawnGeometry | null
  readonly properties: Readonly<Record<string, unknown>>
}
