/**
 * Lists over HTTP tell their length, in every form, and are as long.
 *
 * @module
 */
import t from 'tap'
import { ServiceError } from '../../src/errors.js'
import { operationRoutes } from '../../src/http/operation-routes.js'
import { operationNames } from '../../src/interface/operation-names.js'
import { limits } from '../../src/limits.js'
import type { Execute, Executors } from '../../src/operations/execute.js'
import type { Task } from '../../src/pool/tasks.js'
import { answer, type SelectionService } from '../../src/selection/answer.js'
import { columnsOf } from '../support/data/columns.js'
import { randomWorld, seededRandom } from '../support/random/world.js'
import { localService } from '../support/service/local-service.js'
import { Client, request, requestText, startServer } from './wire.js'

const CROWD = 3 * limits.rowsPerFirstChunkCount
const local = localService(
  [
    { id: 1, label: 'Anwohner, "neu"', columns: randomWorld('uniform', CROWD, seededRandom(1)) },
    { id: 2, label: 'é', columns: randomWorld('uniform', 100, seededRandom(2)) },
    { id: 3, label: 'nobody', columns: columnsOf([]) },
  ],
  1_000,
)

/** Fails where a test wants, as when workers die again and again. */
let failingKind: Task['kind'] | undefined
const service: SelectionService = {
  ...local,
  runner: {
    run: (task, caller) =>
      task.kind === failingKind
        ? Promise.reject(new ServiceError('Unavailable', 'for the test'))
        : local.runner.run(task, caller),
  },
}
const execute: Execute = (members, caller) => answer(service, members, caller)
const executors = Object.fromEntries(operationNames.map((name) => [name, execute]))
const { port, server, faults } = await startServer(
  t,
  operationRoutes(executors as unknown as Executors),
)

const everybody = { xmin: -180, ymin: -90, xmax: 180, ymax: 90 }
const forms = [
  '/api/recipients',
  '/api/recipients.csv',
  '/api/recipients.csv?layout=sources',
  '/api/recipients?format=ndjson',
  '/api/recipients.geojson',
  '/api/recipients?format=geojson&callback=show',
  '/api/recipients?callback=show',
]
const requests: Record<string, object> = {
  everybody: { geoJSON: everybody },
  'one source': { geoJSON: everybody, sources: [1] },
  'a short list': { geoJSON: everybody, sources: [2] },
  nobody: { geoJSON: everybody, sources: [3] },
  'no shape': {},
  'a short page': { geoJSON: everybody, limit: 10 },
  'a long page': { geoJSON: everybody, limit: CROWD - 1 },
}

const ask = (path: string, members: object, headers: string[] = [], verb = 'POST') =>
  request(port, `${verb} ${path}`, { headers, body: JSON.stringify(members) })

for (const [name, members] of Object.entries(requests)) {
  t.test(`${name}: the length is told, and is that of the body`, async (t) => {
    for (const path of forms) {
      const told = await ask(path, members)
      t.equal(told.status, 200)
      t.equal(told.headers['content-length'], String(told.body.length), path)
      t.notOk('transfer-encoding' in told.headers)
      // Compressed bodies are chunked, and a batch is.
      const gzipped = await ask(path, members, ['Accept-Encoding: gzip'])
      t.equal(gzipped.headers['content-length'], undefined)
    }
  })
}

t.test('the connection is free behind each list, and HEAD tells the same length', async (t) => {
  const client = new Client(port)
  for (const source of ['', '&sources=2', '&sources=3']) {
    const path = `/api/RecipientRequest?geoJSON={xmin:-180,ymin:-90,xmax:180,ymax:90}${source}`
    client.write(requestText(`GET ${path}`))
    const { body } = await client.answer()
    client.write(requestText(`HEAD ${path}`))
    const { status, headers } = await client.answer({ headersOnly: true })
    t.equal(status, 200)
    t.equal(headers['content-length'], String(body.length))
  }
  client.socket.destroy()
})

t.test('lists of a batch have no length, and are the same', async (t) => {
  const alone = await ask('/json/reply/RecipientRequest', requests.everybody)
  const batch = await ask('/json/reply/RecipientRequest[]', [requests.everybody])
  t.equal(batch.headers['transfer-encoding'], 'chunked')
  t.equal(String(batch.body), `[${alone.body}]`)
})

t.test('a list that cannot be measured is refused, and not begun', async (t) => {
  for (const [kind, name] of [
    ['rowBytes', 'everybody'],
    ['encode', 'a short list'],
  ] as const) {
    failingKind = kind
    const { status, body } = await ask('/api/recipients', requests[name])
    failingKind = undefined
    t.equal(status, 503)
    t.match(String(body), 'Unavailable')
  }
  t.same(faults, [])
})

t.test('a list that was begun and cannot go on is broken off', async (t) => {
  failingKind = 'encode'
  const body = JSON.stringify(requests.everybody)
  const client = new Client(port)
  client.write(requestText('POST /api/recipients', { body }) + body)
  await client.untilClosed()
  failingKind = undefined
  await t.rejects(client.answer())
  t.equal(server.openExchangeCount, 0)
  t.same(faults, [])
})
