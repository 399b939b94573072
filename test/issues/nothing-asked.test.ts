/**
 * A request whose body was lost, and one with nothing drawn, were answered like a place without people: status 200,
 * zero for each source, and not a word. An exclusion without anything to take it from was so, too.
 *
 * @module
 */
import t from 'tap'
import { answer, type SelectionService, selectForList } from '../../src/selection/answer.js'
import { createBoundaryRule } from '../../src/selection/boundary.js'
import { parseRequest } from '../../src/selection/skeleton/sent-drawing.js'
import { columnsOf } from '../support/data/columns.js'
import { drawnSquare } from '../support/data/drawn-square.js'
import { gridOf } from '../support/grids/grid-of.js'
import { response } from '../support/random/outlines.js'
import { bodyText } from '../support/service/body-text.js'
import { inTime } from '../support/service/in-time.js'
import { localService } from '../support/service/local-service.js'

const person = { phone: '+9991', lng: 5_000_000, lat: 5_000_000, contact: '' }
const rings = [
  [-1, -1],
  [-1, 2],
  [2, 2],
  [2, -1],
]
const service: SelectionService = {
  ...localService([{ id: 1, label: 'A', columns: columnsOf([person]) }]),
  boundaryRule: createBoundaryRule(() => ({ rings: [rings] }), false),
}

const excluded = { type: 'Feature', geometry: drawnSquare, properties: { exclude: true } }
const withoutShapes: readonly object[] = [
  {},
  { sources: [1] },
  { clipToBoundary: true },
  { geoJSON: null },
  { geoJSON: {} },
  { geoJSON: { type: 'FeatureCollection', features: [] } },
  { geoJSON: { features: null } },
  { areas: [] },
]

t.test('a request with nothing drawn is answered with a warning', async (t) => {
  for (const request of withoutShapes) {
    for (const countsOnly of [true, false]) {
      const body = Buffer.from(JSON.stringify({ ...request, countsOnly }))
      const given = await answer(service, parseRequest(body), inTime())
      const { SourceRecords, Warnings } = JSON.parse(await bodyText(given.json()))
      t.match(SourceRecords, [{ Count: 0, Status: 'Ok' }])
      t.same(codesOf(Warnings), ['NothingAsked'], JSON.stringify(request))
      const header = given.headers['X-Warnings']
      t.same(header && JSON.parse(header), Warnings, 'which has a header in every format')
    }
    const { warnings } = (await selectForList(service, request as never, [], inTime())).remarks
    t.same(codesOf(warnings), ['NothingAsked'], 'as an audience')
  }
  t.same(codesOf((await response({})).Warnings), ['NothingAsked'], 'as an outline')
  t.same(codesOf((await gridOf(service, { h3Resolution: 5 })).Warnings), ['NothingAsked'])
})

t.test(
  'a request that only excludes is told so, one that has whom to exclude is not',
  async (t) => {
    const warned = async (request: object) => {
      const given = await answer(service, request as never, inTime())
      return given.warnings ?? []
    }
    t.match(await warned({ geoJSON: excluded }), [{ Code: 'NothingAsked', Message: /excludes/ }])
    const drawn = { type: 'Feature', geometry: drawnSquare }
    const both = { type: 'FeatureCollection', features: [excluded, drawn] }
    t.same(await warned({ geoJSON: both }), [])
    const geometry = { type: 'Point', coordinates: [0.5, 0.5] }
    const nearest = { type: 'Feature', geometry, properties: { nearest: 1 } }
    t.same(
      await warned({ geoJSON: { type: 'FeatureCollection', features: [excluded, nearest] } }),
      [],
      'the nearest are picked from everybody',
    )
    t.same(codesOf(await warned({ wkt: 'POLYGON EMPTY' })), ['NoGeometry'], 'and nothing twice')
  },
)

function codesOf(warnings: readonly { readonly Code?: string }[] = []): unknown[] {
  return warnings.map(({ Code }) => Code)
}
