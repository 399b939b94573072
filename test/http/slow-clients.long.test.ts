/**
 * Clients that take their time: to send a body, and to read an answer.
 *
 * @module
 */
import t from 'tap'
import type { Handler } from '../../src/http/request.js'
import type { Route } from '../../src/http/router.js'
import { until } from '../support/service/until.js'
import { Client, request, requestText, startServer } from './wire.js'

const MiB = 1024 * 1024

const measure: Handler = (_, reply, body) => {
  reply.send(200, {}, String(body.length))
}

t.test('a body that is not whole in time is 408, closes, and holds nothing', async (t) => {
  const { port, server, faults } = await startServer(
    t,
    [{ path: '/measure', methods: { POST: measure } }],
    { bounds: { bodyMs: 200 } },
  )
  const head = requestText('POST /measure', { headers: ['Content-Length: 1000'] })
  for (const sent of ['', 'a', 'a'.repeat(999)]) {
    const client = new Client(port)
    client.write(head + sent)
    const { status, headers, body } = await client.answer()
    t.equal(status, 408, `${sent.length} bytes`)
    t.match(String(body), '"ErrorCode":"RequestTimeout"')
    t.equal(headers.connection, 'close')
    await client.untilClosed()
    t.same(client.errors, [])
  }
  await until(() => server.connectionCount === 0)
  t.equal(server.heldBodyBytes, 0)
  t.equal(server.openExchangeCount, 0)
  t.equal(faults.length, 0)
})

t.test('a body that trickles in is 408 although bytes go on coming', async (t) => {
  const { port, server } = await startServer(
    t,
    [{ path: '/measure', methods: { POST: measure } }],
    { bounds: { bodyMs: 300 } },
  )
  const client = new Client(port)
  client.write(requestText('POST /measure', { headers: ['Content-Length: 1000000'] }))
  const trickle = setInterval(() => client.write('a'), 10)
  t.equal((await client.answer()).status, 408)
  clearInterval(trickle)
  client.socket.destroy()
  await until(() => server.connectionCount === 0)
  t.equal(server.heldBodyBytes, 0)
})

t.test('a body that arrives in time is read, and its time is over with it', async (t) => {
  const late: Handler = async (_, reply, body) => {
    const { length } = body
    await new Promise((resolve) => setTimeout(resolve, 1_700))
    reply.send(200, {}, String(length))
  }
  const { port } = await startServer(t, [{ path: '/late', methods: { POST: late } }], {
    bounds: { bodyMs: 1_500 },
  })
  const client = new Client(port)
  client.write(requestText('POST /late', { headers: ['Content-Length: 4'] }))
  client.write('ab')
  await new Promise((resolve) => setTimeout(resolve, 20))
  client.write('cd')
  t.equal(String((await client.answer()).body), '4')
  client.socket.destroy()
})

/** Takes these readers two and a half seconds and more. */
const WHOLE = new Uint8Array(32 * MiB)
const PIECE = WHOLE.subarray(0, MiB / 16)

const stream =
  (byteCount?: number): Handler =>
  async (_, reply) => {
    const sink = reply.begin(200, {}, byteCount)
    for (let sent = 0; sent < WHOLE.length && !sink.gone; sent += PIECE.length) {
      if (!sink.write(PIECE)) await sink.drained()
    }
    sink.end()
  }
const answers: Route<Handler>[] = [
  { path: '/stream', methods: { GET: stream() } },
  { path: '/sized', methods: { GET: stream(WHOLE.length) } },
  { path: '/whole', methods: { GET: (_, reply) => reply.send(200, {}, WHOLE) } },
]

/** Reads 64 KiB at most every few milliseconds, and never stops for long. */
function readSlowly({ socket }: Client): void {
  socket.pause()
  socket.on('data', () => socket.pause())
  const timer = setInterval(() => socket.resume(), 5)
  socket.once('close', () => clearInterval(timer))
}

t.test('a reader that keeps reading, but too slowly, is cut off', async (t) => {
  // No reader is as fast, so any that is waited for half a second in all is too slow.
  const bounds = { clientStallMs: 500, clientBytesPerSecond: 1e15 }
  const { port, server } = await startServer(t, answers, { bounds })
  for (const { path } of answers) {
    const client = new Client(port)
    readSlowly(client)
    client.write(requestText(`GET ${path}`))
    await client.untilClosed()
    await until(() => server.openExchangeCount === 0)
    t.ok(client.socket.bytesRead > 0, path)
    t.ok(client.socket.bytesRead < WHOLE.length, `${client.socket.bytesRead} bytes were read`)
  }
})

t.test('a reader that is as slow, but fast enough, gets all of its answer', async (t) => {
  const { port } = await startServer(t, answers, { bounds: { clientBytesPerSecond: 1 } })
  for (const { path } of answers) {
    const client = new Client(port)
    readSlowly(client)
    client.write(requestText(`GET ${path}`))
    t.equal((await client.answer()).body.length, WHOLE.length, path)
    client.socket.destroy()
  }
})

t.test('a reader that stops for a while gets the rest when it goes on', async (t) => {
  const { port, server } = await startServer(t, answers)
  const clients = answers.map(({ path }) => {
    const client = new Client(port)
    client.socket.pause()
    client.write(requestText(`GET ${path}`))
    return client
  })
  // The library alone would have closed these connections by then.
  await new Promise((resolve) => setTimeout(resolve, 15_000))
  t.equal(server.openExchangeCount, clients.length)
  for (const client of clients) {
    client.socket.resume()
    t.equal((await client.answer()).body.length, WHOLE.length)
    client.socket.destroy()
  }
})

t.test('no more connections than allowed are open, and all may come again', async (t) => {
  const { port, server } = await startServer(t, answers, { bounds: { connectionCount: 50 } })
  const clients = Array.from({ length: 200 }, () => new Client(port))
  await until(() => clients.filter(({ closed }) => closed).length === 150)
  t.equal(server.connectionCount, 50)
  t.ok(clients.filter(({ closed }) => !closed).every(({ socket }) => !socket.destroyed))
  for (const { socket } of clients) socket.destroy()
  await until(() => server.connectionCount === 0)
  t.equal((await request(port, 'GET /nothing')).status, 404)
})

t.test('a client that asks and asks, and reads nothing, gets few answers', async (t) => {
  let answeredCount = 0
  const small: Handler = (_, reply) => {
    answeredCount++
    reply.send(200, {}, WHOLE.subarray(0, 10_000))
  }
  const { port, server } = await startServer(t, [{ path: '/small', methods: { GET: small } }])
  const client = new Client(port)
  client.socket.pause()
  const text = requestText('GET /small').repeat(100)
  for (let i = 0; i < 100 && !client.closed; i++) {
    client.write(text)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  t.ok(answeredCount < 5_000, `${answeredCount} answers of 10,000 were made for nobody`)
  client.socket.destroy()
  await until(() => server.connectionCount === 0 && server.openExchangeCount === 0)
})
