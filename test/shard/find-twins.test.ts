/**
 * Recipients whose phones have equal hashes are found in bins of any size.
 *
 * @module
 */
import t from 'tap'
import type { DealtPhones } from '../../src/shard/duplicates/deal-phones.js'
import { findTwins } from '../../src/shard/duplicates/find-twins.js'
import { testSeed } from '../support/random/properties.js'
import { seededRandom } from '../support/random/world.js'

/** A phone as it is dealt out: its hash, and what is left of the other one. */
type Phone = readonly [hash: number, rest: number]

const INDEX_BITS = 17

t.test('twins in bins that hold none, one, and more than their table at first', (t) => {
  const random = seededRandom(testSeed(t))
  // The last ones have few hashes, so that slots are taken and only the rests differ.
  const sizes = [0, 1, 2, 100, 8_192, 20_000, 3_000]
  const shards = [0, 1, 2].map(() =>
    sizes.map((size, bin) =>
      Array.from({ length: size }, (): Phone => {
        const hash = random.between(0, bin === sizes.length - 1 ? 40 : 10 * size)
        return [hash * 7919, random.between(0, 9)]
      }),
    ),
  )
  const dealt = shards.map(dealtPhones)
  const expected = twinsByMap(shards)
  for (const bounds of [
    [0, 7],
    [0, 3, 5, 6, 7],
    [0, 0, 7, 7],
  ]) {
    const twins = dealt.map(({ entries }) => bitsFor(entries.length / 2))
    let twinCount = 0
    for (let at = 0; at + 1 < bounds.length; at++) {
      const bins = { firstBin: bounds[at], endBin: bounds[at + 1] }
      twinCount += findTwins({ dealt, twins, indexBits: INDEX_BITS, ...bins })
    }
    const found = twins.map(indexesIn)
    t.same(found, expected)
    t.equal(twinCount, expected.flat().length)
  }
  t.end()
})

/** Indexes of recipients are those of their phones, bin by bin. */
function dealtPhones(bins: readonly (readonly Phone[])[]): DealtPhones {
  const starts = new Uint32Array(bins.length + 1)
  for (const [bin, phones] of bins.entries()) starts[bin + 1] = starts[bin] + phones.length
  const words = bins.flat().flatMap(([hash, rest], index) => [hash, rest * 2 ** INDEX_BITS + index])
  return { entries: Uint32Array.from(words), starts }
}

/** The indexes of the recipients of each shard that have a twin in their bin. */
function twinsByMap(shards: readonly (readonly (readonly Phone[])[])[]): number[][] {
  const counts = new Map<string, number>()
  const keysOf = (bins: readonly (readonly Phone[])[]) =>
    bins.flatMap((phones, bin) => phones.map((phone) => `${bin} ${phone}`))
  for (const key of shards.flatMap(keysOf)) counts.set(key, (counts.get(key) ?? 0) + 1)
  return shards.map((bins) =>
    keysOf(bins).flatMap((key, index) => ((counts.get(key) ?? 0) > 1 ? [index] : [])),
  )
}

function bitsFor(count: number): Int32Array {
  return new Int32Array(new SharedArrayBuffer(4 * Math.ceil(count / 32)))
}

function indexesIn(bits: Int32Array): number[] {
  const isSet = (index: number) => ((bits[index >>> 5] >>> (index & 31)) & 1) === 1
  return Array.from({ length: 32 * bits.length }, (_, index) => index).filter(isSet)
}
