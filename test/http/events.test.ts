/**
 * Events over HTTP: what a client gets, what becomes of one that does not read, and what waits for slow ones together.
 *
 * @module
 */
import t from 'tap'
import { watchRoutes } from '../../src/http/events.js'
import { limits } from '../../src/limits.js'
import type { ContextWatches, Watcher } from '../../src/operations/context-watches.js'
import type { Reply, Sink } from '../../src/selection/reply.js'
import { until } from '../support/service/until.js'
import { ID, PATH, startWatches } from './watches.js'
import { Client, request, requestText } from './wire.js'

/** @returns a client whose answer has begun */
async function watcherOf(port: number, path = PATH, headers: string[] = []): Promise<Client> {
  const client = new Client(port)
  client.write(requestText(`GET ${path}`, { headers }))
  await client.readUntil('retry: 1000\n')
  return client
}

t.test('events come as they are told, until the end', async (t) => {
  const { watches, port, server } = await startWatches(t)
  const client = new Client(port)
  client.write(requestText(`GET ${PATH}`, { headers: ['Last-Event-ID: e0'] }))
  const head = (await client.readUntil('\r\n\r\n')).toString()
  t.match(head, /^HTTP\/1.1 200 OK\r\n/)
  t.match(head, '\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n')
  t.match(head, '\r\nX-Accel-Buffering: no\r\n')
  t.same(watches.knownIds, ['e0'])
  await until(() => watches.watcherCount === 1)
  watches.tell('{"a":"ä"}')
  const told = (await client.readUntil('data: {"a":"ä"}\n')).toString()
  t.match(told, 'event: counts\nid: e1\ndata: ')
  for (const watcher of watches.watchers) watcher.beat()
  t.match((await client.readUntil(':\n')).toString(), ':\n')
  watches.stop()
  await client.readUntil('0\r\n\r\n')
  await until(() => watches.watcherCount === 0)
  t.equal(server.openExchangeCount, 0)
  client.write(requestText('GET /nowhere'))
  t.equal((await client.answer()).status, 404, 'the connection goes on')
  client.socket.destroy()
})

t.test('what cannot be watched is refused as by a GET of the context', async (t) => {
  const { watches, port } = await startWatches(t)
  t.equal((await request(port, 'GET /api/contexts/abc/events')).status, 400)
  t.match(String((await request(port, `GET ${PATH}?since=1`)).body), /"UnknownMember".*since/)
  const posted = await request(port, `POST ${PATH}`, { body: '{}' })
  t.equal(posted.status, 405)
  t.equal(posted.headers.allow, 'GET, HEAD')
  t.equal(watches.watcherCount, 0)
  watches.refuse('Overloaded')
  const refused = await request(port, `GET ${PATH}`)
  t.equal(refused.status, 503)
  t.ok(refused.headers['retry-after'])
  watches.refuse('NotFound')
  t.equal((await request(port, `GET ${PATH}`)).status, 404)
  t.equal((await request(port, `HEAD ${PATH}`)).status, 404)
})

t.test('HEAD tells the form, and watches nothing', async (t) => {
  const { watches, port } = await startWatches(t)
  const { status, headers } = await request(port, `HEAD ${PATH}`)
  t.equal(status, 200)
  t.equal(headers['content-type'], 'text/event-stream')
  await until(() => watches.watcherCount === 0)
})

t.test('a request that asks for another protocol is answered as if it did not', async (t) => {
  const { watches, port } = await startWatches(t)
  const socket = ['Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==']
  for (const headers of [
    ['Connection: Upgrade', 'Upgrade: websocket', ...socket],
    // As Java's HttpClient begins.
    ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAEAAEAAAAIAAAAB'],
  ]) {
    const client = await watcherOf(port, PATH, headers)
    await until(() => watches.watcherCount === 1)
    watches.tell('{"n":1}')
    await client.readUntil('data: {"n":1}')
    client.socket.destroy()
    await until(() => watches.watcherCount === 0)
    const head = await request(port, `HEAD ${PATH}`, { headers })
    t.equal(head.status, 200)
  }
})

t.test('a client that disconnects watches no more', async (t) => {
  const { watches, port, server } = await startWatches(t)
  const clients = await Promise.all(Array.from({ length: 50 }, () => watcherOf(port)))
  await until(() => watches.watcherCount === 50)
  for (const { socket } of clients.slice(0, 20)) socket.destroy()
  await until(() => watches.watcherCount === 30)
  for (const { socket } of clients) socket.resetAndDestroy()
  await until(() => watches.watcherCount === 0 && server.openExchangeCount === 0)
})

t.test('those who watch take no room from others', async (t) => {
  const { watches, port } = await startWatches(t, { bounds: { openExchangeCount: 2 } })
  const clients: Client[] = []
  for (let i = 1; i <= 10; i++) {
    clients.push(await watcherOf(port))
    await until(() => watches.watcherCount === i)
  }
  t.equal((await request(port, `HEAD ${PATH}`)).status, 200)
  for (const { socket } of clients) socket.destroy()
})

t.test('of events for a slow client the newest waits, and no other', async (t) => {
  const { watches, port } = await startWatches(t)
  const client = await watcherOf(port)
  await until(() => watches.watcherCount === 1)
  client.socket.pause()
  const filler = 'x'.repeat(1 << 20)
  for (let i = 1; i <= 200; i++) {
    watches.tell(filler, `e${i}`)
    await new Promise((resolve) => setImmediate(resolve))
  }
  client.socket.resume()
  const read = String(await client.readUntil('id: e200\n'))
  const waitedCount = read.split('id: ').length - 1
  t.ok(waitedCount < 50, `${waitedCount} of 200 events waited`)
  client.socket.destroy()
})

