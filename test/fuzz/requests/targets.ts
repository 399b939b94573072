/**
 * Where a request goes: the verb, the path and the query, right ones and others.
 *
 * @module
 */
import { writeJsv } from '../../../src/format/jsv.js'
import { operations } from '../../../src/interface/operations.js'
import type { Random } from '../../support/random/world.js'
import { mutatedText } from '../mutate/text.js'
import type { Asked } from './asked.js'

export interface Target {
  readonly method: string
  /** Path and query, as sent; each character is one byte. */
  readonly url: string
  /** The body is an array of requests. */
  readonly isBatch: boolean
}

export function randomTarget(asked: Asked, random: Random): Target {
  const share = random.unit()
  if (share < 0.6) return withExtras(onPath(asked, random), random)
  if (share < 0.85) return withExtras(byName(asked, random), random)
  if (share < 0.93) return withExtras(inQuery(asked, random), random)
  return withExtras(elsewhere(random), random)
}

function onPath({ operation, members }: Asked, random: Random): Target {
  const { verb, paths } = operations[operation]
  const path = random.pick<string>(paths).replace('{Id}', String(members.Id ?? 'none'))
  return { method: verb, url: path, isBatch: false }
}

function byName({ operation }: Asked, random: Random): Target {
  const isBatch = random.unit() < 0.1
  const name = random.unit() < 0.9 ? operation : operation.toLowerCase()
  const brackets = isBatch ? random.pick(['[]', '%5B%5D']) : ''
  return { method: 'POST', url: `${random.pick(prefixes)}/${name}${brackets}`, isBatch }
}

const prefixes = [
  '/json/reply',
  '/csv/reply',
  '/api/json/reply',
  '/json/oneway',
  '/api/csv/oneway',
  '/api',
]

function inQuery({ operation, members }: Asked, random: Random): Target {
  const write = random.pick([writeJsv, JSON.stringify, String])
  const pairs = Object.entries(members).map(
    ([name, value]) => `${name}=${encodeURIComponent(write(value) ?? '')}`,
  )
  const query = pairs.join('&').slice(0, QUERY_CHAR_COUNT_MAX)
  const url = `${random.pick(prefixes)}/${operation}?${query}`
  return { method: random.pick(['GET', 'GET', 'POST', 'HEAD']), url, isBatch: false }
}

/** A head as a whole may have 4,096 bytes. */
const QUERY_CHAR_COUNT_MAX = 3_000

function elsewhere(random: Random): Target {
  return { method: 'GET', url: random.pick(otherPaths), isBatch: false }
}

const otherPaths: readonly string[] = [
  ...['/', '/livez', '/readyz', '/metadata', '/types', '/types/typescript', '/openapi.json'],
  ...['/openapi', '/api/openapi.csv', '/json/metadata?op=RecipientRequest', '/csv/metadata?op=%00'],
  ...['/json/reply', '/api', '/xml/reply/RecipientRequest', '/api/contexts/', '//', '/..', '/%'],
  ...['/api/contexts/%2e%2e', '/api/contexts/%zz', '/api/nothing[]', '/http://x/readyz'],
]

function withExtras(target: Target, random: Random): Target {
  let { method, url } = target
  if (random.unit() < 0.08) method = random.pick(methods)
  if (random.unit() < 0.15) {
    const count = random.between(1, 2)
    for (let at = 0; at < count; at++) {
      url += (url.includes('?') ? '&' : '?') + random.pick(queryParts)
    }
  }
  if (random.unit() < 0.06) url = mutatedUrl(url, random)
  return { ...target, method, url }
}

const methods = ['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'POST', 'PATCH', 'TRACE', 'get', 'X']

const queryParts: readonly string[] = [
  ...[
    'format=csv',
    'format=json',
    'format=xml',
    'format=geojson',
    'callback=a.b',
    'callback=<>',
    'callback=',
  ],
  ...['layout=sources', 'layout=x', 'countsOnly=1', 'Skip=0&Take=1', 'Take=-1', 'Skip=%00'],
  ...['X-HTTP-Method-Override=PUT', 'x-http-method-override=GET', 'geoJSON={type:Point}', '%zz'],
  ...['Id=0', '=', '&&', 'a=1&a=2', 'op=GetMapContextRequest', 'geoJSON=[[[[', 'sources=1,2,x'],
]

/** Stays a single word of bytes that may stand in a request line, so that its end is known. */
function mutatedUrl(url: string, random: Random): string {
  if (random.unit() < 0.2) return url + 'a'.repeat(random.pick([500, 2_000, 5_000]))
  const spellings = [url.toUpperCase(), `/${url}`, `${url}/`, `${url}.csv`, `${url}.json`]
  const text = random.pick([...spellings, mutatedText(url, random), mutatedText(url, random)])
  return `/${text.replace(/[^\x21-\x7e]/g, '%FF').replace(/^\//, '')}`
}
