/**
 * Who is new, gone and staying, from one kept alert to the next, against brute force over the facts of the alerts.
 *
 * @module
 */

import t, { type Test } from 'tap'
import type { Answer } from '../../../src/format/answer.js'
import { alertChangeOperations } from '../../../src/operations/alerts/alert-changes.js'
import { alertOperations } from '../../../src/operations/alerts/alerts.js'
import { contextReader } from '../../../src/operations/contexts.js'
import { startLiveCounts } from '../../../src/operations/live-counts.js'
import { type OutlineTask, runTask } from '../../../src/outline/run-task.js'
import type { QueryRunner } from '../../../src/pool/tasks.js'
import type { SelectionService } from '../../../src/selection/answer.js'
import { createBoundaryRule } from '../../../src/selection/boundary.js'
import type { createCurrent } from '../../../src/serve/served-snapshots.js'
import type { Store } from '../../../src/store/store.js'
import { createProgress } from '../../../src/suppressions/progress.js'
import { both, type Verdict, without } from '../../oracle/verdict.js'
import { type AlertShape, alertXml, randomAlertShape, regionOf } from '../../support/data/alerts.js'
import { markSuppressed } from '../../support/data/marked.js'
import { silentLog, temporaryStore } from '../../support/data/store.js'
import {
  changedBy,
  openedLive,
  type Person,
  randomChanges,
  randomPerson,
  SOURCE_IDS,
} from '../../support/random/live-world.js'
import { testSeed } from '../../support/random/properties.js'
import { type Random, randomWorld, seededRandom } from '../../support/random/world.js'
import { bodyText } from '../../support/service/body-text.js'
import { always } from '../../support/service/current.js'
import { temporaryDirectory } from '../../support/service/hickory.js'
import { inTime } from '../../support/service/in-time.js'
import { localImages, serviceOf } from '../../support/service/local-service.js'
import { byTier } from '../../support/tier.js'

const WORLD_COUNT = byTier({ ci: 2, soak: 25 })
const LIVE_WORLD_COUNT = byTier({ ci: 2, soak: 15 })

t.test('an alert, its update and its cancel, in worlds that stand still', async (t) => {
  const random = seededRandom(testSeed(t))
  const store = await temporaryStore(t)
  const totals = { new: 0, gone: 0, staying: 0 }
  for (let world = 0; world < WORLD_COUNT; world++) {
    const kind = random.pick(['uniform', 'grid', 'clustered'] as const)
    const sources = [1, 2].map((id) => {
      return { id, label: `S${id}`, columns: randomWorld(kind, 300, random) }
    })
    const service = serviceOf('000001-00000000', sources, localImages(sources, 100))
    const everybody = sources.map(({ id, columns }) => ({ id, people: peopleOf(columns) }))
    const near = () => {
      const { lngs, lats } = random.pick(sources).columns
      const at = random.between(0, lngs.length - 1)
      return [lngs[at], lats[at]] as const
    }
    const shapes = () => {
      const count = random.between(1, 4)
      return Array.from({ length: count }, () => randomAlertShape(random, near(), 4_000_000))
    }
    const chain = await keepChain(store, service, `s${world}`, shapes)
    for (let round = 0; round < 3; round++) {
      const digit = round === 0 ? 'none' : String(random.between(0, 9))
      markSuppressed(service.shards, (phone) => phone.endsWith(digit))
      const isThere = ({ phone }: Someone) => !phone.endsWith(digit)
      await checkChain(t, store, service, { chain, everybody, isThere, totals })
    }
  }
  for (const [part, count] of Object.entries(totals)) {
    t.ok(count > 5 * WORLD_COUNT, `${count} people are ${part}`)
  }
})

t.test('the same while people come and go', async (t) => {
  const random = seededRandom(testSeed(t))
  const store = await temporaryStore(t)
  const totals = { new: 0, gone: 0, staying: 0 }
  for (let world = 0; world < LIVE_WORLD_COUNT; world++) {
    const live = await liveWorld(t, random)
    const shapes = () =>
      Array.from({ length: random.between(1, 3) }, () =>
        randomAlertShape(random, [random.between(0, 99), random.between(0, 120)], 60),
      )
    const chain = await keepChain(store, live.service(), `l${world}`, shapes)
    for (let step = 0; step < 4; step++) {
      const { isThere } = live
      const known = { chain, everybody: live.everybody(), isThere, totals }
      await checkChain(t, store, live.service(), known)
      live.step()
    }
    live.close()
  }
  for (const [part, count] of Object.entries(totals)) {
    t.ok(count > 5 * LIVE_WORLD_COUNT, `${count} people are ${part}`)
  }
})

