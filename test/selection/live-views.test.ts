/**
 * Answers about a snapshot and what came since: the same as about a snapshot that is made of the people who
 * are there, also within a boundary and in pages between which others come.
 *
 * @module
 */
import t, { type Test } from 'tap'
import { limits } from '../../src/limits.js'
import { answer } from '../../src/selection/answer.js'
import { createBoundaryRule } from '../../src/selection/boundary.js'
import type { JsonObject } from '../../src/selection/parse.js'
import {
  changedBy,
  openedLive,
  type People,
  type Person,
  randomChanges,
  randomPerson,
  SOURCE_IDS,
} from '../support/random/live-world.js'
import { testSeed } from '../support/random/properties.js'
import { type Random, seededRandom } from '../support/random/world.js'
import { bodyText } from '../support/service/body-text.js'
import { temporaryDirectory } from '../support/service/hickory.js'
import { inTime, within } from '../support/service/in-time.js'
import { type LocalService, serviceOf } from '../support/service/local-service.js'
import { byTier } from '../support/tier.js'

t.test('counts, lists and pages are those of the people who are there', async (t) => {
  const random = seededRandom(testSeed(t))
  let pagedCount = 0
  for (let world = 0; world < byTier({ ci: 6, soak: 150 }); world++) {
    const { service, boundary, step, history, close } = await startWorld(t, random)
    /** Lists that are being read, of which the first page is there. */
    const open: { request: JsonObject; after: string; rest: string[]; sequence: string }[] = []
    for (let moment = 1; moment <= 12; moment++) {
      step()
      const people = history[moment]
      const clipToBoundary = random.unit() < 0.5
      const [west, east] = range(random)
      const request = { geoJSON: box(west, east), clipToBoundary }
      const isIn = ({ lng }: Person) =>
        lng >= west &&
        lng <= east &&
        (!clipToBoundary || (lng >= boundary[0] && lng <= boundary[1]))
      const expected = people.flatMap((each, at) =>
        each.filter(isIn).map((person) => rowOf(SOURCE_IDS[at], person)),
      )
      const what = `world ${world}, moment ${moment}`
      const list = await listed(service, request)
      t.same([...list.rows].sort(), expected.sort(), what)
      t.same(
        list.counts,
        people.map((each) => each.filter(isIn).length),
        what,
      )
      t.equal(list.sequence, String(moment), what)
      const counted = await listed(service, { ...request, countsOnly: true })
      t.same(counted.counts, list.counts, what)
      // One who reads goes on, whatever came meanwhile.
      const limit = random.between(1, 10)
      const reading = open
        .splice(0)
        .concat(list.rows.length > limit ? [await begun(service, request, limit, list.rows)] : [])
      for (const { request, after, rest, sequence } of reading) {
        const page = await listed(service, { ...request, limit, after })
        t.same(page.rows, rest.slice(0, limit), `${what}: a page at ${sequence}`)
        t.equal(page.sequence, sequence)
        pagedCount++
        if (page.next !== undefined) {
          open.push({ request, after: page.next, rest: rest.slice(limit), sequence })
        } else t.equal(rest.length, page.rows.length)
      }
    }
    close()
  }
  t.ok(pagedCount > 50, `${pagedCount} pages`)
})

t.test('a request waits for the batch that it asks for, and not for ever', async (t) => {
  const { service, step, close } = await startWorld(t, seededRandom(1))
  const request = { geoJSON: box(0, 99), countsOnly: true }
  step()
  for (const minSequence of [0, 1, '1']) {
    t.equal((await listed(service, { ...request, minSequence })).sequence, '1')
  }
  const [first, second] = [2, 3].map((minSequence) => listed(service, { ...request, minSequence }))
  step()
  t.equal((await first).sequence, '2')
  t.equal((await listed(service, request)).sequence, '2', 'nobody else waits')
  step()
  t.equal((await second).sequence, '3')
  const startMs = performance.now()
  await t.rejects(answer(service.views.newest, { ...request, minSequence: 4 }, within(50)), {
    code: 'SequenceNotReached',
    status: 503,
    field: 'minSequence',
    message: /up to 4 are not .* up to 3 are/,
  })
  t.ok(performance.now() - startMs < limits.sequenceWaitMs / 2)
  for (const minSequence of [-1, 1.5, 'x', {}]) {
    await t.rejects(listed(service, { ...request, minSequence }), {
      code: 'InvalidRequest',
      field: 'minSequence',
    })
  }
  const page = await listed(service, { geoJSON: box(0, 99), limit: 1 })
  const both = { geoJSON: box(0, 99), limit: 1, after: page.next, minSequence: 3 }
  await t.rejects(listed(service, both), { code: 'InvalidRequest', field: 'minSequence' })
  close()
})

