/**
 * Masks are found once, kept within bounds, and never of another boundary.
 *
 * @module
 */

import t from 'tap'
import { OVERLOADED, ServiceError } from '../../src/errors.js'
import { limits } from '../../src/limits.js'
import type { QueryRunner } from '../../src/pool/tasks.js'
import { OPEN_ACCESS } from '../../src/selection/access.js'
import { answer, type SelectionService } from '../../src/selection/answer.js'
import { type Boundary, createBoundaryRule } from '../../src/selection/boundary.js'
import { createMasks } from '../../src/selection/masks.js'
import type { JsonObject } from '../../src/selection/parse.js'
import { maskBytes } from '../../src/shard/mask.js'
import { everywhere } from '../support/data/everywhere.js'
import { squareGeometry } from '../support/data/store.js'
import { randomWorld, seededRandom } from '../support/random/world.js'
import { bodyText } from '../support/service/body-text.js'
import { inTime, within } from '../support/service/in-time.js'
import { localService } from '../support/service/local-service.js'

const service = localService(
  [{ id: 1, label: 'A', columns: randomWorld('uniform', 1_000, seededRandom(1)) }],
  200,
)
const square = (degrees: number) => squareGeometry(-71, 42, degrees)
const boundaryOf = (geometry: object) =>
  createBoundaryRule(() => geometry, true).for(undefined, OPEN_ACCESS) as Boundary
const coverCount = () => service.tasks.filter(({ kind }) => kind === 'cover').length

/** At moment 0. */
function masksOf(options: Partial<Parameters<typeof createMasks>[0]> = {}) {
  const { catalogue } = service
  return createMasks({ ...service, ...options }).at({ moment: 0, catalogue, comeCounts: () => [] })
}

/** Bounds that hold what the first so many masks take. */
const plenty = {
  maskBytes: limits.maskBytes,
  masksKeptBytes: limits.masksKeptBytes,
  masksKeptCount: limits.masksKeptCount,
  masksSoughtCount: limits.masksSoughtCount,
  maskMomentsCount: limits.maskMomentsCount,
}

t.test('a mask is found once for all who ask, by what the boundary is', async (t) => {
  const masks = masksOf()
  const before = coverCount()
  const [one, two] = await Promise.all(
    [square(0.5), square(0.5)].map((each) => masks.of(boundaryOf(each), inTime())),
  )
  t.equal(one, two)
  const taskCount = coverCount() - before
  t.ok(taskCount > 0)
  t.equal(masks.of(boundaryOf(square(0.5)), inTime()), one, 'at once')
  t.equal(coverCount() - before, taskCount)
  t.not((await masks.of(boundaryOf(square(0.6)), inTime())).id, one.id)
})

t.test('as many are kept as there is room for, those that were asked for last', async (t) => {
  const boundaries = [0.2, 0.4, 0.6].map((degrees) => boundaryOf(square(degrees)))
  const sizes = await Promise.all(
    boundaries.map(async (each) => maskBytes(await masksOf().of(each, inTime()))),
  )
  const twoBytes = sizes[0] + sizes[2]
  for (const bounds of [{ masksKeptCount: 2 }, { masksKeptBytes: twoBytes }]) {
    const masks = masksOf({ bounds: { ...plenty, ...bounds } })
    const isKept = (each: Boundary) => !(masks.of(each, inTime()) instanceof Promise)
    await masks.of(boundaries[0], inTime())
    await masks.of(boundaries[1], inTime())
    t.ok(isKept(boundaries[0]), 'and asked for again')
    await masks.of(boundaries[2], inTime())
    t.ok(isKept(boundaries[0]))
    t.ok(isKept(boundaries[2]))
    t.notOk(isKept(boundaries[1]))
  }
  const masks = masksOf({ bounds: { ...plenty, masksKeptCount: 3 } })
  for (const each of boundaries) await masks.of(each, inTime())
  t.ok(boundaries.every((each) => !(masks.of(each, inTime()) instanceof Promise)))
})

t.test('a mask that is too large is refused, and not looked for again', async (t) => {
  const boundary = boundaryOf(square(0.5))
  const bytes = maskBytes(await masksOf().of(boundary, inTime()))
  const most = (maskBytes: number) => masksOf({ bounds: { ...plenty, maskBytes } })
  t.equal(maskBytes(await most(bytes).of(boundary, inTime())), bytes)
  const masks = most(bytes - 1)
  const refusal = { code: 'TooComplex', status: 422, field: 'clipToBoundary' }
  await t.rejects(async () => masks.of(boundary, inTime()), refusal)
  const before = coverCount()
  t.throws(() => masks.of(boundary, inTime()), refusal)
  t.equal(coverCount(), before)
})

t.test('what the workers cannot do is a fault of the boundary, or tried again', async (t) => {
  const faults = [new ServiceError('Unavailable', 'for the test'), OVERLOADED]
  const runner: QueryRunner = {
    run: (task, caller) => {
      const fault = faults.shift()
      return fault === undefined ? service.runner.run(task, caller) : Promise.reject(fault)
    },
  }
  const masks = masksOf({ runner, queryThreadCount: 1 })
  const boundary = boundaryOf(square(0.5))
  await t.rejects(async () => masks.of(boundary, inTime()), { code: 'Unavailable' })
  await t.rejects(async () => masks.of(boundary, inTime()), { code: 'Overloaded' })
  t.ok(await masks.of(boundary, inTime()))
  faults.push(new ServiceError('TooComplex', 'the shapes of this request cost too much'))
  await t.rejects(async () => masks.of(boundaryOf(square(0.7)), inTime()), {
    code: 'TooComplex',
    message: /^the boundary of this answer/,
  })
})

