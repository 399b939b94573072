import t from 'tap'
import { createLatencies } from '../../loadtest/generator/latencies.js'
import { createTally } from '../../loadtest/generator/tally.js'
import {
  figureOf,
  parseResults,
  RESULTS_FORMAT,
  summarize,
} from '../../loadtest/harness/results.js'

/** What the histogram rounds to. */
const isNear = (actual: number, expected: number) => Math.abs(actual - expected) <= expected / 500

t.test('percentiles are of all times that were recorded', async (t) => {
  const latencies = createLatencies()
  for (let ms = 1; ms <= 1_000; ms++) latencies.record(ms)
  const { p50Ms, p99Ms, p999Ms, maxMs } = latencies.figures()
  t.ok(isNear(p50Ms, 500), `${p50Ms}`)
  t.ok(isNear(p99Ms, 990), `${p99Ms}`)
  t.ok(isNear(p999Ms, 999), `${p999Ms}`)
  t.ok(isNear(maxMs, 1_000), `${maxMs}`)
})

t.test('without any, all of them are 0', async (t) => {
  t.same(createLatencies().figures(), { p50Ms: 0, p99Ms: 0, p999Ms: 0, maxMs: 0 })
})

t.test('a tally tells right answers, wrong ones, refusals and losses apart', async (t) => {
  const tally = createTally(2)
  for (const secondsIn of [0.1, 0.2, 1.5]) tally.answered('right', 5, secondsIn)
  tally.answered('refused', 1, 1.6)
  tally.answered('wrong', 700, 1.7)
  tally.answered('failed', 700, 1.8)
  tally.lost()
  tally.lost()
  tally.timedOut()
  t.match(tally.figures(), {
    answeredCount: 6,
    successCount: 3,
    failedCount: 5,
    non2xxCount: 2,
    refusedCount: 1,
    wrongCount: 1,
    lostCount: 2,
    timeoutCount: 1,
    perSecond: 3,
    perSecondMin: 2,
    perSecondMax: 4,
    successPerSecond: 1.5,
  })
  t.ok(isNear(tally.figures().maxMs, 5), 'latencies are of right answers')
  t.ok(isNear(tally.figures().refusedP99Ms, 1), 'and of refusals, apart')
})

t.test('an answer after the end has a latency, but is in no rate', async (t) => {
  const tally = createTally(1)
  tally.answered('right', 5, 0.5)
  tally.answered('right', 800, 1)
  const figures = tally.figures()
  t.match(figures, { answeredCount: 2, successCount: 2, perSecond: 1, successPerSecond: 1 })
  t.ok(isNear(figures.maxMs, 800))
})

t.test('a figure is the median of its runs, with the least and the greatest', async (t) => {
  t.same(figureOf([3, 1, 2]), { median: 2, min: 1, max: 3, runs: [3, 1, 2] })
  t.same(figureOf([4, 1, 2, 3]), { median: 2.5, min: 1, max: 4, runs: [4, 1, 2, 3] })
  t.same(figureOf([7]), { median: 7, min: 7, max: 7, runs: [7] })
})

t.test('the faults of all runs are kept, and figures that not all of them have', async (t) => {
  const { figures, faults } = summarize([
    { figures: { p99Ms: 4 }, faults: [] },
    { figures: { p99Ms: 8, exitSeconds: 3 }, faults: ['late'] },
  ])
  t.equal(figures.p99Ms.median, 6)
  t.same(figures.exitSeconds.runs, [3])
  t.same(faults, ['late'])
})

t.test('a run that broke off has faults, but no part in a median', async (t) => {
  const { figures, faults } = summarize([
    { figures: {}, faults: ['broke off'] },
    { figures: { p99Ms: 8 }, faults: [] },
  ])
  t.same(figures, { p99Ms: figureOf([8]) })
  t.same(faults, ['broke off'])
})

t.test('only a result file is read as one', async (t) => {
  t.equal(parseResults(JSON.stringify({ format: RESULTS_FORMAT }), 'a.json').format, RESULTS_FORMAT)
  t.throws(() => parseResults('{}', 'a.json'), /a\.json is not a result/)
})
