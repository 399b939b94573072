/**
 * Recipients for tests, as columns.
 *
 * @module
 */
import fc from 'fast-check'
import { limits } from '../../../src/limits.js'
import type { RecipientColumns } from '../../../src/shard/columns.js'
import type { RecipientBatch } from '../../../src/sources/batch.js'

export interface TestRecipient {
  readonly phone: string
  /** Units of 1e-7 degree. */
  readonly lng: number
  readonly lat: number
  readonly contact: string
}

export function columnsOf(recipients: readonly TestRecipient[]): RecipientColumns {
  const encoder = new TextEncoder()
  const phones = recipients.map(({ phone }) => encoder.encode(phone))
  const contactOf = new Map<string, number>()
  const contacts = recipients.map(({ phone, contact }) => {
    const key = contact === '' ? `number ${phone}` : `contact ${contact}`
    const known = contactOf.get(key) ?? contactOf.size
    contactOf.set(key, known)
    return known
  })
  return {
    recipientCount: recipients.length,
    lngs: Int32Array.from(recipients, ({ lng }) => lng),
    lats: Int32Array.from(recipients, ({ lat }) => lat),
    contacts: Uint32Array.from(contacts),
    contactCount: contactOf.size,
    phoneOffsets: offsetsOf(phones),
    phones: Buffer.concat(phones),
  }
}

/** What a source gives of these recipients. */
export function batchOf(recipients: readonly TestRecipient[]): RecipientBatch {
  const encoder = new TextEncoder()
  const contacts = recipients.map(({ contact }) => encoder.encode(contact))
  const { recipientCount, lngs, lats, phoneOffsets, phones } = columnsOf(recipients)
  return {
    recipientCount,
    lngs,
    lats,
    phoneOffsets,
    phones,
    contactOffsets: offsetsOf(contacts),
    contacts: Buffer.concat(contacts),
  }
}

function offsetsOf(texts: readonly Uint8Array[]): Uint32Array {
  const offsets = new Uint32Array(texts.length + 1)
  for (const [at, text] of texts.entries()) offsets[at + 1] = offsets[at] + text.length
  return offsets
}

/** Recipients on a line, one unit apart, each a contact of its own. */
export function manyColumns(recipientCount: number, firstPhone = 0): RecipientColumns {
  return columnsOf(
    Array.from({ length: recipientCount }, (_, row) => ({
      phone: `+999${firstPhone + row}`,
      lng: (row * 7919) % 1_000_003,
      lat: -row,
      contact: '',
    })),
  )
}

/** With duplicates of everything, quotation marks, commas and any Unicode; not empty. */
export const anyRecipients: fc.Arbitrary<TestRecipient[]> = fc.array(
  fc.record({
    phone: fc.oneof(
      fc.integer({ min: 0, max: 30 }).map((value) => `+999${value}`),
      fc
        .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
        .filter((phone) => Buffer.byteLength(phone) <= limits.phoneBytes),
      fc.constantFrom('"', ',', '+999,"1"', ' +9991 ', '😀'),
    ),
    lng: fc.oneof(fc.integer({ min: -3, max: 3 }), fc.integer({ min: -1.8e9, max: 1.8e9 })),
    lat: fc.oneof(fc.integer({ min: -3, max: 3 }), fc.integer({ min: -9e8, max: 9e8 })),
    contact: fc.oneof(fc.constant(''), fc.constantFrom('a', 'b', '"', '+9991')),
  }),
  { minLength: 1, maxLength: 300, size: 'max' },
)
