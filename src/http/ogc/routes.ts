/**
 * OGC API - Features, Part 1: Core (OGC 17-069r4), below `/ogc`: areas and counts for QGIS, ArcGIS and GDAL.
 *
 * These are no operations: their paths and queries are the standard's. A key that may read contexts may read them;
 * named areas take the scope for counts as well.
 *
 * @module
 */
import { ServiceError } from '../../errors.js'
import type { Answer } from '../../format/answer.js'
import { featureCollection } from '../../format/geojson.js'
import { warningHeaders } from '../../format/warning-headers.js'
import { limits } from '../../limits.js'
import type {
  FeatureCollectionSource,
  FeatureCollections,
} from '../../operations/features/source.js'
import type { Asker } from '../../selection/access.js'
import { checkFreshness, type Freshness } from '../../selection/freshness.js'
import { Remarks } from '../../selection/remarks.js'
import type { AuditTrail } from '../audit-trail.js'
import { baseUrlOf, type Handler, type HttpRequest } from '../request.js'
import { respond } from '../response/respond.js'
import type { Route } from '../router.js'
import { ogcApi } from './api-document.js'
import {
  CONFORMANCE,
  collectionDocument,
  collectionUrl,
  GEOJSON_TYPE,
  JSON_TYPE,
  type Link,
  landingPage,
  link,
  OPENAPI_TYPE,
} from './documents.js'
import { readItemsQuery, readOffset, refuseUnknown } from './parameters.js'

interface OgcOptions {
  /** The version of the service. */
  readonly version: string
  /** The address under which clients know the service; without it, each request says it. */
  readonly publicUrl?: string | undefined
  /** What has collections, in the order in which they are listed. */
  readonly collections: readonly FeatureCollections[]
  /** On a machine of a cluster alone. */
  readonly freshness?: Freshness | undefined
  /** Records counts; undefined without an audit. */
  readonly trail?: AuditTrail | undefined
}

/** To be put before routes that take any name. */
export function ogcRoutes({
  version,
  publicUrl,
  collections,
  freshness,
  trail,
}: OgcOptions): Route<Handler>[] {
  const rootOf = (request: HttpRequest) => `${publicUrl ?? baseUrlOf(request)}/ogc`

  const open = async (request: HttpRequest, asker: Asker): Promise<FeatureCollectionSource> => {
    const { collectionId } = request.parameters
    for (const each of collections) {
      const source = await each.open(collectionId, asker)
      if (source !== undefined) return source
    }
    throw new ServiceError('NotFound', 'there is no collection with this id')
  }

  /** A document that needs no key. */
  const plain = (path: string, type: string, documentOf: (root: string) => object) => {
    const GET: Handler = (request, reply) => {
      refuseUnknown(request.query, [])
      reply.send(200, { 'Content-Type': type }, JSON.stringify(documentOf(rootOf(request))))
    }
    return { path, methods: { GET }, format: 'json' } as const
  }

  /** A request about collections, for keys that may read contexts. */
  const work = (
    path: string,
    format: 'json' | 'geojson',
    read: (request: HttpRequest, asker: Asker) => Promise<Document>,
  ): Route<Handler> => {
    const GET: Handler = (request, reply) => {
      const asker = askerOf(request, reply)
      const run = async () => answerOf(await read(request, asker))
      const send = (answer: Answer | undefined) =>
        reply.gone ? undefined : respond(request, reply, answer, 'items')
      return trail === undefined ? run().then(send) : trail.follow(request, reply, run, send)
    }
    const callOf = () => ({ name: 'GetMapContextRequest', isBatch: false }) as const
    return { path, methods: { GET }, format, isWork: true, callOf }
  }

  const listed = async (request: HttpRequest, asker: Asker) => {
    refuseUnknown(request.query, ['offset'])
    const root = rootOf(request)
    const offset = readOffset(request.query)
    const page = pageOf(collections, asker, offset)
    const documents: object[] = []
    for (const { from, id } of page.entries) {
      const source = await from.open(id, asker)
      if (source !== undefined) documents.push(collectionDocument(root, source))
      if (performance.now() > asker.deadlineMs) throw new ServiceError('Unavailable', TOO_LONG)
    }
    const here = `${root}/collections`
    const links = [link(withOffset(here, offset), 'self', JSON_TYPE, 'This document')]
    if (page.next !== undefined) {
      links.push(link(withOffset(here, page.next), 'next', JSON_TYPE, 'More collections'))
    }
    return { text: JSON.stringify({ links, collections: documents }) }
  }

  const freshnessWarnings = () => {
    const remarks = new Remarks()
    checkFreshness(freshness, false, remarks)
    return remarks.warnings
  }

  const items = async (request: HttpRequest, asker: Asker) => {
    const { box, limit, offset } = readItemsQuery(request.query)
    const source = await open(request, asker)
    const warnings = freshnessWarnings()
    const { features, matchedCount } = await source.page(box, limit, offset)
    const collection = collectionUrl(rootOf(request), source.id)
    const url = (start: number) => itemsUrl(`${collection}/items`, request.query, start)
    const links: Link[] = [link(url(offset), 'self', GEOJSON_TYPE, 'This page')]
    const next = offset + features.length
    if (next < matchedCount && features.length > 0) {
      links.push(link(url(next), 'next', GEOJSON_TYPE, 'The next page'))
    }
    if (offset > 0) {
      links.push(link(url(Math.max(0, offset - limit)), 'prev', GEOJSON_TYPE, 'The page before'))
    }
    links.push(link(collection, 'collection', JSON_TYPE, source.title))
    const about = {
      links,
      timeStamp: new Date().toISOString(),
      numberMatched: matchedCount,
      numberReturned: features.length,
      ...(warnings && { Warnings: warnings }),
    }
    const counted = { collectionId: source.id, areaCount: features.length }
    return { text: featureCollection(about, features), counted, warnings }
  }

  const item = async (request: HttpRequest, asker: Asker) => {
    refuseUnknown(request.query, [])
    const source = await open(request, asker)
    const warnings = freshnessWarnings()
    const feature = await source.feature(request.parameters.featureId)
    if (feature === undefined) {
      throw new ServiceError('NotFound', 'there is no feature with this id in the collection')
    }
    const collection = collectionUrl(rootOf(request), source.id)
    const self = `${collection}/items/${encodeURIComponent(feature.id ?? '')}`
    const links = [
      link(self, 'self', GEOJSON_TYPE, 'This feature'),
      link(collection, 'collection', JSON_TYPE, source.title),
    ]
    const about = { links, ...(warnings && { Warnings: warnings }) }
    const text = JSON.stringify({ type: 'Feature', ...feature, ...about })
    return { text, counted: { collectionId: source.id, areaCount: 1 }, warnings }
  }

  return [
    plain('/ogc', JSON_TYPE, landingPage),
    plain('/ogc/conformance', JSON_TYPE, () => CONFORMANCE),
    plain('/ogc/api', OPENAPI_TYPE, (root) => ogcApi(version, root)),
    work('/ogc/collections', 'json', listed),
    work('/ogc/collections/{collectionId}', 'json', async (request, asker) => {
      refuseUnknown(request.query, [])
      const document = collectionDocument(rootOf(request), await open(request, asker))
      return { text: JSON.stringify(document) }
    }),
    work('/ogc/collections/{collectionId}/items', 'geojson', items),
    work('/ogc/collections/{collectionId}/items/{featureId}', 'geojson', item),
  ]
}

