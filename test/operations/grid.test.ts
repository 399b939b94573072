/**
 * Grids of random requests, against lists and counts of the same requests: everybody who is listed, put on the grid
 * one by one.
 */
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { limits } from '../../src/limits.js'
import { OPEN_ACCESS } from '../../src/selection/access.js'
import { answer } from '../../src/selection/answer.js'
import { createBoundaryRule } from '../../src/selection/boundary.js'
import { columnsOf } from '../support/data/columns.js'
import { markSuppressed } from '../support/data/marked.js'
import { withRepeatedPhones } from '../support/data/repeated-phones.js'
import { expectedCells, type Place, randomGrid } from '../support/grids/expected-grid.js'
import { cellsIn, gridOf, gridText } from '../support/grids/grid-of.js'
import { testSeed } from '../support/random/properties.js'
import { kindsOfWorld, randomBoundary, randomRequest } from '../support/random/requests.js'
import {
  globeWorldKinds,
  type Random,
  randomWorld,
  seededRandom,
  worldKinds,
} from '../support/random/world.js'
import { bodyText } from '../support/service/body-text.js'
import { inTime } from '../support/service/in-time.js'
import {
  type LocalService,
  localImages,
  localService,
  serviceOf,
} from '../support/service/local-service.js'
import { byTier } from '../support/tier.js'

const WORLD_COUNT = byTier({ ci: 5, soak: 60 })
const REQUEST_COUNT = 15

const WORLD = {
  type: 'Polygon',
  coordinates: [
    [
      [-180, -90],
      [180, -90],
      [180, 90],
      [-180, 90],
      [-180, -90],
    ],
  ],
}

t.test('grids have whom lists have, and as many as counts have', async (t) => {
  const seed = testSeed(t)
  let [answeredCount, cellCount, outsideCount] = [0, 0, 0]
  for (let worldNumber = 0; worldNumber < WORLD_COUNT; worldNumber++) {
    const random = seededRandom((seed * 1_000_003 + worldNumber) | 0)
    const { service, columns } = worldOf(random)
    for (let count = 0; count < REQUEST_COUNT; count++) {
      const request = randomRequest(columns, [7, 30], kindsOfWorld(worldNumber), random)
      const listed = await listedBy(service, request)
      if (listed === undefined) continue
      const at = random.between(0, columns.recipientCount - 1)
      const members = randomGrid({ lng: columns.lngs[at], lat: columns.lats[at] }, random)
      const grid = await gridOf(service, { ...request, ...members })
      const what = `world ${worldNumber}: ${JSON.stringify({ ...request, ...members })}`
      const [cells, expected] = [cellsIn(grid), expectedCells(listed, members)]
      // It is quicker than t.same, which says what differs.
      if (!isDeepStrictEqual(cells, expected)) return void t.same(cells, expected, what)
      const { Count = 0, OutsideCount = 0 } = grid
      t.equal(Count, sumOf(cells))
      t.equal(Count + OutsideCount, await countedBy(service, request), 'as counts have it')
      t.equal('OutsideCount' in grid, 'tile' in members)
      answeredCount++
      cellCount += Object.keys(cells).length
      outsideCount += OutsideCount
    }
  }
  t.ok(answeredCount > 0.8 * WORLD_COUNT * REQUEST_COUNT, `${answeredCount} were answered`)
  t.ok(cellCount > answeredCount && outsideCount > 0, `${cellCount} cells had somebody`)
})

t.test('small counts are left out, and nothing that says their sum', async (t) => {
  const random = seededRandom(testSeed(t))
  let suppressedCount = 0
  for (let round = 0; round < byTier({ ci: 5, soak: 60 }); round++) {
    const { service, columns } = worldOf(random)
    const members = randomGrid({ lng: columns.lngs[0], lat: columns.lats[0] }, random)
    const minCount = random.between(2, 30)
    const all = cellsIn(await gridOf(service, { geoJSON: WORLD, ...members }))
    const kept = Object.fromEntries(Object.entries(all).filter(([, count]) => count >= minCount))
    const grid = await gridOf(service, { geoJSON: WORLD, ...members, minCount })
    t.same(cellsIn(grid), kept)
    t.equal(grid.Count, sumOf(kept), 'the sum of what is shown')
    t.equal(grid.SuppressedCellCount, Object.keys(all).length - Object.keys(kept).length)
    t.notOk('OutsideCount' in grid)
    suppressedCount += grid.SuppressedCellCount ?? 0
  }
  t.ok(suppressedCount > 0)
  const { service } = worldOf(random)
  const whole = await gridOf(service, { geoJSON: WORLD, tile: '0/0/0', minCount: 1 })
  t.equal(whole.SuppressedCellCount, 0)
  t.ok('OutsideCount' in whole, 'a minCount of 1 leaves nobody out')
})

