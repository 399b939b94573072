/**
 * Audiences of a snapshot with changes in it: whoever was in the list at the moment of the freezing, in its
 * order, whatever changes afterwards. Shards, audience thread and files are real; the journal is not there.
 *
 * @module
 */
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { startAudiences } from '../../src/audiences/audiences.js'
import { verifyAudiences } from '../../src/audiences/directory.js'
import type { Change } from '../../src/changes/change.js'
import type { Answer } from '../../src/format/answer.js'
import { LiveSnapshot } from '../../src/live/live-snapshot.js'
import { PhoneFinder } from '../../src/live/phone-finder.js'
import { SourceFinder } from '../../src/live/source-finder.js'
import { audienceOperations } from '../../src/operations/audiences.js'
import { answer, type CurrentService, type SelectionService } from '../../src/selection/answer.js'
import type { JsonObject } from '../../src/selection/parse.js'
import { readIdentities } from '../../src/snapshot/identities/list.js'
import { openSnapshot } from '../../src/snapshot/load/open.js'
import { rowsInMemory } from '../../src/snapshot/load/rows.js'
import { createStore } from '../../src/store/store.js'
import { makeSuppressions } from '../../src/store/suppressions.js'
import { openTables, storeDirectory } from '../../src/store/tables.js'
import type { TestRecipient } from '../support/data/columns.js'
import { columnsWith } from '../support/data/keyed-columns.js'
import { publishSources } from '../support/data/snapshots.js'
import { silentLog } from '../support/data/store.js'
import { testSeed } from '../support/random/properties.js'
import { type Random, seededRandom } from '../support/random/world.js'
import { bodyText } from '../support/service/body-text.js'
import { temporaryDirectory } from '../support/service/hickory.js'
import { inTime } from '../support/service/in-time.js'
import { type LocalService, serviceOf } from '../support/service/local-service.js'
import { byTier } from '../support/tier.js'

interface Person extends TestRecipient {
  readonly key: string
}

const SOURCES = [
  { id: 3, label: 'Three' },
  { id: 7, label: 'Seven' },
]

t.test('an audience is the list of its moment, and stays', async (t) => {
  const random = seededRandom(testSeed(t))
  let [mixedCount, suppressedCount] = [0, 0]
  for (let round = 0; round < byTier({ ci: 2, soak: 12 }); round++) {
    const world = await randomWorld(t, random)
    for (let each = 0; each < 4; each++) {
      world.change(random.between(0, 6))
      const view = world.randomView()
      const request = randomRequest(random)
      const listed = await listOf(view, request)
      const made = await world.post(view, { ...request })
      t.equal(made.Sequence, view.catalogue.sequence)
      t.equal(made.Count, listed.lines.length)
      if (isPlain(request)) {
        const expected = world.insideAt(view.catalogue.sequence, request)
        t.same(phonesOf(listed.lines).sort(), expected.sort(), 'and the list is that of the model')
      }
      world.change(random.between(0, 6))
      const again = await world.post(view, { ...request })
      t.equal(again.Digest, made.Digest, 'the same people have the same digest')
      if (random.unit() < 0.5) await world.restart()
      t.same(await world.read(made), listed, 'in every format')
      const limit = random.between(1, 40)
      const suppressed = each % 2 === 1 ? world.suppress(phonesOf(listed.lines)) : undefined
      const rest = listed.lines.filter((line) => !suppressed?.has(JSON.parse(line).Number))
      const pages = await world.pages(made, limit)
      t.same(pages.lines, rest)
      t.equal(pages.suppressedCount, listed.lines.length - rest.length)
      suppressedCount += pages.suppressedCount
      if (made.isMixed) mixedCount++
      world.allowAll()
    }
    const states = await verifyAudiences(world.data, Date.now())
    t.same(
      states.map(({ fault }) => fault),
      states.map(() => undefined),
    )
    await world.close()
  }
  t.ok(mixedCount > 1, `${mixedCount} of shard files and rows`)
  t.ok(suppressedCount > 1, `${suppressedCount} suppressed`)
})

t.test('an audience waits for the changes that it is to have', async (t) => {
  const world = await randomWorld(t, seededRandom(testSeed(t)))
  const view = world.service.views.newest
  const { sequence } = view.catalogue
  const request = { geoJSON: polygon(-1, 100), minSequence: sequence + 2 }
  const making = world.post(view, request)
  world.change(1)
  await new Promise((resolve) => setTimeout(resolve, 20))
  world.change(1)
  const made = await making
  t.equal(made.Sequence, sequence + 2)
  const { lines } = await listOf(world.service.views.newest, request)
  t.equal(made.Count, lines.length)
  const never = { ...request, minSequence: sequence + 9 }
  const short = { ...inTime(), deadlineMs: performance.now() + 100 }
  await t.rejects(world.post(view, never, short), { code: 'SequenceNotReached' })
  await world.close()
})

