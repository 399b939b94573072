/**
 * The service in the words of OpenAPI 3.1, made of the schemas that describe its interface.
 *
 * @module
 */
import assert from 'node:assert/strict'
import {
  COMMON_PARAMETERS,
  components,
  type JsonSchema,
  listsRecipients,
  memberSchema,
  reference,
} from './open-api-components.js'
import { whoMayCall } from './samples.js'
import { type NamedOperation, namedOperations } from './schema.js'

/**
 * @param version  of the service
 * @param publicUrl  under which clients know it; by default the one that they read this from
 */
export function openApi(version: string, publicUrl = '/'): Readonly<Record<string, unknown>> {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Hickory',
      version,
      summary: 'Who is inside this shape, exactly, now?',
      description: INTRODUCTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: publicUrl }],
    // A service that asks for no keys takes none.
    security: [{ bearer: [] }, { basic: [] }, {}],
    tags: [
      { name: 'Paths', description: 'Each operation at its own paths.' },
      { name: 'By name', description: 'Each operation by its name, as clients of DTOs call it.' },
      { name: 'Health', description: 'For those who run the service.' },
    ],
    paths: paths(),
    components: components(),
  }
}

const INTRODUCTION = [
  'What is described here is what to send. All members are optional, and null is the same as ' +
    'absent. The service also reads the names of members in any letter case, `GeoJson` for ' +
    '`geoJSON` and `Shapes` for `features`, and numbers and booleans that are written as text. ' +
    'Members that are not known are ignored, but for those that look as if they changed who is ' +
    'selected: they are refused.',
  'Paths are read in any letter case, doubled and trailing slashes count for nothing, and HEAD ' +
    'works where GET does. The format of an answer follows from the suffix `.json` or `.csv` of ' +
    'the path, else from `format`, else from Accept, else it is JSON. With `callback`, JSON is ' +
    'given to a function of that name.',
  'What is at `/json/reply/{Operation}` is also at `/json/oneway/{Operation}`, at ' +
    '`/csv/reply/{Operation}` and `/csv/oneway/{Operation}` with an answer in CSV, below `/api`, ' +
    'and for any verb; GET binds the query string, and does not write. ' +
    '`/json/reply/{Operation}[]` and `/api/{Operation}[]` take a list of requests and answer with ' +
    'a list, in order, and with the header X-AutoBatch-Completed; the first error ends it.',
].join('\n\n')

/** Each operation at its own paths, and by its name. */
function paths(): JsonSchema {
  const items: Record<string, Record<string, JsonSchema>> = {}
  for (const operation of namedOperations) {
    for (const [index, path] of operation.paths.entries()) {
      items[path] ??= {}
      items[path][operation.verb.toLowerCase()] = atPath(operation, path, index)
    }
  }
  for (const operation of namedOperations) {
    if (!operation.hasFeatures || operation.isWrite) continue
    for (const [index, path] of operation.paths.entries()) {
      const verb = operation.verb.toLowerCase()
      items[`${path}.geojson`] = { [verb]: atPath(operation, path, index, 'GeoJson') }
    }
  }
  for (const [prefix, suffix, form] of BY_NAME) {
    for (const operation of namedOperations) {
      items[prefix + operation.name] = { post: byName(operation, suffix, form) }
    }
  }
  return { ...items, [WATCH_PATH]: { get: watch() }, ...HEALTH }
}

/** What is behind the name of an answer that is not JSON. */
type Form = '' | 'Csv' | 'GeoJson'

/** Prefixes of paths by name, what tells their operationIds from those of the paths, and how they answer. */
const BY_NAME: readonly [prefix: string, suffix: string, form: Form][] = [
  ['/json/reply/', 'JsonReply', ''],
  ['/csv/reply/', 'CsvReply', 'Csv'],
  ['/api/', 'Api', ''],
]

/** @param index  of the path among those of the operation, of which the first has its name */
function atPath(
  operation: NamedOperation,
  path: string,
  index: number,
  form: Form = '',
): JsonSchema {
  const { name, verb, request, examples } = operation
  const needsBody = verb === 'POST' || verb === 'PUT'
  const own = Object.entries(request.properties ?? {}).flatMap(([member, schema]) => {
    const isInPath = path.includes(`{${member}}`)
    // Members that may be many go into a body, where there can be one.
    const isBodyOnly = needsBody || (operation.hasBody === true && schema.type === 'array')
    if (isBodyOnly && !isInPath) return []
    const { description, ...rest } = memberSchema(schema)
    const values = Object.entries(examples).filter(([, example]) => member in example.request)
    return {
      name: member,
      in: isInPath ? 'path' : 'query',
      ...(isInPath && { required: true }),
      ...(description !== undefined && { description }),
      schema: rest,
      examples: Object.fromEntries(
        values.map(([key, example]) => [
          key,
          { summary: example.summary, value: example.request[member] },
        ]),
      ),
    }
  })
  return {
    operationId: name + (index === 0 ? '' : index + 1) + form,
    tags: ['Paths'],
    ...texts(operation),
    parameters: [...own, ...idempotencyKey(operation), ...commonParameters(operation)],
    ...((needsBody || operation.hasBody === true) && {
      requestBody: reference('requestBodies', name),
    }),
    responses: responses(operation, operation.hasTag === true, form),
  }
}

