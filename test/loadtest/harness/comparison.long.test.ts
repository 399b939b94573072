import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { compareResults, type Verdict } from '../../../loadtest/harness/comparison.js'
import { directionOf } from '../../../loadtest/harness/directions.js'
import { newestRelease, releasesDirectory } from '../../../loadtest/harness/releases.js'
import {
  ECHO,
  parseResults,
  RESULTS_FORMAT,
  type Results,
  summarize,
} from '../../../loadtest/harness/results.js'

const everything = { thresholdShare: 0.1, judgesAll: true }

type Runs = Readonly<Record<string, readonly number[]>>

function resultsOf(runs: Runs, change: Partial<Results> = {}): Results {
  const [{ length }] = Object.values(runs)
  const outcomes = Array.from({ length }, (_, run) => ({
    figures: Object.fromEntries(Object.entries(runs).map(([name, values]) => [name, values[run]])),
    faults: [],
  }))
  return {
    format: RESULTS_FORMAT,
    date: '2026-01-01T00:00:00.000Z',
    machine: 'this machine',
    node: 'v20.0.0',
    commit: null,
    echo: 'an echo',
    options: { recipientCount: 1_000, seed: 1, connectionCount: 64 },
    scenarios: { counts: summarize(outcomes) },
    ...change,
  }
}

t.test('figures are judged by their unit', async (t) => {
  const cases = {
    countsPerSecond: 'higher is better',
    ratioToEcho: 'higher is better',
    timesNaive: 'higher is better',
    jsonMegabytesPerSecond: 'higher is better',
    goodputShare: 'higher is better',
    p99Ms: 'lower is better',
    residentPeakMegabytes: 'lower is better',
    p99SlowdownRatio: 'lower is better',
    failedCount: 'lower is better',
    resetCount: 'lower is better',
    echoPerSecond: 'neither',
    naivePerSecond: 'neither',
    openOfferedPerSecond: 'neither',
    generatorBusyShare: 'neither',
    refusedCount: 'neither',
    recipientCount: 'neither',
  }
  for (const [name, direction] of Object.entries(cases)) t.equal(directionOf(name), direction, name)
})

t.test('a change counts beyond both the spread and the threshold', async (t) => {
  const cases: readonly (readonly [string, number[], number[], Verdict])[] = [
    ['countsPerSecond', [100, 110, 120], [60, 70, 80], 'worse'],
    ['countsPerSecond', [100, 110, 120], [160, 170, 180], 'better'],
    ['countsPerSecond', [100, 110, 120], [60, 70, 100], 'same'],
    ['countsPerSecond', [100, 101, 102], [95, 96, 97], 'moved'],
    ['countsPerSecond', [100, 100, 100], [90, 90, 90], 'moved'],
    ['countsPerSecond', [1_000, 1_000, 1_000], [899, 899, 899], 'worse'],
    ['p99Ms', [10, 11, 12], [20, 21, 22], 'worse'],
    ['p99Ms', [10, 11, 12], [5, 6, 7], 'better'],
    ['resetCount', [0, 0, 0], [1, 1, 1], 'worse'],
    ['resetCount', [0, 0, 0], [0, 0, 0], 'same'],
    ['generatorBusyShare', [0.1, 0.1, 0.1], [0.9, 0.9, 0.9], 'moved'],
  ]
  for (const [name, before, now, verdict] of cases) {
    const { changes } = compareResults(
      resultsOf({ [name]: before }),
      resultsOf({ [name]: now }),
      everything,
    )
    t.equal(changes[0].verdict, verdict, `${name} ${before} ${now}`)
  }
})

t.test('unless all are asked for, and of another machine, only relations are judged', async (t) => {
  const base = resultsOf({ countsPerSecond: [100], timesNaive: [50], p99Ms: [5] })
  const slower = { countsPerSecond: [10], timesNaive: [20], p99Ms: [50] }
  const another = compareResults(base, resultsOf(slower, { machine: 'another' }), everything)
  const relations = compareResults(base, resultsOf(slower), { ...everything, judgesAll: false })
  for (const { changes, notes } of [another, relations]) {
    t.same(
      changes.map(({ name, verdict }) => [name, verdict]),
      [
        ['countsPerSecond', 'moved'],
        ['timesNaive', 'worse'],
        ['p99Ms', 'moved'],
      ],
    )
    t.match(notes.join(), /only ratios, shares and counts/)
  }
  t.match(another.notes.join(), /different machines/)
})