interface Made {
  readonly Id: string
  readonly Count: number
  readonly Sequence: number
  readonly Digest: string
  /** Whether it has recipients of shard files and rows. */
  readonly isMixed: boolean
}

/** A list, in the formats that have all of it. */
interface Listed {
  readonly lines: readonly string[]
  readonly others: readonly unknown[]
}

async function randomWorld(t: Test, random: Random) {
  const data = temporaryDirectory(t)
  await (await createStore(data, silentLog)).close()
  const tables = openTables(storeDirectory(data), 'write')
  let nextLat = 0
  const person = (key: string): Person => ({
    key,
    phone: random.pick([`+999${random.between(0, 40)}`, '+9"9,', '[9]', '9'.repeat(64)]),
    lng: random.between(0, 99),
    lat: nextLat++,
    contact: random.pick(['', 'a', `b${random.between(0, 9)}`]),
  })
  let people = SOURCES.map(() => {
    const count = random.between(0, 50)
    return new Map(Array.from({ length: count }, (_, at) => [`k${at}`, person(`k${at}`)]))
  })
  const sources = SOURCES.map(async ({ id }, at) => {
    return { id, columns: await columnsWith([...people[at].values()], true) }
  })
  await publishSources(data, await Promise.all(sources))
  const snapshot = await openSnapshot(data)
  const service = serviceOf(snapshot.id, SOURCES, snapshot.shards)
  const { live, finders } = await liveOf(data, snapshot.id, service)
  /** By moment. */
  const history = [people]
  let audiences = startAudiences({ dataDirectory: data, log: silentLog })
  let operations = operationsOf()

  function operationsOf(view: SelectionService = service) {
    const current = { hold: () => view, newest: { service: view } } as unknown as CurrentService
    return audienceOperations({ audiences, current, suppressionVersion: () => 0 })
  }

  /** So many batches, each of one source. */
  function change(batchCount: number): void {
    for (let batch = 0; batch < batchCount; batch++) {
      const source = random.between(0, 1)
      const after = new Map(people[source])
      const changes = Array.from({ length: random.between(0, 15) }, (): Change => {
        const key = `k${random.between(0, 80)}`
        if (random.unit() < 0.3) {
          after.delete(key)
          return { op: 'delete', identity: key }
        }
        const { phone, lng, lat, contact } = person(key)
        after.set(key, { key, phone, lng, lat, contact })
        return { op: 'upsert', identity: key, phone, lng, lat, contact, key }
      })
      people = people.map((each, at) => (at === source ? after : each))
      live.apply(SOURCES[source].id, changes, history.length)
      history.push(people)
      const increment = live.takeChanged()
      if (increment === undefined) throw new Error('there is a new moment')
      service.add(increment)
    }
  }

  return {
    data,
    service,
    change,
    randomView: () => {
      const { newest } = service.views
      return random.unit() < 0.6 ? newest : service.views.at(random.between(0, newest.moment))
    },
    insideAt: (moment: number, { west, east, sources }: TestRequest) =>
      history[moment].flatMap((each, at) =>
        sources?.includes(SOURCES[at].id) === false
          ? []
          : [...each.values()]
              .filter(({ lng }) => lng >= west && lng <= east)
              .map(({ phone }) => phone),
      ),
    async post(view: SelectionService, request: JsonObject, caller = inTime()): Promise<Made> {
      const { PostAudienceRequest } = operationsOf(view)
      const given = await PostAudienceRequest({ lifetimeSeconds: 600, ...plain(request) }, caller)
      const made = JSON.parse(await bodyText((given as Answer).json()))
      const states = await audiences.ask<'open'>(
        { kind: 'open', id: made.Id, after: 0, limit: Number.POSITIVE_INFINITY, asker: ASKER },
        inTime(),
      )
      const isOfRows = states.shards.map(({ place }) => 'audience' in place)
      return { ...made, isMixed: new Set(isOfRows).size === 2 }
    },
    async read({ Id }: Made): Promise<Listed> {
      return await listedOf((await operations.GetAudienceRequest({ Id }, inTime())) as Answer)
    },
    async pages({ Id }: Made, limit: number) {
      const lines: string[] = []
      let after: string | undefined = '0'
      let suppressedCount = 0
      while (after !== undefined) {
        const page: Answer = (await operations.GetAudienceRequest(
          { Id, limit, after: Number(after) },
          inTime(),
        )) as Answer
        lines.push(...linesOf(await bodyText(page.ndjson?.() ?? '')))
        suppressedCount = Number(page.headers['X-Audience-Suppressed'])
        after = page.headers['X-Next-After']
      }
      return { lines, suppressedCount }
    },
    async restart() {
      await audiences.close()
      audiences = startAudiences({ dataDirectory: data, log: silentLog })
      operations = operationsOf()
    },
    /** Some of these phones, all that they are of. */
    suppress(phones: readonly string[]): Set<string> {
      const chosen = new Set(phones.filter(() => random.unit() < 0.2))
      if (chosen.size > 0) changeAll(chosen, false)
      return chosen
    },
    allowAll: () => changeAll(new Set(history.flat().flatMap(phonesIn)), true),
    async close() {
      await audiences.close()
      await tables.close()
      for (const each of finders) each.close()
    },
  }

  function changeAll(phones: ReadonlySet<string>, isRemoval: boolean): void {
    const change = { kind: 'suppressions', scope: 'all', phones: [...phones], isRemoval } as const
    if (phones.size > 0) makeSuppressions(tables, [change], silentLog)
  }
}

