/**
 * Expect: its value is a list, in any letter case (RFC 9110, 10.1.1). Java sends `100-Continue`, and waits
 * for the answer before it sends its body.
 *
 * @module
 */
import t from 'tap'
import { listen } from '../../src/http/listen.js'
import type { Reply } from '../../src/selection/reply.js'
import { Client, requestText, startServer } from '../http/wire.js'
import { engine } from '../support/service/engine.js'

const routes = [
  {
    path: '/made',
    methods: {
      POST: (_: unknown, reply: Reply, body: Uint8Array) =>
        reply.send(201, { A: 'b' }, body.slice()),
      GET: (_: unknown, reply: Reply) => reply.send(200, {}, 'got'),
    },
  },
]

const WAITS = [
  '100-continue',
  '100-Continue',
  '100-CONTINUE',
  '100-Continue, 100-continue',
  ' ,100-Continue,',
]
const UNKNOWN = [
  ...[
    'x',
    '200-ok',
    '"100-continue"',
    '"100-Continue"',
    '100-continue;q=1',
    '100-Continue=1',
    '100continue',
  ],
  ...['100-Continue, x', 'x="100-continue,"', '100-continue 100-continue', '100-Continue\t;'],
]

for (const expected of WAITS) {
  for (const framing of ['Content-Length: 5', 'Transfer-Encoding: chunked']) {
    t.test(`${expected} with ${framing} is answered before the body`, async (t) => {
      const { port, faults } = await startServer(t, routes)
      const client = new Client(port)
      client.write(requestText('POST /made', { headers: [`Expect: ${expected}`, framing] }))
      t.equal(String(await client.readUntil('\r\n\r\n')), 'HTTP/1.1 100 Continue\r\n\r\n')
      client.write(framing.endsWith('chunked') ? '5\r\nabcde\r\n0\r\n\r\n' : 'abcde')
      const { status, headers, body } = await client.answer()
      t.same([status, headers.a, String(body)], [201, 'b', 'abcde'])
      if (headers.connection !== 'close') {
        client.write(requestText('GET /made'))
        t.equal(String((await client.answer()).body), 'got', 'the connection goes on')
      }
      client.socket.destroy()
      t.equal(faults.length, 0)
    })
  }
}

t.test('a body that comes at once is answered, too, and one that is empty', async (t) => {
  const { port } = await startServer(t, routes)
  for (const body of ['abcde', '']) {
    const client = new Client(port)
    client.write(requestText('POST /made', { headers: ['Expect: 100-Continue'], body }) + body)
    let answer = await client.answer()
    while (answer.status === 100) answer = await client.answer()
    t.same([answer.status, String(answer.body)], [201, body])
    client.socket.destroy()
  }
})

t.test('what is refused by its head alone is refused without a wait', async (t) => {
  const { port } = await startServer(t, routes)
  const client = new Client(port)
  client.write(
    requestText('POST /none', { headers: ['Expect: 100-Continue', 'Content-Length: 5'] }),
  )
  const { status, headers } = await client.answer()
  t.same([status, headers.connection], [404, 'close'], 'a body may never come')
  await client.untilClosed()
})

t.test('a service that is starting refuses at once', async (t) => {
  const acceptor = await listen(engine, { host: '127.0.0.1', port: 0, isShared: false })
  t.teardown(() => acceptor.close())
  for (const expected of ['100-Continue', '100-continue']) {
    const client = new Client(acceptor.port)
    client.write(
      requestText('POST /made', { headers: [`Expect: ${expected}`, 'Content-Length: 5'] }),
    )
    let answer = await client.answer()
    if (answer.status === 100) {
      client.write('abcde')
      answer = await client.answer()
    }
    t.equal(answer.status, 503)
    client.socket.destroy()
  }
})

for (const expected of UNKNOWN) {
  t.test(`${JSON.stringify(expected)} is not met`, async (t) => {
    const { port } = await startServer(t, routes)
    for (const [line, framing] of [
      ['POST /made', ['Content-Length: 5']],
      ['GET /made', []],
    ] as const) {
      const client = new Client(port)
      client.write(requestText(line, { headers: [`Expect: ${expected}`, ...framing] }))
      const { status, body } = await client.answer()
      t.equal(status, 417)
      t.match(String(body), '"ErrorCode":"ExpectationFailed"')
      client.socket.destroy()
    }
  })
}

t.test('an empty list expects nothing', async (t) => {
  const { port } = await startServer(t, routes)
  for (const expected of ['', ' , ']) {
    const client = new Client(port)
    client.write(requestText('GET /made', { headers: [`Expect: ${expected}`] }))
    t.equal((await client.answer()).status, 200)
    client.socket.destroy()
  }
})
