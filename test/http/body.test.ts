/**
 * Bodies of requests: how much is read, in which spellings, and when the client does not finish.
 *
 * @module
 */
import t from 'tap'
import type { Handler } from '../../src/http/request.js'
import type { Route } from '../../src/http/router.js'
import { limits } from '../../src/limits.js'
import { until } from '../support/service/until.js'
import { Client, request, requestText, startServer } from './wire.js'

const measure: Handler = (_, reply, body) => {
  reply.send(200, {}, `${body.length} ${body.at(0)} ${body.at(-1)}`)
}

const routes: Route<Handler>[] = [
  { path: '/measure', methods: { POST: measure } },
  { path: '/ignore', methods: { POST: (_, reply) => reply.send(200, {}, 'ignored') } },
]

t.test('a body at the limit is read whole, one byte more is 413', async (t) => {
  const { port } = await startServer(t, routes)
  const atLimit = Buffer.alloc(limits.bodyBytes, 'a').fill('z', limits.bodyBytes - 1)
  const whole = await request(port, 'POST /measure', { body: atLimit })
  t.equal(whole.status, 200)
  t.equal(String(whole.body), `${limits.bodyBytes} 97 122`)
  const beyond = await request(port, 'POST /measure', { body: Buffer.concat([atLimit, atLimit]) })
  t.equal(beyond.status, 413)
  const oneMore = Buffer.alloc(limits.bodyBytes + 1)
  const { status, headers, body } = await request(port, 'POST /measure', { body: oneMore })
  t.equal(status, 413)
  t.equal(headers.connection, 'close')
  t.match(String(body), '"ErrorCode":"BodyTooLarge"')
})

t.test('a body in chunks has the same limit, and the same answer beyond it', async (t) => {
  const { port, server } = await startServer(t, routes)
  const chunk = Buffer.alloc(limits.bodyBytes / 4, 'a')
  const send = (client: Client, bytes: Uint8Array) => {
    client.write(`${bytes.length.toString(16)}\r\n`)
    client.write(bytes)
    client.write('\r\n')
  }
  for (const more of [0, 1, limits.bodyBytes]) {
    const client = new Client(port)
    client.write(requestText('POST /measure', { headers: ['Transfer-Encoding: chunked'] }))
    for (let i = 0; i < 4; i++) send(client, chunk)
    if (more > 0) send(client, Buffer.alloc(more))
    client.write('0\r\n\r\n')
    const { status, headers, body } = await client.answer()
    t.equal(status, more === 0 ? 200 : 413)
    if (more === 0) t.equal(String(body), `${limits.bodyBytes} 97 97`)
    else t.equal(headers.connection, 'close')
    t.same(client.errors, [])
    client.socket.destroy()
  }
  await until(() => server.heldBodyBytes === 0 && server.openExchangeCount === 0)
})

t.test('a body in chunks that never ends is given up', async (t) => {
  const { port, server } = await startServer(t, routes)
  const client = new Client(port)
  client.write(requestText('POST /measure', { headers: ['Transfer-Encoding: chunked'] }))
  const chunk = Buffer.alloc(1 << 20)
  let isOver = false
  client.socket.on('close', () => {
    isOver = true
  })
  const most = 2 * (limits.bodyBytes + limits.discardBytes)
  let sentBytes = 0
  for (; sentBytes < most && !isOver; sentBytes += chunk.length) {
    client.write(`${chunk.length.toString(16)}\r\n`)
    await new Promise<void>((resolve) => client.socket.write(chunk, () => resolve()))
    client.write('\r\n')
  }
  await client.untilClosed()
  await until(() => server.heldBodyBytes === 0 && server.openExchangeCount === 0)
})

t.test('a client that sends 5 MB before it reads gets the 413 without an error', async (t) => {
  const { port } = await startServer(t, routes)
  for (let i = 0; i < 10; i++) {
    const client = new Client(port)
    const body = Buffer.alloc(5_000_000)
    client.socket.pause()
    client.write(requestText('POST /measure', { body }))
    await new Promise<void>((resolve) => client.socket.write(body, () => resolve()))
    client.socket.resume()
    t.equal((await client.answer()).status, 413)
    await client.untilClosed()
    t.same(client.errors, [])
  }
})

