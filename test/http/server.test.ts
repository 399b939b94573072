/**
 * Requests and whole answers, as a client sees them on the wire.
 *
 * @module
 */
import assert from 'node:assert/strict'
import t from 'tap'
import { ServiceError } from '../../src/errors.js'
import type { Handler } from '../../src/http/request.js'
import type { Route } from '../../src/http/router.js'
import { engine } from '../support/service/engine.js'
import { until } from '../support/service/until.js'
import { Client, request, requestText, startServer } from './wire.js'

const echo: Handler = (_, reply, body) => {
  reply.send(200, { 'Content-Type': 'application/octet-stream' }, body)
}

const describe: Handler = ({ path, parameters, query, suffix }, reply) => {
  const seen = { path, parameters, query: [...query], suffix: suffix ?? null }
  reply.send(200, {}, JSON.stringify(seen))
}

const routes: Route<Handler>[] = [
  { path: '/echo', methods: { GET: describe, POST: echo } },
  { path: '/only-post', methods: { POST: echo } },
  { path: '/things/{Id}', methods: { GET: describe } },
  { path: '/empty', methods: { GET: (_, reply) => reply.send(200, {}, '') } },
  {
    path: '/twice',
    methods: {
      GET(_, reply) {
        reply.send(200, {}, 'first')
        reply.send(200, {}, 'second')
      },
    },
  },
  {
    path: '/throws',
    methods: {
      GET() {
        throw new TypeError('sync bug')
      },
      POST: async (_incoming, _reply, body) => {
        JSON.parse(new TextDecoder().decode(body))
        throw new TypeError('async bug')
      },
    },
  },
  { path: '/asserts', methods: { GET: async () => assert.equal('+99912345', '+99954321') } },
  { path: '/forgets', methods: { GET: async () => {} } },
  {
    path: '/refuses',
    methods: {
      GET() {
        throw new ServiceError('TooComplex', 'too many corners', 'geoJSON.features[1]')
      },
      POST: async () => {
        throw new ServiceError('Overloaded', 'try later')
      },
    },
  },
  {
    path: '/throws-late',
    methods: {
      GET: async (_, reply) => {
        reply.begin(200, {}).write(Buffer.from('partial'))
        throw new Error('in the middle')
      },
    },
  },
]

const errorCode = (body: Buffer) => JSON.parse(body.toString()).ResponseStatus.ErrorCode

t.test('an unknown path is 404, with a body that says so', async (t) => {
  const { port } = await startServer(t, routes)
  for (const path of ['/', '/nothing', '/echo/more', '/things', '//', '/echo.xml', '/ECHO.JSON']) {
    const { status, headers, body } = await request(port, `GET ${path}`)
    t.equal(status, 404, path)
    t.equal(errorCode(body), 'NotFound')
    t.equal(headers['content-type'], 'application/json; charset=utf-8')
    t.equal(headers['x-content-type-options'], 'nosniff')
    t.equal(headers.vary, 'Accept, Accept-Encoding')
    t.notOk('server' in headers || 'uwebsockets' in headers, 'the server is not named')
  }
})

t.test('an unknown path with a body is 404 and leaves the connection usable', async (t) => {
  const { port } = await startServer(t, routes)
  const client = new Client(port)
  const body = 'x'.repeat(300_000)
  client.write(requestText('POST /nothing', { body }) + body)
  t.equal((await client.answer()).status, 404)
  client.write(requestText('GET /empty'))
  t.equal((await client.answer()).status, 200)
  client.socket.destroy()
})

t.test('a known path with the wrong verb is 405 and lists the right ones', async (t) => {
  const { port } = await startServer(t, routes)
  const cases = [
    ['DELETE /echo', 'GET, HEAD, POST'],
    ['GET /only-post', 'POST'],
    ['HEAD /only-post', 'POST'],
    ['POST /things/1', 'GET, HEAD'],
    ['get /echo', 'GET, HEAD, POST'],
    ['constructor /echo', 'GET, HEAD, POST'],
  ]
  // node:http knows the verbs that there are, in capitals, and refuses others by itself.
  const known = engine.name === 'uws' ? cases : cases.slice(0, -2)
  for (const [line, allow] of known) {
    const { status, headers } = await request(port, line)
    t.equal(status, 405, line)
    t.equal(headers.allow, allow)
  }
  const options = await request(port, 'OPTIONS /things/1')
  t.equal(options.status, 200)
  t.equal(options.headers.allow, 'GET, HEAD')
})

t.test('paths match in any case, with doubled and trailing slashes and a suffix', async (t) => {
  const { port } = await startServer(t, routes)
  const seen = async (line: string) => JSON.parse(String((await request(port, line)).body))
  t.match(await seen('GET /ECHO'), { path: '/ECHO', suffix: null })
  t.match(await seen('GET //echo//'), { suffix: null })
  t.match(await seen('GET /echo.csv?a=1&a=%20b'), {
    suffix: 'csv',
    query: [
      ['a', '1'],
      ['a', ' b'],
    ],
  })
  t.match(await seen('GET /things/%7Bx%7D.json'), { parameters: { Id: '{x}' }, suffix: 'json' })
  t.match(await seen('GET /things/a%2Fb'), { parameters: { Id: 'a/b' }, suffix: null })
})

