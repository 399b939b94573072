import t from 'tap'
import { findContacts } from '../../../src/sources/columns/contacts.js'
import { batchOf, columnsOf, type TestRecipient } from '../../support/data/columns.js'
import { byTier } from '../../support/tier.js'

/** Recipients of which some share a contact text or a phone, and most do not. */
function manyRecipients(recipientCount: number): TestRecipient[] {
  return Array.from({ length: recipientCount }, (_, row) => ({
    phone: `+999${row % 7 === 0 ? row % 1_000 : row}`,
    contact: row % 3 === 0 ? '' : `c${row % 5 === 0 ? row % 2_000 : row}`,
    lng: 0,
    lat: 0,
  }))
}

/** A bin is for 32,768 of them. */
const CASES: [what: string, recipients: TestRecipient[]][] = [
  ['some of them the same', manyRecipients(70_000)],
  ['all of them the same', manyRecipients(40_000).map((one) => ({ ...one, contact: 'all' }))],
  [
    'none of them the same',
    manyRecipients(40_000).map((one, row) => ({ ...one, contact: `${row}` })),
  ],
  ['without a contact text', manyRecipients(40_000).map((one) => ({ ...one, contact: '' }))],
  ['one of them', manyRecipients(1)],
  ['nobody', []],
]

const prepared = CASES.map(([what, recipients]) => {
  const { contacts: contactTexts, ...batch } = batchOf(recipients)
  const { contacts, contactCount } = columnsOf(recipients)
  const inShared = { phones: shared(batch.phones), contactTexts: shared(contactTexts) }
  return { what, batch: { ...batch, ...inShared }, contacts, contactCount }
})

for (const threadCount of byTier({ ci: [0, 3], soak: [0, 1, 2, 3] })) {
  t.test(`contacts are those that a Map finds, on ${threadCount} threads`, async (t) => {
    // Three threads start for each case.
    const some = threadCount === 0 ? prepared : prepared.filter((_, at) => at % 2 === 0)
    for (const { what, batch, contacts, contactCount } of byTier({ ci: some, soak: prepared })) {
      const found = await findContacts(batch, threadCount)
      t.equal(found.contactCount, contactCount, what)
      t.ok(
        found.contacts.every((contact, row) => contact === contacts[row]),
        what,
      )
    }
  })
}

function shared(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length))
  copy.set(bytes)
  return copy
}
