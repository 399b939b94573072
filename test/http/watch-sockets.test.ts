/**
 * Events by WebSocket: what a client gets, who may open one, and what becomes of one that does not read.
 *
 * @module
 */
import t from 'tap'
import { WebSocket } from 'ws'
import { limits } from '../../src/limits.js'
import { until } from '../support/service/until.js'
import { PATH, startWatches } from './watches.js'
import { Client, request, requestText } from './wire.js'

const KEY = 'dGhlIHNhbXBsZSBub25jZQ=='
const HANDSHAKE = [
  'Connection: keep-alive, Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  `Sec-WebSocket-Key: ${KEY}`,
]

/** One client, and what it was told. */
class Listener {
  readonly socket: WebSocket
  readonly messages: string[] = []
  closing: { code: number; reason: string } | undefined
  isOpen = false

  constructor(port: number, query = '', headers: Readonly<Record<string, string>> = {}) {
    this.socket = new WebSocket(`ws://127.0.0.1:${port}${PATH}${query}`, { headers })
    this.socket.on('open', () => {
      this.isOpen = true
    })
    this.socket.on('error', () => {})
    this.socket.on('message', (data, isBinary) => {
      this.messages.push(isBinary ? 'binary' : String(data))
    })
    this.socket.on('close', (code, reason) => {
      this.closing = { code, reason: String(reason) }
    })
  }
}

async function listenerOf(...args: ConstructorParameters<typeof Listener>): Promise<Listener> {
  const listener = new Listener(...args)
  await until(() => listener.isOpen)
  return listener
}

t.test('a client shakes hands, is told events, and hears goodbye', async (t) => {
  const { watches, port, server, ends } = await startWatches(t)
  const client = new Client(port)
  client.write(
    requestText(`GET ${PATH}`, {
      headers: [...HANDSHAKE, 'Last-Event-ID: e0', 'X-Request-Id: mine'],
    }),
  )
  const head = (await client.readUntil('\r\n\r\n')).toString()
  t.match(head, /^HTTP\/1.1 101 Switching Protocols\r\n/)
  // RFC 6455, 1.3, has this pair.
  t.match(head, /\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=\r\n/)
  t.match(head, /\r\nX-Request-Id: mine\r\n/)
  t.notMatch(head, /Sec-WebSocket-Extensions/i)
  t.same(watches.knownIds, ['e0'])
  const listener = await listenerOf(port, '?lastEventID=e7')
  t.same(watches.knownIds, ['e0', 'e7'])
  watches.tell('{"a":"ä"}')
  await until(() => listener.messages.length === 1)
  t.same(listener.messages, ['{"Event":"counts","Id":"e1","Data":{"a":"ä"}}'])
  const frame = Buffer.from('{"Event":"counts","Id":"e1","Data":{"a":"ä"}}')
  t.same(await client.read(frame.length + 2), Buffer.from([0x81, frame.length, ...frame]))
  for (const watcher of watches.watchers) watcher.beat()
  t.same(await client.read(2), Buffer.from([0x89, 0]), 'a ping')
  watches.stop('stopping')
  await until(() => listener.closing !== undefined)
  t.same(listener.closing, { code: 1001, reason: 'the service stops: come again' })
  t.equal((await client.read(2))[0], 0x88)
  client.socket.destroy()
  await until(() => watches.watcherCount === 0 && server.openExchangeCount === 0)
  t.match(ends, [{ status: 101 }, { status: 101, outcome: 'answered', bytesOut: frame.length }])
  await until(() => server.connectionCount === 0)
})

t.test('each end has its code', async (t) => {
  const { watches, port } = await startWatches(t)
  for (const [why, code] of [
    ['deleted', 1000],
    ['refused', 1008],
    ['stopping', 1001],
  ] as const) {
    const listener = await listenerOf(port)
    await until(() => watches.watcherCount === 1)
    watches.stop(why)
    await until(() => listener.closing !== undefined && watches.watcherCount === 0)
    t.equal(listener.closing?.code, code)
  }
})

