/**
 * What a service answers that has no room for more work.
 *
 * @module
 */
import t from 'tap'
import { operationRoutes } from '../../src/http/operation-routes.js'
import type { Handler } from '../../src/http/request.js'
import { descriptionRoutes, healthRoutes } from '../../src/http/service-routes.js'
import { operationNames } from '../../src/interface/operation-names.js'
import type { Executors } from '../../src/operations/execute.js'
import type { Reply } from '../../src/selection/reply.js'
import { until } from '../support/service/until.js'
import { Client, request, requestText, startServer } from './wire.js'

let isFull = true
let executedCount = 0
const execute = async () => {
  executedCount++
  return undefined
}
const executors = Object.fromEntries(
  operationNames.map((name) => [name, execute]),
) as unknown as Executors

const { port, server, faults } = await startServer(
  t,
  [
    ...descriptionRoutes('0.0.0'),
    ...operationRoutes(executors),
    ...healthRoutes(
      () => undefined,
      () => ({ snapshotId: '000001-00000000' }),
    ),
  ],
  { isFull: () => isFull },
)

t.test('every operation is refused at once, whatever its path and verb', async (t) => {
  const lines = [
    'POST /api/recipients',
    'POST /api/outline',
    'GET /api/configuration',
    'PUT /api/contexts/b7e3d5a19c2f4860a1d4e7f83b6c9052',
    'POST /json/reply/RecipientRequest',
    'POST /json/reply/RecipientRequest[]',
    'POST /api/RecipientRequest',
    'POST /api/json/oneway/RecipientRequest',
  ]
  const delays = new Set<string>()
  for (const line of [...lines, ...lines, ...lines, ...lines]) {
    const { status, headers, body } = await request(port, line, { body: '{}' })
    t.equal(status, 503, line)
    t.equal(headers['content-type'], 'application/json; charset=utf-8')
    t.equal(headers.connection, undefined, 'the connection goes on')
    t.match(headers['retry-after'], /^[123]$/)
    delays.add(headers['retry-after'])
    t.match(JSON.parse(String(body)).ResponseStatus, { ErrorCode: 'Overloaded', Errors: [] })
  }
  t.ok(delays.size > 1, 'they do not all come again together')
  t.equal(executedCount, 0)
})

t.test('what costs next to nothing is answered', async (t) => {
  for (const path of ['/livez', '/readyz', '/metadata', '/openapi.json', '/types/typescript']) {
    t.equal((await request(port, `GET ${path}`)).status, 200, path)
  }
  t.equal((await request(port, 'GET /nothing')).status, 404)
  t.equal((await request(port, 'DELETE /api/recipients')).status, 405)
  t.equal((await request(port, 'OPTIONS /api/recipients')).status, 200)
})

t.test('it is told in the form of the answer', async (t) => {
  const csv = await request(port, 'POST /api/recipients.csv', { body: '{}' })
  t.equal(csv.status, 503)
  t.equal(csv.headers['content-type'], 'text/csv')
  t.match(String(csv.body), /^ResponseStatus\r\n.*Overloaded/)
  const accepted = await request(port, 'POST /api/recipients', { headers: ['Accept: text/csv'] })
  t.equal(accepted.headers['content-type'], 'text/csv')
  const script = await request(port, 'GET /json/reply/RecipientRequest?callback=told')
  t.equal(script.status, 200)
  t.match(script.headers['retry-after'], /^[123]$/)
  t.match(String(script.body), /^told\(\{"ResponseStatus":\{"ErrorCode":"Overloaded"/)
  const head = await request(port, 'HEAD /api/configuration')
  t.equal(head.status, 503)
  t.equal(head.body.length, 0)
})

t.test('a body that is not read does not break its connection', async (t) => {
  const client = new Client(port)
  const body = 'x'.repeat(1_000_000)
  const post = requestText('POST /api/recipients', { body })
  // Together, the body in pieces, the body after the answer, and a body that is far too large.
  client.write(post + body)
  t.equal((await client.answer()).status, 503)
  client.write(post + body.slice(0, 10))
  t.equal((await client.answer()).status, 503, 'before the body is there')
  client.write(body.slice(10, 500_000))
  client.write(body.slice(500_000) + requestText('GET /livez'))
  t.equal((await client.answer()).status, 200)
  client.write(requestText('POST /api/recipients', { body: `${body}${body}` }))
  t.equal((await client.answer()).status, 503)
  for (let i = 0; i < 20; i++) client.write(body.slice(0, 100_000))
  client.write(requestText('GET /livez') + requestText('GET /livez'))
  t.equal((await client.answer()).status, 200)
  t.equal((await client.answer()).status, 200)
  t.equal(server.heldBodyBytes, 0)
  client.socket.destroy()
})

t.test('requests that are pipelined are all refused, in order', async (t) => {
  const client = new Client(port)
  const post = `${requestText('POST /api/recipients', { body: 'abc' })}abc`
  client.write(post.repeat(100))
  for (let i = 0; i < 100; i++) {
    if ((await client.answer()).status !== 503) t.fail(`answer ${i}`)
  }
  client.write(requestText('GET /livez'))
  t.equal((await client.answer()).status, 200)
  client.socket.destroy()
})

t.test('there is room again as soon as there is', async (t) => {
  isFull = false
  t.equal((await request(port, 'POST /api/recipients', { body: '{}' })).status, 204)
  t.equal(executedCount, 1)
  isFull = true
  t.equal((await request(port, 'POST /api/recipients', { body: '{}' })).status, 503)
  t.equal(executedCount, 1)
  t.equal(faults.length, 0)
})

t.test('as many requests as allowed are open, and one more is refused', async (t) => {
  const held: Reply[] = []
  const hold: Handler = (_, reply) => void held.push(reply)
  const routes = [{ path: '/work', methods: { POST: hold }, isWork: true }]
  const bounded = await startServer(t, routes, { bounds: { openExchangeCount: 3 } })
  const clients = [1, 2, 3].map(() => new Client(bounded.port))
  for (const client of clients) client.write(requestText('POST /work'))
  await until(() => held.length === 3)
  t.equal((await request(bounded.port, 'POST /work')).status, 503)
  for (const reply of held.splice(0)) reply.send(200, {}, 'done')
  for (const client of clients) t.equal((await client.answer()).status, 200)
  clients[0].write(requestText('POST /work'))
  await until(() => held.length === 1)
  held[0].send(200, {}, 'done')
  t.equal((await clients[0].answer()).status, 200)
  for (const { socket } of clients) socket.destroy()
})
