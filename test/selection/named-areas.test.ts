/**
 * A named area selects whom the same area selects when it is drawn, however it is named and whatever is
 * known of it.
 *
 * @module
 */
import t, { type Test } from 'tap'
import type { ServiceError } from '../../src/errors.js'
import { limits } from '../../src/limits.js'
import { answer, type SelectionService } from '../../src/selection/answer.js'
import { createBoundaryRule } from '../../src/selection/boundary.js'
import type { NamedArea } from '../../src/selection/named-areas.js'
import type { JsonObject } from '../../src/selection/parse.js'
import { validate } from '../../src/selection/validate.js'
import { markSuppressed } from '../support/data/marked.js'
import { namedAreas } from '../support/data/named-areas.js'
import {
  changedBy,
  openedLive,
  randomChanges,
  randomPerson,
  SOURCE_IDS,
} from '../support/random/live-world.js'
import { testSeed } from '../support/random/properties.js'
import { randomShape, shapeKinds } from '../support/random/shapes.js'
import { type Random, randomWorld, seededRandom, worldKinds } from '../support/random/world.js'
import { bodyText } from '../support/service/body-text.js'
import { temporaryDirectory } from '../support/service/hickory.js'
import { inTime } from '../support/service/in-time.js'
import { localImages, serviceOf } from '../support/service/local-service.js'
import { byTier } from '../support/tier.js'

const WORLD_COUNT = byTier({ ci: 6, soak: 150 })
const REQUEST_COUNT = 25

t.test('named and drawn areas select the same people', async (t) => {
  const random = seededRandom(testSeed(t))
  let foundCount = 0
  for (let world = 0; world < WORLD_COUNT; world++) {
    const { service, geometries, ids, suppress } = someWorld(random)
    for (let number = 0; number < REQUEST_COUNT; number++) {
      if (random.unit() < 0.1) suppress()
      const { named, drawn } = randomPair(random, geometries, ids)
      const what = `world ${world}: ${JSON.stringify(named)}`
      const [byName, again, byShape] = [
        await answered(service, named),
        await answered(service, named),
        await answered(service, drawn),
      ]
      t.equal(byName, byShape, what)
      t.equal(again, byShape, `once more, ${what}`)
      foundCount += JSON.parse(byShape).SourceRecords[0]?.Count ?? 0
    }
  }
  t.ok(foundCount > 10 * WORLD_COUNT, `${foundCount} people were found`)
})

t.test('counts of named areas follow changes and suppressions', async (t) => {
  const random = seededRandom(testSeed(t))
  for (let world = 0; world < byTier({ ci: 3, soak: 40 }); world++) {
    const { service, step, close } = await liveWorld(t, random)
    for (let moment = 0; moment < byTier({ ci: 6, soak: 10 }); moment++) {
      for (const request of LIVE_REQUESTS) {
        const what = `world ${world}, moment ${moment}, ${JSON.stringify(request)}`
        const { areas, ...others } = request
        const geoJSON = { type: 'GeometryCollection', geometries: areas.map((id) => HALVES[id]) }
        const drawn = await answered(service(), { ...others, geoJSON })
        t.equal(await answered(service(), request), drawn, what)
        t.equal(await answered(service(), request), drawn, `again, ${what}`)
      }
      step()
    }
    close()
  }
})

t.test('what is known is asked for no more, until something changes', async (t) => {
  const world = someWorld(seededRandom(1), 'uniform')
  const { service, tasks } = world
  const request = { areas: [world.ids[0]], countsOnly: true }
  const asked = async (sent: JsonObject, counts: { cover: number; count: number }) => {
    const before = tasks.length
    await answered(service, sent)
    const kinds = tasks.slice(before).map(({ kind }) => kind)
    t.equal(kinds.filter((kind) => kind === 'cover').length, counts.cover, JSON.stringify(sent))
    t.equal(kinds.filter((kind) => kind === 'count').length > 0, counts.count > 0)
  }
  await asked(request, { cover: 1, count: 1 })
  await asked(request, { cover: 0, count: 0 })
  await asked({ ...request, areas: world.ids[0] }, { cover: 0, count: 0 })
  await asked({ ...request, sources: [1] }, { cover: 0, count: 1 })
  await asked({ ...request, contactCountMode: 'Contact' }, { cover: 0, count: 1 })
  await asked({ ...request, distinct: true }, { cover: 0, count: 1 })
  world.suppress()
  await asked(request, { cover: 0, count: 1 })
  await asked(request, { cover: 0, count: 0 })
})

