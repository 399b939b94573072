/**
 * Which requests have a line in the access log, over real connections.
 *
 * @module
 */
import t from 'tap'
import { ServiceError } from '../../src/errors.js'
import type { Answer } from '../../src/format/answer.js'
import { AccessLog, type AccessLogRules } from '../../src/http/access-log.js'
import { operationRoutes } from '../../src/http/operation-routes.js'
import { operationNames } from '../../src/interface/operation-names.js'
import { createLineLog } from '../../src/log.js'
import type { Execute, Executors } from '../../src/operations/execute.js'
import { until } from '../support/service/until.js'
import { PATH, startWatches } from './watches.js'
import { Client, request, requestText, startServer } from './wire.js'

/** A request that is not slow takes less, even on a busy machine. */
const SLOW_MS = 1000

/** Requests that have begun and never end. */
let neverCount = 0

const execute: Execute = async ({ kind }) => {
  if (kind === 'fault') throw new ServiceError('TooComplex', 'for the test')
  if (kind === 'slow') await new Promise((resolve) => setTimeout(resolve, SLOW_MS + 10))
  if (kind === 'never') {
    neverCount++
    await new Promise(() => {})
  }
  const answer: Answer = {
    headers: {},
    heldBytes: 0,
    json: () => (kind === 'rows' ? rows : '{}'),
    csv: () => '',
    csvRecord: () => ({ header: '', row: '' }),
  }
  return answer
}

const rows = {
  async write(sink: { write(piece: Uint8Array): boolean; wroteRows?(count: number): void }) {
    sink.wroteRows?.(3)
    sink.write(Buffer.alloc(100, 'r'))
  },
}

const executors = Object.fromEntries(
  operationNames.map((name) => [name, execute]),
) as unknown as Executors

const HEADERS = [
  'Content-Type: application/json',
  'X-Request-Id: desk-7',
  'traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
]

function loggedBy(rules: AccessLogRules) {
  const lines: Record<string, unknown>[] = []
  const log = createLineLog((line) => void lines.push(JSON.parse(line)))
  return { lines, accessLog: new AccessLog(log, rules) }
}

async function startLogged(rules: AccessLogRules) {
  const { lines, accessLog } = loggedBy(rules)
  const { port } = await startServer(t, operationRoutes(executors), { accessLog })
  const ask = (body: string, line = 'POST /api/recipients') =>
    request(port, line, { headers: HEADERS, body })
  return { lines, ask, port }
}

t.test(
  'errors, changes, slow ones and those who leave have a line, one in N of the rest',
  async (t) => {
    const { lines, ask, port } = await startLogged({ sample: 5, slowMs: SLOW_MS })
    for (let i = 0; i < 10; i++) await ask('{}')
    await until(() => lines.length === 2)
    t.match(lines, [{ rule: 'sample', sample: 5 }, { rule: 'sample' }])
    t.match(lines[0], {
      level: 30,
      msg: 'request',
      requestId: 'desk-7',
      traceId: '0af7651916cd43dd8448eb211c80319c',
      parentId: 'b7ad6b7169203331',
      address: '127.0.0.1',
      operation: 'RecipientRequest',
      status: 200,
      outcome: 'answered',
      bytesOut: 2,
    })
    lines.length = 0
    await ask('{"kind":"fault"}')
    await ask('{"kind":"slow"}')
    await ask('{}', 'PUT /api/suppressions')
    await request(port, 'GET /nothing/here', { headers: HEADERS })
    await until(() => lines.length === 4)
    t.match(
      lines.map(({ rule, errorCode, status, address }) => ({ rule, errorCode, status, address })),
      [
        { rule: 'error', errorCode: 'TooComplex', status: 422, address: '127.0.0.1' },
        { rule: 'slow', status: 200, address: '127.0.0.1' },
        { rule: 'change', status: 200, address: '127.0.0.1' },
        { rule: 'error', errorCode: 'NotFound', status: 404, address: '127.0.0.1' },
      ],
    )
    lines.length = 0
    const client = new Client(port)
    const body = '{"kind":"never"}'
    client.write(requestText('POST /api/recipients', { headers: HEADERS, body }) + body)
    await until(() => neverCount === 1)
    client.socket.destroy()
    await until(() => lines.length === 1)
    t.match(lines[0], { rule: 'error', outcome: 'left' })
    t.equal(lines[0].address, undefined)
  },
)

t.test('with a sample of 1, each request has a line', async (t) => {
  const { lines, ask } = await startLogged({ sample: 1, slowMs: 60_000 })
  for (let i = 0; i < 4; i++) await ask('{}')
  await until(() => lines.length === 4)
  t.ok(lines.every(({ rule }) => rule === 'sample'))
})

t.test('no line has anything of a request or of its answer', async (t) => {
  const { lines, ask } = await startLogged({ sample: 1, slowMs: 0 })
  const phone = '+9995550101'
  await ask(JSON.stringify({ Numbers: [phone] }), 'PUT /api/suppressions')
  await ask('{}', `GET /api/suppressions?Number=${encodeURIComponent(phone)}`)
  await ask('{}', `GET /api/contexts/${encodeURIComponent(phone)}`)
  await until(() => lines.length === 3)
  t.notMatch(JSON.stringify(lines), '9995550101')
})

t.test('a watch has a line of its own kind, and its client may disconnect', async (t) => {
  const { lines, accessLog } = loggedBy({ sample: 0, slowMs: 10 })
  const { watches, port } = await startWatches(t, { accessLog, bounds: { clientStallMs: 100 } })
  const client = new Client(port)
  client.write(requestText(`GET ${PATH}`))
  await client.readUntil('retry')
  client.socket.destroy()
  await until(() => lines.length === 1)
  t.match(lines, [{ rule: 'watch', outcome: 'left', status: 200, address: '127.0.0.1' }])
  const slow = new Client(port)
  slow.write(requestText(`GET ${PATH}`))
  await slow.readUntil('retry')
  slow.socket.pause()
  const filler = JSON.stringify('x'.repeat(1 << 20))
  for (let i = 0; lines.length === 1; i++) {
    watches.tell(filler, `e${i}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  t.match(lines[1], { rule: 'error', outcome: 'cut', cutReason: 'the client reads too slowly' })
  slow.socket.destroy()
  watches.refuse('NotFound')
  await request(port, `GET ${PATH}`)
  t.match(lines[2], { rule: 'error', status: 404 })
})
