/**
 * What the log is told of each request that is over.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { ServiceError } from '../../src/errors.js'
import type { Answer, BodyWriter } from '../../src/format/answer.js'
import { operationRoutes } from '../../src/http/operation-routes.js'
import { healthRoutes } from '../../src/http/service-routes.js'
import { operationNames } from '../../src/interface/operation-names.js'
import { limits } from '../../src/limits.js'
import type { Execute, Executors } from '../../src/operations/execute.js'
import { until } from '../support/service/until.js'
import { type Answer as Answered, Client, request, requestText, startServer } from './wire.js'

const LONG = 'x'.repeat(20_000_000)
const WAITED_MS = 20

const execute: Execute = async ({ kind }, caller) => {
  if (kind === 'bug') throw new Error('for the test')
  await sleep(2 * WAITED_MS)
  caller.waited?.(WAITED_MS / 2)
  caller.waited?.(WAITED_MS)
  caller.waited?.(0)
  const answer: Answer = {
    headers: {},
    heldBytes: 0,
    json: () => '{"Count":1}',
    csv: () => '',
    csvRecord: () => ({ header: '', row: '' }),
  }
  if (kind === 'long') return { ...answer, json: () => LONG }
  if (kind === 'rows') return { ...answer, json: () => rows }
  if (kind === 'broken') return { ...answer, json: () => brokenRows }
  if (kind === 'replaced') return { ...answer, json: () => replacedRows }
  return answer
}

const rows: BodyWriter = {
  async write(sink) {
    for (let i = 0; i < 10; i++) sink.write(Buffer.alloc(1_000, 'r'))
  },
}

const brokenRows: BodyWriter = {
  async write(sink) {
    sink.write(Buffer.alloc(1_000, 'r'))
    throw new Error('for the test')
  },
}

const replacedRows: BodyWriter = {
  async write(sink) {
    sink.write(Buffer.alloc(500, 'r'))
    throw new ServiceError('Unavailable', 'this snapshot is not served any more; ask again')
  },
}

const executors = Object.fromEntries(
  operationNames.map((name) => [name, execute]),
) as unknown as Executors
const health = healthRoutes(
  () => undefined,
  () => ({ snapshotId: '000001-00000000' }),
)
const { port, server, ends, faults, cuts } = await startServer(
  t,
  [...operationRoutes(executors), ...health],
  { bounds: { clientStallMs: 3_000, bodyMs: 60_000 } },
)

const STAGES = ['receiveMs', 'parseMs', 'waitMs', 'selectMs', 'writeMs']

/** The line of the one request that is over since. */
async function endOf(answered: Promise<Answered> | undefined): Promise<Record<string, unknown>> {
  await answered
  await until(() => server.openExchangeCount === 0)
  const [end, ...more] = ends.splice(0)
  t.same(more, [], 'one line a request')
  for (const stage of STAGES) t.ok((end[stage] as number) >= 0, stage)
  return end
}

const post = (kind: string, headers: string[] = []) =>
  request(port, 'POST /api/recipients', { headers, body: JSON.stringify({ kind }) })

t.test('an answer is told by operation, status, bytes and stages', async (t) => {
  const startedMs = performance.now()
  const end = await endOf(post('plain', ['X-Request-Id: test-7']))
  t.match(end, {
    requestId: 'test-7',
    operation: 'RecipientRequest',
    status: 200,
    outcome: 'answered',
    bytesIn: 16,
    bytesOut: 11,
    waitMs: WAITED_MS,
  })
  t.ok((end.selectMs as number) > WAITED_MS / 2, 'without what it waited')
  const sumMs = STAGES.reduce((sum, stage) => sum + (end[stage] as number), 0)
  t.ok(sumMs <= performance.now() - startedMs + 1)
  const keys = ['requestId', 'operation', 'status', 'outcome', 'bytesIn', 'bytesOut', ...STAGES]
  t.same(Object.keys(end), keys, 'and nothing else')
})

