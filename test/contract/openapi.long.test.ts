/**
 * A client that knows nothing of the service but its OpenAPI document: it sends every example to
 * every path, in every media type of a body, and holds every answer to its schema.
 *
 * @module
 */
import type { ValidateFunction } from 'ajv/dist/2020.js'
import t from 'tap'
import { newAlert } from '../../src/interface/examples.js'
import { readGeoJson } from '../support/read-geojson.js'
import { type Service, serve, temporaryDirectory } from '../support/service/hickory.js'
import {
  type Answer,
  type Content,
  type DescribedOperation,
  type Document,
  type Parameter,
  resolve,
  validatorsOf,
} from '../support/service/open-api.js'

interface Call {
  readonly what: string
  readonly operation: DescribedOperation
  readonly verb: string
  readonly target: string
  readonly mediaType?: string
  readonly body?: unknown
}

t.test('every example is answered as the document says', async (t) => {
  const service = await serve(t, '--sample', '--data', temporaryDirectory(t))
  const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as Document
  const validatorOf = validatorsOf(document, { isClosed: true })
  const validators = new Map<string, ValidateFunction>()
  const validate = (schema: object) => {
    const key = JSON.stringify(schema)
    const known = validators.get(key) ?? validatorOf(schema)
    validators.set(key, known)
    return known
  }
  const calls = callsOf(document)
  t.ok(calls.length > 100)

  for (const call of calls) {
    const [status, answer] = successOf(document, call)
    const content = Object.entries(answer.content ?? {})
    t.ok(content.length <= 1, 'one type, so that a generated client has one')
    const [mediaType, { schema, example }] = content[0] ?? ['', {}]
    await t.test(call.what, async (t) => {
      await restoreDeleted(service, call)
      const response = await send(service, await ofAnAudience(service, call))
      const text = await response.text()
      t.equal(response.status, status, text.slice(0, 200))
      const type = response.headers.get('content-type')?.split(';', 1)[0] ?? ''
      t.equal(type, mediaType)
      if (mediaType === 'text/csv') {
        const [header] = text.split('\n')
        const isCounted = (call.body as { countsOnly?: boolean } | undefined)?.countsOnly
        t.equal(`${header}\n`, isCounted ? 'SourceId,Label,Count,Status\r\n' : example)
        return
      }
      if (schema === undefined) {
        t.equal(text, '')
        return
      }
      const check = validate(schema)
      const value = mediaType === 'application/geo+json' ? readGeoJson(text) : JSON.parse(text)
      t.ok(check(value), `as its schema says ${JSON.stringify(check.errors)}`)
      if (call.operation.operationId.startsWith('RecipientRequest')) {
        t.match(text, /"Count":[1-9]/, 'somebody is there')
        t.ok(response.headers.get('x-snapshot'))
      }
    })
  }
})

t.test('what is not JSON is refused as the document says', async (t) => {
  const service = await serve(t, '--sample', '--data', temporaryDirectory(t))
  const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as Document
  const check = validatorsOf(document, { isClosed: true })({
    $ref: '#/components/schemas/ErrorResponse',
  })
  const calls = callsOf(document).filter(({ mediaType }) => mediaType === 'application/json')
  const oncePerPath = new Map(calls.map((call) => [`${call.verb} ${call.target}`, call]))
  for (const [what, call] of oncePerPath) {
    const response = await send(service, call, 'json', 'nonsense')
    const answer = await response.json()
    t.equal(response.status, 400, what)
    t.ok(check(answer), `${what} ${JSON.stringify(check.errors)}`)
    t.match(answer, { ResponseStatus: { ErrorCode: 'InvalidJson' } }, what)
  }
})

/** Examples that have the same name belong together, whether in parameters or in the body. */
function callsOf(document: Document): Call[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([verb, operation]) => {
      // Its answer has no end.
      if (operation.operationId === 'WatchMapContext') return []
      const parameters = (operation.parameters ?? []).filter(({ name }) => name !== undefined)
      const bodies = bodiesOf(document, operation)
      const what = `${verb.toUpperCase()} ${path}`
      if (bodies.length === 0) {
        const names = new Set(parameters.flatMap(({ examples = {} }) => Object.keys(examples)))
        return [...(names.size === 0 ? [''] : names)].map((name) => ({
          what: `${what} ${name}`.trim(),
          operation,
          verb,
          target: targetOf(path, parameters, name),
        }))
      }
      return bodies.map(({ mediaType, name, value }) => ({
        what: `${what} ${name}, sent as ${mediaType}`,
        operation,
        verb,
        target: targetOf(path, parameters, name),
        mediaType,
        body: value,
      }))
    }),
  )
}

