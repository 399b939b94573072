/**
 * The operations on map contexts: what may be written, what is answered, how it is listed.
 *
 * @module
 */

import t, { type Test } from 'tap'
import type { Answer } from '../../src/format/answer.js'
import { limits } from '../../src/limits.js'
import { contextOperations, contextReader } from '../../src/operations/contexts.js'
import { startLiveCounts } from '../../src/operations/live-counts.js'
import { applyChange } from '../../src/store/changes.js'
import { writtenContext } from '../../src/store/documents.js'
import type { Store } from '../../src/store/store.js'
import { openTables, storeDirectory } from '../../src/store/tables.js'
import { createProgress } from '../../src/suppressions/progress.js'
import { silentLog, squareGeometry, temporaryStore } from '../support/data/store.js'
import { randomWorld, seededRandom } from '../support/random/world.js'
import { always } from '../support/service/current.js'
import { temporaryDirectory } from '../support/service/hickory.js'
import { inTime } from '../support/service/in-time.js'
import { type LocalService, localService } from '../support/service/local-service.js'

const ID = '4c1f9a2e7b6d4e0f9a3b5c8d1e2f7a60'
const DASHED = '4C1F9A2E-7B6D-4E0F-9A3B-5C8D1E2F7A60'
const id = (number: number) => number.toString(16).padStart(32, '0')
const bytesOf = (answer: Answer | undefined) => Buffer.from(answer?.json() as Uint8Array)
const jsonOf = (answer: Answer | undefined) => JSON.parse(bytesOf(answer).toString())

async function operations(t: Test, dataDirectory = temporaryDirectory(t)) {
  const store = await temporaryStore(t, dataDirectory)
  const service: LocalService = localService([
    { id: 1, label: 'A', columns: randomWorld('uniform', 200, seededRandom(1)) },
    { id: 4, label: '=B', columns: randomWorld('uniform', 100, seededRandom(2)) },
  ])
  const counts = startLiveCounts({
    store,
    current: always(service),
    suppressionProgress: createProgress(),
    log: silentLog,
  })
  t.teardown(() => counts.stop())
  return { store, service, ...contextOperations(store, contextReader(store, counts)) }
}

t.test('a context is posted, got by every form of its id, put and deleted', async (t) => {
  const {
    PostMapContextRequest: post,
    PutMapContextRequest: put,
    GetMapContextRequest: get,
    DeleteMapContextRequest: remove,
  } = await operations(t)
  const posted = await post({ Id: DASHED, contextname: 'c', AREAS: [{ id: 'a' }] }, inTime())
  const nobody = [
    { Label: 'A', Count: 0 },
    { Label: '=B', Count: 0 },
  ]
  t.equal(
    bytesOf(posted).toString(),
    `{"Id":"${ID}","ContextName":"c","Areas":[{"Id":"a","IsUpdatingContactList":false,` +
      `"Contacts":${JSON.stringify(nobody)},"ContactTotalCount":0,` +
      '"HasContactCountError":false,"HasInvalidShapeError":false}],' +
      '"Warnings":[{"Code":"NoGeometry","Message":"has no geometry, and nobody is in it",' +
      '"Path":"Areas[0]"}]}',
  )
  for (const form of [ID, DASHED, `{${DASHED}}`, `(${DASHED})`]) {
    t.same(bytesOf(await get({ id: form }, inTime())), bytesOf(posted), form)
  }
  const exists = { code: 'AlreadyExists', status: 409, field: 'Id' }
  await t.rejects(post({ Id: ID }, inTime()), exists)

  t.same(jsonOf(await put({ Id: ID, ContextName: 'd' }, inTime())), {
    Id: ID,
    ContextName: 'd',
  })
  t.same(jsonOf(await get({ Id: ID }, inTime())), { Id: ID, ContextName: 'd' })

  t.equal(await remove({ Id: DASHED }, inTime()), undefined)
  const missing = { code: 'NotFound', status: 404 }
  await t.rejects(get({ Id: ID }, inTime()), missing)
  await t.rejects(remove({ Id: ID }, inTime()), missing)
  t.equal(jsonOf(await put({ Id: ID }, inTime())).Id, ID, 'a put creates what is not there')
})

