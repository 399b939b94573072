/**
 * Layers of the gazetteer as collections: counts are those of recipient requests, pages end where there is no more
 * room, and a collection that is open stays what it is.
 */
import t, { type Test } from 'tap'
import type { Gazetteer } from '../../../src/gazetteer/gazetteer.js'
import { limits } from '../../../src/limits.js'
import { areaCollections } from '../../../src/operations/features/areas.js'
import { type Asker, NO_ACCESS } from '../../../src/selection/access.js'
import { answer } from '../../../src/selection/answer.js'
import { createBoundaryRule } from '../../../src/selection/boundary.js'
import { layerOf, squareArea, writtenGazetteer } from '../../support/data/areas.js'
import { squareGeometry } from '../../support/data/store.js'
import { testSeed } from '../../support/random/properties.js'
import { randomWorld, seededRandom } from '../../support/random/world.js'
import { bodyText } from '../../support/service/body-text.js'
import { always } from '../../support/service/current.js'
import { temporaryDirectory } from '../../support/service/hickory.js'
import { inTime } from '../../support/service/in-time.js'
import { localImages, serviceOf } from '../../support/service/local-service.js'

/** A triangle of units has three positions, a square four. */
const BOUNDS = { featurePagePositionCount: 12, featurePageMs: 60_000 }

async function collectionsOf(t: Test, bounds = BOUNDS) {
  const { featurePagePositionCount, featurePageMs } = limits
  Object.assign(limits, bounds)
  t.teardown(() => Object.assign(limits, { featurePagePositionCount, featurePageMs }))
  const random = seededRandom(testSeed(t))
  const columns = randomWorld('uniform', 400, random)
  const place = (i: number) => [columns.lngs[i] / 1e7, columns.lats[i] / 1e7] as const
  const areas = Array.from({ length: 20 }, (_, i) => squareArea(`k${10 + i}`, ...place(i)))
  const data = temporaryDirectory(t)
  const zones = { ...layerOf('zones', ...areas), source: 'a survey', licence: 'free' }
  const gazetteer = await writtenGazetteer(t, data, zones)
  const sources = [7, 30].map((id) => ({ id, label: `Source ${id}`, columns }))
  let now: Gazetteer | undefined = gazetteer
  const images = localImages(sources, 100)
  const rule = createBoundaryRule(() => undefined, false)
  const service = serviceOf('000001-00000000', sources, images, rule, undefined, {
    areas: () => now,
  })
  const current = always(service)
  const collections = areaCollections({ current, areas: () => now })
  const replace = (other: Gazetteer | undefined) => {
    now = other
  }
  return { data, first: place(0), service, collections, replace }
}

const open = async (
  { open }: ReturnType<typeof areaCollections>,
  asker: Asker = inTime(),
  id = 'areas-zones',
) => {
  const source = await open(id, asker)
  if (source === undefined) throw new Error('there is no such collection')
  return source
}

t.test('a feature has the counts of a recipient request that names it', async (t) => {
  const { service, collections, first } = await collectionsOf(t)
  const boundary = squareGeometry(...first, 0.5)
  const totals: number[] = []
  const bounded = { ...inTime().access, boundary }
  for (const access of [inTime().access, bounded]) {
    const source = await open(collections, { ...inTime(), access })
    let total = 0
    for (let key = 10; key < 30; key++) {
      const id = `zones:k${key}`
      const feature = await source.feature(id)
      const request = { countsOnly: true, areas: [id] }
      const answered = await answer(service, request, { ...inTime(), access })
      const { SourceRecords } = JSON.parse(await bodyText(answered.json()))
      const counts = SourceRecords.map(({ Label, Count }: { Label: string; Count: number }) => ({
        ...{ Label, Count },
      }))
      t.same(feature?.properties.Contacts, counts, id)
      const sum = counts[0].Count + counts[1].Count
      t.equal(feature?.properties.ContactTotalCount, sum)
      total += sum
    }
    totals.push(total)
  }
  t.ok(totals[0] >= 40, 'each area has somebody of both sources')
  t.ok(totals[1] > 0 && totals[1] < totals[0], 'the boundary of a key leaves others out')
})