function byName(operation: NamedOperation, suffix: string, form: Form): JsonSchema {
  return {
    operationId: operation.name + suffix,
    tags: ['By name'],
    ...texts(operation),
    parameters: [...idempotencyKey(operation), ...commonParameters(operation)],
    requestBody: reference('requestBodies', operation.name),
    responses: responses(operation, false, form),
  }
}

function idempotencyKey({ idempotencyMember: member }: NamedOperation): JsonSchema[] {
  if (member === undefined) return []
  return [
    {
      name: 'Idempotency-Key',
      in: 'header',
      description: `In place of ${member}; in quotes.`,
      schema: { type: 'string' },
    },
  ]
}

function texts(operation: NamedOperation): JsonSchema {
  const { summary, description } = operation
  return { summary, description: `${description} ${whoMayCall(operation)}` }
}

function commonParameters({ name }: NamedOperation): JsonSchema[] {
  const names = listsRecipients(name) ? [...COMMON_PARAMETERS, 'layout'] : COMMON_PARAMETERS
  return names.map((each) => reference('parameters', each))
}

function responses(
  { name, response }: NamedOperation,
  isConditional: boolean,
  form: Form,
): JsonSchema {
  // Errors beside GeoJSON are JSON.
  const errorForm = form === 'Csv' ? form : ''
  return {
    ...(response === undefined
      ? { 204: reference('responses', 'NoContent') }
      : { 200: reference('responses', name + form) }),
    ...(isConditional && { 304: reference('responses', 'NotModified') }),
    '4XX': reference('responses', `Refused${errorForm}`),
    500: reference('responses', `Failed${errorForm}`),
    503: reference('responses', `Unavailable${errorForm}`),
  }
}

const WATCH_PATH = '/api/contexts/{Id}/events'

/** What is no operation, since its answer has no end, but goes by what reads a context. */
function watch(): JsonSchema {
  const read = namedOperations.find(({ name }) => name === 'GetMapContextRequest') ?? assert.fail()
  const { parameters } = atPath(read, read.paths[0], 0) as { parameters: JsonSchema[] }
  const known = {
    name: 'Last-Event-ID',
    in: 'header',
    description: 'The id of the last event: nothing is sent until the state is another one.',
    schema: { type: 'string' },
  }
  const knownInQuery = {
    ...known,
    name: 'LastEventId',
    in: 'query',
    description: 'The same, for clients that cannot send the header, which goes first.',
  }
  const events = { 'text/event-stream': { schema: { type: 'string' } } }
  return {
    operationId: 'WatchMapContext',
    tags: ['Paths'],
    summary: 'Tells the counts of a map context when they change',
    description:
      'Server-sent events, without an end: `counts` at once and at each change, at most one a second, ' +
      'with JSON; `deleted` once there is no such context. ' +
      whoMayCall(read),
    parameters: [...parameters.filter(({ name }) => name === 'Id'), known, knownInQuery],
    responses: {
      ...responses(read, false, ''),
      200: { description: 'Events.', content: events },
    },
  }
}

function health(operationId: string, summary: string, description: string, bodies: JsonSchema) {
  const answers = Object.entries(bodies).map(([status, schema]) => [
    status,
    { description: `Status ${status}.`, content: { 'application/json': { schema } } },
  ])
  const responses = Object.fromEntries(answers)
  return { get: { operationId, tags: ['Health'], summary, description, security: [], responses } }
}

function statusSchema(status: string, more: JsonSchema = {}): JsonSchema {
  return { type: 'object', properties: { status: { const: status }, ...more } }
}

const HEALTH = {
  '/livez': health('Livez', 'Whether the process lives', '200 while it does.', {
    200: statusSchema('live'),
  }),
  '/readyz': health(
    'Readyz',
    'Whether the service should be sent requests',
    '200 when every shard of one snapshot is loaded; 503 with the reason otherwise.',
    {
      200: statusSchema('ready', {
        snapshotId: {
          type: 'string',
          description: 'What is served; where keys are asked for, told to those who have one.',
        },
        loading: { type: 'string', description: 'The id of a newer snapshot that is on its way.' },
        refused: {
          type: 'object',
          description: 'A newer snapshot that is not served, or why none can be looked for.',
          properties: { snapshotId: { type: 'string' }, reason: { type: 'string' } },
          required: ['reason'],
        },
      }),
      503: statusSchema('unready', { reason: { type: 'string', description: 'Why, in a word.' } }),
    },
  ),
}