t.test('a write answers what it wrote, whatever others change at once', async (t) => {
  const { store, service } = await operations(t)
  const change: Store['change'] = async (made) => {
    await store.change(made)
    if (made.kind === 'context') await store.change({ kind: 'deleteContext', id: made.context.id })
  }
  const outrun = { ...store, change }
  const counts = startLiveCounts({
    store: outrun,
    current: always(service),
    suppressionProgress: createProgress(),
    log: silentLog,
  })
  t.teardown(() => counts.stop())
  const { PostMapContextRequest, PutMapContextRequest, GetMapContextRequest } = contextOperations(
    outrun,
    contextReader(outrun, counts),
  )
  for (const [ContextName, write] of Object.entries({
    PostMapContextRequest,
    PutMapContextRequest,
  })) {
    const request = { Id: ID, ContextName, Areas: [{ Id: 'a', Geometry: squareGeometry(0, 0, 1) }] }
    t.match(jsonOf(await write(request, inTime())), request)
    await t.rejects(GetMapContextRequest({ Id: ID }, inTime()), { code: 'NotFound' })
  }
})

t.test('an id that is no Guid or is missing is refused', async (t) => {
  const { GetMapContextRequest, DeleteMapContextRequest, PutMapContextRequest } =
    await operations(t)
  const fault = { code: 'InvalidRequest', status: 400, field: 'Id' }
  for (const request of [{}, { Id: null }, { Id: '' }, { Id: 'x' }, { Id: 12 }, { Id: [ID] }]) {
    const message = JSON.stringify(request)
    await t.rejects(GetMapContextRequest(request, inTime()), fault, message)
    await t.rejects(DeleteMapContextRequest(request, inTime()), fault, message)
  }
  await t.rejects(PutMapContextRequest({ Id: 'x' }, inTime()), fault)
  await t.rejects(PutMapContextRequest({ Id: ID, id: ID }, inTime()), fault)
})

t.test('ids are made up where there are none', async (t) => {
  const { PostMapContextRequest, PutMapContextRequest, GetMapContextRequest } = await operations(t)
  for (const write of [PostMapContextRequest, PutMapContextRequest]) {
    const written = jsonOf(await write({ Areas: [{ Name: 'n' }, {}] }, inTime()))
    const ids = [written.Id, ...written.Areas.map(({ Id }: { Id: string }) => Id)]
    for (const each of ids) t.match(each, /^[0-9a-f]{32}$/)
    t.equal(new Set(ids).size, 3)
    t.same(jsonOf(await GetMapContextRequest({ Id: written.Id }, inTime())), written)
  }
})

t.test('what the service computes is accepted, and computed all the same', async (t) => {
  const { PostMapContextRequest: post, store } = await operations(t)
  const computed = {
    IsUpdatingContactList: 'true',
    Contacts: [{ Label: 'X', Count: 5 }],
    ContactTotalCount: 5,
    HasContactCountError: true,
    HasInvalidShapeError: true,
  }
  const answer = await post({ Id: ID, Areas: [{ Id: 'a', ...computed }] }, inTime())
  t.match(jsonOf(answer).Areas[0], {
    IsUpdatingContactList: false,
    ContactTotalCount: 0,
    HasContactCountError: false,
    HasInvalidShapeError: false,
  })
  const stored = Buffer.from(store.context(ID)?.json ?? []).toString()
  t.equal(stored, `{"Id":"${ID}","Areas":[{"Id":"a"}]}`)
})

t.test('a context that does not fit is refused by the path of the member', async (t) => {
  const { PutMapContextRequest: put, store } = await operations(t)
  const cases: [request: Record<string, unknown>, field: string][] = [
    [{ Areas: [{}, { Geometry: { rings: [[['x']]] } }] }, 'Areas[1].Geometry.rings[0][0][0]'],
    [{ Areas: [{ Id: 'a' }, { Id: 'b' }, { Id: 'a' }] }, 'Areas[2].Id'],
    [{ Areas: [{ IsVisible: 'perhaps' }] }, 'Areas[0].IsVisible'],
  ]
  for (const [request, field] of cases) {
    const fault = { code: 'InvalidRequest', status: 400, field }
    await t.rejects(put({ Id: ID, ...request }, inTime()), fault, field)
  }
  const tooMany = { Areas: Array.from({ length: limits.areaCount + 1 }, () => ({})) }
  await t.rejects(put(tooMany, inTime()), { code: 'TooComplex', status: 422, field: 'Areas' })
  t.equal(store.page(0, 0).totalCount, 0)
})

