/**
 * X-Request-Id in every answer, and Server-Timing for who asks.
 *
 * @module
 */
import t from 'tap'
import { ServiceError } from '../../src/errors.js'
import type { Answer } from '../../src/format/answer.js'
import { operationRoutes } from '../../src/http/operation-routes.js'
import { operationNames } from '../../src/interface/operation-names.js'
import type { Execute, Executors } from '../../src/operations/execute.js'
import { request, startServer } from './wire.js'

const execute: Execute = async ({ kind }) => {
  if (kind === 'fault') throw new ServiceError('TooComplex', 'for the test')
  if (kind === 'bug') throw new Error('for the test')
  const headers = kind === 'tagged' ? { ETag: 'W/"tag"' } : Object.freeze({ 'X-Snapshot': 's' })
  const answer: Answer = {
    headers,
    heldBytes: 0,
    json: () => (kind === 'long' ? 'x'.repeat(2_000_000) : kind === 'rows' ? rows : '{}'),
    csv: () => '',
    csvRecord: () => ({ header: '', row: '' }),
  }
  return kind === 'nothing' ? undefined : answer
}

const rows = {
  async write(sink: { write(piece: Uint8Array): boolean }) {
    sink.write(Buffer.alloc(100, 'r'))
  },
}

const executors = Object.fromEntries(
  operationNames.map((name) => [name, execute]),
) as unknown as Executors
const { port, server } = await startServer(t, operationRoutes(executors), { corsOrigins: ['*'] })

const JSON_TYPE = 'Content-Type: application/json'
const kinds = ['', 'long', 'rows', 'nothing', 'fault', 'bug'] as const

t.test('every answer has the id that the client sent', async (t) => {
  const headers = [JSON_TYPE, 'X-Request-Id: desk-7_A', 'Accept-Encoding: identity']
  for (const kind of kinds) {
    const body = JSON.stringify({ kind })
    const answer = await request(port, 'POST /api/recipients', { headers, body })
    t.equal(answer.headers['x-request-id'], 'desk-7_A', kind)
    const gzip = [...headers.slice(0, 2), 'Accept-Encoding: gzip']
    const packed = await request(port, 'POST /api/recipients', { headers: gzip, body })
    t.equal(packed.headers['x-request-id'], 'desk-7_A', `${kind} compressed`)
  }
  const lines = [
    'GET /nothing/here',
    'PATCH /api/recipients',
    'OPTIONS /api/recipients',
    'HEAD /api/contexts',
    'GET /api/RecipientRequest?format=none',
  ]
  for (const line of lines) {
    const answer = await request(port, line, { headers })
    t.equal(answer.headers['x-request-id'], 'desk-7_A', line)
  }
  const chunked = [...headers, 'Transfer-Encoding: gzip, chunked']
  const refused = await request(port, 'POST /api/recipients', { headers: chunked })
  t.match(refused, { status: 411, headers: { 'x-request-id': 'desk-7_A' } })
  const known = [...headers, 'If-None-Match: *']
  const unchanged = await request(port, 'GET /api/contexts?kind=tagged', { headers: known })
  t.match(unchanged, { status: 304, headers: { 'x-request-id': 'desk-7_A' } })
})

t.test('others get one of ours, each another one', async (t) => {
  const given = new Set<string | undefined>()
  const sent = [undefined, '', 'with space', 'a'.repeat(65), 'é', '+9995550101', 'a,b']
  for (const id of sent) {
    const headers = [JSON_TYPE, ...(id === undefined ? [] : [`X-Request-Id: ${id}`])]
    const { headers: answered } = await request(port, 'GET /api/contexts', { headers })
    t.match(answered['x-request-id'], /^[\da-f]{12}-\d+$/)
    given.add(answered['x-request-id'])
  }
  t.equal(given.size, sent.length)
  const longest = 'a'.repeat(64)
  const headers = [`X-Request-Id: ${longest}`]
  t.equal((await request(port, 'GET /api/contexts', { headers })).headers['x-request-id'], longest)
})

t.test('the id of a bug is the one in the message and the header', async (t) => {
  const options = { headers: [JSON_TYPE], body: '{"kind":"bug"}' }
  const { headers, body } = await request(port, 'POST /api/recipients', options)
  t.match(body.toString(), `request id ${headers['x-request-id']}`)
})

t.test('Server-Timing is for who asks', async (t) => {
  const body = '{}'
  const plain = await request(port, 'POST /api/recipients', { headers: [JSON_TYPE], body })
  t.equal(plain.headers['server-timing'], undefined)
  for (const kind of kinds) {
    const options = { headers: [JSON_TYPE, 'X-Server-Timing: 1'], body: JSON.stringify({ kind }) }
    const { headers } = await request(port, 'POST /api/recipients', options)
    const times = headers['server-timing']
    t.match(
      times,
      /^receive;dur=\d+\.\d{3}, parse;dur=\d+\.\d{3}, wait;dur=0\.000, select;dur=\d+\.\d{3}$/,
    )
  }
  const origin = ['Origin: https://map.example.org', JSON_TYPE]
  const { headers } = await request(port, 'POST /api/recipients', { headers: origin, body })
  t.match(headers['access-control-expose-headers'], /Server-Timing.*X-Request-Id/)
})

t.test('a server that drains says it, too', async (t) => {
  server.draining = true
  const options = { headers: [JSON_TYPE, 'X-Request-Id: last'], body: '{}' }
  const { headers } = await request(port, 'POST /api/recipients', options)
  t.match(headers, { 'x-request-id': 'last', connection: 'close' })
})
