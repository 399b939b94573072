/**
 * The components to which the paths of the OpenAPI document refer: types, bodies, answers, headers and
 * parameters.
 *
 * @module
 */
import { errorTables } from '../errors.js'
import {
  csvColumns,
  errorResponse,
  isNullable,
  type NamedOperation,
  namedOperations,
  namedTypes,
  plainType,
  requestTypeName,
  type Schema,
  typeText,
} from './schema.js'

export function components(): JsonSchema {
  return {
    schemas: schemas(),
    requestBodies: Object.fromEntries(namedOperations.map((each) => [each.name, bodyOf(each)])),
    responses: {
      ...Object.fromEntries(namedOperations.flatMap(answersOf)),
      ...errors('', { 'application/json': { schema: memberSchema(errorResponse) } }),
      ...errors('Csv', { 'text/csv': { schema: text } }),
      NoContent: { description: 'It was done, and there is nothing to say.' },
      NotModified: {
        description: 'What If-None-Match names is still what would be answered.',
        headers: { ETag: header('ETag') },
      },
    },
    headers: HEADERS,
    parameters: PARAMETERS,
    securitySchemes: SECURITY_SCHEMES,
  }
}

/** By their names, as `security` has them. */
const SECURITY_SCHEMES = {
  bearer: { type: 'http', scheme: 'bearer', description: 'The key as it is.' },
  basic: {
    type: 'http',
    scheme: 'basic',
    description: 'The key as the password of any user, for clients that know no other way.',
  },
}

export function reference(kind: string, name: string): { readonly $ref: string } {
  return { $ref: `#/components/${kind}/${name}` }
}

/** Parameters that every operation has. */
export const COMMON_PARAMETERS = ['format', 'callback']

const text = { type: 'string' }

const PARAMETERS = {
  format: {
    name: 'format',
    in: 'query',
    description:
      'Format of the answer, which then has another media type than the one that is described: ' +
      'application/json, text/csv, application/x-ndjson or application/geo+json. GeoJSON is for ' +
      'recipients, outlines and one context.',
    schema: { type: 'string', enum: ['json', 'csv', 'ndjson', 'geojson'] },
  },
  callback: {
    name: 'callback',
    in: 'query',
    description:
      'Name of a function that JSON or GeoJSON is given to, as text/javascript (JSONP); characters other than letters, digits, ' +
      '"." and "_" become "_".',
    schema: text,
  },
  layout: {
    name: 'layout',
    in: 'query',
    description: 'CSV with one row a recipient, or one row a source with its recipients in a cell.',
    schema: { type: 'string', enum: ['flat', 'sources'], default: 'flat' },
  },
}

const HEADERS = {
  'X-Snapshot': {
    description: 'The snapshot that answered, the same for all of it.',
    schema: text,
  },
  'X-Sequence': {
    description: 'The last batch of changes that is in the answer; 0 where there was none.',
    schema: text,
  },
  'X-Next-After': {
    description: 'Of a page of a list: the cursor to go on with. Not there where nothing follows.',
    schema: text,
  },
  'X-Coverage': {
    description:
      'Of a request with partial: the share of the recipients that was searched, from 0 to 1.',
    schema: text,
  },
  ETag: { description: 'Names the answer, to be sent back as If-None-Match.', schema: text },
  'Retry-After': {
    description: 'Seconds after which to try again.',
    schema: { type: 'integer', minimum: 1 },
  },
  'Content-Disposition': {
    description: 'Of CSV: the name of a file to keep it in.',
    schema: text,
  },
}

/** Whether the answer of an operation is a list of recipients, which has a layout and pages. */
export function listsRecipients(name: string): boolean {
  return name === 'RecipientRequest' || name === 'GetAudienceRequest'
}

function header(name: keyof typeof HEADERS): JsonSchema {
  return reference('headers', name)
}

function schemas(): JsonSchema {
  const roots = [
    ...namedOperations.map(({ request }) => request),
    ...namedOperations.flatMap(({ response }) => response ?? []),
    errorResponse,
  ]
  const types = [...namedTypes(roots)].map(([name, schema]) => [name, typeSchema(schema)] as const)
  const requests = namedOperations
    .filter(({ request }) => request.title === undefined)
    .map(({ name, request }) => [name, typeSchema(request)] as const)
  const all = [...types, ...requests, ...Object.entries(geoJsonSchemas)]
  return Object.fromEntries(all.sort(([a], [b]) => (a < b ? -1 : 1)))
}

function bodyOf(operation: NamedOperation): JsonSchema {
  const schema = reference('schemas', requestTypeName(operation))
  const examples = Object.fromEntries(
    Object.entries(operation.examples).map(([name, { summary, request }]) => [
      name,
      { summary, value: request },
    ]),
  )
  return {
    content: {
      'application/json': { schema, examples },
      'application/x-www-form-urlencoded': { schema },
      ...(operation.linesMember !== undefined && {
        'application/x-ndjson': { schema: linesOf(operation.linesMember) },
      }),
    },
  }
}

function linesOf(member: string): JsonSchema {
  const description = `Each line is one of ${member}; the other members are in the path, the query or headers.`
  return { ...text, description }
}

/**
 * The answers of an operation by their names. Each has one media type: a client that is generated from the
 * document has one type for it then.
 */
