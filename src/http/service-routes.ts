/**
 * The routes about the service itself: its descriptions and its health.
 *
 * @module
 */
import { createHash } from 'node:crypto'
import { METADATA_STYLE, type MetadataPage, metadataPage } from '../describe/metadata.js'
import { openApi } from '../describe/open-api.js'
import { typescriptTypes } from '../describe/typescript.js'
import { ServiceError } from '../errors.js'
import { formats } from '../format/formats.js'
import { operationNames } from '../interface/operation-names.js'
import type { OperationName } from '../interface/operations.js'
import { NO_ACCESS } from '../selection/access.js'
import { baseUrlOf, type Handler, type HttpRequest } from './request.js'
import { nothingAt, type Route } from './router.js'

/**
 * The descriptions of the service: a page for people, types for programs, and OpenAPI. To be put before routes that take any name below `/api`, which these would match.
 *
 * @param version  of the service
 * @param publicUrl  under which clients know it; without it, each request says it
 */
export function descriptionRoutes(version: string, publicUrl?: string): Route<Handler>[] {
  let document: string | undefined
  const urlFor = (request: HttpRequest) => publicUrl ?? baseUrlOf(request)
  const page: PageOf = (formats, isOneOperation) => (request, reply) => {
    const operationName = isOneOperation ? operationOf(request.query) : undefined
    const text = metadataPage({ baseUrl: urlFor(request), version, formats, operationName })
    reply.send(200, PAGE_HEADERS, text)
  }
  const types: Handler = (request, reply) =>
    reply.send(200, TEXT_HEADERS, typescriptTypes(version, urlFor(request)))
  const openApiDocument: Handler = ({ path, suffix }, reply) => {
    if (suffix === 'csv') throw nothingAt(path)
    // It takes 12 ms, and few ask for it.
    document ??= JSON.stringify(openApi(version, publicUrl))
    reply.send(200, JSON_HEADERS, document)
  }
  const handlers: Readonly<Record<string, Handler>> = {
    '/metadata': page(['json', 'csv'], false),
    '/json/metadata': page(['json'], true),
    '/csv/metadata': page(['csv'], true),
    '/types': (_, reply) => reply.send(200, JSON_HEADERS, LANGUAGES),
    '/types/typescript': types,
    // The router cuts a suffix off, so this is the path of openapi.json.
    '/openapi': openApiDocument,
  }
  const routes = Object.entries(handlers).flatMap(([path, GET]) =>
    ['', '/api'].map((prefix) => ({ path: prefix + path, methods: { GET } })),
  )
  const toMetadata: Handler = (_, reply) =>
    reply.send(302, { Location: `${publicUrl ?? ''}/metadata` }, '')
  return [{ path: '/', methods: { GET: toMetadata } }, ...routes]
}

type PageOf = (formats: MetadataPage['formats'], isOneOperation: boolean) => Handler

const LANGUAGES = JSON.stringify({ TypeScript: '/types/typescript' })

const JSON_HEADERS = { 'Content-Type': formats.json.contentType }
const TEXT_HEADERS = { 'Content-Type': 'text/plain; charset=utf-8' }

/** The page needs its own style and nothing else. */
const PAGE_HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy':
    `default-src 'none'; style-src 'sha256-${sha256(METADATA_STYLE)}'; ` +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64')
}

/**
 * The operation that `op` names, in any letter case.
 *
 * @returns undefined when no operation is asked for
 */
function operationOf(query: URLSearchParams): OperationName | undefined {
  const wanted = query.get('op')?.toLowerCase()
  if (!wanted) return undefined
  const found = operationNames.find((name) => name.toLowerCase() === wanted)
  if (found === undefined) throw new ServiceError('NotFound', 'there is no such operation', 'op')
  return found
}

/** Undefined when ready; otherwise the reason, in a word. */
type UnreadyReason = () => string | undefined

/** The snapshot that is served, and a newer one that is not. */
interface ServedSnapshot {
  readonly snapshotId: string
  /** The id of a newer one that is on its way. */
  readonly loading?: string
  /** A newer one that is not served, or the reason why the newest one is not known. */
  readonly refused?: { readonly snapshotId?: string; readonly reason: string }
  /** Why every recipient request is refused, if so: JSON leaves out what is undefined. */
  readonly boundaryFault?: string | undefined
  /** The version of the gazetteer, and why it is not the current one, if so. */
  readonly areas?:
    | {
        readonly version?: string
        readonly refused?: { readonly version?: string; readonly reason: string }
      }
    | undefined
  /** When the certificate expires, and why a newer one is not shown, if so. */
  readonly tls?: { readonly certificateExpires: string; readonly refused?: string } | undefined
}

/**
 * Whether the process lives, and whether it should get requests. Everyone may ask that; where keys are asked for, only
 * clients with a key learn which snapshot is served.
 */
export function healthRoutes(
  unreadyReason: UnreadyReason,
  served: () => ServedSnapshot,
): Route<Handler>[] {
  return [
    { path: '/livez', methods: { GET: (_, reply) => reply.send(200, HEALTH_HEADERS, LIVE) } },
    {
      path: '/readyz',
      methods: {
        GET({ access }, reply) {
          const reason = unreadyReason()
          const [status, body] =
            reason === undefined
              ? [200, { status: 'ready', ...(access !== NO_ACCESS && served()) }]
              : [503, { status: 'unready', reason }]
          reply.send(status, HEALTH_HEADERS, JSON.stringify(body))
        },
      },
    },
  ]
}

const HEALTH_HEADERS = { 'Content-Type': formats.json.contentType, 'Cache-Control': 'no-store' }
const LIVE = JSON.stringify({ status: 'live' })