t.test('nobody is new or gone by a suppression while it is looked', async (t) => {
  const random = seededRandom(testSeed(t))
  const store = await temporaryStore(t)
  const seen = { staying: 0, left: 0 }
  for (let world = 0; world < byTier({ ci: 4, soak: 80 }); world++) {
    const columns = randomWorld('uniform', 300, random)
    const sources = [{ id: 1, label: 'S1', columns }]
    const square = (west: number): AlertShape => ({
      kind: 'polygon',
      ring: [
        [west, 42],
        [west + 0.7, 42],
        [west + 0.7, 43],
        [west, 43],
        [west, 42],
      ],
    })
    const [before, after] = [[square(-71)], [square(-70.7)]]
    let taskCount = 0
    // Before the second look, or before the third one.
    const at = random.between(2, 3)
    const digits = [String(random.between(0, 9)), String(random.between(0, 9))]
    const marked = (digit: string) => markSuppressed(plain.shards, (phone) => phone.endsWith(digit))
    const spread = (own: QueryRunner): QueryRunner => ({
      run: ((task, caller) => {
        if (++taskCount === at) marked(digits[1])
        return own.run(task, caller)
      }) as QueryRunner['run'],
    })
    const plain = serviceOf(
      '000001-00000000',
      sources,
      localImages(sources, 100),
      undefined,
      spread,
    )
    const id = `m${world}`
    const { put } = operationsOf(store, plain)
    await put(id, alertXml({ identifier: id, shapes: before }))
    const update = { identifier: `${id}u`, msgType: 'Update', references: [id] } as const
    await put(`${id}u`, alertXml({ ...update, shapes: after }))
    const people = peopleOf(columns)
    const wanted = verdictsOf(people, () => true, regionOf(before), regionOf(after))
    for (const part of ['new', 'gone', 'staying'] as const) {
      marked(digits[0])
      taskCount = 0
      const found = await listOf(
        await operationsOf(store, plain).changes({ Identifier: `${id}u`, part }),
      )
      const [listed = []] = found
      const inside = keysOf(people, wanted[part], 'inside')
      const strangers = listed.filter((key) => !inside.includes(key))
      t.same(strangers, [], `world ${world}: ${part} at task ${at}`)
      const never = (key: string) => !digits.some((digit) => key.split(' ')[0].endsWith(digit))
      t.same(listed.filter(never).sort(), inside.filter(never).sort(), 'who was never suppressed')
      seen.staying += listed.length
      seen.left += inside.length - listed.length
    }
  }
  t.ok(seen.left > 0 && seen.staying > 0)
})

t.test('a boundary of the service and of a key hold', async (t) => {
  const random = seededRandom(testSeed(t))
  const store = await temporaryStore(t)
  const columns = randomWorld('uniform', 500, random)
  const sources = [{ id: 1, label: 'S1', columns }]
  const boundary = box(-71, 42, -70.5, 42.5)
  const service = serviceOf(
    '000001-00000000',
    sources,
    localImages(sources, 100),
    createBoundaryRule(() => boundary, true),
  )
  const at: AlertShape = { kind: 'polygon', ring: box(-71, 42, -70.4, 43).coordinates[0] }
  const { put, changes } = operationsOf(store, service)
  await put('b', alertXml({ identifier: 'b', shapes: [at] }))
  const cancel = { identifier: 'bc', msgType: 'Cancel', references: ['b'] } as const
  await put('bc', alertXml(cancel))
  const people = peopleOf(columns)
  const countOf = (limit: object) => {
    const region = regionOf([{ kind: 'polygon', ring: (limit as typeof boundary).coordinates[0] }])
    return people.filter(({ lng, lat }) => region(lng, lat) === 'inside').length
  }
  const [{ GoneCount }] = (await jsonOf(await changes({ Identifier: 'bc' }))).SourceRecords
  t.equal(GoneCount, countOf(boundary))
  const ofKey = box(-71, 42, -70.9, 42.5)
  const caller = { ...inTime(), access: { ...inTime().access, boundary: ofKey } }
  const answer = await operationsOf(store, service, caller).changes({ Identifier: 'bc' })
  t.equal((await jsonOf(answer)).SourceRecords[0].GoneCount, countOf(ofKey))
  t.ok(countOf(ofKey) > 0 && countOf(ofKey) < countOf(boundary))
})

