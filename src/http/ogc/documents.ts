/**
 * What OGC API - Features answers beside features: documents that link to one another (17-069r4).
 *
 * @module
 */
import type { FeatureCollectionSource } from '../../operations/features/source.js'

/** RFC 8288, as JSON. */
export interface Link {
  readonly href: string
  readonly rel: string
  readonly type: string
  readonly title: string
}

export const JSON_TYPE = 'application/json'
export const GEOJSON_TYPE = 'application/geo+json'
export const OPENAPI_TYPE = 'application/vnd.oai.openapi+json;version=3.0'

/** The conformance classes that hold here. HTML is not among them. */
export const CONFORMANCE = {
  conformsTo: ['core', 'oas30', 'geojson'].map(
    (name) => `http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/${name}`,
  ),
}

const CRS84 = 'http://www.opengis.net/def/crs/OGC/1.3/CRS84'

/** @param root  the URL of the landing page */
export function landingPage(root: string) {
  return {
    title: 'Hickory',
    description: 'Areas, and how many recipients are inside each. Who they are is not told here.',
    links: [
      link(root, 'self', JSON_TYPE, 'This document'),
      link(`${root}/api`, 'service-desc', OPENAPI_TYPE, 'The API, as OpenAPI describes it'),
      link(`${root}/conformance`, 'conformance', JSON_TYPE, 'The conformance classes'),
      link(`${root}/collections`, 'data', JSON_TYPE, 'The collections'),
    ],
  }
}

export function collectionDocument(
  root: string,
  { id, title, description, extent }: FeatureCollectionSource,
) {
  const url = collectionUrl(root, id)
  return {
    id,
    title,
    description,
    ...(extent && {
      extent: { spatial: { bbox: [extent], crs: CRS84 } },
    }),
    itemType: 'feature',
    crs: [CRS84],
    links: [
      link(url, 'self', JSON_TYPE, 'This collection'),
      link(`${url}/items`, 'items', GEOJSON_TYPE, title),
    ],
  }
}

export function collectionUrl(root: string, id: string): string {
  return `${root}/collections/${encodeURIComponent(id)}`
}

export function link(href: string, rel: string, type: string, title: string): Link {
  return { href, rel, type, title }
}
