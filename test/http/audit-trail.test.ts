/**
 * What is recorded of a request, and when, over real connections.
 *
 * @module
 */
import { createHash } from 'node:crypto'
import t from 'tap'
import { ServiceError } from '../../src/errors.js'
import type { Answer, BodyWriter } from '../../src/format/answer.js'
import { AuditTrail } from '../../src/http/audit-trail.js'
import { operationRoutes } from '../../src/http/operation-routes.js'
import { operationNames } from '../../src/interface/operation-names.js'
import type { Execute, Executors } from '../../src/operations/execute.js'
import { until } from '../support/service/until.js'
import { Client, request, requestText, startServer } from './wire.js'

type Line = Readonly<Record<string, unknown>>

/** What was recorded before, and noted after, in order. */
const lines: Line[] = []
let refusal: ServiceError | undefined
let held: (() => void) | undefined
let isHeld = false

const client = {
  async record(entries: readonly string[]) {
    if (isHeld) await new Promise<void>((resolve) => (held = resolve))
    if (refusal !== undefined) throw refusal
    const first = lines.length + 1
    lines.push(...entries.map(parsed))
    return first
  },
  note(entry: string) {
    lines.push(parsed(entry))
  },
}

const parsed = (entry: string) => JSON.parse(`{${entry}}`) as Line

let writtenCount = 0
const executedCounts = new Map<string, number>()

const execute =
  (name: string): Execute =>
  async (members, caller) => {
    executedCounts.set(name, (executedCounts.get(name) ?? 0) + 1)
    caller.changed?.({ contextId: 'c' })
    if (members.isBroken) throw new ServiceError('Unavailable', 'for the test')
    const isList = members.kind !== 'count'
    const facts = () => ({ sources: [{ id: 1, count: 2 }] })
    const answer: Answer = {
      headers: {},
      heldBytes: 0,
      isList,
      records: () => [{ facts }],
      json: () => (members.kind === 'cut' ? cutRows : isList ? rows : '{"Count":2}'),
      csv: () => '',
      csvRecord: () => ({ header: '', row: '' }),
    }
    return answer
  }

const rows: BodyWriter = {
  async write(sink) {
    writtenCount++
    for (let i = 0; i < 10; i++) sink.write(Buffer.alloc(1_000, 'r'))
  },
}

const cutRows: BodyWriter = {
  async write(sink) {
    sink.write(Buffer.alloc(500, 'r'))
    throw new ServiceError('Unavailable', 'query workers were lost')
  },
}

const executors = Object.fromEntries(
  operationNames.map((name) => [name, execute(name)]),
) as unknown as Executors

async function startTrail(options: { hasCounts: boolean; hasDigests: boolean }) {
  const trail = new AuditTrail({ client, ...options, suppressionVersion: () => 7 })
  return await startServer(t, operationRoutes(executors, trail), { trail })
}

const { port } = await startTrail({ hasCounts: false, hasDigests: true })

const HEADERS = [
  'Content-Type: application/json',
  'X-Request-Id: client-7',
  'traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
]
const LIST = 'POST /api/recipients'

/** Asks for it, and reads the answer. */
function ask(body: string, more: readonly string[] = [], line = LIST) {
  return request(port, line, { headers: [...HEADERS, ...more], body })
}

/** Asks for a list, and leaves the rest to the test. */
function begin(body = '{}'): Client {
  const client = new Client(port)
  client.write(requestText(LIST, { headers: HEADERS, body }) + body)
  return client
}

t.beforeEach(() => {
  lines.length = 0
  refusal = undefined
})

t.test('a list has a line before and a line after, with a digest of its body', async (t) => {
  const { status, body } = await ask('{}')
  t.equal(status, 200)
  await until(() => lines.length === 2)
  t.match(lines[0], {
    event: 'list',
    phase: 'begun',
    requestId: 'client-7',
    traceId: '0af7651916cd43dd8448eb211c80319c',
    address: '127.0.0.1',
    operation: 'RecipientRequest',
    suppressionVersion: 7,
    sources: [{ id: 1, count: 2 }],
  })
  t.same(lines[1], {
    event: 'list',
    phase: 'ended',
    begun: 1,
    requestId: 'client-7',
    status: 200,
    outcome: 'completed',
    bodyBytes: 10_000,
    sentBytes: 10_000,
    sha256: createHash('sha256').update(body).digest('hex'),
  })
})

