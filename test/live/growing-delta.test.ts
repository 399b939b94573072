import t from 'tap'
import type { Upsert } from '../../src/changes/change.js'
import { GrowingDelta } from '../../src/live/growing-delta.js'

const upsert = (identity: string): Upsert => ({
  op: 'upsert',
  identity,
  phone: '+9995550101',
  lng: 1,
  lat: 2,
  contact: '',
  key: undefined,
})
const shared = { contactId: 0, phoneId: 0 }

t.test('a recipient leaves once, is not found then, and may come again', async (t) => {
  const delta = new GrowingDelta(1, 0)
  for (const identity of ['a', 'b']) delta.come(upsert(identity), shared, 1)
  t.ok(delta.go('a', 2))
  t.notOk(delta.go('a', 3))
  t.equal(delta.find('a'), undefined)
  t.same([delta.recipientCount, delta.goneCount], [2, 1])
  delta.come(upsert('a'), shared, 4)
  t.equal(delta.find('a')?.identity, 'a')
  t.equal(delta.clear(5), 2)
  t.equal(delta.clear(6), 0)
})

t.test('an increment tells what changed since the last one', async (t) => {
  const delta = new GrowingDelta(1, 0)
  delta.come(upsert('a'), shared, 1)
  delta.go('a', 2)
  const first = delta.takeIncrement()
  t.same([...(first?.come.moments ?? [])], [1])
  t.same([...(first?.gone.recipients ?? [])], [0])
  t.equal(delta.takeIncrement(), undefined)
  delta.come(upsert('b'), shared, 3)
  delta.go('b', 4)
  const second = delta.takeIncrement()
  t.same([...(second?.come.moments ?? [])], [3])
  t.same([...(second?.gone.recipients ?? [])], [1])
})
