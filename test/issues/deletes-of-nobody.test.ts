/**
 * Deletes that found no recipient, such as of a number without its contact, were answered like those that did: with
 * the sequence of the batch and not a word, so that who had asked to be removed stayed.
 *
 * @module
 */
import t from 'tap'
import { limits } from '../../src/limits.js'
import { AbsentCounts } from '../../src/live/absent-counts.js'
import { changeOperations } from '../../src/operations/changes.js'
import { inTime } from '../support/service/in-time.js'

const remove = (number: string) => ({ op: 'delete', number })

async function post(
  changes: readonly object[],
  { count = 1, caller = inTime(), hasKeys = false, isRepeated = false } = {},
) {
  const asked: number[] = []
  const { PostChangesRequest } = changeOperations({
    sourceOf: () => ({
      rules: { hasKeys, allowsNullIsland: false, numbers: undefined },
      recipientCount: 9,
    }),
    append: async () => ({ outcome: { kind: isRepeated ? 'repeated' : 'written', sequence: 7 } }),
    async absentCountOf(sequence) {
      asked.push(sequence)
      return count < 0 ? undefined : count
    },
  })
  const answer = await PostChangesRequest({ Id: 1, batchId: 'b', changes }, caller)
  const header = answer?.headers['X-Warnings']
  return { asked, header, csv: answer?.csv('flat'), body: JSON.parse(String(answer?.json())) }
}

t.test('deletes of nobody are counted, with a warning', async (t) => {
  const { body, header, csv, asked } = await post([remove('+9995551'), remove('+9995552')])
  t.match(body, { Sequence: 7, ChangeCount: 2, AbsentCount: 1 })
  t.match(body.Warnings, [{ Code: 'DeletesNone', Message: /^1 of .* number and contact together/ }])
  t.same(JSON.parse(header ?? ''), body.Warnings)
  t.notMatch(header, /555/, 'no number is quoted')
  t.match(csv, /^Sequence,Repeated,ChangeCount,AbsentCount\r\n7,False,2,1\r\n$/)
  t.same(asked, [7])
  const keyed = await post([{ op: 'delete', key: 'k' }], { hasKeys: true })
  t.match(keyed.body.Warnings, [{ Message: /the key says who/ }])
  const found = await post([remove('+9995551')], { count: 0 })
  t.same(found.body, { Sequence: 7, Repeated: false, ChangeCount: 1, AbsentCount: 0 })
  t.notOk(found.header)
})

t.test('what is not known is left out', async (t) => {
  const ofBoundary = { ...inTime(), access: { ...inTime().access, boundary: {} } }
  const upsert = { op: 'upsert', number: '+9995551', lat: 1, lng: 2 }
  const silent: [what: string, given: ReturnType<typeof post>][] = [
    ['not known', post([remove('+9995551')], { count: -1 })],
    ['repeated', post([remove('+9995551')], { isRepeated: true })],
    ['of a key with a boundary', post([remove('+9995551')], { caller: ofBoundary })],
    ['of one recipient twice', post([remove('+9995551'), remove('+9995551')])],
    ['of one who comes behind it', post([remove('+9995551'), upsert])],
    ['without deletes', post([upsert])],
  ]
  for (const [what, given] of silent) {
    const { body, header } = await given
    t.notOk('AbsentCount' in body || 'Warnings' in body || header, what)
  }
})

t.test('counts are told once they are known, and few are kept', async (t) => {
  const counts = new AbsentCounts()
  const told: [sequence: number, count: number][] = []
  const ask = (sequence: number) => counts.ask(sequence, (count) => told.push([sequence, count]))
  ask(1)
  counts.applied(1, 5)
  counts.applied(2, 6)
  counts.applied(2, 0)
  ask(2)
  t.same(told, [
    [1, 5],
    [2, 6],
  ])
  const last = 3 + limits.absentCountsCount
  for (let sequence = 3; sequence <= last; sequence++) counts.applied(sequence, 0)
  told.length = 0
  for (const sequence of [2, 3, 4, last]) ask(sequence)
  t.same(told, [
    [4, 0],
    [last, 0],
  ])
})