t.test('an area that is not known is refused, and never nobody', async (t) => {
  const areas = namedAreas({ 'counties:48201': SQUARE })
  const fault = (request: JsonObject, known: typeof areas | undefined = areas) =>
    faultOf(() => validate(request, undefined, undefined, known))
  t.match(fault({ areas: ['counties:48201', 'counties:48202'] }), {
    code: 'UnknownArea',
    status: 404,
    field: 'areas[1]',
    message: 'areas[1] is the name of no area: do you mean counties:48201?',
  })
  t.match(fault({ areas: 'nowhere' }), {
    code: 'UnknownArea',
    field: 'areas',
    message: /\/api\/areas/,
  })
  t.match(
    faultOf(() => validate({ areas: ['counties:48201'] })),
    { code: 'UnknownArea', field: 'areas[0]', message: /knows none/ },
  )
  const feature = (properties: object, geometry: unknown = null) => ({
    geoJSON: { type: 'FeatureCollection', features: [{ type: 'Feature', properties, geometry }] },
  })
  t.match(fault(feature({ area: 'x' })), {
    code: 'UnknownArea',
    field: 'geoJSON.features[0].properties.area',
  })
  t.match(fault(feature({ Area: ['counties:48201', 'x'] })), {
    code: 'UnknownArea',
    field: 'geoJSON.features[0].properties.area[1]',
  })
  t.match(fault(feature({ area: 17 })), { code: 'InvalidRequest' })
  t.match(fault(feature({ areas: ['counties:48201'] })), {
    code: 'InvalidGeoJson',
    field: 'geoJSON.features[0].properties.areas',
  })
  for (const value of [17, {}, [17], [null]]) {
    t.match(fault({ areas: value }), { code: 'InvalidRequest', field: /^areas/ }, String(value))
  }
  t.equal(fault({ areas: [] }), undefined)
  t.equal(fault({ areas: null }), undefined)
  t.equal(
    fault(feature({ area: 17 }, SQUARE)),
    undefined,
    "beside a geometry it is the client's own",
  )
  t.equal(fault(feature({ area: 'x' }, SQUARE)), undefined)
  t.match(fault(feature({ area: 'counties:48201', nearest: 3 })), { code: 'InvalidNearest' })
  t.match(fault(feature({ area: [], nearest: 3 })), { code: 'InvalidNearest' }, 'of nobody, too')
})

t.test('names and their positions are bounded', async (t) => {
  const areas = namedAreas({ 'a:1': SQUARE })
  const names = Array.from({ length: limits.areaNameCount + 1 }, (_, i) => `a:${i}`)
  const read = (sent: unknown, known = areas) =>
    faultOf(() => validate({ areas: sent }, undefined, undefined, known))
  t.match(read(names), { code: 'TooComplex', field: 'areas' })
  t.match(read(names.slice(1)), { code: 'UnknownArea' })
  const { polygons } = areas.find('a:1') as NamedArea
  const many = (vertexCount: number) => ({
    ...areas,
    find: () => ({
      id: 'a:1',
      polygons: { ...polygons, vertices: new Float64Array(2 * vertexCount) },
    }),
  })
  t.equal(read('a:1', many(limits.namedVertexCount)), undefined)
  t.match(read('a:1', many(limits.namedVertexCount + 1)), {
    code: 'TooManyVertices',
    field: 'areas',
  })
  t.match(read(['a:1', 'a:2'], many(limits.namedVertexCount / 2 + 1)), { field: 'areas[1]' })
})

const SQUARE = {
  type: 'Polygon',
  coordinates: [
    [
      [0, 0],
      [1, 0],
      [1, 1],
      [0, 1],
      [0, 0],
    ],
  ],
}

/** A request that names areas, and one that draws the same. */
function randomPair(random: Random, geometries: Record<string, object>, ids: readonly string[]) {
  const names = Array.from({ length: random.between(1, 3) }, () => random.pick(ids))
  const options = {
    ...(random.unit() < 0.7 && { countsOnly: true }),
    ...(random.unit() < 0.2 && { contactCountMode: 'Contact' }),
    ...(random.unit() < 0.2 && { distinct: true }),
    ...(random.unit() < 0.2 && { sources: [random.between(1, 2)] }),
    ...(random.unit() < 0.2 && { clipToBoundary: true }),
  }
  const drawnOf = (id: string) => ({ type: 'Feature', properties: {}, geometry: geometries[id] })
  const collection = (features: object[]) => ({ type: 'FeatureCollection', features })
  if (random.unit() < 0.5) {
    const sent = names.length === 1 && random.unit() < 0.5 ? names[0] : names
    return {
      named: { areas: sent, ...options },
      drawn: { geoJSON: collection(names.map(drawnOf)), ...options },
    }
  }
  // As features, of which each may take away, reach farther or hold for one source.
  const properties = names.map(() => ({
    ...(random.unit() < 0.3 && { exclude: true }),
    ...(random.unit() < 0.2 && { buffer: random.between(1, 2_000) }),
    ...(random.unit() < 0.2 && { sources: [random.between(1, 2)] }),
  }))
  const other = random.unit() < 0.3 ? [drawnOf(random.pick(ids))] : []
  const named = names.map((area, i) => {
    return { type: 'Feature', properties: { ...properties[i], area }, geometry: null }
  })
  const drawn = names.map((id, i) => ({ ...drawnOf(id), properties: properties[i] }))
  return {
    named: { geoJSON: collection([...named, ...other]), ...options },
    drawn: { geoJSON: collection([...drawn, ...other]), ...options },
  }
}

