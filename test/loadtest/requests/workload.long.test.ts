import t from 'tap'
import { createOracle } from '../../../loadtest/harness/oracle.js'
import { heavySelections } from '../../../loadtest/requests/heavy.js'
import { requestBody, type SelectFeature } from '../../../loadtest/requests/requests.js'
import {
  buildWorkload,
  type Kind,
  LISTED_COUNT_MAX,
  WEIGHTS,
} from '../../../loadtest/requests/workload.js'
import { syntheticColumns } from '../../../src/sources/synthetic/synthetic-columns.js'

const SEED = 1
const columns = syntheticColumns({ recipientCount: 200_000, seed: SEED, countries: ['US'] })
const oracle = createOracle({ phones: [], lngs: columns.lngs, lats: columns.lats })
const countOf = (features: readonly SelectFeature[]) => oracle.rowsInside(features).length
const build = (itemCount: number, seed: number) => buildWorkload(columns, itemCount, seed, countOf)

t.test('the weights are those of a thousand requests', async (t) => {
  const weights: readonly number[] = Object.values(WEIGHTS)
  t.equal(
    weights.reduce((sum, weight) => sum + weight, 0),
    1_000,
  )
})

t.test(`a workload has each kind by its weight, seed ${SEED}`, async (t) => {
  const items = build(1_000, SEED)
  for (const [kind, weight] of Object.entries(WEIGHTS)) {
    t.equal(items.filter((item) => item.kind === kind).length, weight, kind)
  }
  const kinds: readonly Kind[] = items.slice(0, 100).map(({ kind }) => kind)
  t.ok(new Set(kinds).size > 2, 'in random order')
})

t.test(`lists are as short as they are said to be, seed ${SEED}`, async (t) => {
  for (const { features, countsOnly, kind } of build(1_000, SEED)) {
    t.equal(countsOnly, kind !== 'drawnList')
    if (!countsOnly) t.ok(countOf(features) <= LISTED_COUNT_MAX)
  }
})

t.test('the same seed asks the same, another seed something else', async (t) => {
  const bodies = (seed: number) => build(100, seed).map(requestBody)
  t.same(bodies(SEED), bodies(SEED))
  t.notSame(bodies(SEED), bodies(SEED + 1))
})

t.test('heavy requests are large polygons and ten circles, in turn', async (t) => {
  const [polygon, circles] = heavySelections(columns, 2, SEED)
  t.equal(polygon.features.length, 1)
  t.equal(circles.features.length, 10)
  t.ok(countOf(polygon.features) > 0 && countOf(circles.features) > 0)
  t.same(heavySelections(columns, 4, SEED).slice(0, 2), [polygon, circles])
})
