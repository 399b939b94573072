/**
 * Pages of a list, one after the other, are the list.
 *
 * @module
 */
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import t from 'tap'
import type { Static } from 'typebox'
import { ServiceError } from '../../src/errors.js'
import type { Answer, Body } from '../../src/format/answer.js'
import type { RecipientResponseSchema } from '../../src/interface/recipients.js'
import { answer, type SelectionService } from '../../src/selection/answer.js'
import { readCursor, writeCursor } from '../../src/selection/cursor.js'
import { cutToPage } from '../../src/selection/page.js'
import type { JsonObject } from '../../src/selection/parse.js'
import { validate } from '../../src/selection/validate.js'
import type { CountMode } from '../../src/shard/select.js'
import { testSeed } from '../support/random/properties.js'
import { randomRequest, requestKinds } from '../support/random/requests.js'
import { type Random, randomWorld, seededRandom, worldKinds } from '../support/random/world.js'
import { readGeoJson } from '../support/read-geojson.js'
import { bodyText } from '../support/service/body-text.js'
import { inTime } from '../support/service/in-time.js'
import { localService } from '../support/service/local-service.js'
import { byTier } from '../support/tier.js'

type RecipientResponse = Static<typeof RecipientResponseSchema>

const WORLD_COUNT = byTier({ ci: 8, soak: 60 })
const SHARD_RECIPIENTS = 12
const CURSOR_MOST = 2 ** 32 - 1

const everywhere = { geoJSON: { xmin: -180, ymin: -90, xmax: 180, ymax: 90 } }

/** How each format is put together from its pages. */
const formats: Readonly<
  Record<string, { body(answer: Answer): Body; join(pages: readonly string[]): unknown }>
> = {
  JSON: { body: (given) => given.json(), join: joinedRecords },
  NDJSON: { body: (given) => given.ndjson?.() ?? '', join: (pages) => pages.join('') },
  GeoJSON: { body: (given) => given.geoJson?.() ?? '', join: joinedFeatures },
  'flat CSV': { body: (given) => given.csv('flat'), join: joinedRows },
  'CSV by source': { body: (given) => given.csv('sources'), join: joinedCells },
}

t.test('pages of any length are the list, in every format', async (t) => {
  const random = seededRandom(testSeed(t))
  const wrong: string[] = []
  let pageCount = 0
  let recipientCount = 0
  let contactCount = 0
  for (let world = 0; world < WORLD_COUNT; world++) {
    const { service, request } = randomList(random)
    const whole = await orRefused(answer(service, request, inTime()))
    if (whole === undefined) continue
    const total = listedCount(await bodyText(whole.json()))
    const limit = random.between(1, random.pick([2, 10, total + 2]))
    const pages = await pagesOf(service, request, limit, total)
    pageCount += pages.length
    recipientCount += total
    if (service.countMode() === 'Contact') contactCount++
    for (const [name, { body, join }] of Object.entries(formats)) {
      const texts = await Promise.all(pages.map((page) => bodyText(body(page))))
      const expected = join([await bodyText(body(whole))])
      if (JSON.stringify(join(texts)) === JSON.stringify(expected)) continue
      wrong.push(`${name} of ${JSON.stringify(request)}`)
    }
  }
  t.same(wrong.slice(0, 3), [])
  t.ok(pageCount > WORLD_COUNT, `${pageCount} pages`)
  t.ok(recipientCount > WORLD_COUNT, `${recipientCount} recipients`)
  t.ok(contactCount > 0, `${contactCount} lists of contacts`)
})

const BASIS = {
  query: validate({}),
  snapshotId: '000001-00000000',
  countMode: 'ContactLocation',
  boundaryKey: undefined,
} as const

/** Shards of some sources, each with runs that are sorted and disjoint. */
const anyRunLists = fc.array(
  fc.array(
    fc
      .uniqueArray(fc.nat(40), { maxLength: 12 })
      .map((bounds) => bounds.sort((a, b) => a - b).slice(0, bounds.length & ~1)),
    { maxLength: 3 },
  ),
  { maxLength: 3 },
)

const anyPlace = fc.record({ shardIndex: fc.nat(9), recipient: fc.nat(41) })
const box = { minLng: 0, minLat: 0, maxLng: 0, maxLat: 0 }
const anyLimit = fc.integer({ min: 1, max: 60 })

