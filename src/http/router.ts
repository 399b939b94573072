/**
 * Finds the route of a path.
 *
 * Literal segments match in any letter case. Doubled and trailing slashes are ignored. The suffix of
 * a format, such as `.csv`, is cut off the last segment. Of two routes that match, the first one wins.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import type { Format } from '../format/formats.js'
import { formatOfSuffix, withoutSuffix } from '../format/negotiate.js'
import { lowerCase } from '../interface/letter-case.js'
import { nearestName } from '../interface/near-miss.js'
import { operationNames } from '../interface/operation-names.js'
import { operations } from '../interface/operations.js'
import type { HttpRequest, OperationCall } from './request.js'

export type RouteMethod = 'GET' | 'POST' | 'PUT' | 'DELETE'

export interface Route<Handler> {
  /** Segments are literals or variables in braces: `/api/contexts/{Id}`. */
  readonly path: string
  readonly methods: Readonly<Partial<Record<RouteMethod, Handler>>>
  /** For every other verb. */
  readonly any?: Handler
  /** The verbs that are allowed, where those of `methods` are not all or too many. */
  readonly allow?: readonly string[]
  /** The format of its answers, where the path says it. */
  readonly format?: Format
  /** Refused while the service has no room for more work. */
  readonly isWork?: boolean
  /**
   * The operation that a request calls, for routes that are work; undefined where only its body can
   * tell.
   *
   * @throws ServiceError  when there is no such operation, or not with this verb
   */
  readonly callOf?: (request: HttpRequest) => OperationCall | undefined
}

export interface RouteMatch<Handler> {
  /** Undefined when the path is known but the verb is not allowed. */
  readonly handler: Handler | undefined
  /** The verbs that are allowed, as the header Allow lists them. */
  readonly allow: string
  readonly parameters: Readonly<Record<string, string>>
  readonly suffix: Format | undefined
  readonly format: Format | undefined
  readonly isWork: boolean
  readonly callOf: Route<Handler>['callOf']
}

export interface Router<Handler> {
  /**
   * @param method  the verb that is meant, which may not be the one on the line; HEAD finds GET
   * @param path  as sent, without the query
   * @returns undefined when no route has this path
   * @throws ServiceError when a variable is not percent-encoded correctly
   */
  match(method: string, path: string): RouteMatch<Handler> | undefined
}

export function createRouter<Handler>(routes: readonly Route<Handler>[]): Router<Handler> {
  const compiled = routes.map(compile)
  // Most requests spell their path as the table does, and are found without looking at segments.
  const exact = new Map<string, CompiledRoute<Handler>>()
  for (const route of compiled) {
    const reachedFirst = compiled.find((other) => fits(other, route.segments)) === route
    if (route.variableCount === 0 && reachedFirst) exact.set(route.path, route)
  }
  return {
    match(method, path) {
      const route = exact.get(path)
      if (route !== undefined) return found(route, method, NO_PARAMETERS, undefined)
      return matchSegments(compiled, method, path)
    },
  }
}

/** Where GET is allowed, HEAD is. */
export function allowHeader(verbs: readonly string[]): string {
  return verbs.flatMap((verb) => (verb === 'GET' ? ['GET', 'HEAD'] : [verb])).join(', ')
}

interface CompiledRoute<Handler> extends Omit<Route<Handler>, 'allow'> {
  readonly allow: string
  /** Literals in lower case, variables in braces. */
  readonly segments: readonly string[]
  readonly variableCount: number
}

const NO_PARAMETERS: Readonly<Record<string, string>> = Object.freeze({})

function compile<Handler>(route: Route<Handler>): CompiledRoute<Handler> {
  const segments = segmentsOf(route.path).map((segment) =>
    isVariable(segment) ? segment : segment.toLowerCase(),
  )
  const allow = allowHeader(route.allow ?? Object.keys(route.methods))
  return {
    ...route,
    allow,
    segments,
    variableCount: segments.filter(isVariable).length,
  }
}

function matchSegments<Handler>(
  routes: readonly CompiledRoute<Handler>[],
  method: string,
  path: string,
): RouteMatch<Handler> | undefined {
  const whole = segmentsOf(path)
  const last = whole.at(-1) ?? ''
  const suffix = formatOfSuffix(last)
  const cut = suffix === undefined ? whole : whole.with(-1, withoutSuffix(last, suffix))
  const route = routes.find((candidate) => fits(candidate, segmentsFor(candidate, whole, cut)))
  if (route === undefined) return undefined
  const parameters = parametersOf(route, segmentsFor(route, whole, cut))
  return found(route, method, parameters, route.format === undefined ? suffix : undefined)
}

