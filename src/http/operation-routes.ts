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
import { type OperationName, operationNames, operations } from '../interface/operations.js'
import { limits } from '../limits.js'
import type { Executors } from '../operations/execute.js'
import type { Access, Asker } from '../selection/access.js'
import type { JsonObject } from '../selection/parse.js'
import type { Reply } from '../selection/reply.js'
import { executeAll } from './batch.js'
import {
  type BodyContent,
  bindByName,
  bindOnPath,
  mayBeForm,
  readBatch,
  readContent,
} from './bind.js'
import { MethodNotAllowed } from './fault.js'
import { type Handler, type HttpRequest, METHOD_OVERRIDE, type OperationCall } from './request.js'
import type { StageClock } from './request-end.js'
import { respond } from './response/respond.js'
import { allowHeader, type Route, type RouteMethod } from './router.js'

/** Fixed paths come first, so that none is taken for the name of an operation. */
export function operationRoutes(executors: Executors): Route<Handler>[] {
  const routes: Route<Handler>[] = [
    ...pathRoutes(executors),
    ...['', '/api'].flatMap((prefix) => formatRoutes(executors, prefix)),
    {
      path: '/api/{Operation}',
      methods: {},
      any: byName(executors),
      allow: ANY_VERB,
      callOf: (request) => namedCall(request, nothingHere),
    },
  ]
  return routes.map((route) => ({ ...route, isWork: true }))
}

const ANY_VERB: readonly RouteMethod[] = ['GET', 'POST', 'PUT', 'DELETE']
const WRITING_VERBS: readonly string[] = ['POST', 'PUT', 'DELETE']
const NO_CONTENT: BodyContent = { kind: 'members', members: {} }

/** The operations of a path, by verb. */
type VerbTable = Partial<Record<string, OperationName>>

function pathRoutes(executors: Executors): Route<Handler>[] {
  const tables = new Map<string, VerbTable>()
  for (const name of operationNames) {
    const { verb, paths } = operations[name]
    for (const path of paths) tables.set(path, { ...tables.get(path), [verb]: name })
  }
  return Array.from(tables, ([path, table]): Route<Handler> => {
    const allow = Object.keys(table) as RouteMethod[]
    const handler = onPath(executors, table, allow)
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

function onPath(executors: Executors, table: VerbTable, allow: readonly RouteMethod[]): Handler {
  return (request, reply, body) => {
    const content = contentOf(request, body, table[request.method])
    if (request.call === undefined) {
      const name = table[verbOf(request, content)]
      if (name === undefined) throw new MethodNotAllowed(allowHeader(allow))
      request.admit({ name, isBatch: false })
    }
    const { name } = admitted(request)
    return execute(executors, name, bindOnPath(request, operations[name], content), request, reply)
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
  const field = content.fields.find(([name]) => name.toLowerCase() === METHOD_OVERRIDE)
  return field?.[1].toUpperCase() || method
}

function admitted({ call }: HttpRequest): OperationCall {
  assert(call, 'a request came past the gate without an operation')
  return call
}

/** `/json/reply/{Operation}` and its relatives. One-way requests are answered too: nothing is queued. */
function formatRoutes(executors: Executors, prefix: string): Route<Handler>[] {
  const withPaths = formatNames.filter((format) => formats[format].hasOwnPaths)
  return withPaths.flatMap((format) =>
    ['reply', 'oneway'].flatMap((kind): Route<Handler>[] => {
      const path = `${prefix}/${format}/${kind}`
      const any = byName(executors)
      const callOf = (request: HttpRequest) => namedCall(request, noSuchOperation)
      return [
        { path, methods: {}, any, allow: ANY_VERB, format, callOf: noSuchOperation },
        { path: `${path}/{Operation}`, methods: {}, any, allow: ANY_VERB, format, callOf },
      ]
    }),
  )
}

function noSuchOperation(): never {
  throw new ServiceError('NotImplementedException', 'there is no operation of this name')
}

function nothingHere(): never {
  throw new ServiceError('NotFound', 'there is nothing at this path')
}

/** The operation that the path names; a batch has brackets behind the name. */
function namedCall({ method, mayHaveBody, parameters }: HttpRequest, otherwise: () => never) {
  const [, given, brackets] = /^(.*?)(\[\])?$/.exec(parameters.Operation) ?? []
  const name = namesInLowerCase.get(given?.toLowerCase())
  if (name === undefined) return otherwise()
  if (operations[name].isWrite && !WRITING_VERBS.includes(method)) {
    throw new MethodNotAllowed(allowHeader(WRITING_VERBS))
  }
  const isBatch = brackets !== undefined
  if (isBatch && !mayHaveBody) throw new MethodNotAllowed('POST')
  return { name, isBatch }
}

const namesInLowerCase = new Map(operationNames.map((name) => [name.toLowerCase(), name]))

function byName(executors: Executors): Handler {
  return (request, reply, body) => {
    const { name, isBatch } = admitted(request)
    if (isBatch) return executeBatch(executors, name, request, body, reply)
    const content = contentOf(request, body, name)
    return execute(executors, name, bindByName(request, operations[name], content), request, reply)
  }
}

function execute(
  executors: Executors,
  name: OperationName,
  members: JsonObject,
  request: HttpRequest,
  reply: Reply,
): Promise<void> {
  const answering = executors[name](members, clientOf(request, reply))
  return answering.then((answer) => write(request, reply, answer, name))
}

function executeBatch(
  executors: Executors,
  name: OperationName,
  request: HttpRequest,
  body: Uint8Array,
  reply: Reply,
): Promise<void> {
  const requests = readBatch(request, operations[name], body)
  const answering = executeAll(executors[name], requests, clientOf(request, reply))
  return answering.then((answer) => write(request, reply, answer, `${name}[]`))
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
function clientOf({ access, stages }: HttpRequest, reply: Reply): Asker {
  stages.enter('select')
  return new Client(access, stages, reply)
}

class Client implements Asker {
  readonly access: Access
  isLetIn = false
  held: object | undefined
  readonly deadlineMs = performance.now() + limits.requestMs
  readonly #stages: StageClock
  readonly #reply: Reply

  constructor(access: Access, stages: StageClock, reply: Reply) {
    this.access = access
    this.#stages = stages
    this.#reply = reply
  }

  get gone(): boolean {
    return this.#reply.gone
  }

  whenOver(listener: () => void): void {
    this.#reply.whenOver(listener)
  }

  waited(ms: number): void {
    this.#stages.waited(ms)
  }

  rowsSent(count: number): void {
    this.#reply.rowsSent(count)
  }
}
