/**
 * A machine of a cluster that has been cut off for too long says so in every answer with counts or recipients, and not
 * in those of `/api/recipients` alone, and beside however many other warnings.
 */

import t, { type Test } from 'tap'
import type { Audiences } from '../../src/audiences/audiences.js'
import type { Answer } from '../../src/format/answer.js'
import { ogcRoutes } from '../../src/http/ogc/routes.js'
import type { OperationName } from '../../src/interface/operations.js'
import { limits } from '../../src/limits.js'
import { alertChangeOperations } from '../../src/operations/alerts/alert-changes.js'
import { alertOperations } from '../../src/operations/alerts/alerts.js'
import { audienceOperations } from '../../src/operations/audiences.js'
import { startContextWatches, type WatchEvent } from '../../src/operations/context-watches.js'
import { contextOperations, contextReader } from '../../src/operations/contexts.js'
import type { Execute } from '../../src/operations/execute.js'
import { areaCollections } from '../../src/operations/features/areas.js'
import { contextCollections } from '../../src/operations/features/contexts.js'
import { gridOperations } from '../../src/operations/grid.js'
import { startLiveCounts } from '../../src/operations/live-counts.js'
import { recipientOperations, sourceOperations } from '../../src/operations/selections.js'
import { type OutlineTask, runTask } from '../../src/outline/run-task.js'
import { OPEN_ACCESS } from '../../src/selection/access.js'
import { createProgress } from '../../src/suppressions/progress.js'
import { startServer } from '../http/wire.js'
import { alertXml } from '../support/data/alerts.js'
import { layerOf, squareArea, writtenGazetteer } from '../support/data/areas.js'
import { everywhere } from '../support/data/everywhere.js'
import { silentLog, squareGeometry, temporaryStore } from '../support/data/store.js'
import { randomWorld, seededRandom } from '../support/random/world.js'
import { bodyText } from '../support/service/body-text.js'
import { always } from '../support/service/current.js'
import { temporaryDirectory } from '../support/service/hickory.js'
import { inTime } from '../support/service/in-time.js'
import { localService } from '../support/service/local-service.js'
import { until } from '../support/service/until.js'

const ID = '4c1f9a2e7b6d4e0f9a3b5c8d1e2f7a60'
const CONTEXT = { ContextName: 'c', Areas: [{ Id: 'a', Geometry: squareGeometry(0, 0, 1) }] }
const RING = [
  [0, 0],
  [0, 1],
  [1, 1],
  [0, 0],
]
const alert = (Identifier: string) => ({
  Identifier,
  cap: alertXml({ identifier: Identifier, shapes: [{ kind: 'polygon', ring: RING }] }),
})

/** What each operation is asked; undefined where its answer has neither counts nor recipients of this moment. */
const requests: Readonly<Record<OperationName, Readonly<Record<string, unknown>> | undefined>> = {
  RecipientRequest: { geoJSON: everywhere, countsOnly: true },
  GridRequest: { geoJSON: everywhere, h3Resolution: 1 },
  GetSourcesRequest: {},
  PostMapContextRequest: CONTEXT,
  PutMapContextRequest: { ...CONTEXT, Id: ID },
  GetMapContextRequest: { Id: ID },
  PutAlertRequest: alert('second'),
  GetAlertRequest: { Identifier: 'first' },
  GetAlertChangesRequest: { Identifier: 'second', since: 'first' },
  PostAudienceRequest: { geoJSON: everywhere },
  GetAudienceRequest: { Id: ID },
  // What was frozen, and names.
  GetAudiencesRequest: undefined,
  DeleteAudienceRequest: undefined,
  GetMapContextsRequest: undefined,
  DeleteMapContextRequest: undefined,
  GetAlertsRequest: undefined,
  DeleteAlertRequest: undefined,
  GetMapConfigurationRequest: undefined,
  PostMapConfigurationRequest: undefined,
  GetAreasRequest: undefined,
  GetAreaRequest: undefined,
  OutlineRequest: undefined,
  GetSuppressionsRequest: undefined,
  PutSuppressionsRequest: undefined,
  DeleteSuppressionsRequest: undefined,
  PostChangesRequest: undefined,
}

async function machine(t: Test) {
  const cut: { seconds: number | undefined } = { seconds: undefined }
  const freshness = {
    lagSeconds: () => cut.seconds,
    refusesLists: false,
    isDraining: () => false,
  }
  const data = temporaryDirectory(t)
  const store = await temporaryStore(t, data)
  const zones = { ...layerOf('zones', squareArea('k1', 0, 0)), source: 'a', licence: 'free' }
  const gazetteer = await writtenGazetteer(t, data, zones)
  const columns = randomWorld('uniform', 200, seededRandom(1))
  const local = localService([{ id: 1, label: 'A', columns }])
  const current = always({ ...local, freshness, areas: () => gazetteer })
  const suppressionProgress = createProgress()
  const counts = startLiveCounts({ store, current, suppressionProgress, log: silentLog })
  t.teardown(() => counts.stop())
  const read = contextReader(store, counts, freshness)
  const runner = { run: async (task: unknown) => ({ value: runTask(task as OutlineTask) }) }
  const executors: Readonly<Partial<Record<OperationName, Execute>>> = {
    ...recipientOperations(current),
    ...gridOperations(current),
    ...sourceOperations(current),
    ...contextOperations(store, read),
    ...alertOperations({ store, read, areas: () => undefined, runner }),
    ...alertChangeOperations({ store, current }),
    ...audienceOperations({ audiences: frozen, current, suppressionVersion: () => 0 }),
  }
  await executors.PutMapContextRequest?.({ ...CONTEXT, Id: ID }, inTime())
  await executors.PutAlertRequest?.(alert('first'), inTime())
  const { watchMs } = limits
  Object.assign(limits, { watchMs: 5 })
  const watches = startContextWatches({ store, counts, read, freshness, log: silentLog })
  t.teardown(() => {
    watches.stop()
    Object.assign(limits, { watchMs })
  })
  const areas = () => gazetteer
  const collections = [areaCollections({ current, areas }), contextCollections(store, read)]
  const routes = ogcRoutes({ version: '0.0.0', collections, freshness })
  return { cut, executors, watches, routes }
}

