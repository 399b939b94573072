/**
 * The operations on the map configuration.
 *
 * @module
 */
import t from 'tap'
import type { Answer } from '../../src/format/answer.js'
import { configurationOperations, customerBoundaryOf } from '../../src/operations/configuration.js'
import { temporaryStore } from '../support/data/store.js'
import { inTime } from '../support/service/in-time.js'

const jsonOf = (answer: Answer | undefined) => Buffer.from(answer?.json() as Uint8Array).toString()

t.test('a configuration that is posted is answered, served and counted by', async (t) => {
  const store = await temporaryStore(t)
  const { GetMapConfigurationRequest: get, PostMapConfigurationRequest: post } =
    configurationOperations(store)
  const builtIn = await get({}, inTime())
  t.match(JSON.parse(jsonOf(builtIn)), { contactCountMode: 'ContactLocation' })

  const written = { LAYERS: [{ ID: '7' }], mapdiv: 'x', ContactCountMode: 'contact', other: null }
  const posted = await post(written, inTime())
  t.equal(jsonOf(posted), '{"MapDiv":"x","contactCountMode":"Contact","layers":[{"id":7}]}')
  const got = await get({ MapDiv: 'is not looked at' }, inTime())
  t.equal(jsonOf(got), jsonOf(posted))
  t.equal(store.countMode(), 'Contact')
  t.equal(got?.heldBytes, jsonOf(got).length)

  await post({}, inTime())
  t.equal(jsonOf(await get({}, inTime())), '{}')
  t.equal(store.countMode(), 'ContactLocation')
})

t.test('a configuration that does not fit changes nothing', async (t) => {
  const store = await temporaryStore(t)
  const { PostMapConfigurationRequest: post } = configurationOperations(store)
  const { version } = store.configuration()
  const cases: [request: Record<string, unknown>, field: string][] = [
    [{ contactCountMode: 'People' }, 'contactCountMode'],
    [{ layers: [{}, { visible: 'maybe' }] }, 'layers[1].visible'],
    [{ MapDiv: 'a', mapDiv: 'b' }, 'MapDiv'],
  ]
  for (const [request, field] of cases) {
    const fault = { code: 'InvalidRequest', status: 400, field }
    await t.rejects(post(request, inTime()), fault, field)
  }
  t.equal(store.configuration().version, version)
})

t.test('an answer has a tag, the same for the same configuration', async (t) => {
  const store = await temporaryStore(t)
  const { GetMapConfigurationRequest: get, PostMapConfigurationRequest: post } =
    configurationOperations(store)
  const first = await get({}, inTime())
  t.match(first?.headers, { ETag: /^W\/"[0-9a-f]{32}"$/, 'Cache-Control': 'no-cache' })
  t.same((await get({}, inTime()))?.headers, first?.headers)
  const other = await post({ MapDiv: 'other' }, inTime())
  t.not(other?.headers.ETag, first?.headers.ETag)
  t.equal((await get({}, inTime()))?.headers.ETag, other?.headers.ETag)
})

t.test('a table has the base maps, a record all members', async (t) => {
  const store = await temporaryStore(t)
  const { PostMapConfigurationRequest: post } = configurationOperations(store)
  const Basemaps = [{ Title: 'Streets, all', Url: 'u' }, { ThumbnailUrl: 't' }]
  const answer = await post({ Basemaps, MapDiv: 'd' }, inTime())
  const table = 'Title,Url,ThumbnailUrl\r\n"Streets, all",u,\r\n,,t\r\n'
  t.equal(answer?.csv('flat'), table)
  t.equal(answer?.csv('sources'), table)
  const { header, row } = answer?.csvRecord() ?? {}
  t.match(header, /^MapDiv,TocDiv,.*,contactCountMode,.*,layers,.*SearchSources\r\n$/)
  t.match(row, /^d,,/)
  t.equal((await post({}, inTime()))?.csv('flat'), 'Title,Url,ThumbnailUrl\r\n')
})

t.test(
  'the boundary of the customer is that of the configuration that is stored now',
  async (t) => {
    const store = await temporaryStore(t)
    const { PostMapConfigurationRequest: post } = configurationOperations(store)
    const boundary = customerBoundaryOf(store)
    const ring = [
      [0, 0],
      [1, 0],
      [1, 1],
    ]
    await post({ CustomerBoundaryGeometry: { rings: [ring] } }, inTime())
    t.same(boundary(), { rings: [ring] })
    t.equal(boundary(), boundary(), 'read once')
    t.equal(store.configurationVersion(), store.configuration().version)
    await post({}, inTime())
    t.equal(boundary(), undefined)
  },
)
