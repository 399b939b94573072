/**
 * Bodies in chunks, and requests whose end is not certain: nothing behind these is read, and the server goes
 * on.
 *
 * @module
 */
import t from 'tap'
import type { Handler } from '../../src/http/request.js'
import { engine } from '../support/service/engine.js'
import { until } from '../support/service/until.js'
import { Client, requestText, startServer } from './wire.js'

const seen: string[] = []

const measure: Handler = (incoming, reply, body) => {
  seen.push(incoming.path)
  reply.send(200, {}, String(body.length))
}

const ignore: Handler = (incoming, reply) => {
  seen.push(incoming.path)
  reply.send(200, {}, 'ignored')
}

const routes = [
  { path: '/measure', methods: { GET: measure, POST: measure } },
  { path: '/ignore', methods: { GET: ignore, POST: ignore } },
]

const SMUGGLED = requestText('GET /ignore')
const CHUNKED = 'Transfer-Encoding: chunked'
const BODY = '5\r\nabcde\r\n0\r\n\r\n'

t.test('a body in chunks is read', async (t) => {
  const { port, server, faults } = await startServer(t, routes)
  const bodies: [text: string, byteCount: number][] = [
    [BODY, 5],
    ['0\r\n\r\n', 0],
    [`${'1\r\na\r\n'.repeat(300)}0\r\n\r\n`, 300],
    [`A\r\n${'a'.repeat(10)}\r\nb\r\n${'b'.repeat(11)}\r\n0\r\n\r\n`, 21],
    [`30d40\r\n${'a'.repeat(200_000)}\r\n0\r\n\r\n`, 200_000],
  ]
  for (const coding of ['chunked', 'CHUNKED']) {
    for (const [text, byteCount] of bodies) {
      for (const pieceBytes of [7, 1 << 20]) {
        if (text.length / pieceBytes > 10_000) continue
        const client = new Client(port)
        client.write(requestText('POST /measure', { headers: [`Transfer-Encoding: ${coding}`] }))
        for (let at = 0; at < text.length; at += pieceBytes) {
          client.write(text.slice(at, at + pieceBytes))
        }
        const { status, headers, body } = await client.answer()
        t.equal(status, 200)
        t.equal(String(body), String(byteCount))
        // The addon does not tell how exactly it has read the sizes of the chunks.
        t.equal(headers.connection, engine.readsChunksExactly ? undefined : 'close')
        if (engine.readsChunksExactly) {
          client.write(requestText('GET /ignore'))
          t.equal((await client.answer()).status, 200, 'the connection goes on')
          client.socket.destroy()
        } else await client.untilClosed()
      }
    }
  }
  seen.length = 0
  await until(() => server.openExchangeCount === 0 && server.connectionCount === 0)
  t.equal(faults.length, 0)
})

t.test('another coding, or chunks where there is no body, is refused and closes', async (t) => {
  const { port, server, faults } = await startServer(t, routes)
  const codings = ['gzip', 'gzip, chunked', 'chunked, chunked', 'identity', '', 'x']
  const cases = [
    ...codings.flatMap((coding) =>
      ['POST /measure', 'POST /ignore', 'POST /nothing'].map((line) => [line, coding]),
    ),
    ...['GET /measure', 'GET /nothing', 'OPTIONS /measure'].map((line) => [line, 'chunked']),
  ]
  for (const [line, coding] of cases) {
    for (const body of ['', BODY]) {
      const client = new Client(port)
      client.write(requestText(line, { headers: [`Transfer-Encoding: ${coding}`] }) + body)
      const answer = await client.answer()
      // node:http refuses most of them by itself.
      t.match(answer.status, engine.name === 'uws' ? /^411$/ : /^4(00|11)$/, `${line} ${coding}`)
      t.equal(answer.headers.connection, 'close')
      await client.untilClosed()
    }
  }
  t.same(seen.splice(0), [], 'no handler saw one')
  await until(() => server.openExchangeCount === 0 && server.connectionCount === 0)
  t.equal(faults.length, 0)
})