t.test('the digest is of the body before it is compressed', async (t) => {
  await ask('{}', ['Accept-Encoding: gzip'])
  await until(() => lines.length === 2)
  const sha256 = createHash('sha256').update(Buffer.alloc(10_000, 'r')).digest('hex')
  t.match(lines[1], { bodyBytes: 10_000, sha256, outcome: 'completed' })
  t.ok(Number(lines[1].sentBytes) < 1_000)
})

t.test(
  'nothing of a list is sent, and none of it is made, before its line is written',
  async (t) => {
    isHeld = true
    const before = writtenCount
    const client = begin('{}')
    await until(() => held !== undefined)
    t.equal(client.socket.bytesRead, 0)
    t.equal(writtenCount, before)
    isHeld = false
    held?.()
    t.equal((await client.answer()).status, 200)
    client.socket.destroy()
  },
)

t.test('a client that leaves while its line is written is told of', async (t) => {
  isHeld = true
  held = undefined
  const client = begin('{}')
  await until(() => held !== undefined)
  client.socket.destroy()
  await client.untilClosed()
  // Another request comes behind what the server learns of it.
  isHeld = false
  await ask('{"kind":"count"}')
  ;(held as unknown as () => void)()
  await until(() => lines.length === 2)
  t.match(lines, [{ phase: 'begun' }, { phase: 'ended', begun: 1, outcome: 'left' }])
})

t.test('a list that cannot be recorded is refused, and counts go on', async (t) => {
  refusal = new ServiceError('AuditUnavailable', 'for the test')
  const before = writtenCount
  const refused = await ask('{}')
  t.equal(refused.status, 503)
  t.ok(refused.headers['retry-after'])
  t.match(refused.body.toString(), 'AuditUnavailable')
  t.equal(writtenCount, before)
  t.equal((await ask('{"kind":"count"}')).status, 200)
  t.same(lines, [])
})

t.test('a change that cannot be recorded is not made', async (t) => {
  const change = 'DELETE /api/contexts/4c1f9a2e7b6d4e0f9a3b5c8d1e2f7a60'
  const name = 'DeleteMapContextRequest'
  refusal = new ServiceError('AuditUnavailable', 'for the test')
  t.equal((await request(port, change)).status, 503)
  t.equal(executedCounts.get(name), undefined)
  refusal = undefined
  t.equal((await request(port, change)).status, 200)
  await until(() => lines.length === 2)
  t.match(lines, [
    { event: 'change', phase: 'begun', operation: name, contextId: /^4c1f/ },
    {
      event: 'change',
      phase: 'ended',
      begun: 1,
      outcome: 'completed',
      changes: [{ contextId: 'c' }],
    },
  ])
})

t.test('a list that is cut, or fails before it begins, ends so', async (t) => {
  const client = begin('{"kind":"cut"}')
  await client.untilClosed()
  await until(() => lines.length === 2)
  t.match(lines[1], { outcome: 'cut', reason: 'query workers were lost', bodyBytes: 500 })
})

t.test('each list of a batch has a line', async (t) => {
  const body = '[{}, {"kind":"other"}]'
  const { status } = await ask(body, [], 'POST /api/RecipientRequest[]')
  t.equal(status, 200)
  await until(() => lines.length === 3)
  t.match(lines, [
    { phase: 'begun', isBatch: true },
    { phase: 'begun', isBatch: true },
    { phase: 'ended', begun: 1, begunCount: 2 },
  ])
})

t.test('HEAD sends no people', async (t) => {
  t.equal((await request(port, 'HEAD /api/RecipientRequest')).status, 200)
  t.same(lines, [])
})

t.test('counts have a line where they are asked for', async (t) => {
  const counting = await startTrail({ hasCounts: true, hasDigests: false })
  await request(counting.port, LIST, { headers: HEADERS, body: '{"kind":"count"}' })
  await until(() => lines.length === 1)
  t.match(lines[0], { event: 'count', requestId: 'client-7', sources: [{ id: 1, count: 2 }] })
  const { port: without } = counting
  await request(without, LIST, { headers: HEADERS, body: '{}' })
  await until(() => lines.length === 3)
  t.match(lines[2], { event: 'list', phase: 'ended', bodyBytes: 10_000 })
  t.notOk('sha256' in lines[2], 'and no digests where they are not')
})
