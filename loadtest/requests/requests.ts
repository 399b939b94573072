/**
 * Recipient requests as clients send them.
 *
 * @module
 */
import type { Feature, MultiPolygon, Point, Polygon } from 'geojson'

/** What is selected by one feature: an area, or who is within some metres of a point. */
export type AreaFeature = Feature<Polygon | MultiPolygon, Record<string, never>>
export type CircleFeature = Feature<Point, { readonly radius: number }>
export type SelectFeature = AreaFeature | CircleFeature

/** A request before it is written. */
export interface Selection {
  readonly features: readonly SelectFeature[]
  readonly countsOnly: boolean
}

export function areaFeature(geometry: Polygon | MultiPolygon): AreaFeature {
  return { type: 'Feature', geometry, properties: {} }
}

/** @param lng  and `lat`, in degrees */
export function circleFeature(lng: number, lat: number, radiusMetres: number): CircleFeature {
  const geometry: Point = { type: 'Point', coordinates: [lng, lat] }
  return { type: 'Feature', geometry, properties: { radius: radiusMetres } }
}

export function isCircle(feature: SelectFeature): feature is CircleFeature {
  return feature.geometry.type === 'Point'
}

export function requestBody({ features, countsOnly }: Selection): string {
  return JSON.stringify({ countsOnly, geoJSON: { type: 'FeatureCollection', features } })
}

/** As it goes over a connection. */
export function requestText(body: string, path = '/api/recipients'): string {
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ]
  return `${head.join('\r\n')}\r\n\r\n${body}`
}