/** A path that says its format by itself has no suffix. */
function segmentsFor<Segments>(
  { format }: CompiledRoute<unknown>,
  whole: Segments,
  cut: Segments,
): Segments {
  return format === undefined ? cut : whole
}

function found<Handler>(
  route: CompiledRoute<Handler>,
  method: string,
  parameters: Readonly<Record<string, string>>,
  suffix: Format | undefined,
): RouteMatch<Handler> {
  const verb = method === 'HEAD' ? 'GET' : method
  const handler = Object.hasOwn(route.methods, verb)
    ? route.methods[verb as RouteMethod]
    : route.any
  const { allow, format, isWork = false, callOf } = route
  return { handler, allow, parameters, suffix, format, isWork, callOf }
}

function fits(route: CompiledRoute<unknown>, segments: readonly string[]): boolean {
  return (
    route.segments.length === segments.length &&
    route.segments.every((own, i) => isVariable(own) || own === segments[i].toLowerCase())
  )
}

function parametersOf(
  route: CompiledRoute<unknown>,
  segments: readonly string[],
): Readonly<Record<string, string>> {
  if (route.variableCount === 0) return NO_PARAMETERS
  const parameters: Record<string, string> = {}
  for (const [i, own] of route.segments.entries()) {
    if (!isVariable(own)) continue
    const name = own.slice(1, -1)
    parameters[name] = decode(segments[i], name)
  }
  return parameters
}

function decode(segment: string, name: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    throw new ServiceError('InvalidRequest', 'the path is not percent-encoded correctly', name)
  }
}

function segmentsOf(path: string): string[] {
  return path.split('/').filter((segment) => segment !== '')
}

function isVariable(segment: string): boolean {
  return segment.startsWith('{') && segment.endsWith('}')
}

/**
 * The fault of a path without a route. It names the paths that were perhaps meant, and repeats nothing of what was sent.
 *
 * @param path  as sent, without the query
 */
export function nothingAt(path: string): ServiceError {
  const likely = likelyPaths(path).slice(0, LIKELY_PATH_COUNT)
  const advice = likely.length === 0 ? '' : ` do you mean ${likely.join(' or ')}?`
  return new ServiceError('NotFound', `there is nothing at this path:${advice} ${LISTED}`)
}

const LIKELY_PATH_COUNT = 3
const LISTED = 'GET /metadata lists the operations'

/** Those whose first name is nearly the first name that was sent. */
function likelyPaths(path: string): readonly string[] {
  const sent = firstName(path)
  if (sent === undefined) return []
  const name = PATHS.has(lowerCase(sent)) ? lowerCase(sent) : nearestName(sent, [...PATHS.keys()])
  return name === undefined ? [] : (PATHS.get(name) ?? [])
}

/** Without a suffix; versions and prefixes are no names. */
function firstName(path: string): string | undefined {
  const [name] = path.split('/', SEGMENT_COUNT).filter((segment) => !PREFIX.test(segment))
  return name?.replace(/\.\w{1,8}$/, '')
}

/** A name stands in one of the first segments. */
const SEGMENT_COUNT = 6
const PREFIX = /^(?:|api|rest|data|hickory|v\d{1,3})$/i

/** Names that other services use. */
const OTHER_NAMES: readonly (readonly [string, string[]])[] = [
  ['health', ['/livez', '/readyz']],
  ['swagger', ['/openapi.json']],
  ['docs', ['/metadata', '/openapi.json']],
]

/** By their first name in lower case. */
const PATHS: ReadonlyMap<string, readonly string[]> = byFirstName([
  ...new Set(operationNames.flatMap((name) => operations[name].paths)),
  '/ogc',
  '/metadata',
  '/openapi.json',
  '/types/typescript',
  '/livez',
  '/readyz',
])

function byFirstName(paths: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>(OTHER_NAMES)
  for (const path of paths) {
    const name = lowerCase(firstName(path) ?? '')
    found.set(name, [...(found.get(name) ?? []), path])
  }
  return found
}
