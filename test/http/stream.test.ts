/**
 * Large and streamed answers: never faster than the client reads, never more than a piece ahead.
 *
 * @module
 */
import t from 'tap'
import type { Handler } from '../../src/http/request.js'
import { until } from '../support/service/until.js'
import { nothingSeen, pattern, piecesOf, streamRoute } from './patterned-stream.js'
import { Client, requestText, startServer } from './wire.js'

const PIECE_BYTES = 64 * 1024
const LARGE_BYTES = 64 * 1024 * 1024

async function readChunks(client: Client): Promise<Buffer> {
  const pieces: Buffer[] = []
  for (;;) {
    const byteCount = Number.parseInt(String(await client.readUntil('\r\n')), 16)
    pieces.push(await client.read(byteCount))
    await client.read(2)
    if (byteCount === 0) return Buffer.concat(pieces)
  }
}

t.test('a streamed answer arrives whole, and the connection goes on', async (t) => {
  const seen = nothingSeen()
  const { port, server } = await startServer(t, [
    streamRoute(seen, { pieces: piecesOf(100 * PIECE_BYTES, PIECE_BYTES) }),
  ])
  const client = new Client(port)
  for (let i = 0; i < 2; i++) {
    seen.writtenBytes = 0
    client.write(requestText('GET /stream'))
    t.match(String(await client.readUntil('\r\n\r\n')), 'Transfer-Encoding: chunked')
    t.ok((await readChunks(client)).equals(pattern(100 * PIECE_BYTES)))
  }
  t.equal(server.openExchangeCount, 0)
  t.equal(seen.sink?.gone, false)
  client.socket.destroy()
})

t.test('an empty stream, a stream of empty pieces and HEAD have no body', async (t) => {
  const write = (pieces: string[]): Handler => {
    return (_, reply) => {
      const sink = reply.begin(200, { 'X-Snapshot': '1' })
      for (const piece of pieces) sink.write(Buffer.from(piece))
      sink.end()
    }
  }
  const { port } = await startServer(t, [
    { path: '/empty', methods: { GET: write([]) } },
    { path: '/pieces', methods: { GET: write(['', 'a', '', 'b', '']) } },
  ])
  const client = new Client(port)
  client.write(requestText('GET /empty'))
  t.equal((await client.answer()).headers['content-length'], '0')
  client.write(requestText('GET /pieces'))
  await client.readUntil('\r\n\r\n')
  t.equal(String(await readChunks(client)), 'ab')
  client.write(requestText('HEAD /pieces'))
  t.match(String(await client.readUntil('\r\n\r\n')), 'X-Snapshot: 1')
  client.write(requestText('GET /empty'))
  t.match(String(await client.readUntil('\r\n\r\n')), '200 OK')
  client.socket.destroy()
})

t.test('a reader that stops is waited for, in bounded memory', async (t) => {
  const seen = nothingSeen()
  const { port } = await startServer(t, [
    streamRoute(seen, { pieces: piecesOf(LARGE_BYTES, PIECE_BYTES) }),
  ])
  const client = new Client(port)
  client.socket.pause()
  client.write(requestText('GET /stream'))
  await until(() => seen.blockedCount > 0)
  await new Promise((resolve) => setTimeout(resolve, 200))
  // What the two systems buffer for a connection on this machine is less than this.
  t.ok(seen.writtenBytes < LARGE_BYTES / 2, `stopped after ${seen.writtenBytes} bytes`)
  t.equal(seen.sink?.gone, false)
  client.socket.resume()
  await client.readUntil('\r\n\r\n')
  t.equal((await readChunks(client)).length, LARGE_BYTES)
  client.socket.destroy()
})

t.test('a client that goes in mid-stream ends the stream', async (t) => {
  const seen = nothingSeen()
  const { port, server, faults } = await startServer(t, [
    streamRoute(seen, { pieces: piecesOf(Infinity, PIECE_BYTES) }),
  ])
  for (const leave of ['destroy', 'resetAndDestroy'] as const) {
    seen.blockedCount = 0
    const client = new Client(port)
    client.socket.pause()
    client.write(requestText('GET /stream'))
    await until(() => seen.blockedCount > 0)
    client.socket[leave]()
    await until(() => server.openExchangeCount === 0)
    t.equal(seen.reply?.gone, true)
    t.equal(seen.sink?.gone, true)
    t.equal(seen.sink?.write(pattern(1)), false)
    await seen.sink?.drained()
    seen.sink?.end()
    seen.sink?.abort()
    seen.reply?.send(200, {}, 'nobody hears this')
  }
  t.equal(faults.length, 0)
})

t.test('an aborted stream has no end', async (t) => {
  const abort: Handler = (_, reply) => {
    const sink = reply.begin(200, {})
    sink.write(pattern(10))
    sink.abort()
    t.equal(sink.gone, true)
  }
  const { port, server } = await startServer(t, [{ path: '/', methods: { GET: abort } }])
  const client = new Client(port)
  client.write(requestText('GET /'))
  await client.untilClosed()
  await t.rejects(client.readUntil('0\r\n\r\n'))
  t.equal(server.openExchangeCount, 0)
})

t.test('a large answer is handed over as fast as it is read', async (t) => {
  const large = pattern(LARGE_BYTES)
  const shared = new Uint8Array(new SharedArrayBuffer(LARGE_BYTES / 64))
  shared.set(large.subarray(0, shared.length))
  const text = 'é'.repeat(100_000)
  const { port, server } = await startServer(t, [
    { path: '/large', methods: { GET: (_, reply) => reply.send(200, {}, large) } },
    { path: '/shared', methods: { GET: (_, reply) => reply.send(200, {}, shared) } },
    { path: '/text', methods: { GET: (_, reply) => reply.send(200, {}, text) } },
  ])
  const clients = Array.from({ length: 5 }, () => new Client(port))
  const beforeBytes = process.memoryUsage().rss
  for (const client of clients) {
    client.socket.pause()
    client.write(requestText('GET /large'))
  }
  await until(() => server.openExchangeCount === clients.length)
  await new Promise((resolve) => setTimeout(resolve, 200))
  const growthBytes = process.memoryUsage().rss - beforeBytes
  t.ok(growthBytes < LARGE_BYTES, `grew by ${growthBytes} bytes`)
  for (const client of clients.slice(1)) client.socket.destroy()
  await until(() => server.openExchangeCount === 1)
  const [reader] = clients
  reader.socket.resume()
  t.ok((await reader.answer()).body.equals(large))
  reader.write(requestText('GET /shared'))
  t.ok((await reader.answer()).body.equals(shared))
  reader.write(requestText('GET /text'))
  t.equal(String((await reader.answer()).body), text)
  t.equal(server.openExchangeCount, 0)
  reader.socket.destroy()
})
