/**
 * Collections of GeoJSON (RFC 7946) that are whole. Lists of recipients are streamed (recipients.ts).
 *
 * @module
 */

export interface Feature {
  readonly id?: string | undefined
  /** Null where it is nowhere. */
  readonly geometry: object | null
  readonly properties: Readonly<Record<string, unknown>>
}

/** @param members  what is said of the collection as a whole (RFC 7946, 6.1) */
export function featureCollection(
  members: Readonly<Record<string, unknown>>,
  features: readonly Feature[],
): string {
  return JSON.stringify({
    type: 'FeatureCollection',
    ...members,
    features: features.map((feature) => ({ type: 'Feature', ...feature })),
  })
}
