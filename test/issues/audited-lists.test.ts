/**
 * Behind the last row of a list of CSV or NDJSON, a piece of no bytes was written: its answer was over, and the
 * digest for the audit taken. So each long list logged an internal error, though its client had all of it. A piece
 * written behind a client that has left did the same.
 */
import { createHash } from 'node:crypto'
import t from 'tap'
import type { Body } from '../../src/format/answer.js'
import { AuditTrail } from '../../src/http/audit-trail.js'
import { operationRoutes } from '../../src/http/operation-routes.js'
import { operationNames } from '../../src/interface/operation-names.js'
import { limits } from '../../src/limits.js'
import type { Execute, Executors } from '../../src/operations/execute.js'
import { answer } from '../../src/selection/answer.js'
import { Client, request, requestText, startServer } from '../http/wire.js'
import { randomWorld, seededRandom } from '../support/random/world.js'
import { localService } from '../support/service/local-service.js'
import { until } from '../support/service/until.js'

const COUNT = 3 * limits.rowsPerFirstChunkCount
const columns = randomWorld('uniform', COUNT, seededRandom(3))
const service = localService([{ id: 1, label: 'A', columns }], COUNT)

/** A piece that the client takes, and one when it has left. */
const leftBehind: Body = {
  async write(sink) {
    sink.write(Buffer.from('x'))
    await until(() => sink.gone)
    sink.write(Buffer.from('y'))
  },
  byteCount: async () => 2,
}

/** As an operation answers whose body has a known length. */
const execute: Execute = async ({ kind, ...members }, caller) => {
  const answered = await answer(service, members, caller)
  return kind === 'left' ? Object.assign(answered, { json: () => leftBehind }) : answered
}

const ended: Record<string, unknown>[] = []
const trail = new AuditTrail({
  client: { record: async () => 1, note: (line) => ended.push(JSON.parse(`{${line}}`)) },
  hasCounts: false,
  hasDigests: true,
  suppressionVersion: () => 0,
})
const executors = Object.fromEntries(operationNames.map((name) => [name, execute]))
const routes = operationRoutes(executors as unknown as Executors, trail)
const { port, faults, cuts } = await startServer(t, routes, { trail })

t.beforeEach(() => {
  ended.length = 0
  faults.length = 0
})

for (const format of ['csv', 'ndjson', 'json', 'geojson']) {
  for (const compressed of [false, true]) {
    t.test(`a long list of ${format}${compressed ? ', compressed' : ''}`, async (t) => {
      const { status, body } = await request(port, `POST /api/recipients?format=${format}`, {
        headers: compressed ? ['Accept-Encoding: gzip'] : [],
        body: '{"bbox":[-180,-90,180,90]}',
      })
      t.equal(status, 200)
      await until(() => ended.length > 0)
      // Whatever is written behind it.
      await new Promise((resolve) => setTimeout(resolve, 50))
      t.same(faults, [])
      t.match(ended, [{ outcome: 'completed' }])
      if (compressed) return
      t.equal(ended[0].sha256, createHash('sha256').update(body).digest('hex'))
      t.equal(ended[0].bodyBytes, body.length)
    })
  }
}

t.test('a piece behind a client that has left', async (t) => {
  const body = '{"kind":"left"}'
  const client = new Client(port)
  client.write(requestText('POST /api/recipients', { body }) + body)
  await client.readUntil('\r\n\r\nx')
  client.socket.destroy()
  await until(() => ended.length > 0)
  await new Promise((resolve) => setTimeout(resolve, 50))
  t.match(ended, [{ outcome: 'left', bodyBytes: 1 }])
  t.same(faults, [])
  t.same(cuts, [])
})
