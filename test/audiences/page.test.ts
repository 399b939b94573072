/**
 * Pages of audiences against plain lists: whoever reads page after page gets everybody who is not
 * suppressed, once, in the order of the frozen list, however long the pages are.
 *
 * @module
 */
import fc from 'fast-check'
import t from 'tap'
import type { AudienceHeader } from '../../src/audiences/file.js'
import type { RowsPlace } from '../../src/audiences/messages.js'
import { pageOfAudience, suppressedCountsOf } from '../../src/audiences/page.js'
import type { SuppressibleAudience } from '../../src/audiences/suppressed.js'
import { testSeed } from '../support/random/properties.js'

/** Of each shard: who is in it, and who of them is suppressed. */
interface Frozen {
  readonly sourceId: number
  readonly isSuppressed: ReadonlyMap<number, boolean>
}

const anyShard = fc.record({
  sourceId: fc.integer({ min: 1, max: 3 }),
  isSuppressed: fc
    .array(fc.tuple(fc.nat({ max: 60 }), fc.boolean()), { minLength: 1, maxLength: 40 })
    .map((pairs) => new Map(pairs.sort(([a], [b]) => a - b))),
})
const anyAudience = fc.array(anyShard, { maxLength: 5 })

t.test('pages are the frozen list without the suppressed', async (t) => {
  const property = fc.property(
    anyAudience,
    fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 5 }),
    (shards, limits) => {
      const audience = audienceOf(shards)
      const expected = placesOf(shards).filter(({ isSuppressed }) => !isSuppressed)
      const found: string[] = []
      let after: number | undefined = 0
      for (let page = 0; after !== undefined && page < 500; page++) {
        const limit: number = limits[page % limits.length]
        const { shards: given, next } = pageOfAudience(audience, after, limit)
        const names = given.flatMap(({ place, runs }) => namesOf(place, runs))
        t.ok(names.length <= limit)
        t.ok(next === undefined || names.length === limit, 'a page is full unless it is the last')
        t.ok(next === undefined || next > after, 'the place moves on')
        found.push(...names)
        after = next
      }
      t.equal(after, undefined)
      t.same(
        found,
        expected.map(({ name }) => name),
      )
    },
  )
  fc.assert(property, { seed: testSeed(t), numRuns: 500 })
})

t.test('a place means the same, whoever is suppressed', async (t) => {
  const property = fc.property(anyAudience, fc.nat({ max: 250 }), (shards, place) => {
    const all = placesOf(shards)
    const after = Math.min(place, all.length)
    const given = pageOfAudience(audienceOf(shards), after, Number.POSITIVE_INFINITY)
    t.equal(given.next, undefined)
    t.same(
      given.shards.flatMap(({ place, runs }) => namesOf(place, runs)),
      all
        .slice(after)
        .filter(({ isSuppressed }) => !isSuppressed)
        .map(({ name }) => name),
    )
  })
  fc.assert(property, { seed: testSeed(t), numRuns: 500 })
})

t.test('the suppressed are counted by source', async (t) => {
  const property = fc.property(anyAudience, (shards) => {
    const counts = [1, 2, 3].map(
      (id) =>
        placesOf(shards.filter(({ sourceId }) => sourceId === id)).filter((one) => one.isSuppressed)
          .length,
    )
    t.same(suppressedCountsOf(audienceOf(shards)), counts)
  })
  fc.assert(property, { seed: testSeed(t), numRuns: 200 })
})

/** In the order of the list, each with a name of its own. */
function placesOf(shards: readonly Frozen[]): { name: string; isSuppressed: boolean }[] {
  return shards.flatMap(({ isSuppressed }, at) =>
    [...isSuppressed].map(([recipient, is]) => ({
      name: `${at} ${recipient}`,
      isSuppressed: is,
    })),
  )
}

function namesOf(place: RowsPlace, runs: Uint32Array): string[] {
  const file = 'file' in place ? place.file : ''
  const names: string[] = []
  for (let i = 0; i < runs.length; i += 2) {
    for (let each = runs[i]; each < runs[i + 1]; each++) names.push(`${file} ${each}`)
  }
  return names
}

function audienceOf(shards: readonly Frozen[]): SuppressibleAudience {
  const runs = shards.map(({ isSuppressed }) => runsOf([...isSuppressed.keys()]))
  const suppressed = shards.map(({ isSuppressed }) =>
    runsOf([...isSuppressed].filter(([, is]) => is).map(([recipient]) => recipient)),
  )
  const parts = shards.map(({ sourceId, isSuppressed }, at) => ({
    sourceId,
    recipientCount: isSuppressed.size,
    place: { snapshotId: '000001-00000000', file: String(at), byteLength: 0, headerCrc32: 0 },
    runs: runs[at],
  }))
  const sources = [1, 2, 3].map((id) => ({ id, label: '', recipientCount: 0 }))
  return { header: { sources } as unknown as AudienceHeader, parts, suppressed, version: 0 }
}

function runsOf(recipients: readonly number[]): Uint32Array {
  const pairs: number[] = []
  for (const each of recipients) {
    if (pairs.at(-1) === each) pairs[pairs.length - 1] = each + 1
    else pairs.push(each, each + 1)
  }
  return Uint32Array.from(pairs)
}