t.test('so many wait for a batch, and no more', async (t) => {
  const { service, step, close } = await startWorld(t, seededRandom(2))
  const { views } = service
  const deadlineMs = performance.now() + 60_000
  const waiting = Array.from({ length: limits.sequenceWaitingCount }, () =>
    views.until(1, deadlineMs),
  )
  await t.rejects(views.until(1, deadlineMs), { code: 'Overloaded' })
  step()
  t.ok((await Promise.all(waiting)).every((isThere) => isThere))
  t.equal(await views.until(2, performance.now() - 1), false)
  close()
})

/** People, a boundary, and a service that is told of changes with each step. */
async function startWorld(t: Test, random: Random) {
  const hasKeys = [random.unit() < 0.5, random.unit() < 0.5]
  const made = new Map<number, Person>()
  const first = SOURCE_IDS.map(() =>
    Array.from({ length: random.between(0, 60) }, (_, at) => randomPerson(made, `k${at}`, random)),
  )
  const { live, snapshot, close } = await openedLive(temporaryDirectory(t), first, hasKeys)
  const boundary = range(random)
  const service = serviceOf(
    snapshot.id,
    snapshot.sources,
    snapshot.shards,
    createBoundaryRule(() => box(...boundary), false),
  )
  const history: People[] = [first]
  const step = () => {
    const moment = history.length
    const source = random.between(0, 1)
    const before = history[moment - 1]
    const changes = randomChanges(made, before[source], hasKeys[source], random)
    const given = changes.map(({ change }) => change)
    live.apply(SOURCE_IDS[source], given, moment)
    const after = changedBy(before[source], changes, hasKeys[source])
    history.push(before.map((people, at) => (at === source ? after : people)))
    const increment = live.takeChanged()
    if (increment !== undefined) service.add(increment)
  }
  return { service, boundary, step, history, close }
}

function range(random: Random): [number, number] {
  const [west = 0, east = 0] = [random.between(0, 60), random.between(30, 99)].sort((a, b) => a - b)
  return [west, east]
}

/** All people between two longitudes, in units. */
function box(west: number, east: number) {
  const ring = [
    [west - 0.5, -10],
    [east + 0.5, -10],
    [east + 0.5, 99_999],
    [west - 0.5, 99_999],
    [west - 0.5, -10],
  ].map((position) => position.map((units) => units / 1e7))
  return { type: 'Polygon', coordinates: [ring] }
}

const rowOf = (sourceId: number, { phone, lng, lat }: Person) =>
  `${sourceId} ${phone} ${lng / 1e7} ${lat / 1e7}`

async function begun(
  service: LocalService,
  request: JsonObject,
  limit: number,
  rows: readonly string[],
) {
  const { next = '', sequence } = await listed(service, { ...request, limit })
  return { request, after: next, rest: rows.slice(limit), sequence }
}

async function listed(service: LocalService, request: JsonObject) {
  const list = await answer(service.views.newest, request, inTime())
  const { SourceRecords } = JSON.parse(await bodyText(list.json()))
  const rows: string[] = SourceRecords.flatMap(
    ({ SourceId, Recipients = [] }: { SourceId: number; Recipients?: object[] }) =>
      Recipients.map((each) => {
        const { Number: phone, LatLng } = each as { Number: string; LatLng: Place }
        return `${SourceId} ${phone} ${LatLng.Lng} ${LatLng.Lat}`
      }),
  )
  const counts = SourceRecords.map(({ Count }: { Count: number }) => Count)
  const { 'X-Sequence': sequence = '', 'X-Next-After': next } = list.headers
  return { rows, counts, sequence, next }
}

interface Place {
  readonly Lng: number
  readonly Lat: number
}
