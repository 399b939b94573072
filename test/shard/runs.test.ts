import fc from 'fast-check'
import t from 'tap'
import { limits } from '../../src/limits.js'
import { normalise, RunList, subtract } from '../../src/shard/runs.js'
import { testSeed } from '../support/random/properties.js'

const indexes = fc.array(fc.nat(120), { maxLength: 60 })

t.test('joining and subtracting do what they do to sets', async (t) => {
  fc.assert(
    fc.property(indexes, indexes, (a, b) => {
      const both = runsOf(a)
      const { pairs, runCount } = runsOf(b)
      for (let i = 0; i < 2 * runCount; i += 2) both.append(pairs[i], pairs[i + 1])
      normalise(both)
      t.same(indexesOf(both), sorted([...a, ...b]))
      t.equal(both.recipientCount(), new Set([...a, ...b]).size)
      const into = new RunList()
      subtract(runsOf(a), runsOf(b), into)
      t.same(
        indexesOf(into),
        sorted(a).filter((index) => !b.includes(index)),
      )
    }),
    { seed: testSeed(t), numRuns: 500 },
  )
})

t.test('a run that begins where the last one ends is joined to it', async (t) => {
  const runs = new RunList()
  runs.append(3, 5)
  runs.append(5, 9)
  runs.append(10, 11)
  t.same([...runs.toPairs()], [3, 9, 10, 11])
})

t.test('a list of runs grows as far as needed', async (t) => {
  const runs = new RunList()
  for (let i = 0; i < 10_000; i++) runs.append(2 * i, 2 * i + 1)
  t.equal(runs.recipientCount(), 10_000)
  t.equal(runs.toPairs().length, 20_000)
})

t.test('the largest indexes are kept exactly', async (t) => {
  const runs = new RunList()
  const last = limits.shardRecipientCount
  runs.append(last - 1, last)
  runs.append(0, 1)
  runs.append(2 ** 26 - 2, 2 ** 26 - 1)
  normalise(runs)
  t.same([...runs.toPairs()], [0, 1, last - 1, last, 2 ** 26 - 2, 2 ** 26 - 1])
})

function runsOf(indexes: readonly number[]): RunList {
  const runs = new RunList()
  for (const index of sorted(indexes)) runs.append(index, index + 1)
  return runs
}

function indexesOf(runs: RunList): number[] {
  const found: number[] = []
  for (let i = 0; i < 2 * runs.runCount; i += 2) {
    for (let index = runs.pairs[i]; index < runs.pairs[i + 1]; index++) found.push(index)
  }
  return found
}

function sorted(indexes: readonly number[]): number[] {
  return [...new Set(indexes)].sort((a, b) => a - b)
}
