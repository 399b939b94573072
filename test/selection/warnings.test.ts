/**
 * What an answer warns of.
 *
 * @module
 */
import t from 'tap'
import type { Warning } from '../../src/interface/warnings.js'
import { limits } from '../../src/limits.js'
import { answer, type SelectionService } from '../../src/selection/answer.js'
import { createBoundaryRule } from '../../src/selection/boundary.js'
import { parseRequest } from '../../src/selection/skeleton/sent-drawing.js'
import { columnsOf } from '../support/data/columns.js'
import { bodyText } from '../support/service/body-text.js'
import { inTime } from '../support/service/in-time.js'
import { localService } from '../support/service/local-service.js'

/** Source 1 is around 11 east, 48 north; source 2 around 100 west, 40 north; source 3 has nobody. */
const service = localService([
  { id: 1, label: 'A', columns: columnsOf([person(11, 48), person(12, 49)]) },
  { id: 2, label: 'B', columns: columnsOf([person(-100, 40), person(-99, 41)]) },
  { id: 3, label: 'C', columns: columnsOf([]) },
])
const filled: SelectionService = {
  ...service,
  catalogue: { ...service.catalogue, sources: service.catalogue.sources.slice(0, 2) },
}

function person(lng: number, lat: number) {
  return { phone: `+999${lng}${lat}`, lng: lng * 1e7, lat: lat * 1e7, contact: '' }
}

function square(lng: number, lat: number) {
  const corners = [
    [lng, lat],
    [lng + 1, lat],
    [lng + 1, lat + 1],
    [lng, lat + 1],
    [lng, lat],
  ]
  return { type: 'Polygon', coordinates: [corners] }
}

const feature = (geometry: object | null, properties: object = {}) => ({
  type: 'Feature',
  geometry,
  properties,
})
const collection = (...features: object[]) => ({ type: 'FeatureCollection', features })
const point = (lng: number, lat: number) => ({ type: 'Point', coordinates: [lng, lat] })
const line = {
  type: 'LineString',
  coordinates: [
    [11, 48],
    [12, 48.5],
  ],
}

async function asked(request: object, of: SelectionService = filled) {
  const members = parseRequest(Buffer.from(JSON.stringify(request)))
  const given = await answer(of, members, inTime())
  const { Warnings, ...rest } = JSON.parse(await bodyText(given.json()))
  const header = given.headers['X-Warnings']
  t.same(header && JSON.parse(header), Warnings, 'the header says the same')
  return { warnings: Warnings as Warning[] | undefined, rest }
}

async function codes(geoJSON: object, others: object = {}): Promise<string[]> {
  const { warnings = [] } = await asked({ countsOnly: true, geoJSON, ...others })
  return warnings.map(({ Code, Path }) => (Path === undefined ? `${Code}` : `${Code} ${Path}`))
}

t.test('an answer without a mistake has no warnings', async (t) => {
  for (const geoJSON of [
    square(11, 48),
    collection(feature(square(11, 48)), feature(square(-100, 40), { exclude: true })),
    feature(point(11, 48), { radius: 5 }),
    feature(point(11, 48), { nearest: 1 }),
    feature(line, { buffer: 5 }),
  ]) {
    for (const countsOnly of [true, false]) {
      const { warnings } = await asked({ countsOnly, geoJSON })
      t.equal(warnings, undefined, JSON.stringify(geoJSON))
    }
  }
})

t.test('a request that draws nothing that selects', async (t) => {
  for (const request of [{}, { geoJSON: collection() }, { geoJSON: {} }, { areas: [] }]) {
    const { warnings } = await asked(request)
    t.match(warnings, [{ Code: 'NothingAsked', Message: /^nothing is drawn/ }])
    t.equal(warnings?.length, 1)
  }
  const excluded = feature(square(11, 48), { exclude: true })
  t.same(await codes(excluded), ['NothingAsked'])
  t.same(await codes(collection(excluded, feature(point(11, 48), { nearest: 1 }))), [])
  t.same(await codes(collection(excluded, feature(null))), ['NoGeometry geoJSON.features[1]'])
})

t.test('features that select nobody, or hardly anybody', async (t) => {
  const empty = { type: 'Polygon', coordinates: [] }
  t.same(await codes(feature(null)), ['NoGeometry geoJSON'])
  t.same(await codes(empty), ['NoGeometry geoJSON'])
  t.same(await codes(collection(feature(square(11, 48)), feature(empty))), [
    'NoGeometry geoJSON.features[1]',
  ])
  t.same(await codes(point(11, 48)), ['PointWithoutRadius geoJSON'])
  t.same(await codes({ x: 11, y: 48 }), ['PointWithoutRadius geoJSON'])
  const points = {
    type: 'MultiPoint',
    coordinates: [
      [11, 48],
      [12, 49],
    ],
  }
  t.same(await codes(collection(feature(points))), ['PointWithoutRadius geoJSON.features[0]'])
  t.same(await codes(line), ['LineWithoutBuffer geoJSON'])
  t.same(await codes({ paths: [line.coordinates] }), ['LineWithoutBuffer geoJSON'])
})

