/**
 * The end of a server, and its behaviour under many requests and slow readers.
 *
 * @module
 */
import t from 'tap'
import type { Handler } from '../../src/http/request.js'
import type { Route } from '../../src/http/router.js'
import { healthRoutes } from '../../src/http/service-routes.js'
import { limits } from '../../src/limits.js'
import type { Reply } from '../../src/selection/reply.js'
import { until } from '../support/service/until.js'
import { type Answer, Client, request, requestText, startServer } from './wire.js'

const large = new Uint8Array(limits.directReplyBytes * 4)

t.test('while it drains, every kind of answer says Connection: close, once', async (t) => {
  const replies: Reply[] = []
  const hold: Handler = (_, reply) => void replies.push(reply)
  const { server, port } = await startServer(t, [{ path: '/hold', methods: { GET: hold } }])
  const clients = Array.from({ length: 5 }, () => new Client(port))
  for (const [i, client] of clients.entries()) {
    client.write(requestText(i === 3 ? 'HEAD /hold' : 'GET /hold'))
    await until(() => replies.length === i + 1)
  }
  const idle = new Client(port)
  idle.write(requestText('GET /unknown'))
  t.equal((await idle.answer()).headers.connection, undefined, 'not yet draining')

  server.stopAccepting()
  t.equal(server.openExchangeCount, 5)
  await t.rejects(request(port, 'GET /hold'), 'no new connections')
  idle.write(requestText('GET /unknown'))
  t.equal((await idle.answer()).headers.connection, 'close', 'errors too')
  await idle.untilClosed()

  replies[0].send(200, {}, 'small')
  replies[1].send(200, {}, large)
  const sink = replies[2].begin(200, {})
  sink.write(Buffer.from('streamed'))
  sink.end()
  replies[3].send(200, {}, 'small')
  replies[4].begin(200, {}, 5).write(Buffer.from('sized'))
  for (const [i, client] of clients.entries()) {
    const head = String(await client.readUntil('\r\n\r\n'))
    t.equal(head.match(/^connection: close\r$/gim)?.length, 1, `answer ${i}`)
  }
  t.equal(String(await clients[0].read(5)), 'small')
  t.equal((await clients[1].read(large.length)).length, large.length)
  t.equal(String(await clients[2].readUntil('0\r\n\r\n')), '7\r\nstreame\r\n1\r\nd\r\n0\r\n\r\n')
  t.equal(String(await clients[4].read(5)), 'sized')
  await clients[0].untilClosed()
  t.equal(server.openExchangeCount, 0)
  t.equal(await server.shutDown({ quietMs: 0, deadlineMs: 1_000 }), 0)
  for (const client of clients) await client.untilClosed()
})

t.test('only clients with a connection that is kept are waited for', async (t) => {
  for (const isKept of [true, false]) {
    const { server, port } = await startServer(t, [])
    const client = new Client(port)
    client.write(requestText('GET /unknown'))
    await client.answer()
    if (!isKept) client.socket.destroy()
    await until(() => server.connectionCount === Number(isKept))
    let isOver = false
    const ended = server.shutDown({ quietMs: 1e9, deadlineMs: 2e9 }).then((count) => {
      isOver = true
      t.equal(count, 0)
    })
    if (isKept) {
      await new Promise((resolve) => setTimeout(resolve, 100))
      t.notOk(isOver)
      client.socket.destroy()
    }
    await ended
  }
})

t.test('what is still open at the deadline is broken off, and counted', async (t) => {
  let held: Reply | undefined
  const hold: Handler = (_, reply) => {
    held = reply
  }
  const { server, port } = await startServer(t, [{ path: '/hold', methods: { GET: hold } }])
  const client = new Client(port)
  client.write(requestText('GET /hold'))
  await until(() => held !== undefined)
  t.equal(await server.shutDown({ quietMs: 0, deadlineMs: 100 }), 1)
  t.equal(held?.gone, true)
  await client.untilClosed()
  server.close()
})

type Served = ReturnType<Parameters<typeof healthRoutes>[1]>

t.test('liveness is always 200, readiness says what is missing or served', async (t) => {
  let reason: string | undefined = 'loading'
  let served: Served = { snapshotId: '000001-00000000' }
  const { port } = await startServer(
    t,
    healthRoutes(
      () => reason,
      () => served,
    ),
  )
  const unready = await request(port, 'GET /readyz')
  t.equal(unready.status, 503)
  t.same(JSON.parse(String(unready.body)), { status: 'unready', reason: 'loading' })
  t.equal((await request(port, 'GET /livez')).status, 200)
  reason = undefined
  const bodies: Served[] = [
    served,
    { ...served, loading: '000002-00000000' },
    { ...served, refused: { snapshotId: '000002-00000000', reason: 'it is too short' } },
  ]
  for (const body of bodies) {
    served = body
    const ready = await request(port, 'GET /readyz')
    t.equal(ready.status, 200)
    t.same(JSON.parse(String(ready.body)), { status: 'ready', ...body })
  }
  t.equal((await request(port, 'HEAD /readyz')).status, 200)
})

t.test('2,000 requests over 100 connections are all answered', async (t) => {
  const echo: Handler = (_, reply, body) => {
    reply.send(200, { 'Content-Type': 'text/plain' }, body)
  }
  const { server, port } = await startServer(t, [{ path: '/echo', methods: { POST: echo } }])
  const body = 'a'.repeat(200)
  const wrong: Answer[] = []
  const asked = Array.from({ length: 100 }, async () => {
    const client = new Client(port)
    for (let i = 0; i < 20; i++) {
      client.write(requestText('POST /echo', { body }) + body)
      const answer = await client.answer()
      if (answer.status !== 200 || String(answer.body) !== body) wrong.push(answer)
    }
    client.socket.destroy()
  })
  await Promise.all(asked)
  t.same(wrong, [])
  await until(() => server.openExchangeCount === 0 && server.connectionCount === 0)
})

t.test('a reader that takes nothing for too long is cut off', async (t) => {
  const endless: Handler = async (_, reply) => {
    const sink = reply.begin(200, {})
    while (!sink.gone) if (!sink.write(large)) await sink.drained()
  }
  const huge = new Uint8Array(64 * 1024 * 1024)
  const sized: Handler = async (_, reply) => {
    const sink = reply.begin(200, {}, huge.length)
    if (!sink.write(huge)) await sink.drained()
  }
  const routes: Route<Handler>[] = [
    { path: '/stream', methods: { GET: endless } },
    { path: '/sized', methods: { GET: sized } },
    { path: '/whole', methods: { GET: (_, reply) => reply.send(200, {}, huge) } },
  ]
  const { server, port } = await startServer(t, routes, { bounds: { clientStallMs: 300 } })
  for (const { path } of routes) {
    const client = new Client(port)
    client.socket.pause()
    client.write(requestText(`GET ${path}`))
    await until(() => server.openExchangeCount === 1)
    const startedMs = performance.now()
    await until(() => server.openExchangeCount === 0, 2_000)
    t.ok(performance.now() - startedMs < 2_000, path)
    client.socket.destroy()
  }
})