const TOO_LONG = 'the collections could not be read in time; send it again'

interface CollectionPage {
  readonly entries: readonly { readonly from: FeatureCollections; readonly id: string }[]
  /** Where the next page begins; undefined behind the last. */
  readonly next: number | undefined
}

function pageOf(
  collections: readonly FeatureCollections[],
  asker: Asker,
  offset: number,
): CollectionPage {
  const entries: { from: FeatureCollections; id: string }[] = []
  let before = 0
  for (const from of collections) {
    const count = from.count(asker)
    const skipCount = Math.max(0, offset - before)
    const room = limits.collectionPageCount - entries.length
    if (skipCount < count && room > 0) {
      for (const { id } of from.page(asker, skipCount, room)) entries.push({ from, id })
    }
    before += count
  }
  const next = offset + entries.length
  return { entries, next: entries.length > 0 && next < before ? next : undefined }
}

function withOffset(url: string, offset: number): string {
  return offset === 0 ? url : `${url}?offset=${offset}`
}

/** The same request, of another page. */
function itemsUrl(url: string, query: URLSearchParams, offset: number): string {
  const own = new URLSearchParams(query)
  if (offset === 0) own.delete('offset')
  else own.set('offset', String(offset))
  const text = own.toString()
  return text === '' ? url : `${url}?${text}`
}

interface Document {
  readonly text: string
  /** Whose counts it has, for the audit. */
  readonly counted?: { readonly collectionId: string; readonly areaCount: number }
  readonly warnings?: Answer['warnings']
}

function answerOf({ text, counted, warnings }: Document): Answer {
  const body = () => text
  return {
    // Counts change, and a key may have a boundary of its own.
    headers: { 'Cache-Control': 'no-store', ...warningHeaders(warnings) },
    warnings,
    heldBytes: text.length,
    json: body,
    geoJson: body,
    csv: body,
    csvRecord: () => ({ header: '', row: text }),
    records: () => (counted === undefined ? [] : [{ facts: () => counted }]),
  }
}

function askerOf(request: HttpRequest, reply: Parameters<Handler>[1]): Asker {
  return {
    access: request.access,
    deadlineMs: performance.now() + limits.requestMs,
    get gone() {
      return reply.gone
    },
    whenOver: (listener) => reply.whenOver(listener),
  }
}
