/**
 * Recipients for tests, as columns.
 *
 * @module
 */
import fc from 'fast-check'
import type { RecipientColumns } from '../../src/shard/columns.js'
import { RecipientCollector } from '../../src/sources/collector.js'

export interface TestRecipient {
  readonly number: string
  /** Units of 1e-7 degree. */
  readonly lng: number
  readonly lat: number
  readonly contact: string
}

export function columnsOf(recipients: readonly TestRecipient[]): RecipientColumns {
  const collector = new RecipientCollector()
  for (const { number, lng, lat, contact } of recipients) {
    const text = Buffer.from(number)
    const id = Buffer.from(contact)
    collector.add(lng, lat, text, 0, text.length)
    if (id.length === 0) collector.setNoContact()
    else collector.setContact(id, 0, id.length)
  }
  return collector.finish()
}

/** Recipients on a line, one unit apart, each a contact of its own. */
export function manyColumns(recipientCount: number, firstNumber = 0): RecipientColumns {
  return columnsOf(
    Array.from({ length: recipientCount }, (_, row) => ({
      number: `+999${firstNumber + row}`,
      lng: (row * 7919) % 1_000_003,
      lat: -row,
      contact: '',
    })),
  )
}

/** With duplicates of everything, quotation marks, commas and any Unicode; not empty. */
export const anyRecipients: fc.Arbitrary<TestRecipient[]> = fc.array(
  fc.record({
    number: fc.oneof(
      fc.integer({ min: 0, max: 30 }).map((value) => `+999${value}`),
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }),
      fc.constantFrom('"', ',', '+999,"1"', ' +9991 ', '😀'),
    ),
    lng: fc.oneof(fc.integer({ min: -3, max: 3 }), fc.integer({ min: -1.8e9, max: 1.8e9 })),
    lat: fc.oneof(fc.integer({ min: -3, max: 3 }), fc.integer({ min: -9e8, max: 9e8 })),
    contact: fc.oneof(fc.constant(''), fc.constantFrom('a', 'b', '"', '+9991')),
  }),
  { minLength: 1, maxLength: 300, size: 'max' },
)