t.test('shapes where nobody is near', async (t) => {
  t.same(await codes(square(0, 0)), ['NobodyNear geoJSON'])
  t.same(await codes(feature(point(0, 0), { radius: 1_000 })), ['NobodyNear geoJSON'])
  const drawn = collection(
    feature(square(11, 48)),
    feature(square(0, 0)),
    feature(square(0, 0), { exclude: true }),
    feature(square(11, 48), { sources: [2] }),
  )
  t.same(await codes(drawn), [
    'NobodyNear geoJSON.features[1]',
    'NobodyNear geoJSON.features[2]',
    'NobodyNear geoJSON.features[3]',
  ])
  t.same(await codes(square(11, 48), { sources: [2] }), ['NobodyNear geoJSON'])
})

t.test('latitude and longitude exchanged', async (t) => {
  const isExchanged = async (geoJSON: object) => {
    const { warnings = [] } = await asked({ countsOnly: true, geoJSON })
    return warnings.some(({ Message = '' }) => /exchanged/.test(Message))
  }
  t.ok(await isExchanged(square(48, 11)))
  t.ok(await isExchanged(feature(point(48, 11), { radius: 1_000 })))
  t.ok(await isExchanged(collection(feature(square(11, 48)), feature(square(48, 11)))))
  t.notOk(await isExchanged(square(11, -48)))
  t.notOk(await isExchanged(square(-170, 48)), 'a latitude of -170 is none')
  t.notOk(await isExchanged(feature(point(-170, 11), { radius: 1_000 })))
})

t.test('sources without recipients', async (t) => {
  const { warnings } = await asked({ countsOnly: true, geoJSON: square(11, 48) }, service)
  t.match(warnings, [{ Code: 'EmptySource', Message: /^source 3 / }])
  const named = await asked({ geoJSON: square(11, 48), sources: [1, 3] }, service)
  t.match(named.warnings, [{ Code: 'EmptySource', Path: 'sources' }])
  const others = await asked({ geoJSON: square(11, 48), sources: [1] }, service)
  t.equal(others.warnings, undefined)
  const nothing = await asked({ countsOnly: true }, service)
  t.match(nothing.warnings, [{ Code: 'NothingAsked' }])
  t.equal(nothing.warnings?.length, 1)
})

t.test(
  'shapes outside the customer boundary, and a boundary that holds all the same',
  async (t) => {
    const rings = [
      [
        [10, 40],
        [14, 40],
        [14, 42],
        [12, 42],
        [12, 50],
        [10, 50],
      ],
    ]
    const clipped = (isAlways: boolean): SelectionService => ({
      ...filled,
      boundaryRule: createBoundaryRule(() => ({ rings }), isAlways),
    })
    const clip = { countsOnly: true, clipToBoundary: true }
    for (const [geoJSON, expected] of [
      [square(11, 48), undefined],
      [square(-100, 40), 'OutsideBoundary'],
      // Its box meets the box of the boundary, which leaves this corner out.
      [square(12.5, 48), 'OutsideBoundary'],
      [feature(point(-100, 40), { radius: 5 }), 'OutsideBoundary'],
      [feature(point(11.5, 48.5), { radius: 5 }), undefined],
    ] as const) {
      const { warnings } = await asked({ ...clip, geoJSON }, clipped(false))
      t.equal(warnings?.[0].Code, expected, JSON.stringify(geoJSON))
      t.equal(
        (await asked({ countsOnly: true, geoJSON: square(12, 49) }, clipped(false))).warnings,
        undefined,
      )
    }
    const off = { geoJSON: square(11, 48), clipToBoundary: false }
    const held = await asked(off, clipped(true))
    t.match(held.warnings, [{ Code: 'BoundaryHolds', Path: 'clipToBoundary' }])
    t.equal((await asked(off, clipped(false))).warnings, undefined)
  },
)

t.test('there are so many warnings at most', async (t) => {
  const far = (count: number) => collection(...Array.from({ length: count }, () => feature(null)))
  const most = await codes(far(limits.warningCount - 1))
  t.equal(most.length, limits.warningCount - 1)
  t.notOk(most.includes('MoreWarnings'))
  const more = await codes(far(limits.warningCount))
  t.equal(more.length, limits.warningCount)
  t.equal(more.at(-1), 'MoreWarnings')
})

t.test('the next cursor is in the body, too', async (t) => {
  const request = { geoJSON: collection(feature(square(11, 48)), feature(null)), limit: 1 }
  const given = await answer(filled, parseRequest(Buffer.from(JSON.stringify(request))), inTime())
  const body = given.json()
  const text = await bodyText(body)
  const { NextAfter, Warnings } = JSON.parse(text)
  t.equal(NextAfter, given.headers['X-Next-After'])
  t.equal(Warnings.length, 1)
  const collected = JSON.parse(await bodyText(given.geoJson?.() ?? ''))
  t.match(collected, { NextAfter, Warnings })
  if (typeof body === 'object' && 'byteCount' in body) {
    t.equal(await body.byteCount?.(), Buffer.byteLength(text))
  }
})
