/**
 * What GetSourcesRequest tells of the snapshot and of its sources.
 *
 * @module
 */

import t from 'tap'
import type { Answer } from '../../src/format/answer.js'
import type { ServedSources } from '../../src/interface/sources.js'
import { sourceOperations } from '../../src/operations/selections.js'
import { OPEN_ACCESS } from '../../src/selection/access.js'
import { createBoundaryRule } from '../../src/selection/boundary.js'
import { columnsOf } from '../support/data/columns.js'
import { markSuppressed } from '../support/data/marked.js'
import { always } from '../support/service/current.js'
import { inTime } from '../support/service/in-time.js'
import { localService } from '../support/service/local-service.js'

/** Phones by place and contact: three in the west, of two contacts; two in the east, of one. */
const residents = columnsOf([
  { phone: '+9991', lng: -10e7, lat: 1e7, contact: 'a' },
  { phone: '+9992', lng: -11e7, lat: 2e7, contact: 'a' },
  { phone: '+9993', lng: -12e7, lat: 3e7, contact: 'b' },
  { phone: '+9994', lng: 10e7, lat: 1e7, contact: 'c' },
  { phone: '+9995', lng: 180e7, lat: 90e7, contact: 'c' },
])
const visitors = columnsOf([{ phone: '+9992', lng: 20e7, lat: -90e7, contact: 'd' }])

function served(boundaryRule = createBoundaryRule(() => undefined, false)) {
  const service = {
    ...localService(
      [
        { id: 1, label: 'Residents', columns: residents },
        { id: 7, label: 'Visitors; "all"', columns: visitors },
      ],
      2,
    ),
    boundaryRule,
  }
  const current = always(service)
  const { GetSourcesRequest } = sourceOperations(current)
  return {
    service,
    current,
    get: async (asker = inTime()) => (await GetSourcesRequest({}, asker)) as Answer,
    ask: (request: Record<string, unknown>) => GetSourcesRequest(request, inTime()),
  }
}

const read = (answer: Answer) =>
  JSON.parse(Buffer.from(answer.json() as Uint8Array).toString()) as ServedSources

const west = {
  type: 'Polygon',
  coordinates: [
    [
      [-30, -10],
      [0, -10],
      [0, 10],
      [-30, 10],
      [-30, -10],
    ],
  ],
}

t.test('the snapshot and its sources are told, with everybody in them', async (t) => {
  const beforeMs = Date.now()
  const { get } = served()
  const answer = await get()
  const { ServedSince, ...rest } = read(answer)
  t.same(rest, {
    SnapshotId: '000001-00000000',
    CreatedAt: '2026-01-31T08:15:00.000Z',
    Sources: [
      { SourceId: 1, Label: 'Residents', Count: 5, ContactCount: 3 },
      { SourceId: 7, Label: 'Visitors; "all"', Count: 1, ContactCount: 1 },
    ],
  })
  const sinceMs = Date.parse(String(ServedSince))
  t.ok(sinceMs >= beforeMs && sinceMs <= Date.now())
  t.same(answer.headers, {
    'X-Snapshot': '000001-00000000',
    'X-Sequence': '0',
    'Cache-Control': 'no-store',
  })
})

t.test('whoever is suppressed is not counted, nor a contact that has nobody else', async (t) => {
  const { service, get } = served()
  markSuppressed(service.shards, (phone, sourceId) => sourceId === 1 && phone <= '+9993')
  t.match(read(await get()).Sources, [
    { SourceId: 1, Count: 2, ContactCount: 1 },
    { SourceId: 7, Count: 1, ContactCount: 1 },
  ])
})

t.test('nobody beyond the boundary of a key is counted', async (t) => {
  const { get } = served()
  const access = { ...OPEN_ACCESS, boundary: west }
  t.match(read(await get({ ...inTime(), access })).Sources, [
    { SourceId: 1, Count: 3, ContactCount: 2 },
    { SourceId: 7, Count: 0, ContactCount: 0 },
  ])
})

t.test('nor beyond the boundary that holds for every request', async (t) => {
  const { get } = served(createBoundaryRule(() => west, true))
  t.match(read(await get()).Sources, [{ Count: 3 }, { Count: 0 }])
  const { get: without } = served(createBoundaryRule(() => undefined, true))
  await t.rejects(without(), { code: 'BoundaryMissing' })
})

t.test('as CSV, it is one row a source', async (t) => {
  const { get } = served()
  t.equal(
    String((await get()).csv('flat')),
    'SourceId,Label,Count,ContactCount\r\n1,Residents,5,3\r\n7,"Visitors; ""all""",1,1\r\n',
  )
})

t.test('members that nobody knows are refused', async (t) => {
  const { ask } = served()
  await t.rejects(ask({ SourceId: 1 }), { code: 'UnknownMember' })
})

t.test('an audit of counts is told what was counted', async (t) => {
  const { get, service } = served()
  const answer = await get()
  t.same(
    answer.records?.().map(({ facts }) => facts()),
    [
      {
        snapshotId: service.catalogue.snapshotId,
        changesSequence: 0,
        sources: [
          { id: 1, count: 5 },
          { id: 7, count: 1 },
        ],
      },
    ],
  )
  t.notOk(answer.isList)
})