t.test('the list is in the order of ids, in pages', async (t) => {
  const dataDirectory = temporaryDirectory(t)
  const { GetMapContextsRequest: list } = await operations(t, dataDirectory)
  t.equal(bytesOf(await list({}, inTime())).toString(), '{"Offset":0,"Total":0,"Results":[]}')
  const tables = openTables(storeDirectory(dataDirectory), 'write')
  t.teardown(() => tables.close())
  tables.transact(() => {
    for (let i = 1; i <= limits.contextPageCount + 1; i++) {
      const context = writtenContext({ Id: id(i), ContextName: `n${i}`, Areas: [{}] })
      applyChange(tables, { kind: 'context', context, mayReplace: false })
    }
  })
  const total = limits.contextPageCount + 1
  const page = async (request: Record<string, unknown>) => jsonOf(await list(request, inTime()))
  const lengthOf = async (request: Record<string, unknown>) => (await page(request)).Results.length
  t.same(await page({ SKIP: '2', take: 1 }), {
    Offset: 2,
    Total: total,
    Results: [{ Id: id(3), ContextName: 'n3', AreaCount: 1 }],
  })
  t.equal(await lengthOf({}), limits.contextPageDefaultCount)
  t.equal(await lengthOf({ Take: limits.contextPageCount }), limits.contextPageCount)
  t.equal(await lengthOf({ Take: 0 }), 0)
  t.equal(await lengthOf({ Skip: total - 1 }), 1)
  t.equal(await lengthOf({ Skip: total }), 0)
  for (const [request, field] of [
    [{ Skip: -1 }, 'Skip'],
    [{ Take: -1 }, 'Take'],
    [{ Take: limits.contextPageCount + 1 }, 'Take'],
    [{ Take: 'x' }, 'Take'],
    [{ Skip: 1.5 }, 'Skip'],
  ] as const) {
    await t.rejects(list(request, inTime()), { code: 'InvalidRequest', field })
  }
  t.equal(
    (await list({ Skip: 1, Take: 2 }, inTime()))?.csv('flat'),
    `Id,ContextName,AreaCount\r\n${id(2)},n2,1\r\n${id(3)},n3,1\r\n`,
  )
})

t.test('an answer has a tag that changes with what is answered', async (t) => {
  const {
    PutMapContextRequest: put,
    GetMapContextRequest: get,
    GetMapContextsRequest: list,
  } = await operations(t)
  const empty = await list({}, inTime())
  const answer = await put({ Id: ID, Areas: [{ Id: 'a' }] }, inTime())
  const listed = await list({}, inTime())
  t.match(listed?.headers, { ETag: /^W\/"[0-9a-f]{32}"$/, 'Cache-Control': 'no-cache' })
  t.not(listed?.headers.ETag, empty?.headers.ETag)
  t.match(answer?.headers, { ETag: /^W\/"[0-9a-f]{32}"$/, 'Cache-Control': 'no-cache' })
  t.equal(answer?.heldBytes, bytesOf(answer).length)
  t.same((await get({ Id: ID }, inTime()))?.headers, answer?.headers)
  const other = await put({ Id: ID, Areas: [{ Id: 'b' }] }, inTime())
  t.not(other?.headers.ETag, answer?.headers.ETag)
})

t.test('an audit of counts is told which context was counted', async (t) => {
  const { PutMapContextRequest: put, GetMapContextRequest: get, service } = await operations(t)
  await put({ Id: ID, Areas: [{ Geometry: squareGeometry(0, 0, 0.1) }] }, inTime())
  const facts = { snapshotId: service.catalogue.snapshotId, contextId: ID }
  for (const what of ['counted', 'kept']) {
    const answer = await get({ Id: DASHED }, inTime())
    t.same(
      answer?.records?.().map((record) => record.facts()),
      [facts],
      what,
    )
    t.notOk(answer?.isList)
  }
})

t.test('a table has a row for each area, with its shape and contacts nested', async (t) => {
  const { PutMapContextRequest: put } = await operations(t)
  const Geometry = squareGeometry(0, 0, 0.1)
  const areas = [
    { Id: 'a', Name: '=n', Geometry },
    { Id: 'b', IsActive: true },
  ]
  const answer = await put({ Id: ID, Areas: areas }, inTime())
  const [header, first, second, end] = String(answer?.csv('flat')).split('\r\n')
  t.equal(
    header,
    'Id,Name,Geometry,DomId,ShapeType,IsVisible,IsSelected,IsActive,IsUpdatingContactList,' +
      'Contacts,ContactTotalCount,HasContactCountError,HasInvalidShapeError',
  )
  t.match(first, /^a,'=n,"\{type:polygon,rings:\[\[\[0,0\],.*\}",,,,,,False,"\[\{Label:A,/)
  t.match(second, /^b,,,,,,,True,False,"\[\{Label:A,Count:0\},.*\]",0,False,False$/)
  t.equal(end, '')
  t.equal(answer?.csvRecord().header, 'Id,ContextName,Areas\r\n')
  t.match(answer?.csvRecord().row, /^4c1f9a2e.*,,"\[\{Id:a,/)
})