const ASKER = { keyName: null, boundaryDigest: null, isForAll: true }

const phonesIn = (people: ReadonlyMap<string, Person>) =>
  [...people.values()].map(({ phone }) => phone)

async function liveOf(data: string, snapshotId: string, service: LocalService) {
  const shards = service.shards.map((shard) => {
    return { shard, rows: rowsInMemory(shard), columns: async () => shard }
  })
  const phones = await PhoneFinder.open(shards)
  const live = new LiveSnapshot(
    shards,
    SOURCES.map(({ id }) => id),
    phones,
  )
  const directory = join(data, 'snapshots', snapshotId)
  const finders: SourceFinder[] = []
  for (const identities of await readIdentities(data, snapshotId)) {
    const finder = await SourceFinder.open({ directory, identities, shards, phones })
    finders.push(finder)
    live.addSource(identities.id, finder)
  }
  return { live, finders }
}

interface TestRequest extends JsonObject {
  readonly west: number
  readonly east: number
  readonly sources?: readonly number[]
}

function randomRequest(random: Random): TestRequest {
  const [west, east] = [random.between(0, 60), random.between(40, 99)].sort((a, b) => a - b)
  return {
    west,
    east,
    geoJSON: polygon(west, east),
    ...(random.unit() < 0.3 && { distinct: true }),
    ...(random.unit() < 0.3 && { contactCountMode: 'Contact' }),
    ...(random.unit() < 0.3 && { sources: [random.pick(SOURCES).id] }),
  }
}

const isPlain = ({ distinct, contactCountMode }: TestRequest) =>
  distinct === undefined && contactCountMode === undefined

/** Without what only the model knows. */
function plain({ west: _, east: __, ...request }: JsonObject): JsonObject {
  return request
}

/** Everybody from one longitude to another, in units. */
function polygon(west: number, east: number): JsonObject {
  const ring = [
    [west - 0.5, -10],
    [east + 0.5, -10],
    [east + 0.5, 99_999],
    [west - 0.5, 99_999],
    [west - 0.5, -10],
  ].map((position) => position.map((units) => units / 1e7))
  return { type: 'Polygon', coordinates: [ring] }
}

async function listOf(view: SelectionService, request: JsonObject): Promise<Listed> {
  return await listedOf(await answer(view, plain(request), inTime()))
}

async function listedOf(given: Answer): Promise<Listed> {
  const { SourceRecords } = JSON.parse(await bodyText(given.json()))
  const { features } = JSON.parse(await bodyText(given.geoJson?.() ?? ''))
  const flat = await bodyText(given.csv('flat'))
  const nested = await bodyText(given.csv('sources'))
  return {
    lines: linesOf(await bodyText(given.ndjson?.() ?? '')),
    others: [SourceRecords, features, flat, nested],
  }
}

const linesOf = (text: string) => text.split('\n').filter((line) => line !== '')

const phonesOf = (lines: readonly string[]): string[] =>
  lines.map((line) => JSON.parse(line).Number)
