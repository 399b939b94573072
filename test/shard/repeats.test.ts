/**
 * Numbers that repeat are found, all of them and no others.
 *
 * @module
 */
import fc from 'fast-check'
import t from 'tap'
import { findRepeats, type Repeats } from '../../src/shard/duplicates/find-repeats.js'
import type { NumberColumn } from '../../src/shard/duplicates/number-hash.js'
import { lookHere, type NumberLook } from '../../src/shard/duplicates/shard-look.js'
import { repeatsByMap } from '../support/data/repeats.js'
import { testSeed } from '../support/random/properties.js'
import { seededRandom } from '../support/random/world.js'
import { byTier } from '../support/tier.js'

const number = fc.oneof(
  fc.nat(40).map((value) => `+999${value}`),
  // Around the words in which they are compared, and longer than what fits in a table.
  fc.integer({ min: 1, max: 64 }).map((length) => '+9991234567'.repeat(6).slice(0, length)),
  fc.nat(5).map((value) => `+999 (0) 123456789012345678901234567${value}`),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }),
)
const shards = fc.array(fc.array(number, { maxLength: 60 }), { maxLength: 5 })

t.test('any numbers, in any shards, in any number of passes', async (t) => {
  const perPass = fc.option(fc.integer({ min: 1, max: 30 }), { nil: undefined })
  const ahead = fc.integer({ min: 1, max: 7 })
  const property = fc.asyncProperty(shards, perPass, ahead, async (lists, most, aheadCount) => {
    const texts = lists.map((list) => list.map((text) => Buffer.from(text).toString('latin1')))
    t.same(plain(await repeatsOf(texts, most, { aheadCount })), plain(repeatsByMap(texts)))
  })
  await fc.assert(property, { seed: testSeed(t), numRuns: byTier({ short: 80, long: 300 }) })
})

t.test('many numbers: all different, all equal, and shared by three sources', async (t) => {
  const random = seededRandom(testSeed(t))
  const count = 30_000
  const cases: Record<string, (shard: number, at: number) => number> = {
    different: (shard, at) => shard * count + at,
    equal: () => 7,
    shared: (_, at) => 7919 * at,
    random: () => random.between(0, 2 * count),
  }
  for (const [name, numberOf] of Object.entries(cases)) {
    const texts = [0, 1, 2].map((shard) =>
      Array.from({ length: count }, (_, at) => `+999${numberOf(shard, at)}`),
    )
    for (const numbersPerPass of [1_000_000, 7_000]) {
      const found = await repeatsOf(texts, numbersPerPass)
      t.ok(isSame(found, repeatsByMap(texts)), `${name}, ${numbersPerPass} in a pass`)
    }
  }
})

t.test('a column may lie anywhere in its memory, and be used again', async (t) => {
  const texts = [
    ['+9991', '+9992', '+9993'],
    ['+9993', '+9994', '+9992'],
  ]
  const room = new Uint8Array(new SharedArrayBuffer(100)).fill(1)
  const read = async (shard: number): Promise<NumberColumn> => {
    const column = columnOf(texts[shard])
    room.fill(2)
    const numbers = room.subarray(3, 3 + column.numbers.length)
    numbers.set(column.numbers)
    return { numbers, numberOffsets: column.numberOffsets }
  }
  t.same(plain(await findRepeats([3, 3], lookHere(read))), plain(repeatsByMap(texts)))
  t.same(plain(await findRepeats([], lookHere(read))), { numberCount: 0, shards: [] })
})

function repeatsOf(
  texts: readonly string[][],
  numbersPerPass?: number,
  ahead: Partial<NumberLook> = {},
): Promise<Repeats> {
  const columns = texts.map(columnOf)
  const look = { ...lookHere((shard) => columns[shard]), ...ahead }
  return findRepeats(
    texts.map((list) => list.length),
    look,
    numbersPerPass,
  )
}

function columnOf(texts: readonly string[]): NumberColumn {
  const numberOffsets = new Uint32Array(texts.length + 1)
  for (const [at, text] of texts.entries()) numberOffsets[at + 1] = numberOffsets[at] + text.length
  return { numbers: Buffer.from(texts.join(''), 'latin1'), numberOffsets }
}

function plain({ numberCount, shards }: Repeats) {
  return {
    numberCount,
    shards: shards.map(({ recipients, numberIds }) => [[...recipients], [...numberIds]]),
  }
}

function isSame(a: Repeats, b: Repeats): boolean {
  return JSON.stringify(plain(a)) === JSON.stringify(plain(b))
}
