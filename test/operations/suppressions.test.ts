/**
 * The operations on suppression lists: what may be asked, and what is answered.
 *
 * @module
 */
import t, { type Test } from 'tap'
import { ServiceError } from '../../src/errors.js'
import type { Answer } from '../../src/format/answer.js'
import { limits } from '../../src/limits.js'
import { suppressionOperations } from '../../src/operations/suppressions.js'
import { temporaryStore } from '../support/data/store.js'
import { inTime } from '../support/service/in-time.js'

const jsonOf = (answer: Answer | undefined) =>
  JSON.parse(Buffer.from(answer?.json() as Uint8Array).toString())

async function operations(t: Test) {
  const store = await temporaryStore(t)
  const all = suppressionOperations(store, () => [{ id: 1 }, { id: 3 }])
  return {
    put: async (request: object) =>
      jsonOf(await all.PutSuppressionsRequest({ ...request }, inTime())),
    remove: async (request: object) =>
      jsonOf(await all.DeleteSuppressionsRequest({ ...request }, inTime())),
    get: async (request: object) =>
      jsonOf(await all.GetSuppressionsRequest({ ...request }, inTime())),
    getAnswer: (request: object) => all.GetSuppressionsRequest({ ...request }, inTime()),
    putAnswer: (request: object) => all.PutSuppressionsRequest({ ...request }, inTime()),
  }
}

t.test('phones are put, read, looked up and deleted', async (t) => {
  const { put, remove, get } = await operations(t)
  t.same(await put({ Numbers: ['+9992', '+9991', '+9992'] }), {
    Version: 1,
    AddedCount: 2,
    PresentCount: 0,
    Total: 2,
    RecipientCount: 0,
    HasSource: true,
  })
  t.match(await put({ sourceid: '3', numbers: ['+9991'] }), { Version: 2, HasSource: true })
  t.match(await put({ SourceId: 4, Numbers: ['+9991'] }), { Version: 3, HasSource: false })
  const first = await get({ Take: 1 })
  t.match(first, { Version: 3, Total: 2, Results: [{ Number: '+9991' }], Next: '+9991' })
  t.notOk('SourceId' in first.Results[0])
  t.match(first.Results[0].Since, /^20\d\d-\d\d-\d\dT[\d:.]+Z$/)
  t.same(first.Lists, [
    { HasSource: true, Count: 2 },
    { SourceId: 3, HasSource: true, Count: 1 },
    { SourceId: 4, HasSource: false, Count: 1 },
  ])
  const second = await get({ Take: 1, After: first.Next })
  t.match(second.Results, [{ Number: '+9992' }])
  t.notOk('Next' in second)
  t.match(await get({ SourceId: 4 }), { Total: 1, Results: [{ Number: '+9991', SourceId: 4 }] })
  t.match(await get({ SourceId: 9 }), { Total: 0, Results: [] })
  const lists = ({ Results }: { Results: { SourceId?: number }[] }) =>
    Results.map(({ SourceId }) => SourceId ?? 'all')
  t.same(lists(await get({ Number: '+9991' })), ['all', 3, 4])
  t.same(lists(await get({ Number: '+9991', SourceId: 3 })), ['all', 3])
  t.same(lists(await get({ Number: '+999' })), [])

  t.same(await remove({ Numbers: ['+9991', '+5'], Number: '+9992' }), {
    Version: 4,
    RemovedCount: 2,
    AbsentCount: 1,
    Total: 0,
    RecipientCount: 0,
    HasSource: true,
  })
  t.match(await remove({ SourceId: 4, Number: '+9991' }), { RemovedCount: 1, HasSource: false })
  t.match(await get({}), { Version: 5, Results: [], Lists: [{ SourceId: 3 }] })
})

t.test('what cannot be a phone is refused by its place, and never quoted', async (t) => {
  const { put, remove, get } = await operations(t)
  const long = '9'.repeat(limits.phoneBytes)
  t.match(await put({ Numbers: [long, 'é'.repeat(limits.phoneBytes / 2)] }), { AddedCount: 2 })
  const wrong = [
    '',
    ' \u00a0\u2003',
    `${long}9`,
    `é${'é'.repeat(limits.phoneBytes / 2)}`,
    '+999\u00071',
    '+999\u00851',
    '+999\ud8001',
    '=9991',
    '@9991',
  ]
  for (const phone of wrong) {
    const requests: [field: string, answer: Promise<unknown>][] = [
      ['Numbers[1]', put({ Numbers: ['+9991', phone] })],
      ['Numbers[0]', remove({ Numbers: [phone] })],
      ['Number', remove({ Number: phone })],
      ['Number', get({ Number: phone })],
      ['After', get({ After: phone })],
    ]
    for (const [field, answer] of requests) {
      const fault = await answer.then(
        () => undefined,
        (error) => error,
      )
      t.ok(fault instanceof ServiceError)
      t.match(fault, { code: 'InvalidRequest', status: 400, field })
      if (phone.length > 1) t.notOk(fault.message.includes(phone))
    }
  }
  t.match(await get({}), { Version: 1, Total: 2 }, 'nothing of those was stored')
})