t.test('a client that reads nothing is cut off', async (t) => {
  const { watches, port, cuts } = await startWatches(t, { bounds: { clientStallMs: 1_500 } })
  const client = await watcherOf(port)
  const other = await watcherOf(port)
  await until(() => watches.watcherCount === 2)
  client.socket.pause()
  const filler = 'x'.repeat(1 << 20)
  for (let i = 0; i < 20 && watches.watcherCount === 2; i++) {
    watches.tell(filler, `e${i}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  await until(() => watches.watcherCount === 1)
  t.equal(cuts.length, 1)
  watches.tell('{"last":true}')
  await other.readUntil('{"last":true}')
  client.socket.destroy()
  other.socket.destroy()
})

t.test('a header that is too long is no known state', async (t) => {
  const { watches, port } = await startWatches(t)
  const long = 'e'.repeat(limits.headerBytes - 300)
  const client = await watcherOf(port, PATH, [`Last-Event-ID: ${long}`])
  t.same(watches.knownIds, [long])
  client.socket.destroy()
})

/** A client that takes nothing until it is told to. */
class SlowClient implements Sink {
  gone = false
  isBusy = true
  abortCount = 0
  readonly taken: Uint8Array[] = []
  #drain = () => {}

  write(bytes: Uint8Array): boolean {
    this.taken.push(bytes)
    return !this.isBusy
  }

  drained(): Promise<void> {
    return new Promise((resolve) => {
      this.#drain = resolve
    })
  }

  goOn(): void {
    this.isBusy = false
    this.#drain()
  }

  end(): void {}

  abort(): void {
    this.abortCount++
    this.gone = true
    this.#drain()
  }
}

const EVENT = { kind: 'counts', id: 'a', json: JSON.stringify('x'.repeat(1_000)) } as const
const EVENT_BYTES = `event: ${EVENT.kind}\nid: ${EVENT.id}\ndata: ${EVENT.json}\n\n`.length

/** Watches that hand their watchers to the test, with a bound on what waits for all of them. */
function startSlow(maxBytes: number) {
  const streams: Watcher[] = []
  const watches: Pick<ContextWatches, 'join'> = {
    async join(_, __, watcher) {
      streams.push(watcher)
      return () => {}
    },
  }
  const { watchHeldBytes } = limits
  Object.assign(limits, { watchHeldBytes: maxBytes })
  const [{ methods }] = watchRoutes(watches as ContextWatches)
  Object.assign(limits, { watchHeldBytes })
  const asked = { method: 'GET', parameters: { Id: ID }, query: new Map(), header: () => undefined }
  /** A client that has read all so far, and now reads nothing. */
  const open = async () => {
    const client = new SlowClient()
    client.isBusy = false
    const reply = { begin: () => client, whenOver() {} } as unknown as Reply
    await methods.GET?.({ ...asked } as never, reply, new Uint8Array())
    client.isBusy = true
    return { client, stream: streams.at(-1) as Watcher }
  }
  return open
}

t.test('what waits has a bound over all clients, and one past it is cut off', async (t) => {
  const open = startSlow(2 * EVENT_BYTES)
  const abortCounts = (watching: readonly { client: SlowClient }[]) =>
    watching.map(({ client }) => client.abortCount)
  /** Two more may wait, and no third. */
  const fill = async () => {
    const all = [await open(), await open(), await open()]
    for (const { stream } of all.slice(0, 2)) stream.tell(EVENT)
    t.same(abortCounts(all), [0, 0, 0])
    all[2].stream.tell(EVENT)
    t.same(abortCounts(all), [0, 0, 1])
    await new Promise(setImmediate)
    return all
  }
  const first = await fill()
  const late = await open()
  late.stream.tell(EVENT)
  t.equal(late.client.abortCount, 1, 'what one held that was cut off is free, and no more')
  await new Promise(setImmediate)
  for (const { client } of first.slice(0, 2)) client.goOn()
  await new Promise(setImmediate)
  await fill()
})

t.test('the bytes of an event are made once, for all', async (t) => {
  const open = startSlow(1 << 20)
  const all = [await open(), await open()]
  for (const { client, stream } of all) {
    client.isBusy = false
    stream.tell(EVENT)
  }
  t.equal(all[0].client.taken[1], all[1].client.taken[1])
})

t.test('an end waits for the event in front of it', async (t) => {
  const open = startSlow(1 << 20)
  const { client, stream } = await open()
  let endCount = 0
  client.end = () => void endCount++
  stream.tell(EVENT)
  stream.tell({ ...EVENT, id: 'b' })
  stream.tell({ ...EVENT, id: 'c' })
  stream.end('deleted')
  t.equal(endCount, 0)
  client.goOn()
  await new Promise(setImmediate)
  t.equal(endCount, 1)
  t.match(Buffer.concat(client.taken).toString(), /id: a\n.*id: c\n/s)
  t.notMatch(Buffer.concat(client.taken).toString(), 'id: b')
})

t.test('a service that stops waits for no slow client', async (t) => {
  for (const why of ['stopping', 'refused'] as const) {
    const open = startSlow(EVENT_BYTES)
    const { client, stream } = await open()
    stream.tell(EVENT)
    stream.end(why)
    t.equal(client.abortCount, 1)
    await new Promise(setImmediate)
    const next = await open()
    next.stream.tell(EVENT)
    t.equal(next.client.abortCount, 0, 'what it held is free')
  }
})