t.test('a page is so many recipients from a place on', async (t) => {
  const property = fc.property(anyRunLists, anyPlace, anyLimit, (lists, at, limit) => {
    const catalogue = { shards: lists.flat().map((_, placeId) => ({ sourceId: 1, box, placeId })) }
    const view = { catalogue, moment: 0, seal: 0, mask: null }
    const start = { placeId: at.shardIndex, recipient: at.recipient, moment: 0, seal: 0 }
    let shardIndex = 0
    const selections = lists.map((shards, id) => ({
      source: { id, label: '' },
      count: 0,
      shards: shards.map((runs) => ({ shardIndex: shardIndex++, runs: Uint32Array.from(runs) })),
    }))
    const cut = cutToPage(selections, { basis: BASIS, start, limit }, view)
    const behind = listed(selections).filter(([, shard, recipient]) =>
      shard === at.shardIndex ? recipient >= at.recipient : shard > at.shardIndex,
    )
    t.same(listed(cut.selections), behind.slice(0, limit))
    t.equal(cut.next !== undefined, limit < behind.length)
    if (cut.next === undefined) return
    const next = { basis: BASIS, start: readCursor(BASIS, cut.next), limit: 1 }
    t.same(listed(cutToPage(selections, next, view).selections), behind.slice(limit, limit + 1))
  })
  fc.assert(property, { seed: testSeed(t), numRuns: byTier({ ci: 300, soak: 10_000 }) })
})

const crowd = localService(
  [7, 8].map((id) => ({
    id,
    label: `Source ${id}`,
    columns: randomWorld('uniform', 50, seededRandom(id)),
  })),
  SHARD_RECIPIENTS,
)
t.test('a page that ends with the list, or is longer, is the last one', async (t) => {
  for (const [limit, rowCount, isLast] of [
    [1, 1, false],
    [50, 50, false],
    [99, 99, false],
    [100, 100, true],
    [101, 100, true],
    [10_000_000, 100, true],
  ] as const) {
    const page = await answer(crowd, { ...everywhere, limit }, inTime())
    const text = await bodyText(page.json())
    t.equal(listedCount(text), rowCount, `limit ${limit}`)
    t.equal('X-Next-After' in page.headers, !isLast, `limit ${limit}`)
    const { SourceRecords = [] } = JSON.parse(text) as RecipientResponse
    t.same(
      SourceRecords.map(({ Count }) => Count),
      [50, 50],
      'counts are those of the whole list',
    )
    t.ok(page.isPage)
  }
  const whole = await answer(crowd, { ...everywhere, limit: null, after: null }, inTime())
  t.notOk(whole.isPage)
  t.notOk('X-Next-After' in whole.headers)
})

t.test('after without a limit is all the rest', async (t) => {
  const first = await answer(crowd, { ...everywhere, limit: 30 }, inTime())
  const after = first.headers['X-Next-After']
  const rest = await answer(crowd, { ...everywhere, after }, inTime())
  t.equal(listedCount(await bodyText(rest.json())), 70)
  t.notOk('X-Next-After' in rest.headers)
})

t.test('a cursor from beyond the end is an empty page', async (t) => {
  const query = validate(everywhere)
  const { snapshotId } = crowd.catalogue
  const { length } = crowd.shards
  for (const [placeId, recipient] of [
    [length - 1, SHARD_RECIPIENTS],
    [length, 0],
    [CURSOR_MOST, CURSOR_MOST],
  ]) {
    const plain = { countMode: 'ContactLocation', boundaryKey: undefined } as const
    const basis = { query, snapshotId, ...plain }
    const after = writeCursor(basis, { placeId, recipient, moment: 0, seal: 0 })
    for (const limit of [undefined, 1, 10_000_000]) {
      const page = await answer(crowd, { ...everywhere, after, limit }, inTime())
      t.equal(listedCount(await bodyText(page.json())), 0)
      t.equal(await bodyText(page.ndjson?.() ?? '?'), '')
      t.equal(await bodyText(page.csv('flat')), 'SourceId,Label,Number,Lat,Lng\r\n')
      t.notOk('X-Next-After' in page.headers)
    }
  }
})

