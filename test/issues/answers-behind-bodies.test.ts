/**
 * An answer that closes its connection came before the body of the request was read, so that a client that sends head
 * and body apart could lose it: by TLS while a service starts, behind a refused body in chunks, while a service
 * drains, and for each client that asks for the close, as Python's urllib does.
 */
import { connect } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { answerStarting, listen } from '../../src/http/listen.js'
import { limits } from '../../src/limits.js'
import { type Answer, Client, request, startServer } from '../http/wire.js'
import { engine } from '../support/service/engine.js'
import { temporaryDirectory } from '../support/service/hickory.js'

const PAUSE_MS = 40
const aWhile = () => new Promise((resolve) => setTimeout(resolve, PAUSE_MS))

/** @returns what the client reads that sends the pieces apart, once the connection is closed */
async function sentApart(
  t: Test,
  client: Client,
  head: string,
  pieces: readonly string[],
): Promise<Answer> {
  client.write(`${head}\r\n\r\n`)
  for (const piece of pieces) {
    await aWhile()
    t.notOk(client.closed, 'the body is waited for')
    client.write(piece)
  }
  const answer = await client.answer()
  await client.untilClosed()
  t.same(client.errors, [])
  return answer
}

const POST = 'POST /api/recipients HTTP/1.1\r\nHost: a'
const bodies: Record<string, [head: string, pieces: readonly string[]]> = {
  'one piece': [`${POST}\r\nContent-Length: 2`, ['{}']],
  'many pieces': [`${POST}\r\nContent-Length: 6`, ['{', '"', 'a', '"', ':', '}']],
  'a large body': [
    `${POST}\r\nContent-Length: 5000000`,
    ['x'.repeat(2_000_000), 'y'.repeat(3_000_000)],
  ],
  chunks: [`${POST}\r\nTransfer-Encoding: chunked`, ['2\r\n{}\r\n', '0\r\n\r\n']],
}

const acceptor = await listen(engine, { host: '127.0.0.1', port: 0, isShared: false })
t.teardown(() => acceptor.close())
/** Where the TLS thread hands connections to. */
const path = join(temporaryDirectory(t), 'start')
const starting = await answerStarting(engine, path)
t.teardown(() => starting.close())

for (const [name, [head, pieces]] of Object.entries(bodies)) {
  t.test(`while the service starts, ${name}`, async (t) => {
    for (const socket of [connect(acceptor.port, '127.0.0.1'), connect(path)]) {
      const answer = await sentApart(t, new Client(socket), head, pieces)
      t.equal(answer.status, 503)
      t.match(answer.headers['retry-after'], /^[123]$/)
      t.equal(answer.headers.connection, 'close')
    }
  })
}

t.test('while the service starts, a request without a body is answered at once', async (t) => {
  for (const line of ['GET /livez', 'POST /api/recipients', 'DELETE /api/contexts/1']) {
    t.equal((await request(acceptor.port, line)).status, 503, line)
  }
})

t.test('while the service starts, a body that does not come is not waited for long', async (t) => {
  const client = new Client(acceptor.port)
  client.write(`${POST}\r\nContent-Length: ${limits.bodyBytes + limits.discardBytes + 1}\r\n\r\n`)
  t.equal((await client.answer()).status, 503)
  await client.untilClosed()
})

t.test('while the service starts, so many bodies are waited for, and no more', async (t) => {
  const post = () => {
    const client = new Client(acceptor.port)
    client.write(`${POST}\r\nContent-Length: 2\r\n\r\n`)
    return client
  }
  for (let round = 0; round < 2; round++) {
    const waiting = Array.from({ length: limits.startingBodyCount }, post)
    await aWhile()
    const further = post()
    t.equal((await further.answer()).status, 503)
    await further.untilClosed()
    t.equal(waiting.filter(({ closed }) => closed).length, 0)
    // Half of them go on, and half have gone.
    for (const [at, client] of waiting.entries()) {
      if (at % 2 === 0) client.write('{}')
      else client.socket.destroy()
    }
    for (const client of waiting) await client.untilClosed()
  }
})

const { port, server } = await startServer(t, [])

t.test('a refusal that closes', async (t) => {
  for (const [name, [head, pieces]] of Object.entries(bodies)) {
    // Without it, a body of known length is dropped as it comes, and the connection is kept.
    const line = name === 'chunks' ? '' : '\r\nConnection: close'
    const answer = await sentApart(t, new Client(port), head + line, pieces)
    t.equal(answer.status, 404, name)
  }
})

t.test('a refusal of a service that drains', async (t) => {
  const client = new Client(port)
  await aWhile()
  server.draining = true
  const answer = await sentApart(t, client, ...bodies['many pieces'])
  t.equal(answer.status, 404)
  t.equal(answer.headers.connection, 'close')
})
