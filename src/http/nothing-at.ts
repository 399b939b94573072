/**
 * What a client is told of a path that nothing is at: the paths that were perhaps meant. Of what it sent, nothing is
 * repeated.
 *
 * @module
 */
import { ServiceError } from '../errors.js'
import { lowerCase } from '../interface/letter-case.js'
import { nearestName } from '../interface/near-miss.js'
import { operationNames } from '../interface/operation-names.js'
import { operations } from '../interface/operations.js'

/** @param path  as sent, without the query */
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

/** Behind so many, no name is looked for. */
const SEGMENT_COUNT = 6
const PREFIX = /^(?:|api|rest|data|hickory|v\d{1,3})$/i

/** What is called so elsewhere. */
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
