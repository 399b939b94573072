/**
 * What a browser asks before it sends a request to another origin, and what it makes of the answer (Fetch
 * Standard, CORS-preflight fetch).
 *
 * @module
 */
import fc from 'fast-check'
import t from 'tap'
import { preflightHeaders } from '../../src/http/cors.js'
import type { HttpRequest } from '../../src/http/request.js'
import { limits } from '../../src/limits.js'
import { testSeed } from '../support/random/properties.js'
import { request, startServer } from './wire.js'

const ORIGIN = 'https://map.example.org'
const { port } = await startServer(
  t,
  [{ path: '/api/recipients', methods: { POST: (_, reply) => reply.send(200, {}, '') } }],
  { corsOrigins: [ORIGIN] },
)

/** Headers that are not safelisted, as browsers name them: in lower case, sorted, without spaces. */
const clients: Readonly<Record<string, string>> = {
  'the client of ServiceStack': 'content-type',
  'a map that signs its requests': 'authorization,content-type',
  'a library of the time of XMLHttpRequest': 'content-type,x-requested-with',
  'a page that is traced': 'baggage,content-type,sentry-trace,traceparent,tracestate',
  'a page that can only POST': 'content-type,x-http-method-override',
  'a page that revalidates': 'cache-control,if-none-match,pragma',
  'a page behind a gateway': 'ocp-apim-subscription-key,x-api-key,x-csrf-token,x-request-id',
}

/** Whether a browser sends the request: each header must be allowed by its name. */
async function isSent(asked: string, origin = ORIGIN): Promise<boolean> {
  const headers = [
    `Origin: ${origin}`,
    'Access-Control-Request-Method: POST',
    `Access-Control-Request-Headers: ${asked}`,
  ]
  const answer = await request(port, 'OPTIONS /api/recipients', { headers })
  const { 'access-control-allow-origin': allowed, 'access-control-allow-headers': names = '' } =
    answer.headers
  const accepted = names.toLowerCase().split(/\s*,\s*/)
  return allowed === origin && asked.split(',').every((name) => accepted.includes(name))
}

for (const [client, asked] of Object.entries(clients)) {
  t.test(`${client} may send its headers`, async (t) => {
    t.ok(await isSent(asked))
    t.notOk(await isSent(asked, 'https://other.example.org'), 'of this origin alone')
  })
}

t.test('any names of headers are accepted, and nothing that is none', async (t) => {
  const signs = [...'abcxyzABC0189', ..."!#$%&'*+-.^_`|~"]
  const anyName = fc.string({ unit: fc.constantFrom(...signs), minLength: 1, maxLength: 20 })
  const property = fc.property(fc.array(anyName, { minLength: 1, maxLength: 60 }), (names) => {
    t.same(acceptedFor(names.join(',')), names)
  })
  fc.assert(property, { seed: testSeed(t), numRuns: 200 })
  for (const asked of ['', 'a b', 'a,,b', 'a:b', 'a;b', '"a"', 'é', 'a,', '<script>', 'a\tb']) {
    t.same(acceptedFor(asked), acceptedFor(undefined), asked)
  }
})

t.test('so many names at once, and no more', async (t) => {
  const { preflightHeaderCount: count, preflightHeaderCharCount: charCount } = limits
  const usual = acceptedFor(undefined)
  t.ok(usual.includes('Content-Type') && usual.includes('Authorization'))
  t.equal(acceptedFor(Array(count).fill('x-a').join()).length, count)
  t.same(
    acceptedFor(
      Array(count + 1)
        .fill('x-a')
        .join(),
    ),
    usual,
  )
  t.same(acceptedFor('a'.repeat(charCount)), ['a'.repeat(charCount)])
  t.same(acceptedFor('a'.repeat(charCount + 1)), usual)
})

t.test('a page may read the headers that an answer has beside those of all answers', async (t) => {
  const { headers } = await request(port, 'POST /api/recipients', {
    headers: [`Origin: ${ORIGIN}`],
    body: '',
  })
  const exposed = headers['access-control-expose-headers'].split(', ')
  for (const name of ['Content-Disposition', 'ETag', 'Retry-After', 'X-AutoBatch-Completed']) {
    t.ok(exposed.includes(name), name)
  }
  for (const name of ['X-Next-After', 'X-Snapshot', 'X-Warnings']) t.ok(exposed.includes(name))
})

function acceptedFor(asked: string | undefined): string[] {
  const sent: Readonly<Record<string, string | undefined>> = {
    'access-control-request-method': 'POST',
    'access-control-request-headers': asked,
  }
  const from = { header: (name: string) => sent[name] } as unknown as HttpRequest
  return preflightHeaders(from, 'POST')['Access-Control-Allow-Headers'].split(', ')
}
