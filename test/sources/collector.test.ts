import t from 'tap'
import { RecipientCollector } from '../../src/sources/collector.js'

function add(collector: RecipientCollector, number: string, contact = ''): void {
  const text = Buffer.from(number)
  collector.add(1, 2, text, 0, text.length)
  const id = Buffer.from(contact)
  if (contact === '') collector.setNoContact()
  else collector.setContact(id, 0, id.length)
}

t.test('contacts are dense by first appearance, in two key spaces', async (t) => {
  const collector = new RecipientCollector()
  const rows: [number: string, contact: string, expected: number][] = [
    ['+9991', 'a', 0],
    ['+9992', '', 1],
    ['+9993', 'a', 0],
    ['+9994', '+9992', 2],
    ['+9992', '', 1],
    ['+9991', '', 3],
    ['a', '', 4],
    ['+9999', '+9992', 2],
    ['+9991', '', 3],
  ]
  for (const [number, contact] of rows) add(collector, number, contact)
  const columns = collector.finish()
  t.same(
    [...columns.contacts],
    rows.map(([, , expected]) => expected),
  )
  t.equal(columns.contactCount, 5)
})

t.test('a source takes recipients up to its limit, and not one more', async (t) => {
  const collector = new RecipientCollector(3)
  for (const number of ['+9991', '+9992', '+9993']) add(collector, number)
  t.throws(() => add(collector, '+9994'), { code: 'InputRejected', message: /more than 3 recip/ })
})

t.test('nobody at all is a source, too', async (t) => {
  const columns = new RecipientCollector().finish()
  t.match(columns, { recipientCount: 0, contactCount: 0 })
  t.same([columns.lngs.length, columns.numbers.length, columns.numberOffsets.length], [0, 0, 1])
})
