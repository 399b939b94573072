import t from 'tap'
import { writeBody } from '../../src/format/answer.js'
import { createMetricsMemory, frontPage } from '../../src/metrics/memory.js'
import { OPEN_ACCESS } from '../../src/selection/access.js'
import { answer } from '../../src/selection/answer.js'
import { type Boundary, createBoundaryRule, NO_BOUNDARY } from '../../src/selection/boundary.js'
import { startSnapshot } from '../../src/serve/front-start.js'
import { isUnowned } from '../../src/shard/arena.js'
import type { ShardImage } from '../../src/shard/layout.js'
import { inArenas } from '../support/data/arenas.js'
import { silentLog } from '../support/data/snapshots.js'
import { randomWorld, seededRandom } from '../support/random/world.js'
import { inTime } from '../support/service/in-time.js'
import { shardsOf } from '../support/service/local-service.js'
import { memorySink } from '../support/service/memory-sink.js'
import { until } from '../support/service/until.js'

const workerUrl = new URL('../../workers/query.js', import.meta.url).href
const columns = randomWorld('uniform', 20_000, seededRandom(1))
const sources = [{ id: 1, label: 'A', recipientCount: 20_000, contactCount: columns.contactCount }]
const everywhere = { type: 'MultiPoint', coordinates: [[-70.5, 42.5]] }
const request = { geoJSON: { geometry: everywhere, properties: { radius: 1e6 } } }

function start(
  shards: readonly ShardImage[],
  url = workerUrl,
  boundaryRule = NO_BOUNDARY,
  queryThreadCount = 1,
) {
  const snapshot = { id: '000001-aaaaaaaa', createdAt: '', sources, shards, arenas: [] }
  const countMode = () => 'ContactLocation' as const
  const rules = { countMode, boundaryRule }
  const follow = () => ({ level: Promise.resolve(), stop: () => {} })
  const metrics = createMetricsMemory(1, queryThreadCount)
  return startSnapshot(snapshot, {
    workerUrl: url,
    workerArgs: [],
    queryThreadCount,
    ...rules,
    metrics,
    page: frontPage(metrics, 0),
    follow,
    log: silentLog,
  })
}

const ownedCount = (shards: readonly ShardImage[]) =>
  shards.filter(({ arena }) => arena === null || !isUnowned(arena)).length

t.test('a snapshot answers until it is closed, and then holds no memory', async (t) => {
  const shards = inArenas(shardsOf(columns, 1, 5_000), 2)
  const { service, close } = await start(shards, workerUrl, NO_BOUNDARY, 2)
  t.ok(ownedCount(shards) > 0, 'its workers have worked')
  const counted = await answer(service, { ...request, countsOnly: true }, inTime())
  t.match(JSON.parse(counted.json() as string), { SourceRecords: [{ Count: 20_000 }] })
  t.equal(counted.headers['X-Snapshot'], '000001-aaaaaaaa')
  const list = await answer(service, request, inTime())
  const sink = memorySink((pieceIndex) => pieceIndex < 2)
  const written = writeBody(list.json(), sink)
  await until(() => sink.receivedBytes > 10_000)
  await close()
  t.equal(ownedCount(shards), 0)
  sink.drain()
  await t.rejects(written, { code: 'Unavailable' }, 'a list that is left is not ended early')
  t.equal(ownedCount(shards), 0, 'nor does that start workers anew')
})

t.test('a snapshot that is always clipped has its mask before it is served', async (t) => {
  const shards = inArenas(shardsOf(columns, 1, 5_000), 2)
  const square = { xmin: -71, ymin: 42, xmax: -70.5, ymax: 42.5 }
  const rule = createBoundaryRule(() => square, true)
  const { service, close } = await start(shards, workerUrl, rule)
  t.teardown(close)
  const boundary = rule.for(undefined, OPEN_ACCESS) as Boundary
  t.notOk(service.masks.of(boundary, inTime()) instanceof Promise)
  const [clipped, drawn] = await Promise.all(
    [request.geoJSON, square].map(async (geoJSON) => {
      const counted = await answer(service, { geoJSON, countsOnly: true }, inTime())
      return JSON.parse(counted.json() as string).SourceRecords[0].Count
    }),
  )
  t.ok(clipped > 0 && clipped < 20_000)
  t.equal(clipped, drawn)
})

t.test('one without a boundary starts all the same, and refuses', async (t) => {
  const shards = inArenas(shardsOf(columns, 1, 5_000), 2)
  const rule = createBoundaryRule(() => undefined, true)
  const { service, close } = await start(shards, workerUrl, rule)
  t.teardown(close)
  await t.rejects(answer(service, request, inTime()), { code: 'BoundaryMissing' })
})

t.test('a snapshot whose workers do not start holds no memory', async (t) => {
  const shards = inArenas(shardsOf(columns, 1, 5_000), 2)
  await t.rejects(start(shards, new URL('./nothing.js', import.meta.url).href), { code: 'Failed' })
  t.equal(ownedCount(shards), 0)
})

t.test('a snapshot that does not answer is closed again', async (t) => {
  const shards = inArenas(shardsOf(columns, 1, 5_000), 2)
  const nowhere = { minLng: Number.NaN, minLat: 0, maxLng: 0, maxLat: 0 }
  await t.rejects(start(shards.map((shard) => ({ ...shard, box: nowhere }))))
  t.equal(ownedCount(shards), 0)
})