t.test('bytes are those of the bodies on the wire', async (t) => {
  const body = gzipSync(JSON.stringify({ kind: 'rows' }))
  const packed = request(port, 'POST /api/recipients', {
    headers: ['Content-Encoding: gzip', 'Accept-Encoding: gzip'],
    body,
  })
  const end = await endOf(packed)
  t.match(end, { bytesIn: body.length, bytesOut: (await packed).body.length })
  t.match(await endOf(post('rows')), { status: 200, bytesOut: 10_000 })
  t.match(await endOf(request(port, 'HEAD /api/configuration')), { status: 200, bytesOut: 0 })
  t.match(await endOf(post('long')), { status: 200, bytesOut: LONG.length, outcome: 'answered' })
})

t.test('a batch says that it is one', async (t) => {
  const batch = request(port, 'POST /api/RecipientRequest[]', { body: '[{},{}]' })
  t.match(await endOf(batch), { operation: 'RecipientRequest', isBatch: true, status: 200 })
})

t.test('a refused write is told without a byte of its body', async (t) => {
  const client = new Client(port)
  const headers = ['Origin: https://evil.example.org', `Content-Length: ${limits.bodyBytes}`]
  client.write(requestText('POST /api/contexts', { headers }))
  client.write(Buffer.alloc(64 * 1024, ' '))
  const end = await endOf(client.answer())
  t.match(end, { operation: 'PostMapContextRequest', status: 403, bytesIn: 0, selectMs: 0 })
  client.socket.destroy()
})

t.test('other routes and unknown paths are no operation', async (t) => {
  for (const [path, status] of [
    ['/livez', 200],
    ['/+99912345', 404],
  ] as const) {
    const end = await endOf(request(port, `GET ${path}?q=%2B99912345`))
    t.match(end, { operation: undefined, status })
    t.notMatch(JSON.stringify(end), '99912345')
  }
})

t.test('a client that leaves and one that is cut off are told apart', async (t) => {
  const leaving = new Client(port)
  leaving.write(requestText('POST /api/recipients', { headers: ['Content-Length: 100'] }))
  leaving.write('x'.repeat(60))
  await until(() => server.heldBodyBytes === 60)
  leaving.socket.destroy()
  const left = await endOf(undefined)
  t.match(left, { outcome: 'left', status: undefined, bytesIn: 60, bytesOut: 0 })
  cuts.splice(0)
  const cut = await endOf(post('broken').catch(() => undefined as unknown as Answered))
  t.match(cut, { outcome: 'cut', status: 200, bytesOut: 1_000 })
  const stalled = new Client(port)
  stalled.socket.pause()
  const body = JSON.stringify({ kind: 'long' })
  stalled.write(requestText('POST /api/recipients', { body }) + body)
  await until(() => server.openExchangeCount === 1)
  const slow = await endOf(undefined)
  t.match(slow, { outcome: 'cut', status: 200 })
  t.ok((slow.bytesOut as number) > 0 && (slow.bytesOut as number) < LONG.length)
  const gone = await endOf(post('replaced').catch(() => undefined as unknown as Answered))
  const message = 'an answer was cut off'
  const { requestId, operation } = cut
  t.same(cuts, [
    { requestId, operation, bytesOut: 1_000, reason: 'a handler failed', message },
    {
      requestId: slow.requestId,
      operation,
      bytesOut: slow.bytesOut,
      reason: 'the client reads too slowly',
      message,
    },
    {
      requestId: gone.requestId,
      operation,
      bytesOut: 500,
      reason: 'this snapshot is not served any more; ask again',
      message,
    },
  ])
  stalled.socket.destroy()
})

t.test('a bug is one line too, beside the fault', async (t) => {
  faults.splice(0)
  t.match(await endOf(post('bug')), { status: 500, outcome: 'answered' })
  t.equal(faults.length, 1)
})
