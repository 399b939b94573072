/**
 * Changes to what is stored: whole or not at all, within bounds, and seen by every reader.
 *
 * @module
 */
import t from 'tap'
import { limits } from '../../src/limits.js'
import { applyChange, type Change, makeChange } from '../../src/store/changes.js'
import { type WrittenContext, writtenContext } from '../../src/store/documents.js'
import type { StoredCounts } from '../../src/store/store.js'
import { hashOf, openTables, storeDirectory } from '../../src/store/tables.js'
import { silentLog, squareGeometry, temporaryStore } from '../support/data/store.js'
import { temporaryDirectory } from '../support/service/hickory.js'

const ID = '4c1f9a2e7b6d4e0f9a3b5c8d1e2f7a60'
const id = (number: number) => number.toString(16).padStart(32, '0')
const text = (json: Uint8Array | undefined) => Buffer.from(json ?? []).toString()

function put(context: WrittenContext, mayReplace = true): Change {
  return { kind: 'context', context, mayReplace }
}

function countsOf(shapeHash: string, count: number): Change {
  const counts: StoredCounts = {
    snapshotId: '000001-00000000',
    countMode: 'Contact',
    suppressionVersion: 0,
    contacts: [{ Label: 'A', Count: count }],
  }
  return { kind: 'counts', counts: [{ shapeHash, json: JSON.stringify(counts) }] }
}

t.test('a context is stored, replaced and deleted', async (t) => {
  const store = await temporaryStore(t)
  const written = writtenContext({ Id: ID, ContextName: 'Größe 😀', Areas: [{ Id: 'a' }] })
  await store.change(put(written, false))
  t.equal(
    text(store.context(ID)?.json),
    `{"Id":"${ID}","ContextName":"Größe 😀","Areas":[{"Id":"a"}]}`,
  )
  t.same(store.page(0, 1).summaries, [{ Id: ID, ContextName: 'Größe 😀', AreaCount: 1 }])
  const version = store.contextVersion(ID)

  const exists = { code: 'AlreadyExists', status: 409, field: 'Id' }
  await t.rejects(store.change(put(writtenContext({ Id: ID }), false)), exists)
  t.equal(store.contextVersion(ID), version)

  await store.change(put(writtenContext({ Id: ID })))
  t.equal(text(store.context(ID)?.json), `{"Id":"${ID}"}`)
  t.not(store.contextVersion(ID), version)
  t.equal(store.page(0, 1).totalCount, 1)

  await store.change({ kind: 'deleteContext', id: ID })
  t.equal(store.context(ID), undefined)
  t.same(store.page(0, 1), { totalCount: 0, summaries: [] })
  const missing = { code: 'NotFound', status: 404 }
  await t.rejects(store.change({ kind: 'deleteContext', id: ID }), missing)
})

t.test('pages are in the order of the ids', async (t) => {
  const store = await temporaryStore(t)
  for (const number of [5, 3, 1, 4, 2]) await store.change(put(writtenContext({ Id: id(number) })))
  const ids = (skip: number, take: number) =>
    store.page(skip, take).summaries.map(({ Id }) => Number.parseInt(Id ?? '', 16))
  t.same(ids(0, 10), [1, 2, 3, 4, 5])
  t.same(ids(1, 2), [2, 3])
  t.same(ids(4, 2), [5])
  t.same(ids(5, 2), [])
  t.same(ids(1e9, 2), [])
  t.same(ids(0, 0), [])
  t.equal(store.page(3, 1).totalCount, 5)
})

t.test('there are as many contexts, areas and bytes as are allowed, and no more', async (t) => {
  const directory = temporaryDirectory(t)
  const store = await temporaryStore(t, directory)
  const tables = openTables(storeDirectory(directory), 'write')
  t.teardown(() => tables.close())
  const refused = { isMade: false, code: 'TooManyContexts' }
  const make = (change: Change) => makeChange(tables, change, silentLog)

  const empty = (number: number) => writtenContext({ Id: id(number) })
  tables.transact(() => {
    for (let i = 1; i < limits.contextCount; i++) applyChange(tables, put(empty(i)))
  })
  t.ok(make(put(empty(limits.contextCount))).isMade)
  t.match(make(put(empty(limits.contextCount + 1))), refused)
  t.equal(store.context(id(limits.contextCount + 1)), undefined)
  t.ok(make(put(empty(1))).isMade, 'one that is there may be replaced')
  tables.transact(() => {
    for (let i = 1; i < limits.contextCount; i++) {
      applyChange(tables, { kind: 'deleteContext', id: id(i) })
    }
  })

  const sized = (part: Partial<WrittenContext['header']>) => ({
    ...empty(7),
    header: { ...empty(7).header, ...part },
  })
  const { documentBytes } = empty(limits.contextCount).header
  t.match(make(put(sized({ areaCount: limits.storedAreaCount + 1 }))), refused)
  t.ok(make(put(sized({ areaCount: limits.storedAreaCount }))).isMade)
  t.ok(make(put(sized({ areaCount: 1 }))).isMade)
  const rest = limits.storedBytes - documentBytes
  t.match(make(put(sized({ documentBytes: rest + 1 }))), refused)
  t.ok(make(put(sized({ documentBytes: rest }))).isMade)
})