t.test('a variable that is not percent-encoded correctly is 400', async (t) => {
  const { port } = await startServer(t, routes)
  for (const path of ['/things/%', '/things/%zz', '/things/%ff', '/things/%E0%A4.csv']) {
    const { status, body } = await request(port, `GET ${path}`)
    t.equal(status, 400, path)
    t.equal(JSON.parse(body.toString()).ResponseStatus.Errors[0].FieldName, 'Id')
  }
})

t.test('a URL that is longer than the headers may be is refused, one below is not', async (t) => {
  const { port } = await startServer(t, routes)
  t.equal((await request(port, `GET /things/${'a'.repeat(3_500)}`)).status, 200)
  const client = new Client(port)
  client.write(requestText(`GET /things/${'a'.repeat(20_000)}`))
  t.match((await client.readUntil('\r\n')).toString(), / 431 /)
  await client.untilClosed()
})

t.test('HEAD is answered like GET without the body, and keeps the connection', async (t) => {
  const { port } = await startServer(t, routes)
  const client = new Client(port)
  client.write(requestText('GET /things/1'))
  const whole = await client.answer()
  for (let i = 0; i < 3; i++) {
    client.write(requestText('HEAD /things/1'))
    const { status, headers } = await client.answer({ headersOnly: true })
    t.equal(status, 200)
    t.equal(Number(headers['content-length']), whole.body.length)
  }
  client.write(requestText('HEAD /nothing'))
  t.equal((await client.answer({ headersOnly: true })).status, 404)
  client.write(requestText('GET /empty'))
  t.equal((await client.answer()).status, 200, 'nothing was left of a body')
  client.socket.destroy()
})

t.test('pipelined requests are answered in order, or the connection is closed', async (t) => {
  const { port, server } = await startServer(t, routes)
  const client = new Client(port)
  client.write(requestText('GET /things/1') + requestText('GET /things/2'))
  t.match(String((await client.answer()).body), '/things/1')
  t.match(String((await client.answer()).body), '/things/2')
  client.socket.destroy()
  const impatient = new Client(port)
  const post = `${requestText('POST /echo', { body: 'abc' })}abc`
  impatient.write(post + post)
  const { body } = await impatient.answer().catch(() => ({ body: 'closed' }))
  t.match(String(body), /^(abc|closed)$/)
  impatient.socket.destroy()
  await until(() => server.openExchangeCount === 0)
})

t.test('a handler that throws is 500 with an id, and the server lives', async (t) => {
  const { port, faults } = await startServer(t, routes)
  const cases = [
    ['GET /throws', 'TypeError'],
    ['POST /throws', 'TypeError'],
    ['GET /asserts', 'AssertionError'],
    ['GET /forgets', 'Error'],
  ]
  for (const [line, name] of cases) {
    const headers = ['X-Request-Id: test-42']
    const { status, body } = await request(port, line, { headers, body: '{}' })
    t.equal(status, 500, line)
    t.equal(errorCode(body), 'InternalError')
    t.match(String(body), 'test-42')
    t.notMatch(String(body), /bug|\+99912345/)
    t.match(faults.pop(), { requestId: 'test-42', fault: name, frames: /at / })
    t.equal(faults.length, 0, 'logged once')
  }
  t.equal((await request(port, 'GET /empty')).status, 200)
})

t.test('neither answer nor log repeats what was sent', async (t) => {
  const { port, faults } = await startServer(t, routes)
  const { status, body } = await request(port, 'POST /throws', { body: '+99912345 is no JSON' })
  t.equal(status, 500)
  t.notMatch(String(body), '99912345')
  await request(port, 'GET /asserts')
  t.equal(faults.length, 2)
  t.notMatch(JSON.stringify(faults), /99912345|99954321/)
})

t.test('a ServiceError is its status and body, and is not logged', async (t) => {
  const { port, faults } = await startServer(t, routes)
  const refused = await request(port, 'GET /refuses')
  t.equal(refused.status, 422)
  t.same(JSON.parse(String(refused.body)), {
    ResponseStatus: {
      ErrorCode: 'TooComplex',
      Message: 'too many corners',
      Errors: [
        {
          ErrorCode: 'TooComplex',
          FieldName: 'geoJSON.features[1]',
          Message: 'too many corners',
        },
      ],
    },
  })
  const overloaded = await request(port, 'POST /refuses', { body: '{}' })
  t.equal(overloaded.status, 503)
  t.match(overloaded.headers['retry-after'], /^[123]$/)
  t.equal(faults.length, 0)
})

t.test('a request that is answered twice gets the first answer', async (t) => {
  const { port, faults } = await startServer(t, routes)
  t.equal(String((await request(port, 'GET /twice')).body), 'first')
  t.equal(faults.length, 1)
})

t.test('a handler that fails after it began to answer breaks the connection off', async (t) => {
  const { port, faults } = await startServer(t, routes)
  const client = new Client(port)
  client.write(requestText('GET /throws-late'))
  await client.untilClosed()
  await t.rejects(client.readUntil('0\r\n\r\n'), 'the body has no end')
  t.equal(faults.length, 1)
})