function bodiesOf(document: Document, { requestBody }: DescribedOperation) {
  if (requestBody === undefined) return []
  const { content = {} } =
    resolve<{ content: Record<string, Content> }>(document, requestBody) ?? {}
  const { examples = {} } = content['application/json'] ?? {}
  return Object.keys(content).flatMap((mediaType) =>
    Object.entries(examples).map(([name, { value }]) => ({ mediaType, name, value })),
  )
}

function targetOf(path: string, parameters: readonly Parameter[], example: string): string {
  const query = new URLSearchParams()
  let target = path
  for (const { name = '', in: place, examples = {} } of parameters) {
    if (!Object.hasOwn(examples, example)) continue
    const value = String(examples[example].value)
    if (place === 'query') query.set(name, value)
    else target = target.replace(`{${name}}`, encodeURIComponent(value))
  }
  return query.size === 0 ? target : `${target}?${query}`
}

function send(
  service: Service,
  { verb, target, mediaType, body }: Call,
  format: 'json' | '' = '',
  text = encode(mediaType, body),
): Promise<Response> {
  const query = format && `${target.includes('?') ? '&' : '?'}format=${format}`
  const isLines = mediaType === LINES
  const { Id, batchId } = (body ?? {}) as { Id?: number; batchId?: string }
  const ofLines = isLines && !target.includes(`/${Id}/`) ? `?Id=${Id}` : ''
  return fetch(service.url + target + query + ofLines, {
    method: verb.toUpperCase(),
    ...(mediaType && {
      headers: {
        'Content-Type': mediaType,
        ...(isLines && { 'Idempotency-Key': `"${batchId}"` }),
      },
      body: text,
    }),
  })
}

/** Of a body that is a list of the request, whose other members are elsewhere. */
const LINES = 'application/x-ndjson'

/** In a form, members that are no text or number are JSON. */
function encode(mediaType: string | undefined, body: unknown): string {
  if (mediaType === LINES) {
    const { changes } = body as { changes: readonly unknown[] }
    return changes.map((change) => `${JSON.stringify(change)}\n`).join('')
  }
  if (mediaType !== 'application/x-www-form-urlencoded') return JSON.stringify(body)
  const form = new URLSearchParams()
  for (const [name, value] of Object.entries(body as object)) {
    form.set(name, typeof value === 'string' ? value : JSON.stringify(value))
  }
  return String(form)
}

function successOf(document: Document, { operation }: Call): [status: number, answer: Answer] {
  const [status, answer] = Object.entries(operation.responses)[0]
  return [Number(status), resolve<Answer>(document, answer) ?? answer]
}

/** Ids of audiences are drawn by the service: an example with one is sent with that of a new one. */
async function ofAnAudience(service: Service, call: Call): Promise<Call> {
  const isOfOne = /^(Get|Delete)AudienceRequest/.test(call.operation.operationId)
  if (!isOfOne) return call
  const body = JSON.stringify({ lifetimeSeconds: 60, sources: [1] })
  const response = await fetch(`${service.url}/api/audiences`, { method: 'POST', body })
  const { Id } = (await response.json()) as { Id: string }
  const ofIt = (text: string) => text.replace(/c0ffee[0-9a-f]{26}/, Id)
  const { body: example } = call
  return {
    ...call,
    target: ofIt(call.target),
    ...(example !== undefined && { body: JSON.parse(ofIt(JSON.stringify(example))) }),
  }
}

/** What an example deletes is there when it is sent. */
async function restoreDeleted(service: Service, { operation, target, body }: Call): Promise<void> {
  if (operation.operationId.startsWith('DeleteAlert')) {
    const request = newAlert.short.request
    const path = `${service.url}/api/alerts/${request.Identifier}`
    const sent = await fetch(path, { method: 'PUT', body: JSON.stringify(request) })
    await sent.arrayBuffer()
  }
  if (!operation.operationId.startsWith('DeleteMapContext')) return
  const Id = (body as { Id?: string } | undefined)?.Id ?? target.split('/').at(-1)
  const response = await fetch(`${service.url}/api/contexts`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ Id, ContextName: 'To be deleted' }),
  })
  await response.arrayBuffer()
}
