/**
 * Areas are looked ahead for, so that a request finds what is known, and requests are served first.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { answer, type SelectionService } from '../../src/selection/answer.js'
import { createBoundaryRule } from '../../src/selection/boundary.js'
import { warmAreas } from '../../src/serve/front-warm-areas.js'
import { columnsOf } from '../support/data/columns.js'
import { namedAreas } from '../support/data/named-areas.js'
import { inTime } from '../support/service/in-time.js'
import { localImages, serviceOf } from '../support/service/local-service.js'
import { until } from '../support/service/until.js'

const bounds = { areasWarmedCount: 100, areasWarmedShare: 1, areasLookMs: 1 }
const AREA_COUNT = 250

/** Along the equator; some on each side of each edge. */
const PEOPLE = Array.from({ length: 300 }, (_, at) => {
  return { phone: `+999${1000 + at}`, lng: at * 1e5, lat: (at % 7) * 1e6 - 3e6, contact: '' }
})

t.test('whom a request asks for is known', async (t) => {
  const { service, tasks, warmed } = world(t, { ...bounds, areasWarmedCount: 1_000 })
  await until(() => warmed().length === 1)
  t.equal(warmed()[0].areaCount, AREA_COUNT, 'of each page')
  const before = tasks.length
  t.ok(before >= AREA_COUNT, 'they are asked for each area')
  for (const number of [0, 99, 100, AREA_COUNT - 1]) {
    await answer(service, { countsOnly: true, areas: [`zone:${number}`] }, inTime())
  }
  t.equal(tasks.length, before, 'the shards are asked no more')
  await sleep(20)
  t.equal(warmed().length, 1, 'and it is looked once')
})

t.test('no more than so many areas are looked for', async (t) => {
  const { warmed } = world(t, bounds)
  await until(() => warmed().length === 1)
  t.equal(warmed()[0].areaCount, bounds.areasWarmedCount)
})

t.test('it rests for what one area took, by its share of the time', async (t) => {
  const { tasks } = world(t, { ...bounds, areasWarmedShare: 1e-6 })
  await until(() => tasks.length > 0)
  await sleep(50)
  const before = tasks.length
  await sleep(50)
  t.equal(tasks.length, before, 'the next one is looked for in minutes')
})

t.test('other areas are looked for, and none after the end', async (t) => {
  const { warmed, tasks, stop, setVersion } = world(t, bounds)
  await until(() => warmed().length === 1)
  setVersion('two')
  await until(() => warmed().length === 2)
  t.same(
    warmed().map(({ areasVersion }) => areasVersion),
    ['one', 'two'],
  )
  stop()
  setVersion('three')
  const before = tasks.length
  await sleep(20)
  t.equal(tasks.length, before)
})

/** A service of 300 people with areas in pages of 100, which are being looked for. */
function world(t: Test, bounds: Parameters<typeof warmAreas>[0]['bounds']) {
  const sources = [{ id: 1, label: 'A', columns: columnsOf(PEOPLE) }]
  const geometries = Object.fromEntries(
    Array.from({ length: AREA_COUNT }, (_, at) => [`zone:${at}`, square(at / 100)]),
  )
  const ids = Object.keys(geometries)
  let version = 'one'
  const areas = namedAreas(geometries)
  const found = () => ({ ...areas, version })
  const service = serviceOf(
    '000001-00000000',
    sources,
    localImages(sources, 100),
    createBoundaryRule(() => undefined, false),
    undefined,
    { suppressionVersion: () => 0, areas: found },
  )
  const logged: { areaCount: number; areasVersion: string }[] = []
  const stop = warmAreas({
    current: current(service),
    areas: () => ({
      version,
      search: ({ limit = 100, after }) => {
        const start = after === undefined ? 0 : Number(after)
        const page = ids.slice(start, start + limit)
        const end = start + page.length
        return {
          areas: page.map((id) => ({ id })) as never[],
          next: end < ids.length ? String(end) : undefined,
        }
      },
    }),
    log: { info: (fields: never) => logged.push(fields) } as never,
    ...(bounds && { bounds }),
  })
  t.teardown(stop)
  const setVersion = (to: string) => {
    version = to
  }
  return { service, tasks: service.tasks, warmed: () => logged, stop, setVersion }
}

function current(service: SelectionService) {
  return {
    newest: { service },
    hold: () => service,
    heldSinceMs: () => 0,
    use: <Value>(work: (service: SelectionService) => Promise<Value>) => work(service),
  }
}

function square(west: number) {
  const [east, south, north] = [west + 1, -0.15, 0.15]
  const ring = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ]
  return { type: 'Polygon', coordinates: [ring] }
}