t.test('relations to different echo servers are not judged', async (t) => {
  const base = resultsOf({ ratioToEcho: [0.4], frontCostToEchoRatio: [2], timesNaive: [50] })
  const slower = { ratioToEcho: [0.2], frontCostToEchoRatio: [4], timesNaive: [20] }
  const verdicts = (head: Results) =>
    compareResults(base, head, everything).changes.map(({ verdict }) => verdict)
  t.same(verdicts(resultsOf(slower)), ['worse', 'worse', 'worse'])
  const other = resultsOf(slower, { echo: 'another' })
  t.same(verdicts(other), ['moved', 'moved', 'worse'])
  t.match(compareResults(base, other, everything).notes.join(), /"an echo" and "another"/)
})

t.test('results of other workloads are not compared', async (t) => {
  const options = { recipientCount: 2_000, seed: 1, connectionCount: 64 }
  const other = resultsOf({ p99Ms: [1] }, { options })
  t.throws(
    () => compareResults(resultsOf({ p99Ms: [1] }), other, everything),
    /recipientCount 1000 and 2000/,
  )
  const ofSources = (sourceCount: number) =>
    resultsOf(
      { p99Ms: [1] },
      { options: { recipientCount: 1_000, seed: 1, connectionCount: 64, sourceCount } },
    )
  const old = resultsOf({ p99Ms: [1] })
  t.throws(() => compareResults(old, ofSources(10), everything), /sourceCount 1 and 10/)
  t.equal(compareResults(old, ofSources(1), everything).changes.length, 1)
})

t.test('scenarios and figures that only one has are left out, and told', async (t) => {
  const base = resultsOf({ p99Ms: [1], oldMs: [1] })
  const lists = { figures: {}, faults: [] }
  const head = resultsOf({ p99Ms: [1] })
  const { changes, notes } = compareResults(
    base,
    { ...head, scenarios: { ...head.scenarios, lists } },
    everything,
  )
  t.same(
    changes.map(({ name }) => name),
    ['p99Ms'],
  )
  t.same(notes, ['only the second has lists'], 'on one machine, all are judged')
})

t.test('the command says what has become worse, and fails for it', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'hickory-compare-'))
  t.teardown(() => rmSync(directory, { recursive: true }))
  const write = (name: string, results: Results) => {
    writeFileSync(join(directory, name), JSON.stringify(results))
    return join(directory, name)
  }
  const fast = write('0.1.0.json', resultsOf({ timesNaive: [100, 101], p99Ms: [1, 2] }))
  const slow = write('slow.json', resultsOf({ timesNaive: [50, 51], p99Ms: [1, 2] }))
  const late = write('late.json', resultsOf({ timesNaive: [100, 101], p99Ms: [5, 6] }))
  const command = fileURLToPath(new URL('../../../loadtest/compare.js', import.meta.url))
  const run = (...args: string[]) => spawnSync(process.execPath, [command, ...args])
  const worse = run(fast, slow)
  t.equal(worse.status, 1)
  t.match(worse.stdout.toString(), /counts timesNaive .* -49\.8 % +worse/)
  t.equal(run(directory, slow).status, 1, 'the newest release of a directory')
  t.equal(run(fast, late).status, 0)
  t.equal(run(fast, late, '--all').status, 1)
  t.equal(run(fast, slow, '--only', 'p99Ms').status, 0)
  t.equal(run(fast, slow, '--only', 'timesNaive').status, 1)
  t.match(run(fast, slow, '--only', 'oldMs').stderr.toString(), /not both results have oldMs/)
  t.equal(run(slow, fast).status, 0)
  t.equal(run(fast, slow, '--threshold', '60').status, 0)
  t.equal(run().status, 2)
  t.match(run(join(directory, 'absent.json'), slow).stderr.toString(), /absent\.json/)
})

t.test('the release that CI compares with has what it judges', async (t) => {
  const path = newestRelease(join(releasesDirectory, 'short'))
  const { echo, scenarios } = parseResults(readFileSync(path, 'utf8'), path)
  t.equal(echo, ECHO, 'a relation to the same echo server')
  t.ok(scenarios['counts-wrk'].figures.frontCostToEchoRatio.median > 1)
})

t.test('the newest release is the highest version', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'hickory-releases-'))
  t.teardown(() => rmSync(directory, { recursive: true }))
  t.throws(() => newestRelease(directory), /no result of a release/)
  t.throws(() => newestRelease(join(directory, 'absent')), /no result of a release/)
  for (const name of ['0.9.1.json', '0.10.0.json', '0.2.0.json', 'README.md', 'x.json']) {
    writeFileSync(join(directory, name), '')
  }
  t.equal(newestRelease(directory), join(directory, '0.10.0.json'))
})
