import fc from 'fast-check'
import t from 'tap'
import { hashBytes } from '../../src/shard/hash-bytes.js'
import { firstPlace, indexAt } from '../../src/shard/hash-table.js'
import { createPhoneTable, findPlace } from '../../src/suppressions/phone-table.js'
import { testSeed } from '../support/random/properties.js'
import { byTier } from '../support/tier.js'

function columnOf(phones: readonly string[]) {
  const pieces = phones.map((phone) => Buffer.from(phone))
  const phoneOffsets = new Uint32Array(phones.length + 1)
  for (const [i, piece] of pieces.entries()) phoneOffsets[i + 1] = phoneOffsets[i] + piece.length
  return { count: phones.length, phoneOffsets, phones: new Uint8Array(Buffer.concat(pieces)) }
}

function indexesOf(table: ReturnType<typeof createPhoneTable>, phone: string): number[] {
  const bytes = Buffer.from(`_${phone}_`)
  const end = bytes.length - 1
  const hash = hashBytes(bytes, 1, end)
  const found: number[] = []
  let place = findPlace(table, bytes, 1, end, hash, firstPlace(table, hash))
  while (place >= 0) {
    found.push(indexAt(table, place))
    place = findPlace(table, bytes, 1, end, hash, place + 1)
  }
  return found.sort((a, b) => a - b)
}

t.test('every index of a phone is found, and no other', async (t) => {
  const seed = testSeed(t)
  const phone = fc.oneof(
    fc.integer({ min: 0, max: 30 }).map((n) => `+999${n}`),
    fc.string({ minLength: 1, maxLength: 8, unit: 'grapheme' }),
  )
  fc.assert(
    fc.property(fc.array(phone, { maxLength: 300 }), fc.array(phone), (phones, others) => {
      const table = createPhoneTable(columnOf(phones))
      for (const each of new Set([...phones, ...others])) {
        const expected = phones.flatMap((other, i) => (other === each ? [i] : []))
        t.same(indexesOf(table, each), expected)
      }
    }),
    { seed, numRuns: 100 },
  )
})

t.test('many equal phones are all found, and many others not among them', async (t) => {
  const count = byTier({ ci: 20_000, soak: 100_000 })
  const phones = Array.from({ length: count }, (_, i) => (i % 2 === 0 ? '+9990' : `+9991${i}`))
  const table = createPhoneTable(columnOf(phones))
  t.equal(indexesOf(table, '+9990').length, count / 2)
  for (let i = 1; i < phones.length; i += 1_999) {
    const expected = phones.flatMap((other, at) => (other === phones[i] ? [at] : []))
    t.same(indexesOf(table, phones[i]), expected)
  }
  t.same(indexesOf(createPhoneTable(columnOf([])), '+9990'), [])
})