function answersOf(operation: NamedOperation): [name: string, answer: JsonSchema][] {
  const { name, response, hasFeatures = false, hasTag = false, isWrite } = operation
  if (response === undefined) return []
  const answer = (content: JsonSchema, isFile = false): JsonSchema => ({
    description: `The answer of ${name}.`,
    headers: {
      ...(hasTag && { ETag: header('ETag') }),
      ...(listsRecipients(name) && {
        'X-Snapshot': header('X-Snapshot'),
        'X-Sequence': header('X-Sequence'),
        'X-Next-After': header('X-Next-After'),
        ...(name === 'RecipientRequest' && { 'X-Coverage': header('X-Coverage') }),
      }),
      ...(isFile && { 'Content-Disposition': header('Content-Disposition') }),
    },
    content,
  })
  const table = { schema: text, example: `${csvColumns(operation).join()}\r\n` }
  const features = { schema: reference('schemas', 'FeatureCollection') }
  const answers: [name: string, answer: JsonSchema][] = [
    [name, answer({ 'application/json': { schema: memberSchema(response) } })],
    [`${name}Csv`, answer({ 'text/csv': table }, true)],
  ]
  if (hasFeatures && !isWrite) {
    answers.push([`${name}GeoJson`, answer({ 'application/geo+json': features })])
  }
  return answers
}

/** Answers that are no success; which codes each status has is said, since clients match codes. */
function errors(suffix: string, content: JsonSchema): JsonSchema {
  return {
    [`Refused${suffix}`]: {
      description: `The request cannot be answered. ${codes(400, 499)}`,
      content,
    },
    [`Failed${suffix}`]: { description: `A fault of the service. ${codes(500, 500)}`, content },
    [`Unavailable${suffix}`]: {
      description: `Not now; try again. ${codes(503, 503)}`,
      headers: { 'Retry-After': header('Retry-After') },
      content,
    },
  }
}

/** The codes of some statuses, such as `404: NotFound.` */
function codes(first: number, last: number): string {
  const byStatus = new Map<number, string[]>()
  for (const [code, status] of Object.entries(errorTables.serviceErrors)) {
    if (status < first || status > last) continue
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  return [...byStatus].map(([status, names]) => `${status}: ${names.join(', ')}.`).join(' ')
}

/**
 * Answers in GeoJSON (RFC 7946) for the OpenAPI document: a FeatureCollection with foreign members.
 */
const geoJsonSchemas: Readonly<Record<string, JsonSchema>> = {
  FeatureCollection: {
    description:
      'A FeatureCollection of GeoJSON (RFC 7946). Other members say what holds for all of it: the ' +
      'SourceRecords, NextAfter and Warnings of recipients, Id and ContextName of a context, ToleranceMetres of outlines.',
    type: 'object',
    required: ['type', 'features'],
    properties: {
      type: { type: 'string', enum: ['FeatureCollection'] },
      features: { type: 'array', items: { $ref: '#/components/schemas/Feature' } },
    },
    additionalProperties: true,
  },
  Feature: {
    description: 'A recipient, an area of a context, or an outline.',
    type: 'object',
    required: ['type', 'geometry', 'properties'],
    properties: {
      type: { type: 'string', enum: ['Feature'] },
      id: { type: 'string', description: 'Of an area: its Id.' },
      geometry: {
        description: 'Null where it is nowhere, or where an outline could not be united.',
        anyOf: [{ $ref: '#/components/schemas/FeatureGeometry' }, { type: 'null' }],
      },
      properties: {
        type: 'object',
        description:
          'SourceId and Number of a recipient, the members of an area but Geometry, or the ' +
          'SourceIds of an outline.',
        additionalProperties: true,
      },
    },
  },
  FeatureGeometry: {
    description: 'Positions are longitude and latitude in degrees.',
    oneOf: [geometry('Point', 1), geometry('Polygon', 3), geometry('MultiPolygon', 4)],
  },
}

/** @param depth  how many lists a number is in */
function geometry(type: string, depth: number): JsonSchema {
  return {
    type: 'object',
    required: ['type', 'coordinates'],
    properties: { type: { type: 'string', enum: [type] }, coordinates: nested(depth) },
  }
}

function nested(depth: number): JsonSchema {
  return depth === 0 ? { type: 'number' } : { type: 'array', items: nested(depth - 1) }
}

/**
 * Schemas of the interface as OpenAPI writes them: types with a name are written once and referred
 * to. That no other member is known is left out: in requests others are ignored, and answers may
 * get more.
 */
export type JsonSchema = Readonly<Record<string, unknown>>

/** A type, for the place where it is written. */
function typeSchema(schema: Schema): JsonSchema {
  const type = isNullable(schema) ? { type: plainType(schema) } : {}
  const text = typeText(schema)
  return { ...(text === '' ? {} : { description: text }), ...keywords(schema), ...type }
}

/** A member: a reference where its type has a name. */
export function memberSchema(schema: Schema): JsonSchema {
  const description = schema.description === undefined ? {} : { description: schema.description }
  if (schema.title === undefined) return { ...description, ...keywords(schema) }
  const reference = { $ref: `#/components/schemas/${schema.title}` }
  if (isNullable(schema)) return { ...description, anyOf: [reference, { type: 'null' }] }
  // Without a text of its own the type says it all.
  return schema.typeDescription === undefined ? reference : { ...description, ...reference }
}

function keywords(schema: Schema): JsonSchema {
  const { title, description, typeDescription, ...rest } = schema
  const { items, properties, patternProperties, additionalProperties, ...plain } = rest
  return {
    ...plain,
    ...(items && { items: memberSchema(items) }),
    ...(properties && { properties: memberSchemas(properties) }),
    ...(patternProperties && { patternProperties: memberSchemas(patternProperties) }),
    ...(additionalProperties === true && { additionalProperties }),
  }
}

function memberSchemas(schemas: Readonly<Record<string, Schema>>): JsonSchema {
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, memberSchema(schema)]),
  )
}