t.test('what is no handshake is refused or answered in another form', async (t) => {
  const { watches, port, server } = await startWatches(t)
  const ask = (headers: string[], line = `GET ${PATH}`) => request(port, line, { headers })
  const [connection, upgrade, version, key] = HANDSHAKE
  for (const headers of [
    [connection, upgrade, version],
    [connection, upgrade, key],
    [connection, upgrade, 'Sec-WebSocket-Version: 8', key],
    [connection, upgrade, version, 'Sec-WebSocket-Key: abc'],
    [connection, upgrade, version, `Sec-WebSocket-Key: ${'*'.repeat(24)}`],
  ]) {
    const { status, body, headers: answered } = await ask(headers)
    t.equal(status, 400, headers.join())
    t.match(String(body), /Sec-WebSocket-Version: 13/)
    t.equal(answered.connection, 'close')
  }
  t.equal((await ask(HANDSHAKE, 'GET /api/contexts/abc/events')).status, 400)
  t.equal((await ask(HANDSHAKE, 'GET /nowhere')).status, 404)
  t.equal((await ask(HANDSHAKE, `HEAD ${PATH}`)).status, 200)
  const posted = await request(port, `POST ${PATH}`, { headers: HANDSHAKE, body: '{}' })
  t.equal(posted.status, 405)
  t.equal(watches.watcherCount, 0)
  // Without the header Connection, nobody asks for anything.
  const client = new Client(port)
  client.write(requestText(`GET ${PATH}`, { headers: [upgrade, version, key] }))
  await client.readUntil('retry: 1000\n')
  client.socket.destroy()
  await until(() => server.connectionCount === 0 && server.openExchangeCount === 0)
})

t.test('a refusal is an answer', async (t) => {
  const { watches, port, server } = await startWatches(t)
  watches.refuse('Overloaded')
  const { status, headers } = await request(port, `GET ${PATH}`, { headers: HANDSHAKE })
  t.equal(status, 503)
  t.ok(headers['retry-after'])
  watches.refuse('NotFound')
  t.equal((await request(port, `GET ${PATH}`, { headers: HANDSHAKE })).status, 404)
  await until(() => server.connectionCount === 0)
})

t.test('a request that asks for HTTP/2 as well gets its answer, with its body', async (t) => {
  const { port } = await startWatches(t)
  const headers = [
    'Connection: Upgrade, HTTP2-Settings',
    'Upgrade: h2c',
    'HTTP2-Settings: AAMAAABk',
  ]
  const client = new Client(port)
  for (const body of ['{"a":1}', `{"b":"${'x'.repeat(200_000)}"}`]) {
    client.write(requestText('POST /echo', { headers, body }))
    client.write(body)
    const answer = await client.answer()
    t.equal(answer.status, 200)
    t.ok(String(answer.body) === body)
  }
  client.write(requestText('GET /echo', { headers }))
  t.equal((await client.answer()).status, 200)
  client.socket.destroy()
})

t.test('a page may open one if it may read answers', async (t) => {
  const statusOf = async (port: number, headers: string[]) => {
    const client = new Client(port)
    client.write(requestText(`GET ${PATH}`, { headers: [...HANDSHAKE, ...headers] }))
    const head = String(await client.readUntil('\r\n'))
    client.socket.destroy()
    return Number(head.split(' ')[1])
  }
  const own = await startWatches(t)
  t.equal(await statusOf(own.port, []), 101)
  t.equal(await statusOf(own.port, ['Origin: https://evil.example']), 403)
  t.equal(await statusOf(own.port, ['Origin: null']), 403)
  t.equal(await statusOf(own.port, ['Origin: https://test']), 101, 'its Host is this one')
  const named = await startWatches(t, { corsOrigins: ['https://map.example'] })
  t.equal(await statusOf(named.port, ['Origin: https://map.example']), 101)
  t.equal(await statusOf(named.port, ['Origin: https://map.example.evil']), 403)
  const all = await startWatches(t, { corsOrigins: ['*'] })
  t.equal(await statusOf(all.port, ['Origin: https://any.example']), 101)
})

t.test('a client that sends a message is told that nobody listens', async (t) => {
  const { watches, port, server } = await startWatches(t)
  const listener = await listenerOf(port)
  await until(() => watches.watcherCount === 1)
  listener.socket.send('hello')
  await until(() => listener.closing !== undefined && watches.watcherCount === 0)
  t.equal(listener.closing?.code, 1003)
  const loud = await listenerOf(port)
  loud.socket.send('x'.repeat(limits.socketMessageBytes + 1))
  await until(() => loud.closing !== undefined && watches.watcherCount === 0)
  t.not(loud.closing?.code, 1003)
  await until(() => server.openExchangeCount === 0 && server.connectionCount === 0)
})

