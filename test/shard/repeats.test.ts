/**
 * Phones that repeat are found, all of them and no others.
 *
 * @module
 */
import fc from 'fast-check'
import t from 'tap'
import { findRepeats, type Repeats } from '../../src/shard/duplicates/find-repeats.js'
import type { PhoneColumn } from '../../src/shard/duplicates/phone-hash.js'
import { lookHere, type PhoneLook } from '../../src/shard/duplicates/shard-look.js'
import { repeatsByMap } from '../support/data/repeats.js'
import { testSeed } from '../support/random/properties.js'
import { seededRandom } from '../support/random/world.js'
import { byTier } from '../support/tier.js'

const phone = fc.oneof(
  fc.nat(40).map((value) => `+999${value}`),
  // Around the words in which they are compared, and longer than what fits in a table.
  fc.integer({ min: 1, max: 64 }).map((length) => '+9991234567'.repeat(6).slice(0, length)),
  fc.nat(5).map((value) => `+999 (0) 123456789012345678901234567${value}`),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }),
)
const shards = fc.array(fc.array(phone, { maxLength: 60 }), { maxLength: 5 })

t.test('any phones, in any shards, in any number of passes', async (t) => {
  const perPass = fc.option(fc.integer({ min: 1, max: 30 }), { nil: undefined })
  const ahead = fc.integer({ min: 1, max: 7 })
  const property = fc.asyncProperty(shards, perPass, ahead, async (lists, most, aheadCount) => {
    const texts = lists.map((list) => list.map((text) => Buffer.from(text).toString('latin1')))
    t.same(plain(await repeatsOf(texts, most, { aheadCount })), plain(repeatsByMap(texts)))
  })
  await fc.assert(property, { seed: testSeed(t), numRuns: byTier({ ci: 80, soak: 300 }) })
})

t.test('many phones: all different, all equal, and shared by three sources', async (t) => {
  const random = seededRandom(testSeed(t))
  const count = 10_000
  const cases: Record<string, (shard: number, at: number) => number> = {
    different: (shard, at) => shard * count + at,
    equal: () => 7,
    shared: (_, at) => 7919 * at,
    random: () => random.between(0, 2 * count),
  }
  for (const [name, phoneOf] of Object.entries(cases)) {
    const texts = [0, 1, 2].map((shard) =>
      Array.from({ length: count }, (_, at) => `+999${phoneOf(shard, at)}`),
    )
    const expected = repeatsByMap(texts)
    for (const phonesPerPass of [1_000_000, 2_500]) {
      const found = await repeatsOf(texts, phonesPerPass)
      t.ok(isSame(found, expected), `${name}, ${phonesPerPass} in a pass`)
    }
  }
})

t.test('a column may lie anywhere in its memory, and be used again', async (t) => {
  const texts = [
    ['+9991', '+9992', '+9993'],
    ['+9993', '+9994', '+9992'],
  ]
  const room = new Uint8Array(new SharedArrayBuffer(100)).fill(1)
  const read = async (shard: number): Promise<PhoneColumn> => {
    const column = columnOf(texts[shard])
    room.fill(2)
    const phones = room.subarray(3, 3 + column.phones.length)
    phones.set(column.phones)
    return { phones, phoneOffsets: column.phoneOffsets }
  }
  t.same(plain(await findRepeats([3, 3], lookHere(read))), plain(repeatsByMap(texts)))
  t.same(plain(await findRepeats([], lookHere(read))), { phoneCount: 0, shards: [] })
})

function repeatsOf(
  texts: readonly string[][],
  phonesPerPass?: number,
  ahead: Partial<PhoneLook> = {},
): Promise<Repeats> {
  const columns = texts.map(columnOf)
  const look = { ...lookHere((shard) => columns[shard]), ...ahead }
  return findRepeats(
    texts.map((list) => list.length),
    look,
    phonesPerPass,
  )
}

function columnOf(texts: readonly string[]): PhoneColumn {
  const phoneOffsets = new Uint32Array(texts.length + 1)
  for (const [at, text] of texts.entries()) phoneOffsets[at + 1] = phoneOffsets[at] + text.length
  return { phones: Buffer.from(texts.join(''), 'latin1'), phoneOffsets }
}

function plain({ phoneCount, shards }: Repeats) {
  return {
    phoneCount,
    shards: shards.map(({ recipients, phoneIds }) => [[...recipients], [...phoneIds]]),
  }
}

function isSame(a: Repeats, b: Repeats): boolean {
  return JSON.stringify(plain(a)) === JSON.stringify(plain(b))
}
