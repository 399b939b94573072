/**
 * Expect: its value is a list, in any letter case (RFC 9110, 10.1.1). Java sends `100-Continue`, and waits
 * for the answer before it sends its body.
 *
 * @module
 */
import t from 'tap'
import type { Reply } from '../../src/selection/reply.js'
import { Client, requestText, startServer } from '../http/wire.js'

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
  t.equal((await client.answer()).status, 404)
  client.socket.destroy()
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
