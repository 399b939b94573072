import fc from 'fast-check'
import t from 'tap'
import { rankedSetLength, rankMembers, rankOf } from '../../../src/shard/ties/ranked-set.js'
import { testSeed } from '../../support/random/properties.js'

t.test('a set knows its members, and how many are before any number up to its end', async (t) => {
  const sets = fc
    .nat(200)
    .chain((end) => fc.tuple(fc.constant(end), fc.uniqueArray(fc.nat(Math.max(0, end - 1)))))
  const property = fc.property(sets, ([end, listed]) => {
    const members = listed.filter((member) => member < end)
    const set = new Uint32Array(rankedSetLength(end))
    for (const member of members) set[2 * (member >>> 5) + 1] |= 1 << (member & 31)
    t.equal(rankMembers(set), members.length)
    for (let item = 0; item <= end; item++) {
      const rank = members.filter((member) => member < item).length
      if (rankOf(set, item) !== rank) t.fail(`rank of ${item} among ${members}`)
    }
  })
  fc.assert(property, {
    seed: testSeed(t),
    numRuns: 200,
    examples: [[[0, []]], [[32, [31]]], [[64, [...Array(64).keys()]]], [[65, [0, 31, 32, 63, 64]]]],
  })
})