t.test(
  'nobody waits beyond the end of their time, and few masks are sought at a time',
  async (t) => {
    const runner: QueryRunner = { run: () => new Promise(() => {}) }
    const bounds = { ...plenty, masksSoughtCount: 2 }
    const masks = masksOf({ runner, bounds })
    const asks = [0.1, 0.2].map((each) => masks.of(boundaryOf(square(each)), within(20)))
    t.throws(() => masks.of(boundaryOf(square(0.3)), within(20)), OVERLOADED)
    for (const each of asks) await t.rejects(async () => each, { code: 'Unavailable' })
  },
)

/** How many are counted, who is listed, and the cursor of what follows. */
async function ask(from: SelectionService, request: JsonObject) {
  const list = await answer(from, { geoJSON: everywhere, ...request }, inTime())
  const { SourceRecords } = JSON.parse(await bodyText(list.json()))
  const [{ Count: count, Recipients: recipients }] = SourceRecords
  return { count, recipients, next: list.headers['X-Next-After'] }
}

t.test('the boundary holds by the request, or always', async (t) => {
  const rule = (isAlways: boolean) => createBoundaryRule(() => square(0.5), isAlways)
  const optional = { ...service, boundaryRule: rule(false) }
  const always = { ...service, boundaryRule: rule(true) }
  const { count: all } = await ask(optional, {})
  const { count: clipped } = await ask(optional, { ClipToBoundary: 'true' })
  t.equal(all, 1_000)
  t.ok(clipped > 100 && clipped < 500, `${clipped}`)
  t.equal((await ask(optional, { clipToBoundary: false })).count, all)
  for (const clipToBoundary of [undefined, null, false, true]) {
    t.equal((await ask(always, { clipToBoundary })).count, clipped)
  }
  await t.rejects(ask(optional, { clipToBoundary: 'perhaps' }), {
    code: 'InvalidRequest',
    field: 'clipToBoundary',
  })
})

t.test(
  'without a boundary a request is refused, and by a service that must have one all are',
  async (t) => {
    const wrong = {
      type: 'polygon',
      rings: [
        [
          [0, 0],
          [200, 100],
          [3, 3],
          [0, 0],
        ],
      ],
    }
    for (const [geometry, problem] of [
      [undefined, /^no customer boundary is configured/],
      [{}, /^no customer boundary is configured/],
      [{ rings: [] }, /^no customer boundary is configured/],
      [wrong, /^the customer boundary of the configuration is not a valid shape/],
    ] as const) {
      const optional = createBoundaryRule(() => geometry, false)
      const always = createBoundaryRule(() => geometry, true)
      t.equal(optional.fault(), undefined)
      t.match(always.fault(), problem)
      t.ok((await ask({ ...service, boundaryRule: optional }, {})).count > 0)
      const asked = ask({ ...service, boundaryRule: optional }, { clipToBoundary: true })
      const field = 'clipToBoundary'
      await t.rejects(asked, { code: 'InvalidRequest', status: 400, field, message: problem })
      for (const clipToBoundary of [undefined, false, true]) {
        const refused = ask({ ...service, boundaryRule: always }, { clipToBoundary })
        await t.rejects(refused, { code: 'BoundaryMissing', status: 503, message: problem })
      }
    }
  },
)

t.test('pages are those of the clipped list, and a cursor is of its boundary', async (t) => {
  let geometry = square(0.5)
  const clipped = { ...service, boundaryRule: createBoundaryRule(() => geometry, false) }
  const whole = await ask(clipped, { clipToBoundary: true })
  const listed: unknown[] = []
  let after: string | undefined
  do {
    const page = await ask(clipped, { clipToBoundary: true, limit: 70, after })
    t.equal(page.count, whole.count)
    listed.push(...page.recipients)
    after = page.next
  } while (after !== undefined)
  t.same(listed, whole.recipients)
  const { next: cursor } = await ask(clipped, { clipToBoundary: true, limit: 70 })
  const again = (request: JsonObject, from: SelectionService = clipped) =>
    ask(from, { limit: 70, after: cursor, ...request })
  await t.rejects(again({}), { code: 'InvalidRequest' }, 'without the boundary')
  await t.resolves(again({ clipToBoundary: true }))
  geometry = square(0.6)
  await t.rejects(again({ clipToBoundary: true }), { code: 'CursorExpired' })
})

t.test(
  'what must be found goes before other requests, and what may be drawn instead waits',
  async (t) => {
    for (const [isLetIn, expected] of [
      [undefined, true],
      [false, false],
    ]) {
      const seen: unknown[] = []
      const runner: QueryRunner = {
        run: (task, caller) => {
          seen.push(caller.isLetIn)
          return service.runner.run(task, caller)
        },
      }
      const masks = masksOf({ runner, ...(isLetIn === undefined ? {} : { isLetIn }) })
      await masks.of(boundaryOf(square(1)), inTime())
      t.ok(seen.length > 0)
      t.ok(seen.every((isOne) => isOne === expected))
    }
  },
)
