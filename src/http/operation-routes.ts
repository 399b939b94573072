/**
 * The routes of all operations: on the paths of each, and by name.
 *
 * @module
 */
import assert from 'node:assert/strict'
import { performance } from 'node:perf_hooks'
import { ServiceError } from '../errors.js'
import type { Answer } from '../format/answer.js'
import { formatNames, formats } from '../format/formats.js'
import { operationNames } from '../interface/operation-names.js'
import { type OperationName, operations } from '../interface/operations.js'
import { limits } from '../limits.js'
import type { Executors } from '../operations/execute.js'
import type { Access, Asker } from '../selection/access.js'
import type { JsonObject } from '../selection/parse.js'
import type { Reply } from '../selection/reply.js'
import type { AuditTrail } from './audit-trail.js'
import { executeAll } from './batch.js'
import { bindBatch, bindByName, bindOnPath } from './bind.js'
import { MethodNotAllowed } from './fault.js'
import { type BodyContent, mayBeForm, readContent } from './read-body.js'
import { type Handler, type HttpRequest, METHOD_OVERRIDE, type OperationCall } from './request.js'
import { respond } from './response/respond.js'
import { allowHeader, nothingAt, type Route, type RouteMethod } from './router.js'

/**
 * Fixed paths come first, so that none is taken for the name of an operation.
 *
 * @param trail  records lists and changes; undefined without an audit
 */
export function operationRoutes(executors: Executors, trail?: AuditTrail): Route<Handler>[] {
  const dispatcher = { executors, trail }
  const routes: Route<Handler>[] = [
    ...pathRoutes(dispatcher),
    ...['', '/api'].flatMap((prefix) => formatRoutes(dispatcher, prefix)),
    {
      path: '/api/{Operation}',
      methods: {},
      any: byName(dispatcher),
      allow: ANY_VERB,
      callOf: (request) => namedCall(request, nothingHere),
    },
  ]
  return routes.map((route) => ({ ...route, isWork: true }))
}

/** Executes operations, and records what the audit asks for. */
interface Dispatcher {
  readonly executors: Executors
  readonly trail: AuditTrail | undefined
}

const ANY_VERB: readonly RouteMethod[] = ['GET', 'POST', 'PUT', 'DELETE']
const WRITING_VERBS: readonly string[] = ['POST', 'PUT', 'DELETE']
const NO_CONTENT: BodyContent = { kind: 'members', members: {} }

/** The operations of a path, by verb. */
type VerbTable = Partial<Record<string, OperationName>>

function pathRoutes(dispatcher: Dispatcher): Route<Handler>[] {
  const tables = new Map<string, VerbTable>()
  for (const name of operationNames) {
    const { verb, paths } = operations[name]
    for (const path of paths) tables.set(path, { ...tables.get(path), [verb]: name })
  }
  return Array.from(tables, ([path, table]): Route<Handler> => {
    const allow = Object.keys(table) as RouteMethod[]
    const handler = onPath(dispatcher, table, allow)
    // A form may name another verb than the POST that it is sent with.
    const verbs = new Set<RouteMethod>([...allow, 'POST'])
    const methods = Object.fromEntries([...verbs].map((verb) => [verb, handler]))
    return { path, methods, allow, callOf: (request) => callOnPath(request, table, allow) }
  })
}

function callOnPath(
  request: HttpRequest,
  table: VerbTable,
  allow: readonly RouteMethod[],
): OperationCall | undefined {
  if (request.method === 'POST' && mayBeForm(request)) return undefined
  const name = table[request.method === 'HEAD' ? 'GET' : request.method]
  if (name === undefined) throw new MethodNotAllowed(allowHeader(allow))
  return { name, isBatch: false }
}

function onPath(dispatcher: Dispatcher, table: VerbTable, allow: readonly RouteMethod[]): Handler {
  return (request, reply, body) => {
    const content = contentOf(request, body, table[request.method])
    if (request.call === undefined) {
      const name = table[verbOf(request, content)]
      if (name === undefined) throw new MethodNotAllowed(allowHeader(allow))
      request.admit({ name, isBatch: false })
    }
    const { name } = admitted(request)
    return execute(dispatcher, name, bindOnPath(request, operations[name], content), request, reply)
  }
}

function contentOf(
  request: HttpRequest,
  body: Uint8Array,
  name: OperationName | undefined,
): BodyContent {
  return request.mayHaveBody ? readContent(request, body, name) : NO_CONTENT
}

function verbOf({ method }: HttpRequest, content: BodyContent): string {
  if (content.kind !== 'form') return method
  const named = content.fields.filter(([name]) => name.toLowerCase() === METHOD_OVERRIDE)
  return named.map(([, verb]) => verb.toUpperCase()).join(', ') || method
}