t.test('requests are within their bounds', async (t) => {
  const { put, remove, get } = await operations(t)
  const most = limits.suppressionBatchCount
  const phones = Array.from({ length: most + 1 }, (_, i) => `+999${i}`)
  const tooMany = { code: 'TooComplex', status: 422, field: 'Numbers' }
  await t.rejects(put({ Numbers: phones }), tooMany)
  await t.rejects(remove({ Numbers: phones }), tooMany)
  t.match(await put({ Numbers: phones.slice(1) }), { AddedCount: most })
  t.match(await put({ Numbers: phones.slice(0, 1) }), { Total: most + 1 })
  t.equal((await get({})).Results.length, limits.suppressionPageDefaultCount)
  const field = 'Take'
  await t.rejects(get({ Take: most * 2 }), { code: 'InvalidRequest', field })
  await t.rejects(get({ Take: 1, Number: '+1' }), { code: 'InvalidRequest', field })
  t.same((await get({ Take: 0 })).Results, [])
  const { sourceIdMax } = limits
  t.match(await put({ SourceId: sourceIdMax, Numbers: ['+1'] }), { AddedCount: 1 })
  const bad: [request: object, field: string][] = [
    [{ SourceId: -1, Numbers: [] }, 'SourceId'],
    [{ SourceId: sourceIdMax + 1, Numbers: [] }, 'SourceId'],
    [{ SourceId: 1.5, Numbers: [] }, 'SourceId'],
    [{}, 'Numbers'],
    [{ Numbers: null }, 'Numbers'],
    [{ Numbers: '+1' }, 'Numbers'],
    [{ Numbers: ['+1', null] }, 'Numbers[1]'],
    [{ Numbers: [{}] }, 'Numbers[0]'],
  ]
  for (const [request, field] of bad) {
    await t.rejects(put(request), { code: 'InvalidRequest', field })
    await t.rejects(remove(request), { code: 'InvalidRequest', field })
  }
  for (const field of ['sources', 'Source_Id']) {
    const request = { [field]: [1], Numbers: ['+1'] }
    await t.rejects(put(request), { code: 'UnknownMember', field })
    await t.rejects(remove(request), { code: 'UnknownMember', field })
  }
  // It would be acknowledged and not suppressed.
  await t.rejects(put({ Numbers: ['+1'], Number: '+2' }), {
    code: 'UnknownMember',
    field: 'Number',
  })
  await t.rejects(get({ Take: -1 }), { code: 'InvalidRequest', field: 'Take' })
  await t.rejects(get({ sources: 1 }), { code: 'UnknownMember', field: 'sources' })
  t.match(await put({ Source_Id: null, Numbers: [] }), { AddedCount: 0 }, 'null is not there')
  t.match(await put({ Numbers: [] }), { AddedCount: 0, PresentCount: 0 })
})

t.test('a table has a row for each phone, as it is', async (t) => {
  const { put, getAnswer, putAnswer } = await operations(t)
  await put({ Numbers: ['+9991', '+999 2,3', '"'] })
  await put({ SourceId: 1, Numbers: ['+9991'] })
  const rowsOf = (answer: Answer | undefined) =>
    String(answer?.csv('flat'))
      .split('\r\n')
      .map((row) => row.replace(/20\d\d-[\d:.T-]+Z/, 'T'))
  const header = 'Number,SourceId,Since'
  t.same(rowsOf(await getAnswer({})), [header, '"""",,T', '"+999 2,3",,T', '+9991,,T', ''])
  t.same(rowsOf(await getAnswer({ SourceId: 1 })), [header, '+9991,1,T', ''])
  t.same(rowsOf(await getAnswer({ SourceId: 8 })), [header, ''])
  t.same(rowsOf(await putAnswer({ SourceId: 8, Numbers: ['+1'] })), [
    'Version,AddedCount,PresentCount,RemovedCount,AbsentCount,Total,RecipientCount,HasSource',
    '3,1,0,,,1,0,False',
    '',
  ])
  t.same((await getAnswer({}))?.headers, { 'Cache-Control': 'no-store' }, 'numbers of people')
})