t.test('each format has the same cells', async (t) => {
  const random = seededRandom(testSeed(t))
  const { service, columns } = worldOf(random)
  const place = { lng: columns.lngs[0], lat: columns.lats[0] }
  for (let round = 0; round < 20; round++) {
    const request = { geoJSON: WORLD, ...randomGrid(place, random) }
    const { Cells = [], Count } = await gridOf(service, request)
    const lines = Cells.map(({ Cell, Count }) => `${Cell},${Count}\r\n`)
    t.equal(await gridText(service, request, 'csv'), `Cell,Count\r\n${lines.join('')}`)
    const collection = JSON.parse(await gridText(service, request, 'geojson'))
    t.equal(collection.type, 'FeatureCollection')
    t.equal(collection.Count, Count)
    t.same(
      collection.features.map(({ properties }: { properties: object }) => properties),
      Cells,
    )
  }
})

t.test('the area of a cell of a tile selects whom the cell counts', async (t) => {
  const random = seededRandom(testSeed(t))
  const columns = randomWorld('clustered', 2_000, random)
  const service = localService([{ id: 7, label: 'A', columns }], 300)
  let cellCount = 0
  for (const cellsPerSide of [16, 256]) {
    const request = { tile: '0/0/0', cellsPerSide }
    const text = await gridText(service, { geoJSON: WORLD, ...request }, 'geojson')
    for (const { geometry, properties } of JSON.parse(text).features) {
      t.equal(await countedBy(service, { geoJSON: geometry }), properties.Count)
      cellCount++
    }
  }
  t.ok(cellCount > 50, `${cellCount} cells`)
})

t.test('a grid is named by one of its members, within its bounds', async (t) => {
  const service = localService([{ id: 7, label: 'A', columns: peopleAt([{ lng: 5, lat: 5 }]) }])
  const ask = (members: object) => gridOf(service, { geoJSON: WORLD, ...members })
  const refused: [members: object, field: string][] = [
    [{}, 'h3Resolution'],
    [{ h3Resolution: 7, tile: '0/0/0' }, 'tile'],
    [{ h3Resolution: -1 }, 'h3Resolution'],
    [{ h3Resolution: 16 }, 'h3Resolution'],
    [{ h3Resolution: 1.5 }, 'h3Resolution'],
    [{ h3Resolution: 'seven' }, 'h3Resolution'],
    [{ h3Resolution: 7, cellsPerSide: 16 }, 'cellsPerSide'],
    [{ tile: '0/0' }, 'tile'],
    [{ tile: '0/0/1' }, 'tile'],
    [{ tile: '3/8/0' }, 'tile'],
    [{ tile: '3/0/8' }, 'tile'],
    [{ tile: '-1/0/0' }, 'tile'],
    [{ tile: [3, 0, 0] }, 'tile'],
    [{ tile: '0/0/0', cellsPerSide: 0 }, 'cellsPerSide'],
    [{ tile: '0/0/0', cellsPerSide: 3 }, 'cellsPerSide'],
    [{ tile: '0/0/0', cellsPerSide: 2 * limits.gridSideCount }, 'cellsPerSide'],
    [{ tile: `${limits.gridCellZoom}/0/0`, cellsPerSide: 2 }, 'tile'],
    [{ tile: `${limits.gridCellZoom + 1}/0/0`, cellsPerSide: 1 }, 'tile'],
    [{ h3Resolution: 7, minCount: 0 }, 'minCount'],
    [{ h3Resolution: 7, minCount: limits.gridMinCount + 1 }, 'minCount'],
    [{ h3Resolution: 7, limit: 5 }, 'limit'],
    [{ h3Resolution: 7, after: 'x' }, 'after'],
    [{ h3Resolution: 7, partial: true }, 'partial'],
    [{ h3Resolution: 7, countsOnly: 'perhaps' }, 'countsOnly'],
  ]
  for (const [members, field] of refused) {
    await t.rejects(ask(members), { code: 'InvalidRequest', field }, JSON.stringify(members))
  }
  await t.rejects(ask({ h3Resolution: 7, cells: 5 }), { code: 'UnknownMember', field: 'cells' })
  const taken = [
    { h3Resolution: 0 },
    { H3Resolution: '15' },
    { tile: '0/0/0', cellsPerSide: limits.gridSideCount },
    { tile: `${limits.gridCellZoom}/${2 ** 24}/${2 ** 24 - 1}`, cellsPerSide: 1 },
    { h3Resolution: 7, minCount: limits.gridMinCount },
    { h3Resolution: 7, countsOnly: true },
  ]
  for (const members of taken) await ask(members)
})