t.test('a page ends before more positions than it may have', async (t) => {
  const idsOf = async (positionCount: number, offset: number, limit = 100) => {
    const bounds = { ...BOUNDS, featurePagePositionCount: positionCount }
    const source = await open((await collectionsOf(t, bounds)).collections)
    const { features, matchedCount } = await source.page(undefined, limit, offset)
    t.equal(matchedCount, 20)
    return features.map(({ id }) => id)
  }
  const three = ['zones:k10', 'zones:k11', 'zones:k12']
  t.same(await idsOf(12, 0), three, 'at the bound')
  t.same(await idsOf(11, 0), three.slice(0, 2), 'one past it')
  t.same(await idsOf(12, 18), ['zones:k28', 'zones:k29'], 'the last ones')
  t.same(await idsOf(1, 5), ['zones:k15'], 'one at least')
  t.same((await idsOf(80, 0)).length, 20, 'more than are counted at a time')
  t.same((await idsOf(79, 0)).length, 19)
  t.same(await idsOf(80, 20), [])
  t.same(await idsOf(80, 3, 1), ['zones:k13'])
})

t.test('a page ends when it has taken long, and not before its first features', async (t) => {
  const { collections } = await collectionsOf(t, { featurePagePositionCount: 80, featurePageMs: 0 })
  const { features } = await (await open(collections)).page(undefined, 100, 0)
  t.ok(features.length > 0 && features.length < 20, `${features.length}`)
})

t.test('a collection says what it is', async (t) => {
  const { collections } = await collectionsOf(t)
  t.same(collections.page(inTime(), 0, 10), [{ id: 'areas-zones' }])
  const { id, title, description } = await open(collections)
  t.same([id, title], ['areas-zones', 'zones'])
  t.match(description, /^20 named areas, .* Source: a survey\. Licence: free\.$/)
  for (const none of ['areas-Zones', 'zones', 'areas-', 'areas-zones2']) {
    t.equal(await collections.open(none, inTime()), undefined, none)
  }
})

t.test('who may not ask for counts has no such collections', async (t) => {
  const { collections } = await collectionsOf(t)
  const stranger = { ...inTime(), access: { ...NO_ACCESS, allows: (s: string) => s !== 'counts' } }
  t.equal(collections.count(stranger), 0)
  t.same(collections.page(stranger, 0, 10), [])
  await t.rejects(collections.open('areas-zones', stranger), { code: 'Forbidden' })
  t.equal(await collections.open('areas-none', stranger), undefined)
})

t.test('a collection that is open stays as it is when areas are replaced', async (t) => {
  const { data, collections, replace } = await collectionsOf(t)
  const source = await open(collections)
  replace(await writtenGazetteer(t, data, layerOf('zones', squareArea('new', 0, 0))))
  const old = await source.page(undefined, 3, 0)
  t.same([old.matchedCount, old.features[0].id], [20, 'zones:k10'])
  const { matchedCount, features } = await (await open(collections)).page(undefined, 3, 0)
  t.same([matchedCount, features[0].id], [1, 'zones:new'])
  replace(undefined)
  t.equal(collections.count(inTime()), 0)
  t.equal(await collections.open('areas-zones', inTime()), undefined)
})

t.test('nobody works on for one who has gone, or beyond the deadline', async (t) => {
  const { collections } = await collectionsOf(t, { ...BOUNDS, featurePagePositionCount: 1_000 })
  for (const late of [{ gone: true }, { deadlineMs: 0 }]) {
    const source = await open(collections, { ...inTime(), ...late })
    await t.rejects(source.page(undefined, 100, 0), { code: 'Unavailable' })
  }
})
