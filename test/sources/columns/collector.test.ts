import fc from 'fast-check'
import t from 'tap'
import { RecipientCollector } from '../../../src/sources/columns/collector.js'
import {
  anyRecipients,
  batchOf,
  columnsOf,
  type TestRecipient,
} from '../../support/data/columns.js'
import { testSeed } from '../../support/random/properties.js'
import { byTier } from '../../support/tier.js'

function recipient(phone: string, contact = ''): TestRecipient {
  return { phone, contact, lng: 1, lat: 2 }
}

t.test('contacts are dense by first appearance, in two key spaces', async (t) => {
  const rows: [phone: string, contact: string, expected: number][] = [
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
  const collector = new RecipientCollector()
  collector.add(batchOf(rows.map(([phone, contact]) => recipient(phone, contact))))
  const columns = await collector.finish()
  t.same(
    [...columns.contacts],
    rows.map(([, , expected]) => expected),
  )
  t.equal(columns.contactCount, 5)
})

t.test('what is taken back was never there', async (t) => {
  const collector = new RecipientCollector()
  const add = (...phones: string[]) =>
    collector.add(batchOf(phones.map((phone) => recipient(phone, `c${phone}`))))
  add('+9991', '+9992')
  add('+99933', '+999444')
  collector.truncate(3)
  t.equal(collector.recipientCount, 3)
  add('+9995')
  collector.truncate(4)
  const expected = new RecipientCollector()
  expected.add(
    batchOf(['+9991', '+9992', '+99933', '+9995'].map((phone) => recipient(phone, `c${phone}`))),
  )
  t.same(await collector.finish(), await expected.finish())
  const empty = new RecipientCollector()
  empty.add(batchOf([recipient('+9991')]))
  empty.truncate(0)
  t.equal((await empty.finish()).recipientCount, 0)
})

t.test('columns are what was added, in batches of any size, in shared memory', async (t) => {
  const seed = testSeed(t)
  await fc.assert(
    fc.asyncProperty(anyRecipients, fc.integer({ min: 1, max: 50 }), async (recipients, size) => {
      const collector = new RecipientCollector()
      for (let start = 0; start < recipients.length; start += size) {
        // Room behind what is in a batch, and texts that do not begin with the first byte.
        const { phoneOffsets, phones, lngs, ...rest } = batchOf(
          recipients.slice(start, start + size),
        )
        collector.add({
          ...rest,
          lngs: Int32Array.of(...lngs, 77, 77),
          phoneOffsets: phoneOffsets.map((offset) => offset + 3),
          phones: Buffer.concat([Buffer.from('xxx'), phones, Buffer.from('yy')]),
        })
      }
      const { phones, identities, ...columns } = await collector.finish()
      const { phones: expectedPhones, ...expected } = columnsOf(recipients)
      t.strictSame(columns, expected)
      t.ok(Buffer.from(expectedPhones).equals(phones))
      const { contactOffsets, contacts } = batchOf(recipients)
      t.strictSame(identities?.contactOffsets, contactOffsets)
      t.ok(Buffer.from(contacts).equals(identities?.contactTexts ?? contacts.subarray(1)))
      t.equal(identities?.keys, null)
      return [columns.lngs, columns.contacts, columns.phoneOffsets, phones].every(
        ({ buffer }) => buffer instanceof SharedArrayBuffer,
      )
    }),
    { seed, numRuns: byTier({ ci: 80, soak: 200 }) },
  )
})

t.test('a source takes recipients up to its limit, and not one more', async (t) => {
  const collector = new RecipientCollector({ recipientCountMax: 3 })
  collector.add(batchOf([recipient('+9991')]))
  collector.add(batchOf([recipient('+9992'), recipient('+9993')]))
  t.throws(() => collector.add(batchOf([recipient('+9994')])), {
    code: 'InputRejected',
    message: /more than 3 recip/,
  })
  t.equal((await collector.finish()).recipientCount, 3)
})

t.test('its texts take bytes up to their limit, and not one more', async (t) => {
  const cases: [recipients: TestRecipient[], isTaken: boolean][] = [
    [[recipient('12345'), recipient('67890')], true],
    [[recipient('12345'), recipient('678901')], false],
    [[recipient('1', '12345'), recipient('2', '67890')], true],
    [[recipient('1', '12345'), recipient('2', '678901')], false],
  ]
  for (const [recipients, isTaken] of cases) {
    const collector = new RecipientCollector({ textBytesMax: 10 })
    const add = () => collector.add(batchOf(recipients))
    if (isTaken) t.doesNotThrow(add)
    else t.throws(add, { code: 'InputRejected', message: /more than 10 bytes/ })
  }
})

t.test('nobody at all is a source, too', async (t) => {
  const columns = await new RecipientCollector().finish()
  t.match(columns, { recipientCount: 0, contactCount: 0 })
  t.same([columns.lngs.length, columns.phones.length, columns.phoneOffsets.length], [0, 0, 1])
})