t.test('what cannot be a page is refused before any worker is asked', async (t) => {
  const first = await answer(crowd, { ...everywhere, limit: 30 }, inTime())
  const after = first.headers['X-Next-After']
  const asked = crowd.tasks.length
  const later: SelectionService = {
    ...crowd,
    catalogue: { ...crowd.catalogue, snapshotId: '000002-00000000' },
  }
  const cases: [SelectionService, JsonObject, string][] = [
    [later, { ...everywhere, after }, 'CursorExpired'],
    [{ ...crowd, countMode: () => 'Contact' }, { ...everywhere, after }, 'CursorExpired'],
    [crowd, { ...everywhere, after, sources: [7] }, 'InvalidRequest'],
    [crowd, { ...everywhere, after: `${after}A` }, 'InvalidRequest'],
    [crowd, { ...everywhere, limit: 0 }, 'InvalidRequest'],
    [crowd, { ...everywhere, countsOnly: true, limit: 1 }, 'InvalidRequest'],
    [crowd, { ...everywhere, countsOnly: true, after }, 'InvalidRequest'],
  ]
  for (const [service, request, code] of cases) {
    await t.rejects(answer(service, request, inTime()), { code })
  }
  t.equal(crowd.tasks.length, asked)
})

function listed(
  selections: readonly {
    readonly source: { readonly id: number }
    readonly shards: readonly { readonly shardIndex: number; readonly runs: Uint32Array }[]
  }[],
): [sourceId: number, shardIndex: number, recipient: number][] {
  const names: [number, number, number][] = []
  for (const { source, shards } of selections) {
    for (const { shardIndex, runs } of shards) {
      for (let run = 0; run < runs.length; run += 2) {
        for (let i = runs[run]; i < runs[run + 1]; i++) names.push([source.id, shardIndex, i])
      }
    }
  }
  return names
}

/** Some sources of several shards, and who is asked for among them. */
function randomList(random: Random): { service: SelectionService; request: JsonObject } {
  const sources = [3, 9, 20].map((id) => ({
    id,
    label: `=Source, "${id}"`,
    columns: randomWorld(random.pick(worldKinds), random.between(1, 60), random),
  }))
  const countMode = random.pick<CountMode>(['Contact', 'ContactLocation'])
  const service = { ...localService(sources, SHARD_RECIPIENTS), countMode: () => countMode }
  const { columns } = random.pick(sources)
  const request = randomRequest(columns, [3, 9, 20], requestKinds, random)
  return { service, request: random.unit() < 0.4 ? everywhere : request }
}

async function orRefused<Value>(promise: Promise<Value>): Promise<Value | undefined> {
  try {
    return await promise
  } catch (fault) {
    if (fault instanceof ServiceError) return undefined
    throw fault
  }
}

/** All pages of at most `limit` recipients. */
async function pagesOf(
  service: SelectionService,
  request: JsonObject,
  limit: number,
  total: number,
): Promise<Answer[]> {
  const pages = [await answer(service, { ...request, limit }, inTime())]
  for (;;) {
    const after = pages[pages.length - 1].headers['X-Next-After']
    if (after === undefined || pages.length > total) return pages
    pages.push(await answer(service, { ...request, limit, after }, inTime()))
  }
}

function listedCount(json: string): number {
  const { SourceRecords = [] } = JSON.parse(json) as RecipientResponse
  return SourceRecords.flatMap(({ Recipients = [] }) => Recipients).length
}

/** Beside its recipients, each record must say the same on every page. */
function joinedRecords(pages: readonly string[]): unknown {
  const records = pages.map((page) => (JSON.parse(page) as RecipientResponse).SourceRecords ?? [])
  return records[0].map((_, at) => {
    const own = records.map((page) => page[at])
    return {
      about: [...new Set(own.map(({ Recipients, ...about }) => JSON.stringify(about)))],
      Recipients: own.flatMap(({ Recipients = [] }) => Recipients),
    }
  })
}

function joinedFeatures(pages: readonly string[]): unknown {
  const collections = pages.map(readGeoJson)
  return {
    about: [...new Set(collections.map(({ SourceRecords }) => JSON.stringify(SourceRecords)))],
    features: collections.flatMap(({ features }) => features),
  }
}

function joinedRows(pages: readonly string[]): string {
  const [header] = pages[0].split('\r\n', 1)
  return header + pages.map((page) => page.slice(header.length + 2)).join('')
}

/** Rows by source, with the members of their cells of recipients. */
function joinedCells(pages: readonly string[]): unknown {
  const tables = pages.map((page) => parse(page) as string[][])
  const headers = new Set(tables.map(([header]) => header.join()))
  const rows = tables[0].slice(1).map((row, at) => {
    const cells = tables.map((table) => table[at + 1][row.length - 1].slice(1, -1))
    return [...row.slice(0, -1), cells.filter((cell) => cell !== '').join()]
  })
  return [...headers, ...rows]
}