function admitted({ call }: HttpRequest): OperationCall {
  assert(call, 'a request came past the gate without an operation')
  return call
}

/** `/json/reply/{Operation}` and its relatives. One-way requests are answered too: nothing is queued. */
function formatRoutes(dispatcher: Dispatcher, prefix: string): Route<Handler>[] {
  const withPaths = formatNames.filter((format) => formats[format].hasOwnPaths)
  return withPaths.flatMap((format) =>
    ['reply', 'oneway'].flatMap((kind): Route<Handler>[] => {
      const path = `${prefix}/${format}/${kind}`
      const any = byName(dispatcher)
      const callOf = (request: HttpRequest) => namedCall(request, noSuchOperation)
      return [
        { path, methods: {}, any, allow: ANY_VERB, format, callOf: noSuchOperation },
        { path: `${path}/{Operation}`, methods: {}, any, allow: ANY_VERB, format, callOf },
      ]
    }),
  )
}

function noSuchOperation(): never {
  throw new ServiceError(
    'NotImplementedException',
    'there is no operation of this name: GET /metadata lists all',
  )
}

function nothingHere({ path }: HttpRequest): never {
  throw nothingAt(path)
}

/** The operation that the path names; a batch has brackets behind the name. */
function namedCall(request: HttpRequest, otherwise: (request: HttpRequest) => never) {
  const { method, mayHaveBody, parameters } = request
  const [, given, brackets] = /^(.*?)(\[\])?$/.exec(parameters.Operation) ?? []
  const name = namesInLowerCase.get(given?.toLowerCase())
  if (name === undefined) return otherwise(request)
  if (operations[name].isWrite && !WRITING_VERBS.includes(method)) {
    throw new MethodNotAllowed(allowHeader(WRITING_VERBS))
  }
  const isBatch = brackets !== undefined
  if (isBatch && !mayHaveBody) throw new MethodNotAllowed('POST')
  return { name, isBatch }
}

const namesInLowerCase = new Map(operationNames.map((name) => [name.toLowerCase(), name]))

function byName(dispatcher: Dispatcher): Handler {
  return (request, reply, body) => {
    const { name, isBatch } = admitted(request)
    if (isBatch) return executeBatch(dispatcher, name, request, body, reply)
    const content = contentOf(request, body, name)
    return execute(dispatcher, name, bindByName(request, operations[name], content), request, reply)
  }
}

function execute(
  dispatcher: Dispatcher,
  name: OperationName,
  members: JsonObject,
  request: HttpRequest,
  reply: Reply,
): Promise<void> {
  const { executors, trail } = dispatcher
  if (trail !== undefined) {
    const run = () => executors[name](members, clientOf(request, reply))
    return trail.follow(request, reply, run, (answer) => write(request, reply, answer, name))
  }
  const answering = executors[name](members, clientOf(request, reply))
  return answering.then((answer) => write(request, reply, answer, name))
}

function executeBatch(
  dispatcher: Dispatcher,
  name: OperationName,
  request: HttpRequest,
  body: Uint8Array,
  reply: Reply,
): Promise<void> {
  const requests = bindBatch(request, operations[name], body)
  const { executors, trail } = dispatcher
  const run = () => executeAll(executors[name], requests, clientOf(request, reply))
  const send = (answer: Answer | undefined) => write(request, reply, answer, `${name}[]`)
  return trail === undefined ? run().then(send) : trail.follow(request, reply, run, send)
}

function write(
  request: HttpRequest,
  reply: Reply,
  answer: Answer | undefined,
  name: string,
): void | Promise<void> {
  request.stages.enter('write')
  if (!reply.gone) return respond(request, reply, answer, name)
}

/** The client of a request, as the operation sees it, which begins now. */
function clientOf(request: HttpRequest, reply: Reply): Asker {
  request.stages.enter('select')
  return new Client(request, reply)
}

class Client implements Asker {
  readonly access: Access
  isLetIn = false
  held: object | undefined
  readonly deadlineMs = performance.now() + limits.requestMs
  readonly #request: HttpRequest
  readonly #reply: Reply

  constructor(request: HttpRequest, reply: Reply) {
    this.access = request.access
    this.#request = request
    this.#reply = reply
  }

  get gone(): boolean {
    return this.#reply.gone
  }

  whenOver(listener: () => void): void {
    this.#reply.whenOver(listener)
  }

  waited(ms: number): void {
    this.#request.stages.waited(ms)
  }

  changed(facts: Readonly<Record<string, unknown>>): void {
    this.#request.audited?.changes.push(facts)
  }

  lacksScope(): void {
    this.#request.lacksScope()
  }

  rowsSent(count: number): void {
    this.#reply.rowsSent(count)
  }
}
