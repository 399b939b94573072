/**
 * The routes of all operations: on the paths of each, and by name.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import type { Format } from '../format/negotiate.js'
import { type OperationName, operationNames, operations } from '../interface/operations.js'
import type { Executors } from '../operations/execute.js'
import type { Reply } from '../selection/reply.js'
import { executeAll } from './batch.js'
import { type BodyContent, bindByName, bindOnPath, readBatch, readContent } from './bind.js'
import { callerOf } from './caller.js'
import { type CorsOrigins, refuseForeignScript } from './cors.js'
import { MethodNotAllowed } from './fault.js'
import { type Handler, type HttpRequest, METHOD_OVERRIDE } from './request.js'
import { respond } from './respond.js'
import { allowHeader, type Route, type RouteMethod } from './router.js'
import { type Wishes, wishesOf } from './wishes.js'
import { refuseForeignWrite } from './writers.js'

/** Fixed paths come first, so that none is taken for the name of an operation. */
export function operationRoutes(executors: Executors, origins: CorsOrigins): Route<Handler>[] {
  const dispatcher: Dispatcher = { executors, origins }
  const routes: Route<Handler>[] = [
    ...pathRoutes(dispatcher),
    ...['', '/api'].flatMap((prefix) => formatRoutes(dispatcher, prefix)),
    { path: '/api/{Operation}', methods: {}, any: byApiName(dispatcher), allow: ANY_VERB },
  ]
  return routes.map((route) => ({ ...route, isWork: true }))
}

interface Dispatcher {
  readonly executors: Executors
  readonly origins: CorsOrigins
}

const ANY_VERB: readonly RouteMethod[] = ['GET', 'POST', 'PUT', 'DELETE']
const WRITING_VERBS: readonly string[] = ['POST', 'PUT', 'DELETE']
const NO_CONTENT: BodyContent = { kind: 'members', members: {} }

/** What a path does with each verb. */
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
    return { path, methods, allow }
  })
}

function onPath(dispatcher: Dispatcher, table: VerbTable, allow: readonly RouteMethod[]): Handler {
  return async (request, reply) => {
    const content = request.mayHaveBody ? await readContent(request) : NO_CONTENT
    const name = table[verbOf(request, content)]
    if (name === undefined) throw new MethodNotAllowed(allowHeader(allow))
    const members = bindOnPath(request, operations[name], content)
    await execute(dispatcher, name, members, request, reply)
  }
}

function verbOf({ method }: HttpRequest, content: BodyContent): string {
  if (method === 'HEAD') return 'GET'
  if (method !== 'POST' || content.kind !== 'form') return method
  const field = content.fields.find(([name]) => name.toLowerCase() === METHOD_OVERRIDE)
  return field?.[1].toUpperCase() || method
}

/** `/json/reply/{Operation}`, and what goes with it. Nothing is queued: one-way requests are answered. */
function formatRoutes(dispatcher: Dispatcher, prefix: string): Route<Handler>[] {
  return (['json', 'csv'] as const).flatMap((format: Format) =>
    ['reply', 'oneway'].flatMap((kind): Route<Handler>[] => {
      const path = `${prefix}/${format}/${kind}`
      const any = byName(dispatcher)
      return [
        { path, methods: {}, any: refuseUnknown, allow: ANY_VERB, format },
        { path: `${path}/{Operation}`, methods: {}, any, allow: ANY_VERB, format },
      ]
    }),
  )
}

const refuseUnknown: Handler = () => {
  throw new ServiceError('NotImplementedException', 'there is no operation of this name')
}

function byName(dispatcher: Dispatcher): Handler {
  return async (request, reply) => {
    const called = calledOf(request)
    if (called === undefined) return refuseUnknown(request, reply)
    await call(dispatcher, called, request, reply)
  }
}

function byApiName(dispatcher: Dispatcher): Handler {
  return async (request, reply) => {
    const called = calledOf(request)
    if (called === undefined) throw new ServiceError('NotFound', 'there is nothing at this path')
    await call(dispatcher, called, request, reply)
  }
}

interface Called {
  readonly name: OperationName
  readonly isBatch: boolean
}

const namesInLowerCase = new Map(operationNames.map((name) => [name.toLowerCase(), name]))

function calledOf({ parameters }: HttpRequest): Called | undefined {
  const [, given, brackets] = /^(.*?)(\[\])?$/.exec(parameters.Operation) ?? []
  const name = namesInLowerCase.get(given?.toLowerCase())
  return name && { name, isBatch: brackets !== undefined }
}

async function call(
  dispatcher: Dispatcher,
  { name, isBatch }: Called,
  request: HttpRequest,
  reply: Reply,
): Promise<void> {
  if (operations[name].isWrite && !WRITING_VERBS.includes(request.method)) {
    throw new MethodNotAllowed(allowHeader(WRITING_VERBS))
  }
  if (isBatch) {
    await executeBatch(dispatcher, name, request, reply)
    return
  }
  const content = request.mayHaveBody ? await readContent(request) : NO_CONTENT
  await execute(dispatcher, name, bindByName(request, operations[name], content), request, reply)
}

async function execute(
  { executors, origins }: Dispatcher,
  name: OperationName,
  members: Readonly<Record<string, unknown>>,
  request: HttpRequest,
  reply: Reply,
): Promise<void> {
  const wishes = permittedWishes(request, name, origins)
  const answer = await executors[name](members, callerOf(reply))
  if (!reply.gone) await respond(request, reply, wishes, answer, name)
}

/** How to answer, if whoever asks may have that answer. */
function permittedWishes(request: HttpRequest, name: OperationName, origins: CorsOrigins): Wishes {
  const wishes = wishesOf(request)
  if (wishes.callback !== undefined) refuseForeignScript(request, origins)
  if (operations[name].isWrite) refuseForeignWrite(request, origins)
  return wishes
}

async function executeBatch(
  { executors, origins }: Dispatcher,
  name: OperationName,
  request: HttpRequest,
  reply: Reply,
): Promise<void> {
  if (!request.mayHaveBody) throw new MethodNotAllowed('POST')
  const wishes = permittedWishes(request, name, origins)
  const requests = await readBatch(request, operations[name])
  const answer = await executeAll(executors[name], requests, callerOf(reply))
  if (!reply.gone) await respond(request, reply, wishes, answer, `${name}[]`)
}