function someWorld(random: Random, kind = random.pick(worldKinds)) {
  const sources = [1, 2].map((id) => {
    return { id, label: `S${id}`, columns: randomWorld(kind, 300, random) }
  })
  const geometries: Record<string, object> = {}
  for (let at = 0; at < 6; at++) {
    const { lngs, lats } = random.pick(sources).columns
    const centre = random.between(0, lngs.length - 1)
    const shape = randomShape(random.pick(shapeKinds), random, lngs[centre], lats[centre])
    geometries[`areas:${at}`] = { type: 'MultiPolygon', coordinates: shape }
  }
  const ids = Object.keys(geometries)
  let version = 0
  const areas = namedAreas(geometries)
  const own = serviceOf(
    '000001-00000000',
    sources,
    localImages(sources, 100),
    createBoundaryRule(() => geometries['areas:0'], false),
    undefined,
    { suppressionVersion: () => version, areas: () => areas },
  )
  const suppress = () => {
    const digit = String(random.between(0, 9))
    markSuppressed(own.shards, (phone) => phone.endsWith(digit))
    version++
  }
  return { service: own as SelectionService, tasks: own.tasks, geometries, ids, suppress }
}

/** In units of the live worlds, which are small. */
const HALVES: Readonly<Record<string, object>> = {
  'half:west': box(-1, 50),
  'half:east': box(50, 101),
  'half:middle': box(25, 75),
}

const LIVE_REQUESTS = [
  { areas: ['half:west'], countsOnly: true },
  { areas: ['half:east'] },
  { areas: ['half:middle', 'half:east'], countsOnly: true },
  { areas: ['half:middle'], countsOnly: true, contactCountMode: 'Contact' },
  { areas: ['half:middle'], countsOnly: true, distinct: true },
]

function box(west: number, east: number) {
  const degrees = (units: number) => units / 1e7
  const [w, e, s, n] = [west, east, -10, 99_999].map(degrees)
  return {
    type: 'Polygon',
    coordinates: [
      [
        [w, s],
        [e, s],
        [e, n],
        [w, n],
        [w, s],
      ],
    ],
  }
}

async function liveWorld(t: Test, random: Random) {
  const hasKeys = [true, random.unit() < 0.5]
  const made = new Map()
  let people = SOURCE_IDS.map(() =>
    Array.from({ length: random.between(0, 60) }, (_, at) => randomPerson(made, `k${at}`, random)),
  )
  const { live, snapshot, close } = await openedLive(temporaryDirectory(t), people, hasKeys)
  let version = 0
  const areas = namedAreas(HALVES)
  const own = serviceOf(snapshot.id, snapshot.sources, snapshot.shards, undefined, undefined, {
    suppressionVersion: () => version,
    areas: () => areas,
  })
  let moment = 0
  const step = () => {
    if (random.unit() < 0.3) {
      const digit = String(random.between(0, 9))
      markSuppressed(
        own.shards.filter(({ marks }) => marks !== null),
        (phone) => phone.endsWith(digit),
      )
      version++
      return
    }
    const source = random.between(0, 1)
    const changes = randomChanges(made, people[source], hasKeys[source], random)
    moment++
    live.apply(
      SOURCE_IDS[source],
      changes.map(({ change }) => change),
      moment,
    )
    people = people.map((each, at) =>
      at === source ? changedBy(each, changes, hasKeys[at]) : each,
    )
    const increment = live.takeChanged()
    if (increment !== undefined) own.add(increment)
  }
  return { service: () => own.views.newest, step, close }
}

async function answered(service: SelectionService, request: JsonObject): Promise<string> {
  const found = await answer(service, request, inTime())
  const body = JSON.parse(await bodyText(found.json()))
  t.equal(found.headers['X-Snapshot'], service.catalogue.snapshotId)
  // What warnings say of a place, they say of its path.
  return JSON.stringify({ ...body, Warnings: undefined })
}

function faultOf(read: () => unknown): ServiceError | undefined {
  try {
    read()
  } catch (fault) {
    return fault as ServiceError
  }
  return undefined
}