interface Someone {
  readonly phone: string
  readonly lng: number
  readonly lat: number
}

type Everybody = readonly { readonly id: number; readonly people: readonly Someone[] }[]

/** Alerts that were kept, and what each comparison of two of them is about. */
interface Chain {
  readonly comparisons: readonly {
    readonly members: Readonly<Record<string, unknown>>
    readonly before: readonly AlertShape[]
    readonly after: readonly AlertShape[]
  }[]
}

/** Two alerts, an update of both, an update of that which names all before it, and its cancel. */
async function keepChain(
  store: Store,
  service: SelectionService,
  name: string,
  shapesOf: () => readonly AlertShape[],
): Promise<Chain> {
  const { put } = operationsOf(store, service)
  const ids = ['a', 'b', 'c', 'd', 'e'].map((letter) => `${name}${letter}`)
  const [a, b, c, d] = [shapesOf(), shapesOf(), shapesOf(), shapesOf()]
  const [idA, idB, idC, idD, idE] = ids
  await put(idA, alertXml({ identifier: idA, shapes: a }))
  await put(idB, alertXml({ identifier: idB, shapes: b }))
  const update = { msgType: 'Update' } as const
  await put(idC, alertXml({ ...update, identifier: idC, references: [idA, idB], shapes: c }))
  const later = { ...update, identifier: idD, references: [idA, idB, idC], shapes: d }
  await put(idD, alertXml(later))
  await put(idE, alertXml({ identifier: idE, msgType: 'Cancel', references: ids.slice(0, 4) }))
  // Two that refer to each other, and one to both.
  const [idX, idY, idZ] = ['x', 'y', 'z'].map((letter) => `${name}${letter}`)
  await put(idX, alertXml({ ...update, identifier: idX, references: [idY], shapes: a }))
  await put(idY, alertXml({ ...update, identifier: idY, references: [idX], shapes: b }))
  await put(idZ, alertXml({ ...update, identifier: idZ, references: [idX, idY], shapes: c }))
  return {
    comparisons: [
      { members: { Identifier: idC }, before: [...a, ...b], after: c },
      { members: { Identifier: idD }, before: c, after: d },
      { members: { Identifier: idD, since: idA }, before: a, after: d },
      { members: { Identifier: idE }, before: d, after: [] },
      { members: { Identifier: idZ }, before: [...a, ...b], after: c },
      { members: { Identifier: idA, since: idE }, before: [], after: a },
      { members: { Identifier: idB, since: idB }, before: b, after: b },
    ],
  }
}

interface Known {
  readonly chain: Chain
  readonly everybody: Everybody
  readonly isThere: (someone: Someone, sourceId: number) => boolean
  readonly totals: Record<'new' | 'gone' | 'staying', number>
}

async function checkChain(
  t: Test,
  store: Store,
  service: SelectionService,
  { chain, everybody, isThere, totals }: Known,
): Promise<void> {
  const { changes } = operationsOf(store, service)
  for (const { members, before, after } of chain.comparisons) {
    const what = JSON.stringify(members)
    const regions = [regionOf(before), regionOf(after)] as const
    const verdictsBySource = everybody.map(({ id, people }) =>
      verdictsOf(people, (each) => isThere(each, id), ...regions),
    )
    const counts = await jsonOf(await changes(members))
    const parts = { new: 'NewCount', gone: 'GoneCount', staying: 'StayingCount' } as const
    for (const [part, countName] of Object.entries(parts) as [keyof typeof parts, string][]) {
      const listed = await listOf(await changes({ ...members, part }))
      const counted = await jsonOf(await changes({ ...members, part, countsOnly: true }))
      for (const [at, { people }] of everybody.entries()) {
        const verdicts = verdictsBySource[at][part]
        const doubtful = keysOf(people, verdicts, 'either')
        const sure = listed[at].filter((key) => !doubtful.includes(key))
        const wanted = keysOf(people, verdicts, 'inside')
        if (sure.sort().join() !== wanted.sort().join()) t.same(sure, wanted, `${part} ${what}`)
        if (counts.SourceRecords[at][countName] !== listed[at].length)
          t.fail(`${countName} ${what}`)
        if (counted.SourceRecords[at].Count !== listed[at].length) t.fail(`Count ${part} ${what}`)
        totals[part] += sure.length
      }
      const one = await listOf(await changes({ ...members, part, sources: [everybody[1].id] }))
      t.same(one, [listed[1]])
    }
  }
}

