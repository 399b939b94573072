import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { type AdminRoute, listenForAdmin, plainAnswer } from '../../src/admin/listener.js'
import { limits } from '../../src/limits.js'
import { createLog } from '../../src/log.js'
import { until } from '../support/service/until.js'

const log = createLog('silent')

/** More than the buffers of two sockets take. */
const LONG = Buffer.alloc(32 << 20, 'x')

async function start(
  t: Test,
  routes: Record<string, AdminRoute>,
  bounds: Parameters<typeof listenForAdmin>[0]['bounds'] = {},
) {
  const listener = await listenForAdmin({ host: '127.0.0.1', port: 0, routes, log, bounds })
  t.teardown(() => listener.close())
  return { ...listener, url: `http://127.0.0.1:${listener.port}` }
}

const hello: AdminRoute = () => plainAnswer(200, 'hello')

/** What a connection is sent until it ends. */
async function answerTo(t: Test, port: number, sent: string): Promise<string> {
  const socket = opened(t, port)
  socket.write(sent)
  const pieces: Buffer[] = []
  socket.on('data', (piece) => pieces.push(piece))
  await once(socket, 'close')
  return Buffer.concat(pieces).toString()
}

function opened(t: Test, port: number): Socket {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  t.teardown(() => socket.destroy())
  return socket
}

t.test('a route is asked with or without a query, by GET and HEAD', async (t) => {
  const { url } = await start(t, { '/a': ({ accept }) => plainAnswer(200, accept) })
  const answer = await fetch(`${url}/a`, { headers: { Accept: 'text/plain' } })
  t.equal(await answer.text(), 'text/plain\n')
  t.equal(answer.headers.get('cache-control'), 'no-store')
  const head = await fetch(`${url}/a?x=%201`, { method: 'HEAD' })
  t.equal(head.status, 200)
  t.equal(head.headers.get('content-length'), '4')
})

t.test('other paths, verbs and names are refused', async (t) => {
  const { url, port } = await start(t, { '/a': hello })
  t.equal((await fetch(`${url}/b`)).status, 404)
  const post = await fetch(`${url}/a`, { method: 'POST', body: 'x' })
  t.equal(post.status, 405)
  t.equal(post.headers.get('allow'), 'GET, HEAD')
  const ask = (host: string) =>
    answerTo(t, port, `GET /a HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
  for (const host of ['localhost', `127.0.0.1:${port}`, '[::1]:1', 'LOCALHOST']) {
    t.match(await ask(host), /^HTTP\/1.1 200/, host)
  }
  for (const host of [
    'evil.example',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    '10.0.0.1',
  ]) {
    t.match(await ask(host), /^HTTP\/1.1 403/, host)
  }
  t.match(await answerTo(t, port, 'GET /a HTTP/1.0\r\n\r\n'), /^HTTP\/1.1 403/, 'no name')
})

t.test('a page of another origin is refused', async (t) => {
  let askedCount = 0
  const counted: AdminRoute = () => plainAnswer(200, `${++askedCount}`)
  const { port } = await start(t, { '/a': counted })
  const ask = (...headers: string[]) => {
    const lines = ['GET /a HTTP/1.1', 'Host: localhost', 'Connection: close', ...headers, '', '']
    return answerTo(t, port, lines.join('\r\n'))
  }
  for (const header of [
    'Sec-Fetch-Site: cross-site',
    'Sec-Fetch-Site: same-site',
    'Origin: https://evil.example',
    'Origin: null',
  ]) {
    t.match(await ask(header), /^HTTP\/1.1 403 (.|\n|\r)*enter the address by hand/, header)
  }
  t.equal(askedCount, 0)
  t.match(await ask('Sec-Fetch-Site: none'), /^HTTP\/1.1 200/, 'entered by hand')
  t.match(await ask('Sec-Fetch-Site: same-origin'), /^HTTP\/1.1 200/, 'a page of its own')
})

t.test('a route that fails ends its connection, and nothing else', async (t) => {
  const { url } = await start(t, {
    '/a': hello,
    '/fails': () => {
      throw new Error('for the test')
    },
  })
  await t.rejects(fetch(`${url}/fails`))
  t.equal((await fetch(`${url}/a`)).status, 200)
})

t.test('a client that never reads is cut off', async (t) => {
  const long = () => ({ ...plainAnswer(200, ''), body: LONG })
  const { url, port } = await start(t, { '/long': long, '/a': hello }, { adminAnswerMs: 300 })
  const socket = opened(t, port)
  socket.pause()
  socket.write('GET /long HTTP/1.1\r\nHost: localhost\r\n\r\n')
  let closed = false
  socket.once('close', () => {
    closed = true
  })
  await sleep(600)
  t.equal((await fetch(`${url}/a`)).status, 200, 'others are answered meanwhile')
  socket.resume()
  await until(() => closed)
  t.ok(socket.bytesRead < LONG.length, 'it has a part')
})

t.test('a head that does not come is not waited for', async (t) => {
  const { port } = await start(t, { '/a': hello }, { adminHeadMs: 200 })
  t.match(await answerTo(t, port, ''), /^(HTTP\/1.1 408|$)/, 'no byte')
  t.match(await answerTo(t, port, 'GET /a HTTP/1.1\r\nHost: loc'), /^(HTTP\/1.1 408|$)/, 'a part')
})

t.test('a connection has as many requests as it may', async (t) => {
  const { port } = await start(t, { '/a': hello }, { adminHeadMs: 200 })
  const most = limits.adminRequestsPerConnectionCount
  const answers = await answerTo(
    t,
    port,
    'GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(most + 1),
  )
  t.equal(answers.split('HTTP/1.1 200').length - 1, most)
  t.equal(answers.split('HTTP/1.1 503').length - 1, 1)
})

t.test('a head that is too long is refused', async (t) => {
  const { port } = await start(t, { '/a': hello })
  const sent = (length: number) =>
    `GET /a HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Long: ${'x'.repeat(length)}\r\n\r\n`
  t.match(await answerTo(t, port, sent(7_000)), /^HTTP\/1.1 200/)
  t.match(await answerTo(t, port, sent(9_000)), /^HTTP\/1.1 431/)
})

t.test('as many connections as are allowed, and none more', async (t) => {
  const { url, port } = await start(t, { '/a': hello }, { adminConnectionCount: 3 })
  const sockets = Array.from({ length: 3 }, () => opened(t, port))
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  const refused = opened(t, port)
  await once(refused, 'close')
  t.ok(sockets.every((socket) => !socket.closed))
  sockets[0].destroy()
  await once(sockets[0], 'close')
  let status: number | undefined
  for (let round = 0; round < 100 && status !== 200; round++) {
    status = await fetch(`${url}/a`).then(
      (answer) => answer.status,
      () => undefined,
    )
  }
  t.equal(status, 200, 'there is room again')
})

t.test('a port that is taken is told with its flag', async (t) => {
  const { port } = await start(t, {})
  await t.rejects(listenForAdmin({ host: '127.0.0.1', port, routes: {}, log }), {
    code: 'AddressInUse',
    message: /port \d+ \(EADDRINUSE\).*--admin-port/,
  })
})
