/**
 * Headers beside those that say what the body is.
 *
 * @module
 */
import type { Random } from '../../support/random/world.js'
import { MARKER } from '../mutate/odd-values.js'

/** Lines without line ends; each character is one byte. After these it is known where a request ends. */
export function randomHeaders(random: Random): string[] {
  const lines: string[] = [`Host: ${random.unit() < 0.95 ? 'test' : random.pick(hosts)}`]
  if (random.unit() < 0.4) lines.push(random.pick(usual))
  if (random.unit() < 0.1) lines.push(random.pick(usual), random.pick(usual))
  return lines
}

/** Lines after which a server may close the connection without another word. */
export function oddHeaders(random: Random): string[] {
  return random.pick(odd)()
}

const hosts = ['', '127.0.0.1:80', '[::1]', 'a'.repeat(300), '"><script>', 'x:99999', 'é']

const usual: readonly string[] = [
  ...['Accept: */*', 'Accept: text/csv', 'Accept: application/json;q=0', 'Accept: ,;q=', 'Accept:'],
  ...[
    'Accept: application/x-ndjson',
    'Accept: application/geo+json',
    'Accept: text/html,application/xml;q=0.9',
    'Accept: a/b;q=2',
  ],
  ...[
    'Accept-Encoding: gzip',
    'Accept-Encoding: br',
    'Accept-Encoding: identity;q=0',
    'Accept: \xff',
  ],
  ...[
    'Accept-Encoding: *',
    'Accept-Encoding: gzip;q=0,*',
    'If-None-Match: *',
    'If-None-Match: W/"',
  ],
  ...[
    'X-HTTP-Method-Override: GET',
    'X-HTTP-Method-Override: DELETE',
    'X-HTTP-Method-Override: HEAD',
  ],
  ...[
    'X-HTTP-Method-Override: x y',
    'X-Forwarded-For: 10.0.0.1',
    'Forwarded: for=[::1]',
    'Via: 1.1 x',
  ],
  ...['Origin: https://a.example', 'Origin: null', 'Referer: ::', 'Sec-Fetch-Site: cross-site'],
  ...['X-Request-Id: abc-1', 'X-Request-Id: a b', 'Connection: close', 'Connection: keep-alive'],
  ...['Access-Control-Request-Method: PUT', 'Expect: 100-continue', 'Upgrade: websocket', 'TE: x'],
  ...['Range: bytes=0-1', 'Authorization: Basic !', `X-Tel: ${MARKER}`, 'Cookie: a=b; c', 'DNT: 1'],
]

const odd: readonly (() => string[])[] = [
  () => [`X-Long: ${'a'.repeat(3_500)}`],
  () => [`X-Long: ${'a'.repeat(5_000)}`],
  () => Array.from({ length: 120 }, (_, at) => `X-${at}: ${at}`),
  () => ['Accept: text/csv', 'Accept: application/json', 'Accept: */*'],
  () => ['X-HTTP-Method-Override: PUT', 'X-HTTP-Method-Override: GET'],
  () => ['Content-Type: text/csv', 'Content-Encoding: gzip'],
  () => ['Host: other'],
  () => ['X-Odd: \x80\xff'],
  () => ['X-Odd: \x01'],
  () => ['X Odd: 1'],
  () => [': 1'],
  () => ['NoColon'],
  () => ['X-Empty:'],
  () => [' Folded: 1'],
  () => ['Transfer-Encoding: gzip'],
  () => ['Content-Length : 0'],
]