t.test('counts are kept for as long as any context has the shape', async (t) => {
  const store = await temporaryStore(t)
  const [left, right] = [squareGeometry(1, 1, 1), squareGeometry(2, 2, 1)]
  const [leftHash, rightHash] = [left, right].map((shape) => hashOf(JSON.stringify(shape)))
  const areas = [{ Geometry: left }, { Geometry: right }, { Geometry: left }, {}]
  const both = writtenContext({ Id: id(1), Areas: areas })
  t.same(both.shapeHashes, [leftHash, rightHash, leftHash, null])
  await store.change(put(both))
  await store.change(put(writtenContext({ Id: id(2), Areas: [{ Geometry: left }] })))
  const known = () =>
    store.counts([leftHash, rightHash]).map((counts) => counts?.contacts?.[0].Count)

  await store.change(countsOf(leftHash, 10))
  await store.change(countsOf(rightHash, 20))
  await store.change(countsOf(hashOf('no shape of a context'), 30))
  t.same(store.counts([hashOf('no shape of a context')]), [undefined])
  t.same(known(), [10, 20])

  await store.change(put(writtenContext({ Id: id(1), Areas: [{ Geometry: right }] })))
  t.same(known(), [10, 20], 'the other context has it still')
  await store.change(put(writtenContext({ Id: id(1), Areas: [] })))
  t.same(known(), [10, undefined])
  await store.change({ kind: 'deleteContext', id: id(2) })
  t.same(known(), [undefined, undefined])
})

t.test('a configuration replaces the one before, and its count mode', async (t) => {
  const store = await temporaryStore(t)
  const builtIn = store.configuration().version
  await store.change({ kind: 'configuration', json: '{"MapDiv":"a"}', countMode: 'Contact' })
  t.equal(text(store.configuration().json), '{"MapDiv":"a"}')
  t.equal(store.countMode(), 'Contact')
  t.not(store.configuration().version, builtIn)
  await store.change({ kind: 'configuration', json: '{}', countMode: 'ContactLocation' })
  t.equal(store.countMode(), 'ContactLocation')
})

t.test('what is written of a context is within its bounds', async (t) => {
  const areas = (count: number) => ({ Areas: Array.from({ length: count }, () => ({})) })
  t.equal(writtenContext(areas(limits.areaCount)).shapeHashes.length, limits.areaCount)
  const tooMany = { code: 'TooComplex', status: 422, field: 'Areas' }
  t.throws(() => writtenContext(areas(limits.areaCount + 1)), tooMany)

  const named = (length: number) => ({ ContextName: 'x'.repeat(length) })
  t.equal(writtenContext(named(limits.contextNameCharCount)).header.name?.length, 1_000)
  const tooLong = { code: 'InvalidRequest', field: 'ContextName' }
  t.throws(() => writtenContext(named(limits.contextNameCharCount + 1)), tooLong)

  const frame = Buffer.byteLength(writtenContext({ Areas: [{ Id: 'a', DomId: '' }] }).json)
  const sized = (bytes: number) => ({ Areas: [{ Id: 'a', DomId: 'x'.repeat(bytes - frame) }] })
  t.equal(writtenContext(sized(limits.documentBytes)).header.documentBytes, limits.documentBytes)
  const tooLarge = { code: 'BodyTooLarge', status: 413 }
  t.throws(() => writtenContext(sized(limits.documentBytes + 1)), tooLarge)
})

t.test('ids are made up where they are missing, and each is used once', async (t) => {
  for (const missing of [{}, { Id: '' }, { Id: '00000000-0000-0000-0000-000000000000' }]) {
    const { id: made } = writtenContext(missing)
    t.match(made, /^[0-9a-f]{32}$/)
    t.notMatch(made, /^0+$/)
  }
  const { json } = writtenContext({ Areas: [{ Name: 'n' }, { Id: '' }, { Id: 'own' }] })
  const { Areas } = JSON.parse(json)
  t.match(Areas, [{ Id: /^[0-9a-f]{32}$/, Name: 'n' }, { Id: /^[0-9a-f]{32}$/ }, { Id: 'own' }])
  t.not(Areas[0].Id, Areas[1].Id)
  const twice = { code: 'InvalidRequest', field: 'Areas[2].Id' }
  t.throws(() => writtenContext({ Areas: [{ Id: 'a' }, {}, { Id: 'a' }] }), twice)
  const noGuid = { code: 'InvalidRequest', field: 'Id' }
  for (const Id of ['x', `${ID}0`, `{${ID}}`]) t.throws(() => writtenContext({ Id }), noGuid, Id)
})