t.test('cells and recipients are bounded', async (t) => {
  const bounds = { ...limits }
  t.teardown(() => Object.assign(limits, bounds))
  const places = Array.from({ length: 40 }, (_, at) => ({ lng: at * 10_000_000, lat: 5 }))
  const service = localService([{ id: 7, label: 'A', columns: peopleAt(places) }], 9)
  const ask = () => gridOf(service, { geoJSON: WORLD, h3Resolution: 9 })
  Object.assign(limits, { gridCellCount: 40 })
  t.equal((await ask()).Cells?.length, 40)
  Object.assign(limits, { gridCellCount: 39 })
  await t.rejects(ask(), { code: 'TooManyCells', field: 'h3Resolution' })
  Object.assign(limits, { gridCellCount: 40, gridRecipientCount: 40 })
  t.equal((await ask()).Count, 40)
  Object.assign(limits, { gridRecipientCount: 39 })
  await t.rejects(ask(), { code: 'TooManyRecipients' })
})

t.test('counts are enough for it, and lists are not', async (t) => {
  const service = localService([{ id: 7, label: 'A', columns: peopleAt([{ lng: 5, lat: 5 }]) }])
  const allowing = (scope: string) => ({
    ...inTime(),
    access: { ...OPEN_ACCESS, allows: (asked: string) => asked === scope },
  })
  const request = { geoJSON: WORLD, h3Resolution: 3 }
  t.equal((await gridOf(service, request, allowing('counts'))).Count, 1)
  await t.rejects(gridOf(service, request, allowing('lists')), { code: 'Forbidden' })
})

/** With repeated phones, people who are suppressed, and a boundary. */
function worldOf(random: Random) {
  const kind = random.pick([...worldKinds, ...globeWorldKinds])
  const sources = [7, 30].map((id) => ({
    id,
    label: `Source ${id}`,
    columns: withRepeatedPhones(
      randomWorld(kind, random.between(1, 400), random),
      random.pick([0, 0.3]),
      random,
    ),
  }))
  const { columns } = random.pick(sources)
  const geometry = randomBoundary(columns, random)
  const rule = createBoundaryRule(() => geometry, random.unit() < 0.2)
  const images = localImages(sources, random.between(20, 400))
  const service = serviceOf('000001-00000000', sources, images, rule)
  markSuppressed(service.shards, (phone) => phone.charCodeAt(phone.length - 1) % 7 === 0)
  return { service, columns }
}

function peopleAt(places: readonly Place[]) {
  return columnsOf(places.map((place, at) => ({ ...place, phone: `+999${at}`, contact: '' })))
}

interface Listed {
  readonly SourceRecords: readonly {
    readonly Count: number
    readonly Recipients?: readonly {
      readonly LatLng: { readonly Lat: number; readonly Lng: number }
    }[]
  }[]
}

/** Where everybody is who is listed; undefined where the request is refused. */
async function listedBy(service: LocalService, request: object): Promise<Place[] | undefined> {
  try {
    const { SourceRecords } = await answered(service, request)
    return SourceRecords.flatMap(({ Recipients = [] }) =>
      Recipients.map(({ LatLng: { Lat, Lng } }) => {
        return { lng: Math.round(Lng * 1e7), lat: Math.round(Lat * 1e7) }
      }),
    )
  } catch {
    return undefined
  }
}

async function countedBy(service: LocalService, request: object): Promise<number> {
  const { SourceRecords } = await answered(service, { ...request, countsOnly: true })
  return SourceRecords.reduce((sum, { Count }) => sum + Count, 0)
}

async function answered(service: LocalService, request: object): Promise<Listed> {
  const given = await answer(service, request as Record<string, unknown>, inTime())
  return JSON.parse(await bodyText(given.json())) as Listed
}

function sumOf(cells: Record<string, number>): number {
  return Object.values(cells).reduce((sum, count) => sum + count, 0)
}