t.test('a body of no bytes is there at once, also where its head came in pieces', async (t) => {
  const { port } = await startServer(t, routes)
  const client = new Client(port)
  const text = requestText('POST /measure', { body: '' })
  const lineEnd = text.indexOf('\r\n') + 2
  for (let cut = lineEnd; cut < text.length; cut++) {
    client.write(text.slice(0, cut))
    await new Promise((resolve) => setTimeout(resolve, 2))
    client.write(text.slice(cut))
    t.equal(String((await client.answer()).body), '0 undefined undefined', `cut at ${cut}`)
  }
})

t.test(
  'bodies that are not whole hold no more than the budget, and nothing afterwards',
  async (t) => {
    const { port, server } = await startServer(t, routes, { bounds: { heldBodyBytes: 150_000 } })
    const head = requestText('POST /measure', { headers: ['Content-Length: 100001'] })
    const [first, second] = [new Client(port), new Client(port)]
    first.write(head + 'a'.repeat(100_000))
    await until(() => server.heldBodyBytes === 100_000)
    second.write(head + 'b'.repeat(100_001))
    const refused = await second.answer()
    t.equal(refused.status, 503)
    t.match(refused.headers['retry-after'], /^[123]$/)
    t.equal(refused.headers.connection, 'close')
    first.write('z')
    t.equal(String((await first.answer()).body), '100001 97 122')
    t.equal(server.heldBodyBytes, 0)
    first.socket.destroy()
  },
)

t.test('a length that is far too large is answered without reading', async (t) => {
  const { port } = await startServer(t, routes)
  const client = new Client(port)
  client.write(requestText('POST /measure', { headers: ['Content-Length: 99999999999'] }))
  t.equal((await client.answer()).status, 413)
  await client.untilClosed()
})

t.test('an empty body is an empty body', async (t) => {
  const { port } = await startServer(t, routes)
  const declared = await request(port, 'POST /measure', { headers: ['Content-Length: 0'] })
  t.equal(String(declared.body), '0 undefined undefined')
  const absent = await request(port, 'POST /measure')
  t.equal(String(absent.body), '0 undefined undefined')
})

t.test('a handler may answer without the body, and the connection goes on', async (t) => {
  const { port } = await startServer(t, routes)
  const client = new Client(port)
  const body = Buffer.alloc(1_000_000)
  for (let i = 0; i < 3; i++) {
    client.write(requestText('POST /ignore', { body }))
    client.write(body)
    t.equal(String((await client.answer()).body), 'ignored')
  }
  client.socket.destroy()
})

t.test('a connection that idles is closed, whether the last body was read or not', async (t) => {
  const { port } = await startServer(t, routes)
  const clients = ['/measure', '/ignore', '/nothing', '/measure'].map((path, at) => {
    const client = new Client(port)
    const body = at < 3 ? 'abc' : ''
    client.write(requestText(`POST ${path}`, { body }) + body)
    return client
  })
  for (const client of clients) {
    await client.answer()
    await until(() => client.closed, 30_000)
  }
})

t.test('a client that goes in mid-body ends its exchange and nothing else', async (t) => {
  const { port, server, faults } = await startServer(t, routes)
  for (let i = 0; i < 20; i++) {
    const client = new Client(port)
    client.write(requestText('POST /measure', { headers: ['Content-Length: 100000'] }))
    client.write('x'.repeat(i * 1_000))
    await until(() => server.openExchangeCount === 1)
    if (i % 2 === 0) client.socket.destroy()
    else client.socket.resetAndDestroy()
    await until(() => server.openExchangeCount === 0)
  }
  t.equal(faults.length, 0)
  t.equal((await request(port, 'POST /measure', { body: 'still here' })).status, 200)
  await until(() => server.connectionCount === 0)
})