t.test('a client that answers no ping is cut off, one that does is not', async (t) => {
  const { watches, port, cuts } = await startWatches(t)
  const dead = await listenerOf(port)
  dead.socket.pong = () => {}
  const alive = await listenerOf(port)
  await until(() => watches.watcherCount === 2)
  for (let i = 0; i <= limits.unansweredPingCount + 1; i++) {
    t.equal(watches.watcherCount, 2)
    for (const watcher of watches.watchers) watcher.beat()
    await new Promise((resolve) => alive.socket.once('ping', resolve).ping())
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  await until(() => watches.watcherCount === 1)
  t.match(cuts, [{ reason: 'the client answers no ping' }])
  t.equal(alive.closing, undefined)
  alive.socket.terminate()
})

t.test('of events for a slow client the newest waits, and no other', async (t) => {
  const { watches, port } = await startWatches(t)
  const listener = await listenerOf(port)
  await until(() => watches.watcherCount === 1)
  listener.socket.pause()
  const filler = JSON.stringify('x'.repeat(1 << 20))
  for (let i = 1; i <= 200; i++) {
    watches.tell(filler, `e${i}`)
    await new Promise((resolve) => setImmediate(resolve))
  }
  listener.socket.resume()
  await until(() => listener.messages.at(-1)?.includes('"Id":"e200"') === true)
  t.ok(listener.messages.length < 50, `${listener.messages.length} of 200 events waited`)
  listener.socket.terminate()
})

t.test('a client that reads nothing is cut off, and others go on', async (t) => {
  const { watches, port, cuts } = await startWatches(t, { bounds: { clientStallMs: 300 } })
  const [slow, other] = [await listenerOf(port), await listenerOf(port)]
  await until(() => watches.watcherCount === 2)
  slow.socket.pause()
  const filler = JSON.stringify('x'.repeat(1 << 20))
  for (let i = 0; i < 100 && watches.watcherCount === 2; i++) {
    watches.tell(filler, `e${i}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  await until(() => watches.watcherCount === 1)
  t.match(cuts, [{ reason: 'the client reads too slowly' }])
  watches.tell('{"last":true}')
  await until(() => other.messages.at(-1)?.includes('"last"') === true)
  slow.socket.terminate()
  other.socket.terminate()
})

t.test('a client that pings without end and never reads fills no memory', async (t) => {
  const { watches, port } = await startWatches(t)
  const client = new Client(port)
  const { socket } = client
  client.write(requestText(`GET ${PATH}`, { headers: HANDSHAKE }))
  await client.readUntil('\r\n\r\n')
  socket.pause()
  const ping = Buffer.concat([Buffer.from([0x89, 0x80 | 125, 0, 0, 0, 0]), Buffer.alloc(125)])
  const pings = Buffer.concat(Array.from({ length: 1_000 }, () => ping))
  const before = process.memoryUsage().rss
  let sentBytes = 0
  const drained = () => new Promise((resolve) => void socket.once('drain', resolve))
  while (sentBytes < 200 << 20 && !client.closed) {
    if (!socket.write(pings)) await Promise.race([drained(), client.untilClosed()])
    sentBytes += pings.length
  }
  const grown = process.memoryUsage().rss - before
  t.ok(grown < 60 << 20, `${grown >> 20} MiB for ${sentBytes >> 20} MiB of pings`)
  t.ok(sentBytes > 1 << 20)
  socket.destroy()
  await until(() => watches.watcherCount === 0)
})

t.test('those who come and go leave nothing behind', async (t) => {
  const { watches, port, server } = await startWatches(t)
  for (let round = 0; round < 10; round++) {
    const clients = Array.from({ length: 50 }, () => new Client(port))
    for (const client of clients) client.write(requestText(`GET ${PATH}`, { headers: HANDSHAKE }))
    if (round % 2 === 0) await until(() => watches.watcherCount === clients.length)
    for (const [i, { socket }] of clients.entries()) {
      if (i % 2 === 0) socket.destroy()
      else socket.resetAndDestroy()
    }
    await until(() => watches.watcherCount === 0 && server.openExchangeCount === 0)
  }
  await until(() => server.connectionCount === 0)
})

t.test('a server that closes breaks them off', async (t) => {
  const { watches, port, server } = await startWatches(t)
  const listener = await listenerOf(port)
  await until(() => watches.watcherCount === 1)
  server.close()
  await until(() => listener.closing !== undefined && watches.watcherCount === 0)
  t.equal(server.openExchangeCount, 0)
})
