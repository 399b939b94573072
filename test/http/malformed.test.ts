/**
 * Bytes that are no HTTP, or another version of it: each gets an error or a closed connection, and the server goes
 * on.
 *
 * @module
 */
import t from 'tap'
import type { Handler } from '../../src/http/request.js'
import { engine } from '../support/service/engine.js'
import { until } from '../support/service/until.js'
import { Client, request, requestText, startServer } from './wire.js'

const seen: string[] = []

const note: Handler = (incoming, reply, body) => {
  seen.push(incoming.path)
  reply.send(200, {}, String(body.length))
}

const routes = [
  { path: '/measure', methods: { GET: note, POST: note } },
  { path: '/ignore', methods: { GET: note } },
]

const CHUNKED = 'Transfer-Encoding: chunked'
const BODY = '5\r\nabcde\r\n0\r\n\r\n'

/** Of requests that the library answers or closes by itself. */
const malformed: readonly [what: string, text: string][] = [
  ['HTTP/1.0', 'GET /measure HTTP/1.0\r\nHost: a\r\n\r\n'],
  ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['HTTP/1.2', 'GET /measure HTTP/1.2\r\nHost: a\r\n\r\n'],
  ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ['lines without a carriage return', 'GET /measure HTTP/1.1\nHost: a\n\n'],
  ['two spaces', 'GET  /measure HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['no target', 'GET HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a target that is no path', 'GET measure HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a target with a host', 'GET http://a/measure HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a star', 'OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['CONNECT', 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a verb that is no token', 'G\u00c9T /measure HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a long header', `GET /measure HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(5_000)}\r\n\r\n`],
  ['many headers', `GET /measure HTTP/1.1\r\nHost: a\r\n${'X: x\r\n'.repeat(200)}\r\n`],
  [
    'a length beside chunks',
    requestText('POST /measure', { headers: [CHUNKED], body: BODY }) + BODY,
  ],
  // These wait for the rest of their headers, until the time for it is over.
  ['no Host', 'GET /measure HTTP/1.1\r\n\r\n'],
  ['a space before the colon', 'GET /measure HTTP/1.1\r\nHost : a\r\n\r\n'],
  ['a header without a colon', 'GET /measure HTTP/1.1\r\nHost: a\r\nX\r\n\r\n'],
  ['a folded header', 'GET /measure HTTP/1.1\r\nHost: a\r\n b\r\n\r\n'],
  ['a NUL in a name', 'GET /measure HTTP/1.1\r\nHost: a\r\nX\0Y: z\r\n\r\n'],
  ['a NUL in a value', 'GET /measure HTTP/1.1\r\nHost: a\r\nX: y\0z\r\n\r\n'],
  ['a line break in a value', 'GET /measure HTTP/1.1\r\nHost: a\r\nX: y\rz\r\n\r\n'],
  ['half a request', 'GET /measure HTT'],
  ['nothing but line ends', '\r\n\r\n\r\n'],
]

t.test('what is not HTTP gets an error or is closed, and is never handled', async (t) => {
  const { port, server, faults } = await startServer(t, routes)
  // node:http takes these, and means the same by them as everybody.
  const read = ['two spaces', 'many headers', 'a target with a host']
  const taken = engine.name === 'node' ? read : []
  const refused = malformed.filter(([what]) => !taken.includes(what))
  const clients = refused.map(([what, text]) => {
    const client = new Client(port)
    client.write(Buffer.from(text, 'latin1'))
    return { what, client }
  })
  t.equal((await request(port, 'POST /measure', { body: 'abc' })).status, 200, 'meanwhile')
  for (const { what, client } of clients) {
    await client.untilClosed()
    const answer = String(await client.read(Math.min(12, client.socket.bytesRead)))
    t.match(answer, /^(HTTP\/1.1 (4|5)|$)/, what)
  }
  t.same(seen.splice(0), ['/measure'], 'only the one that is HTTP')
  await until(() => server.openExchangeCount === 0 && server.connectionCount === 0)
  t.equal(faults.length, 0)
  t.equal((await request(port, 'GET /ignore')).status, 200, 'afterwards')
})

t.test('a path behind a host is read by node:http, and refused by the addon', async (t) => {
  seen.length = 0
  const { port } = await startServer(t, routes)
  const [status, paths] = engine.name === 'node' ? [200, ['/measure', '/measure']] : [505, []]
  for (const target of ['http://a/measure', 'HTTPS://a:1/measure?b=http://c/d']) {
    t.equal((await request(port, `GET ${target}`)).status, status, target)
  }
  t.same(seen.splice(0), paths)
})
