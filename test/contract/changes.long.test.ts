/**
 * Changes of recipients from end to end: a batch that is acknowledged is in the journal, once.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { journalDirectory } from '../../src/journal/files.js'
import { JournalReader } from '../../src/journal/reader.js'
import { limits } from '../../src/limits.js'
import { placesWorld } from '../support/data/suppressions.js'
import { type Service, serve } from '../support/service/hickory.js'
import { byTier } from '../support/tier.js'

interface Answered {
  readonly status: number
  readonly retryAfter: string | null
  readonly body: {
    readonly Sequence?: number
    readonly Repeated?: boolean
    readonly ResponseStatus?: { readonly ErrorCode: string; readonly Message: string }
  }
}

async function post(
  { url }: Pick<Service, 'url'>,
  body: string | object,
  { path = '/api/sources/1/changes', ...headers }: Record<string, string> = {},
): Promise<Answered> {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { connection: 'close', 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  return {
    status: response.status,
    retryAfter: response.headers.get('retry-after'),
    body: (await response.json()) as Answered['body'],
  }
}

const NDJSON = { 'content-type': 'application/x-ndjson' }
const upsert = (i: number) => ({ op: 'upsert', number: `+999${i}`, lat: 1, lng: 2 })
const changes = (i: number) => [upsert(i), { op: 'delete', number: `+999${i}` }]

function batchesIn(data: string) {
  const reader = new JournalReader(journalDirectory(data))
  try {
    return [...reader.read(0)]
  } finally {
    reader.close()
  }
}

const codeOf = ({ status, body }: Answered) => [status, body.ResponseStatus?.ErrorCode]

t.test('a batch is taken once, by two services and after a restart', async (t) => {
  const data = await placesWorld(t)
  const services = await Promise.all([serve(t, '--data', data), serve(t, '--data', data)])
  const [one, two] = services
  const taken = (Sequence: number, Repeated: boolean) => ({
    status: 200,
    body: { Sequence, Repeated, ChangeCount: 2 },
  })
  t.match(await post(one, { batchId: 'a', changes: changes(1) }), taken(1, false))
  t.match(await post(two, { batchId: 'a', changes: changes(1) }), taken(1, true))
  const lines = changes(2).map((row) => JSON.stringify(row))
  const key = { ...NDJSON, 'idempotency-key': '"b"' }
  t.match(await post(two, lines.join('\n'), key), taken(2, false))
  const query = { ...NDJSON, path: '/api/sources/1/changes?batchId=b' }
  t.match(await post(one, `${lines.join('\r\n')}\r\n`, query), taken(2, true))
  const byName = { path: '/api/PostChangesRequest' }
  t.match(await post(one, { Id: 1, batchId: 'b', changes: changes(2) }, byName), taken(2, true))
  const other = await post(one, { batchId: 'a', changes: changes(3) })
  t.same(codeOf(other), [409, 'BatchConflict'])
  t.match(other.body.ResponseStatus?.Message, /sequence 1 /)
  await Promise.all(services.map((service) => service.stop()))

  const later = await serve(t, '--data', data)
  t.match(await post(later, { batchId: 'a', changes: changes(1) }), taken(1, true))
  t.match(await post(later, { batchId: 'c', changes: changes(1) }), taken(3, false))
  t.same(
    batchesIn(data).map(({ batchId }) => batchId),
    ['a', 'b', 'c'],
  )
  await t.test('what is wrong is refused, and nothing of it is taken', (t) =>
    checkRefusals(t, data, later),
  )
})

async function checkRefusals(t: Test, data: string, service: Service): Promise<void> {
  const before = batchesIn(data)
  const code = async (body: string | object, options?: Record<string, string>) =>
    codeOf(await post(service, body, options))
  const good = { batchId: 'd', changes: changes(4) }
  t.same(await code({ changes: changes(1) }), [400, 'InvalidRequest'])
  const longest = 'x'.repeat(limits.journalBatchIdBytes + 1)
  t.same(await code({ ...good, batchId: longest }), [400, 'InvalidRequest'])
  t.same(await code(good, { 'idempotency-key': '"b"' }), [400, 'InvalidRequest'])
  t.same(await code(good, { 'idempotency-key': '""' }), [400, 'InvalidRequest'])
  t.same(await code(good, { path: '/api/sources/2/changes' }), [404, 'NotFound'])
  t.same(await code(good, { path: '/api/sources/x/changes' }), [400, 'InvalidRequest'])
  t.same(await code('{"op":"delete"'), [400, 'InvalidJson'])
  const bad = [upsert(1), { ...upsert(2), lat: 91 }, { op: 'other' }]
  const refused = await post(service, { batchId: 'd', changes: bad })
  t.same(codeOf(refused), [400, 'InvalidChange'])
  t.match(refused.body.ResponseStatus?.Message, /^2 of 3 .* row 2: .* row 3: /)
  t.notMatch(JSON.stringify(refused.body), /\+999/)
  const most = Array.from({ length: limits.batchChangeCount }, (_, i) => upsert(i))
  t.same(await code({ batchId: 'd', changes: [...most, upsert(0)] }), [422, 'TooComplex'])
  t.same(await code(' '.repeat(limits.bodyBytes + 1)), [413, 'BodyTooLarge'])
  t.same(batchesIn(data), before)
  t.same(await code({ batchId: 'd', changes: most }), [200, undefined])
  t.equal(batchesIn(data).at(-1)?.changes.length, limits.batchChangeCount)
  t.notMatch((await service.stop()).stderr, /\+999/)
}

t.test('a service that takes no writes takes no changes', async (t) => {
  const service = await serve(t, '--data', await placesWorld(t), '--writes', 'off')
  const refused = await post(service, { batchId: 'a', changes: changes(1) })
  t.same(codeOf(refused), [403, 'Forbidden'])
})

t.test('what was acknowledged before a kill is in the journal once', async (t) => {
  const data = await placesWorld(t)
  const acknowledged = new Map<string, number>()
  const { batchCount, kills } = byTier({
    ci: { batchCount: 500, kills: [150, 350] },
    soak: { batchCount: 1_000, kills: [200, 500, 800] },
  })
  let next = 0
  let service = await serve(t, '--data', data, '--http-threads', '2')
  let starting: Promise<Service> | undefined
  /** Sends each batch until it is answered. */
  const client = async () => {
    while (next < batchCount) {
      const batchId = `b${next++}`
      const body = { batchId, changes: changes(next) }
      for (;;) {
        const answer = await post(service, body).catch(() => undefined)
        if (answer?.status === 200) {
          acknowledged.set(batchId, answer.body.Sequence ?? 0)
          break
        }
        await (starting ?? sleep(5))
      }
    }
  }
  const clients = Array.from({ length: 16 }, client)
  for (const killAt of kills) {
    while (acknowledged.size < killAt) await sleep(1)
    starting = service.stop('SIGKILL').then(() => serve(t, '--data', data, '--http-threads', '2'))
    service = await starting
    starting = undefined
  }
  await Promise.all(clients)
  await service.stop()
  const batches = batchesIn(data)
  const found = new Map(batches.map(({ batchId, sequence }) => [batchId, sequence]))
  t.equal(batches.length, batchCount, 'none is there twice')
  t.same(found, acknowledged)
})
