/**
 * The counts of contexts when a new snapshot takes the place of the one they were made in.
 *
 * @module
 */

import t, { type Test } from 'tap'
import type { Area, MapContext } from '../../src/interface/context.js'
import { contextOperations, contextReader } from '../../src/operations/contexts.js'
import { startLiveCounts } from '../../src/operations/live-counts.js'
import { createCurrent, type OpenSnapshot } from '../../src/serve/served-snapshots.js'
import { createProgress, publishApplied } from '../../src/suppressions/progress.js'
import { silentLog, squareGeometry, temporaryStore } from '../support/data/store.js'
import { randomWorld, seededRandom } from '../support/random/world.js'
import { inTime } from '../support/service/in-time.js'
import { localService } from '../support/service/local-service.js'

const ID = '4c1f9a2e7b6d4e0f9a3b5c8d1e2f7a60'
/** Around all of a world. */
const Geometry = squareGeometry(-71.5, 41.5, 3)

/** A snapshot with so many recipients, all within the square. */
function snapshot(snapshotId: string, recipientCount: number, label = 'A'): OpenSnapshot {
  const columns = randomWorld('uniform', recipientCount, seededRandom(recipientCount))
  const service = localService([{ id: 1, label, columns }])
  const catalogue = { ...service.catalogue, snapshotId }
  return { service: { ...service, catalogue }, close: async () => {} }
}

async function front(t: Test, first: OpenSnapshot) {
  const store = await temporaryStore(t)
  const current = createCurrent(first)
  const suppressionProgress = createProgress()
  const counts = startLiveCounts({
    store,
    current,
    suppressionProgress,
    log: silentLog,
  })
  t.teardown(() => counts.stop())
  const operations = contextOperations(store, contextReader(store, counts))
  const areasOf = async (answer: ReturnType<typeof operations.GetMapContextRequest>) => {
    const text = Buffer.from((await answer)?.json() as Uint8Array).toString()
    return (JSON.parse(text) as MapContext).Areas ?? []
  }
  return {
    current,
    suppressionProgress,
    put: (areas: object[]) =>
      areasOf(operations.PutMapContextRequest({ Id: ID, Areas: areas }, inTime())),
    get: () => areasOf(operations.GetMapContextRequest({ Id: ID }, inTime())),
  }
}

const shown = ({ ContactTotalCount, IsUpdatingContactList }: Area) => [
  ContactTotalCount,
  IsUpdatingContactList,
]

t.test('counts follow the snapshot, and those of the old one are said to be old', async (t) => {
  const { current, put, get } = await front(t, snapshot('000001-aaaaaaaa', 30, 'A'))
  const areas = [{ Id: 'a', Geometry }, { Id: 'b' }]
  t.same((await put(areas)).map(shown), [
    [30, false],
    [0, false],
  ])
  await current.switchTo(snapshot('000002-bbbbbbbb', 50, 'B')).released
  t.same(shown((await get())[0]), [30, true])
  let now = await get()
  while (now[0].IsUpdatingContactList) {
    await new Promise((resolve) => setImmediate(resolve))
    now = await get()
  }
  t.same(now.map(shown), [
    [50, false],
    [0, false],
  ])
  t.match(now[1].Contacts, [{ Label: 'B', Count: 0 }])
})

t.test('counts of the old snapshot are not served once any phone was suppressed', async (t) => {
  const { current, suppressionProgress, put, get } = await front(t, snapshot('000001-aaaaaaaa', 30))
  await put([{ Id: 'a', Geometry }])
  await current.switchTo(snapshot('000002-bbbbbbbb', 50)).released
  // Of nobody in the new one, which does not say that it is of nobody in the old one.
  publishApplied(suppressionProgress, 1, false)
  t.same((await get()).map(shown), [[50, false]])
})

t.test('what is counted in a newer snapshot than was asked is not taken for final', async (t) => {
  const { current, put, get } = await front(t, snapshot('000001-aaaaaaaa', 30))
  const { use } = current
  // Between the question and the turn of the work that it needs.
  current.use = async (work) => {
    current.use = use
    await current.switchTo(snapshot('000002-bbbbbbbb', 50)).released
    return use(work)
  }
  t.same((await put([{ Id: 'a', Geometry }])).map(shown), [[50, true]])
  t.same((await get()).map(shown), [[50, false]])
})
