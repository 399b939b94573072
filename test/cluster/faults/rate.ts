/**
 * Changes a second that three machines acknowledge, and how long each batch waits, beside one machine without a cluster:
 *
 *   node dist/test/cluster/faults/rate.js [--seconds S] [--rounds N] [--writers N,N] [--batch N] [--people N] [--seed S]
 *
 * All processes share this machine and its disk, and one of the two rests while the other works. Batches go to the three in
 * turn, each to a machine that is drawn.
 *
 * @module
 */
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { seededRandom } from '../../support/random/world.js'
import { readOptions } from '../../support/read-options.js'
import { serve } from '../../support/service/hickory.js'
import { closeCalls, useKey } from './calls.js'
import { Clients, type Reached } from './clients.js'
import { CHANGED_SOURCE, csvOf, importCsv } from './crowd.js'
import { sharedNetwork } from './network.js'
import { makeKey, NAMES, startSites } from './run.js'

const values = readOptions('node dist/test/cluster/faults/rate.js', {
  seconds: { type: 'string', default: '10' },
  rounds: { type: 'string', default: '5' },
  writers: { type: 'string', default: '1,16' },
  batch: { type: 'string', default: '100' },
  people: { type: 'string', default: '100000' },
  seed: { type: 'string', default: '20261129' },
})
const [seconds, roundCount, batchChangeCount, peopleCount, seed] = [
  values.seconds,
  values.rounds,
  values.batch,
  values.people,
  values.seed,
].map(Number)
const ends: (() => unknown)[] = []
const owner = { teardown: (end: () => unknown) => void ends.push(end) } as never
const tell = (line: string) => process.stdout.write(`${line}\n`)
try {
  await main()
} finally {
  for (const end of ends.reverse()) await end()
}

interface Measured {
  readonly changesPerSecond: number
  readonly medianMs: number
  readonly p99Ms: number
}

async function main(): Promise<void> {
  tell(`seed ${seed}, ${cpus().length} processors: ${cpus()[0]?.model}`)
  const directory = mkdtempSync(join(tmpdir(), 'hickory-rate-'))
  ends.push(() => rmSync(directory, { recursive: true, force: true }), closeCalls)
  const random = seededRandom(seed)
  const networks = await sharedNetwork(NAMES)
  const data = join(directory, 'alone')
  await importCsv(data, CHANGED_SOURCE, csvOf(random, CHANGED_SOURCE, peopleCount))
  useKey(await makeKey(data))
  const sites = await startSites(owner, { networks, directory }, async (of) =>
    cpSync(data, of, { recursive: true }),
  )
  const flags = ['--keys', '--http-threads', '1', '--query-threads', '1']
  const { url } = await serve(owner, '--data', data, ...flags)
  const alone = [{ name: 'alone', url }]
  await measure(alone, 1, 0)
  await measure(sites, 1, 1)
  for (const writerCount of values.writers.split(',').map(Number)) {
    const rounds: { readonly alone: Measured; readonly three: Measured }[] = []
    for (let round = 0; round < roundCount; round++) {
      const step = 1_000 * writerCount + 2 * round
      rounds.push({
        alone: await measure(alone, writerCount, step),
        three: await measure(sites, writerCount, step + 1),
      })
    }
    tell(`${writerCount} clients, each with one batch of ${batchChangeCount} at a time:`)
    for (const which of ['alone', 'three'] as const) {
      const of = (figure: keyof Measured) => rangeOf(rounds.map((each) => each[which][figure]))
      tell(
        `  ${which}: ${of('changesPerSecond')} changes/s, p50 ${of('medianMs')} ms, p99 ${of('p99Ms')} ms`,
      )
    }
    const ratios = rounds.map(({ alone, three }) => three.changesPerSecond / alone.changesPerSecond)
    tell(`  ratio of the rates: ${rangeOf(ratios, 2)}`)
  }
}

async function measure(
  sites: readonly Reached[],
  writers: number,
  step: number,
): Promise<Measured> {
  const clients = new Clients(sites, {
    seed: seed + step,
    peopleCount: 2 * peopleCount,
    optingCount: 0,
    changeCounts: [batchChangeCount, batchChangeCount],
    callMs: 20_000,
  })
  const startedMs = performance.now()
  clients.start({ writers, readers: 0 })
  await sleep(1_000 * seconds)
  await clients.stop()
  const { problems, writes, changeCount } = clients
  if (problems.length > 0) throw new Error(problems[0])
  const waits = writes.map(({ beganMs, endedMs }) => endedMs - beganMs).sort((a, b) => a - b)
  const at = (part: number) => waits[Math.floor(part * waits.length)]
  const changesPerSecond = changeCount / ((performance.now() - startedMs) / 1_000)
  return { changesPerSecond, medianMs: at(0.5), p99Ms: at(0.99) }
}

/** The median, the least and the most. */
function rangeOf(numbers: readonly number[], digits = numbers[0] < 100 ? 1 : 0): string {
  const sorted = [...numbers].sort((a, b) => a - b)
  const text = (at: number) => sorted[at].toFixed(digits)
  return `${text(Math.floor(sorted.length / 2))} (${text(0)}–${text(sorted.length - 1)})`
}
