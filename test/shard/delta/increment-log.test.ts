import fc from 'fast-check'
import t from 'tap'
import { joinTied } from '../../../src/shard/delta/increment-log.js'
import { testSeed } from '../../support/random/properties.js'

t.test(
  'whoever is tied in any of several is tied in all of them together, ascending',
  async (t) => {
    const seed = testSeed(t)
    const recipients = fc.uniqueArray(fc.integer({ min: 0, max: 2 ** 20 }), { maxLength: 200 })
    const groupCounts = fc.integer({ min: 1, max: 9 })
    fc.assert(
      fc.property(recipients, groupCounts, (all, groupCount) => {
        const ascending = [...all].sort((left, right) => left - right)
        const groups = Array.from({ length: groupCount }, (_, group) => {
          const own = ascending.filter((recipient) => recipient % groupCount === group)
          return {
            recipients: Uint32Array.from(own),
            ids: Uint32Array.from(own, (each) => 7 * each),
          }
        })
        const joined = joinTied(groups)
        t.same([...joined.recipients], ascending)
        t.same(
          [...joined.ids],
          ascending.map((each) => 7 * each),
        )
      }),
      { seed, numRuns: 200 },
    )
  },
)

t.test('a million are joined in less than the time of an increment or two', async (t) => {
  const count = 500_000
  const [even, odd] = [0, 1].map((first) => {
    const recipients = Uint32Array.from({ length: count }, (_, at) => 2 * at + first)
    return { recipients, ids: recipients }
  })
  joinTied([even, odd])
  const startedMs = performance.now()
  const { recipients } = joinTied([even, odd])
  const tookMs = performance.now() - startedMs
  t.equal(recipients.length, 2 * count)
  // About 10 ms; a sort of pairs takes a second.
  t.ok(tookMs < 200, `${tookMs} ms`)
})
