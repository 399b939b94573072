import fc from 'fast-check'
import t from 'tap'
import { hashBytes } from '../../src/shard/hash-bytes.js'
import {
  createNumberTable,
  findPlace,
  firstPlace,
  indexAt,
} from '../../src/suppressions/number-table.js'
import { testSeed } from '../support/random/properties.js'
import { byTier } from '../support/tier.js'

function columnOf(numbers: readonly string[]) {
  const pieces = numbers.map((number) => Buffer.from(number))
  const numberOffsets = new Uint32Array(numbers.length + 1)
  for (const [i, piece] of pieces.entries()) numberOffsets[i + 1] = numberOffsets[i] + piece.length
  return { count: numbers.length, numberOffsets, numbers: new Uint8Array(Buffer.concat(pieces)) }
}

function indexesOf(table: ReturnType<typeof createNumberTable>, number: string): number[] {
  const bytes = Buffer.from(`_${number}_`)
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

t.test('every index of a number is found, and no other', async (t) => {
  const seed = testSeed(t)
  const number = fc.oneof(
    fc.integer({ min: 0, max: 30 }).map((n) => `+999${n}`),
    fc.string({ minLength: 1, maxLength: 8, unit: 'grapheme' }),
  )
  fc.assert(
    fc.property(fc.array(number, { maxLength: 300 }), fc.array(number), (numbers, others) => {
      const table = createNumberTable(columnOf(numbers))
      for (const each of new Set([...numbers, ...others])) {
        const expected = numbers.flatMap((other, i) => (other === each ? [i] : []))
        t.same(indexesOf(table, each), expected)
      }
    }),
    { seed, numRuns: 100 },
  )
})

t.test('many equal numbers are all found, and many others not among them', async (t) => {
  const count = byTier({ short: 20_000, long: 100_000 })
  const numbers = Array.from({ length: count }, (_, i) => (i % 2 === 0 ? '+9990' : `+9991${i}`))
  const table = createNumberTable(columnOf(numbers))
  t.equal(indexesOf(table, '+9990').length, count / 2)
  for (let i = 1; i < numbers.length; i += 1_999) {
    const expected = numbers.flatMap((other, at) => (other === numbers[i] ? [at] : []))
    t.same(indexesOf(table, numbers[i]), expected)
  }
  t.same(indexesOf(createNumberTable(columnOf([])), '+9990'), [])
})