function verdictsOf(
  people: readonly Someone[],
  isThere: (someone: Someone) => boolean,
  before: ReturnType<typeof regionOf>,
  after: ReturnType<typeof regionOf>,
) {
  const places = people.map((each) => ({
    was: isThere(each) ? before(each.lng, each.lat) : 'outside',
    is: isThere(each) ? after(each.lng, each.lat) : 'outside',
  }))
  const of = (judge: (was: Verdict, is: Verdict) => Verdict) =>
    places.map(({ was, is }) => judge(was, is))
  return {
    new: of((was, is) => without(is, was)),
    gone: of((was, is) => without(was, is)),
    staying: of(both),
  }
}

function keysOf(people: readonly Someone[], verdicts: readonly Verdict[], wanted: Verdict) {
  return people
    .filter((_, at) => verdicts[at] === wanted)
    .map(({ phone, lng, lat }) => `${phone} ${lng / 1e7} ${lat / 1e7}`)
}

function peopleOf(columns: ReturnType<typeof randomWorld>): Someone[] {
  const { lngs, lats, phones, phoneOffsets, recipientCount } = columns
  return Array.from({ length: recipientCount }, (_, row) => ({
    phone: Buffer.from(phones.subarray(phoneOffsets[row], phoneOffsets[row + 1])).toString(),
    lng: lngs[row],
    lat: lats[row],
  }))
}

function operationsOf(store: Store, service: SelectionService, caller = inTime()) {
  const current = always(service)
  const changed = alertChangeOperations({ store, current })
  let alerts: ReturnType<typeof alertOperations> | undefined
  return {
    put: async (Identifier: string, cap: string) => {
      alerts ??= keepingAlerts(store, current)
      await alerts.PutAlertRequest({ Identifier, cap }, inTime())
    },
    changes: async (members: Readonly<Record<string, unknown>>) =>
      (await changed.GetAlertChangesRequest(members, caller)) as Answer,
  }
}

function keepingAlerts(store: Store, current: ReturnType<typeof createCurrent>) {
  const suppressionProgress = createProgress()
  const counts = startLiveCounts({ store, current, suppressionProgress, log: silentLog })
  counts.stop()
  const runner = { run: async (task: unknown) => ({ value: runTask(task as OutlineTask) }) }
  const read = contextReader(store, counts)
  return alertOperations({ store, read, areas: () => undefined, runner })
}

async function jsonOf(answer: Answer) {
  return JSON.parse(await bodyText(answer.json()))
}

/** Of each source, who is listed. */
async function listOf(answer: Answer): Promise<string[][]> {
  interface Listed {
    readonly Number: string
    readonly LatLng: { readonly Lat: number; readonly Lng: number }
  }
  const { SourceRecords } = await jsonOf(answer)
  return SourceRecords.map(({ Recipients }: { Recipients: Listed[] }) =>
    Recipients.map(({ Number: phone, LatLng }) => `${phone} ${LatLng.Lng} ${LatLng.Lat}`),
  )
}

function box(west: number, south: number, east: number, north: number) {
  const ring = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ]
  return { type: 'Polygon', coordinates: [ring] }
}

async function liveWorld(t: Test, random: Random) {
  const hasKeys = [true, random.unit() < 0.5]
  const made = new Map<number, Person>()
  let people = SOURCE_IDS.map(() =>
    Array.from({ length: 50 }, (_, at) => randomPerson(made, `k${at}`, random)),
  )
  const { live, snapshot, close } = await openedLive(temporaryDirectory(t), people, hasKeys)
  const own = serviceOf(snapshot.id, snapshot.sources, snapshot.shards)
  let moment = 0
  const step = () => {
    const source = random.between(0, 1)
    const changes = randomChanges(made, people[source], hasKeys[source], random)
    const sent = changes.map(({ change }) => change)
    live.apply(SOURCE_IDS[source], sent, ++moment)
    people = people.map((each, at) =>
      at === source ? changedBy(each, changes, hasKeys[at]) : each,
    )
    const increment = live.takeChanged()
    if (increment !== undefined) own.add(increment)
  }
  return {
    service: () => own.views.newest,
    everybody: (): Everybody => people.map((each, at) => ({ id: SOURCE_IDS[at], people: each })),
    isThere: () => true,
    step,
    close,
  }
}