t.test('nothing behind a request whose end is not certain is taken for a request', async (t) => {
  const { port, server } = await startServer(t, routes)
  const wholeByStandard = [
    ...['5\r\nabcde\r\n0\r\n\r\n', '5;a=b\r\nabcde\r\n0\r\n\r\n', '0;a=b\r\n\r\n'],
    ...['0\r\n\r\n', '5\r\nabcde\r\n0\r\nX: y\r\n\r\n'],
  ]
  const notWhole = [
    ...['', 'c;a=b\r\n0\r\n\r\n', '00000000000000005\r\nabcde\r\n', 'g\r\n\r\n'],
    ...[
      '5\r\nabcdeXX0\r\n\r\n',
      '-5\r\nabcde\r\n0\r\n\r\n',
      '5\nabcde\r\n0\r\n\r\n',
      '0x5\r\nabcde',
    ],
  ]
  const chunked = (body: string) => requestText('POST /measure', { headers: [CHUNKED] }) + body
  const uncertain = [
    ...notWhole.map(chunked),
    ...(engine.readsChunksExactly ? [] : wholeByStandard.map(chunked)),
    `${requestText('POST /measure', { headers: ['Content-Length: 5', 'Content-Length: 0'] })}abcde`,
    `${requestText('POST /measure', { headers: ['Content-Length: 0', 'Content-Length: 5'] })}`,
    `${requestText('POST /measure', { headers: ['Host: other', 'Content-Length: 0'] })}`,
    `${requestText('POST /measure', { headers: ['Content-Length: '] })}`,
    requestText('HEAD /measure', { headers: [CHUNKED] }),
    requestText('HEAD /measure', { headers: ['Content-Length: 0', 'Content-Length: 5'] }),
  ]
  const sendBehind = async (head: string, together: boolean) => {
    const client = new Client(port)
    client.write(together ? head + SMUGGLED : head)
    if (!together) {
      await new Promise((resolve) => setTimeout(resolve, 10))
      client.write(SMUGGLED)
    }
    return client
  }
  const clients = []
  for (const head of uncertain) {
    for (const together of [true, false]) clients.push(await sendBehind(head, together))
  }
  for (const client of clients) await client.untilClosed()
  t.notOk(seen.splice(0).includes('/ignore'))
  for (const body of engine.readsChunksExactly ? wholeByStandard : []) {
    for (const together of [true, false]) {
      const client = await sendBehind(chunked(body), together)
      t.equal((await client.answer()).status, 200, JSON.stringify(body))
      t.equal(String((await client.answer()).body), 'ignored', 'a request of its own')
      client.socket.destroy()
    }
  }
  seen.length = 0
  await until(() => server.openExchangeCount === 0 && server.connectionCount === 0)
})

t.test('two Content-Length or Host headers, equal or not, are 400 and close', async (t) => {
  const { port } = await startServer(t, routes)
  const cases = [
    ['Content-Length: 3', 'Content-Length: 3'],
    ['Content-Length: 3', 'content-length: 4'],
    ['Content-Length: 3', 'Host: test'],
  ]
  for (const headers of cases) {
    const client = new Client(port)
    client.write(`${requestText('POST /measure', { headers })}abcd`)
    const { status, headers: answered, body } = await client.answer()
    t.equal(status, 400)
    // node:http refuses most of them by itself, with no more than the status.
    if (engine.name === 'uws') t.match(String(body), '"ErrorCode":"InvalidRequest"')
    t.equal(answered.connection, 'close')
    await client.untilClosed()
  }
  t.same(seen.splice(0), [])
})

t.test(
  'a Content-Length that is no number of bytes ends its request and nothing else',
  async (t) => {
    const { port, server, faults } = await startServer(t, routes)
    const huge = ['99999999999999999999999999', '18446744073709551616', '18446744073709551615']
    const lengths = ['-5', '+5', '5 5', '5,5', '1e3', '0x5', 'abc', '5.0', '٣', ...huge]
    for (const length of lengths) {
      for (const path of ['/measure', '/ignore', '/nothing']) {
        const client = new Client(port)
        client.write(
          `${requestText(`POST ${path}`, { headers: [`Content-Length: ${length}`] })}abcde`,
        )
        t.match(
          String(await client.readUntil('\r\n')),
          /^HTTP\/1.1 4(00|04|13) /,
          `${path} ${length}`,
        )
        await client.untilClosed()
      }
    }
    await until(() => server.openExchangeCount === 0 && server.connectionCount === 0)
    seen.length = 0
    t.equal(faults.length, 0)
  },
)
