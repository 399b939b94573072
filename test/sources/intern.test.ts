import fc from 'fast-check'
import t from 'tap'
import { Interner } from '../../src/sources/intern.js'
import { TextColumn } from '../../src/sources/text-column.js'
import { testSeed } from '../support/properties.js'

function append(column: TextColumn, text: string): number {
  const bytes = Buffer.from(text)
  return column.append(bytes, 0, bytes.length)
}

function read(column: TextColumn, index: number): string {
  const { bytes, offsets } = column
  return Buffer.from(bytes.subarray(offsets[index], offsets[index + 1])).toString()
}

t.test('the first equal text is the one that a Map finds', async (t) => {
  const seed = testSeed(t)
  const few = fc.constantFrom('', 'a', 'b', 'aa', 'ab', 'ba', '\0', '\0\0', 'é', '😀')
  const texts = fc.array(fc.oneof(few, fc.string({ unit: 'grapheme', maxLength: 20 })), {
    maxLength: 400,
    size: 'max',
  })
  fc.assert(
    fc.property(texts, (list) => {
      const column = new TextColumn()
      const interner = new Interner(column)
      const known = new Map<string, number>()
      return list.every((text) => {
        const index = append(column, text)
        if (!known.has(text)) known.set(text, index)
        return interner.firstEqual(index) === known.get(text) && read(column, index) === text
      })
    }),
    { seed, numRuns: 500 },
  )
})

t.test('200,000 texts that differ little are told apart while the table grows', async (t) => {
  const column = new TextColumn()
  const interner = new Interner(column)
  for (let round = 0; round < 2; round++) {
    for (let value = 0; value < 200_000; value++) {
      const index = append(column, `+999${value}`)
      const first = interner.firstEqual(index)
      if (first !== value) t.fail(`text ${value} of round ${round} is found at ${first}`)
    }
  }
})

t.test('a column takes texts up to its bytes, and not one more', async (t) => {
  const column = new TextColumn(10)
  append(column, '12345')
  append(column, '67890')
  t.equal(append(column, ''), 2)
  t.throws(() => append(column, 'x'), { code: 'InputRejected', message: /more than 10 bytes/ })
})

t.test('a text taken away again leaves nothing behind', async (t) => {
  const column = new TextColumn()
  append(column, 'first')
  append(column, 'second, longer')
  column.removeLast()
  t.equal(append(column, 'third'), 1)
  t.equal(read(column, 0), 'first')
  t.equal(read(column, 1), 'third')
})
