/**
 * The descriptions of the service: a page for people, types for programs, and OpenAPI.
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

import { nothingAt } from './nothing-at.js'
import { baseUrlOf, type Handler, type HttpRequest } from './request.js'
import type { Route } from './router.js'

/**
 * To be put before routes that take any name below `/api`, which these would match.
 *
 * @param version  of the service
 * @param publicUrl  under which clients know it; what each request calls it unless given
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