const FACTS = {
  ...{ id: ID, snapshotId: '000001-00000000', sequence: 0, createdMs: 0, expiresMs: 1 },
  ...{ digest: 'd', recipientCount: 0, sources: [] },
}

/** One that has nobody in it. */
const frozen: Audiences = {
  admit: () => {},
  close: async () => {},
  ask: async ({ kind }) =>
    (kind === 'freeze'
      ? FACTS
      : { facts: FACTS, suppressedCounts: [], shards: [], next: undefined }) as never,
}

const isLagging = ({ Code }: { readonly Code?: string }) => Code === 'Lagging'
const inHeader = (header: string | null | undefined) =>
  (JSON.parse(header ?? '[]') as { Code: string }[]).some(isLagging)

t.test('every operation with counts or recipients says it', async (t) => {
  const { cut, executors } = await machine(t)
  for (const [name, request] of Object.entries(requests)) {
    if (request === undefined) continue
    const ask = async () =>
      (await executors[name as OperationName]?.({ ...request }, inTime())) as Answer
    const bodyOf = async (answer: Answer) => JSON.parse(await bodyText(answer.json()))
    cut.seconds = 12
    const late = await ask()
    t.ok(inHeader(late.headers['X-Warnings']), `${name}: X-Warnings`)
    t.ok((late.warnings ?? []).some(isLagging), `${name}: in a batch`)
    const { Warnings } = await bodyOf(late)
    t.match(Warnings?.find(isLagging)?.Message, /cut off from the cluster for 12 s too long/, name)
    t.equal(late.headers['Cache-Control'], 'no-store', name)
    cut.seconds = undefined
    if (name === 'PostMapContextRequest') continue
    const level = await ask()
    t.notOk(inHeader(level.headers['X-Warnings']), `${name}: level again`)
    t.notOk((await bodyOf(level)).Warnings?.some(isLagging), name)
  }
})

t.test('it is the first of however many warnings', async (t) => {
  const { cut, executors } = await machine(t)
  for (const count of [
    1,
    limits.warningCount - 2,
    limits.warningCount - 1,
    3 * limits.warningCount,
  ]) {
    const points = Array.from({ length: count }, () => ({
      type: 'Feature',
      geometry: { type: 'Point', coordinates: [0, 0] },
      properties: {},
    }))
    const geoJSON = { type: 'FeatureCollection', features: points }
    const codes = async () => {
      const answer = await executors.RecipientRequest?.({ geoJSON, countsOnly: true }, inTime())
      return (answer?.warnings ?? []).map(({ Code }) => Code)
    }
    cut.seconds = undefined
    const all = ['Lagging', ...(await codes())]
    cut.seconds = 1
    const most = limits.warningCount - 1
    t.same(await codes(), all.length <= most ? all : [...all.slice(0, most), 'MoreWarnings'])
  }
})

t.test('features of maps say it', async (t) => {
  const { cut, routes } = await machine(t)
  const { port } = await startServer(t, routes)
  for (const path of [
    'areas-zones/items',
    'areas-zones/items/zones:k1',
    `${ID}/items`,
    `${ID}/items/a`,
  ]) {
    const ask = () => fetch(`http://127.0.0.1:${port}/ogc/collections/${path}`)
    cut.seconds = 12
    const late = await ask()
    t.equal(late.status, 200, path)
    t.ok(inHeader(late.headers.get('x-warnings')), path)
    t.match(await late.json(), { Warnings: [{ Code: 'Lagging' }] }, path)
    cut.seconds = undefined
    const level = await ask()
    t.equal(level.headers.get('x-warnings'), null, path)
    t.notOk('Warnings' in Object(await level.json()), path)
  }
})

t.test('who watches a context is told when it begins and when it ends', async (t) => {
  const { cut, watches } = await machine(t)
  const events: WatchEvent[] = []
  const watcher = {
    tell: (event: WatchEvent) => void events.push(event),
    beat: () => {},
    mayGoOn: () => true,
    end: () => {},
  }
  await watches.join(ID, OPEN_ACCESS, watcher, undefined)
  cut.seconds = 1
  await until(() => events.length === 2)
  cut.seconds = 2
  await new Promise((resolve) => setTimeout(resolve, 50))
  cut.seconds = undefined
  await until(() => events.length === 3)
  const told = events.map(({ json }) => JSON.parse(json))
  t.same(
    told.map(({ Warnings }) => Warnings?.map(({ Code }: { Code: string }) => Code)),
    [undefined, ['Lagging'], undefined],
  )
  t.equal(events[0].id, events[2].id)
  t.not(events[0].id, events[1].id)
  for (const { Areas } of told) t.same(Areas, told[0].Areas)
})
