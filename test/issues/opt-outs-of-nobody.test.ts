/**
 * Numbers that were put on a suppression list in another notation than the recipients have them were answered as a
 * success, with AddedCount 1 and not a word, so that who had asked to be removed stayed.
 *
 * @module
 */
import t, { type Test } from 'tap'
import { limits } from '../../src/limits.js'
import { suppressionOperations } from '../../src/operations/suppressions.js'
import { openSnapshot } from '../../src/snapshot/load/open.js'
import { createStore } from '../../src/store/store.js'
import { openTables, storeDirectory } from '../../src/store/tables.js'
import { Marker } from '../../src/suppressions/marker.js'
import { createProgress } from '../../src/suppressions/progress.js'
import { columnsOf } from '../support/data/columns.js'
import { publishTest, silentLog } from '../support/data/snapshots.js'
import { temporaryDirectory } from '../support/service/hickory.js'
import { inTime } from '../support/service/in-time.js'

const phones = ['+9995550001', '+9995550002', '9995550003']

/** What a service with these recipients of source 1 answers. */
async function lists(t: Test, isWhole = true) {
  const data = temporaryDirectory(t)
  const store = await createStore(data, silentLog)
  const tables = openTables(storeDirectory(data), 'write')
  t.teardown(async () => {
    await tables.close()
    await store.close()
  })
  const recipients = phones.map((phone, at) => ({ phone, lng: at, lat: at, contact: '' }))
  await publishTest(data, 1, columnsOf(recipients))
  const whole = await openSnapshot(data)
  const [shard] = whole.shards
  const elsewhere = { ...shard, sections: [] }
  const snapshot = isWhole ? whole : { ...whole, shards: [shard, elsewhere] }
  const marker = new Marker(tables, createProgress(), 'test')
  for (const _ of marker.attach(snapshot));
  return suppressionOperations(
    {
      suppressions: store.suppressions,
      async suppress(change) {
        const taken = await store.suppress(change)
        marker.catchUp()
        return { ...taken, ...marker.hitsOf(snapshot.id, change.scope, change.phones) }
      },
    },
    () => snapshot.sources,
  )
}

async function put(t: Test, request: object, { isWhole = true, caller = inTime() } = {}) {
  const answer = await (await lists(t, isWhole)).PutSuppressionsRequest({ ...request }, caller)
  const { Warnings, ...rest } = JSON.parse(String(answer?.json()))
  const header = answer?.headers['X-Warnings']
  t.same(header && JSON.parse(header), Warnings, 'in a header in every format')
  t.notMatch(JSON.stringify(Warnings) ?? '', /555/, 'no number is quoted')
  return { ...rest, Warnings }
}

t.test('a list that suppresses nobody is answered with a warning', async (t) => {
  const table: [numbers: string[], messages: RegExp[]][] = [
    [['+9995550001'], []],
    [['+9995550001', '9995550003', '+9995550001'], []],
    [[], []],
    [['9995550001', '9995550002'], [/^recipients have 2 of the numbers written with \+\. /]],
    [['+9995550003'], [/written without \+\./]],
    [['009995550001'], [/written with \+ in place of 00\./]],
    [['+999 555-0001'], [/written without spaces and punctuation\./]],
    [['(999) 555.0001'], [/written without spaces and punctuation, with \+\./]],
    [
      ['9995550001', '+9995550003', '+9995550002'],
      [/have 1 .*with \+\./, /have 1 .*without \+\./],
    ],
    // As it stands on the list beside it.
    [['9995550001', '+9995550001'], [/^nobody has 1 of the 2 numbers: /]],
    [['+9995550009'], [/^nobody has 1 of the 1 numbers: /]],
    [['+9995550001', '+9995550009'], [/^nobody has 1 of the 2 numbers: /]],
  ]
  for (const [Numbers, messages] of table) {
    for (const SourceId of [undefined, 1]) {
      const { Warnings = [] } = await put(t, { SourceId, Numbers })
      t.match(
        Warnings,
        messages.map((Message) => ({ Code: 'SuppressesNone', Message })),
        Numbers.join(),
      )
      t.equal(Warnings.length, messages.length)
    }
  }
})

t.test('a list of a source that is not there is kept, and its answer says so', async (t) => {
  const { HasSource, Warnings } = await put(t, { SourceId: 2, Numbers: ['+9995550001'] })
  t.equal(HasSource, false)
  t.match(Warnings, [{ Code: 'SuppressesNone', Message: /^there is no such source: the list is/ }])
})

t.test('of very many numbers that nobody has, some are tried', async (t) => {
  const { length } = Array(limits.notationSampleOfBatchCount)
  const other = Array.from({ length: 2 * length - 1 }, (_, at) => `+99944${at}`)
  const { Warnings } = await put(t, { Numbers: ['9995550001', ...other] })
  t.match(Warnings, [{ Message: `have 1 of the numbers of ${length} that were tried written` }])
})

t.test('what is not known is not said', async (t) => {
  const request = { Numbers: ['9995550001'] }
  const beyond = await put(t, request, { isWhole: false })
  t.equal(beyond.Warnings, undefined, 'other machines hold the others')
  const ofBoundary = { ...inTime(), access: { ...inTime().access, boundary: {} } }
  const bounded = await put(t, request, { caller: ofBoundary })
  t.equal(bounded.Warnings, undefined, 'a key with a boundary is told of none beyond')
  t.notOk('RecipientCount' in bounded)
  const { DeleteSuppressionsRequest } = await lists(t)
  const removed = await DeleteSuppressionsRequest(request, inTime())
  t.notOk(removed?.headers['X-Warnings'], 'nor where numbers are taken off')
})
