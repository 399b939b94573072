/**
 * The paths below `/ogc` as OpenAPI 3.0 describes them.
 *
 * @module
 */
import { limits } from '../../limits.js'
import { GEOJSON_TYPE, JSON_TYPE, OPENAPI_TYPE } from './documents.js'

/**
 * @param version  of the service
 * @param root  the URL of the landing page
 */
export function ogcApi(version: string, root: string): object {
  return {
    openapi: '3.0.3',
    info: {
      title: 'Hickory: areas and counts as features',
      version,
      description:
        'OGC API - Features, Part 1: Core. Areas, and how many recipients are inside each.',
      license: { name: 'As the service' },
    },
    servers: [{ url: root }],
    tags: [{ name: 'Capabilities' }, { name: 'Data' }],
    security: [{ bearer: [] }, { basic: [] }, {}],
    paths: {
      '/': open('getLandingPage', 'The landing page', JSON_TYPE),
      '/conformance': open('getConformance', 'The conformance classes', JSON_TYPE),
      '/api': open('getApi', 'This document', OPENAPI_TYPE),
      '/collections': read('getCollections', 'The collections', JSON_TYPE, [OFFSET]),
      '/collections/{collectionId}': read('getCollection', 'A collection', JSON_TYPE, [COLLECTION]),
      '/collections/{collectionId}/items': read(
        'getFeatures',
        'Features of a collection, page by page',
        GEOJSON_TYPE,
        [COLLECTION, LIMIT, BBOX, DATETIME, OFFSET],
      ),
      '/collections/{collectionId}/items/{featureId}': read(
        'getFeature',
        'A feature',
        GEOJSON_TYPE,
        [COLLECTION, FEATURE],
      ),
    },
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        basic: { type: 'http', scheme: 'basic' },
      },
      responses: {
        Invalid: failure('A parameter of the query is not known, or its value is not valid.'),
        Unauthorized: failure('A key is asked for, and there is none or not a right one.'),
        Forbidden: failure(
          'The key does not have the scope contexts:read, or counts for named areas.',
        ),
        NotFound: failure('There is nothing at this path.'),
        NotAcceptable: failure('There is no such form of the answer.'),
        TooLarge: failure('An area has more positions than an answer may have.'),
        Failed: failure('A fault of the service.'),
        Unavailable: failure('There is too much to do, or no answer in time; try again.'),
      },
    },
  }
}

const text = { type: 'string' }

const COLLECTION = {
  name: 'collectionId',
  in: 'path',
  required: true,
  description: 'The id of a collection.',
  schema: text,
}

const FEATURE = {
  name: 'featureId',
  in: 'path',
  required: true,
  description: 'The id of a feature.',
  schema: text,
}

const LIMIT = parameter('limit', 'How many features a page has at most.', {
  type: 'integer',
  minimum: 1,
  maximum: limits.featurePageCount,
  default: limits.featurePageDefaultCount,
})

const BBOX = parameter(
  'bbox',
  'West, south, east and north in degrees, or with a height behind each of the two places. A box with a west beyond ' +
    'its east runs over the antimeridian. What meets it, or is nowhere, is in the answer.',
  {
    type: 'array',
    oneOf: [
      { minItems: 4, maxItems: 4 },
      { minItems: 6, maxItems: 6 },
    ],
    items: { type: 'number' },
  },
)

const DATETIME = parameter(
  'datetime',
  'A time or an interval of RFC 3339. Areas have no time, so each of them is in the answer.',
  text,
)

const OFFSET = parameter('offset', 'Where a page begins, as links to the next one have it.', {
  type: 'integer',
  minimum: 0,
  default: 0,
})

function parameter(name: string, description: string, schema: object) {
  return { name, in: 'query', required: false, style: 'form', explode: false, description, schema }
}

/** Needs no key. */
function open(operationId: string, summary: string, type: string) {
  const responses = {
    200: success(summary, type),
    400: reference('Invalid'),
    500: reference('Failed'),
  }
  return { get: { operationId, summary, tags: ['Capabilities'], security: [], responses } }
}

/** What a key may be asked for. */
function read(operationId: string, summary: string, type: string, parameters: readonly object[]) {
  const responses = {
    200: success(summary, type),
    400: reference('Invalid'),
    401: reference('Unauthorized'),
    403: reference('Forbidden'),
    404: reference('NotFound'),
    406: reference('NotAcceptable'),
    422: reference('TooLarge'),
    500: reference('Failed'),
    503: reference('Unavailable'),
  }
  return { get: { operationId, summary, tags: ['Data'], parameters, responses } }
}

function success(description: string, type: string) {
  return { description: `${description}.`, content: { [type]: { schema: { type: 'object' } } } }
}

function failure(description: string) {
  return { description, content: { [JSON_TYPE]: { schema: { type: 'object' } } } }
}

function reference(name: string) {
  return { $ref: `#/components/responses/${name}` }
}
