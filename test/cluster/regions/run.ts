/**
 * Three machines that hold two thirds of the recipients each, beside one that holds all: the bytes of random requests, and
 * how fast counts and lists are.
 *
 *   node dist/test/cluster/regions/run.js [--people N] [--requests N] [--seconds S] [--seed S]
 *
 * All of them share the processors of this machine, and the one that holds all rests while the three work.
 *
 * @module
 */
import { readFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { seededRandom } from '../../support/random/world.js'
import { readOptions } from '../../support/read-options.js'
import { compare, type Regions, SITES, startRegions } from './compare.js'

const values = readOptions('node dist/test/cluster/regions/run.js', {
  people: { type: 'string', default: '10000000' },
  requests: { type: 'string', default: '10000' },
  seconds: { type: 'string', default: '10' },
  seed: { type: 'string', default: '20261125' },
})
const [recipientCount, requestCount, seconds, seed] = [
  values.people,
  values.requests,
  values.seconds,
  values.seed,
].map(Number)
const CLIENT_COUNT = 16
const ROUND_COUNT = 5

const ends: (() => unknown)[] = []
const owner = { teardown: (end: () => unknown) => void ends.push(end) } as never
try {
  await main()
} finally {
  for (const end of ends.reverse()) await end()
}

async function main(): Promise<void> {
  tell(`seed ${seed}, ${cpus().length} processors: ${cpus()[0]?.model}`)
  const regions = await startRegions(owner, { recipientCount, seed, tell })
  const { machines, one } = regions
  for (const [at, { process: own }] of machines.entries()) tellMemory(SITES[at], own.pid)
  tellMemory('one machine', one.process.pid)
  const { answeredCount, refusedCount, byteCount, oneMs, spreadMs, faults } = await compare(
    regions,
    {
      requestCount,
      seed,
      pageShare: 0.97,
      onProgress: (count) => tell(`${count} requests`),
    },
  )
  tell(
    `${answeredCount} answered and ${refusedCount} refused alike, ${(byteCount / 1e6).toFixed(0)} MB; one after the other ` +
      `${(oneMs / requestCount).toFixed(1)} ms by one machine, ${(spreadMs / requestCount).toFixed(1)} ms by three`,
  )
  for (const fault of faults) tell(`WRONG: ${fault}`)
  await counts(regions)
  await lists(regions)
  process.exitCode = faults.length === 0 ? 0 : 1
}

function tell(line: string): void {
  process.stdout.write(`${line}\n`)
}

function tellMemory(name: string, pid: number | undefined): void {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const kilobytes = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1])
  tell(`${name}: ${(kilobytes / 1024).toFixed(0)} MiB`)
}

/** Small areas round recipients, by turns of one machine and of all three. */
async function counts({ machines, one, samples }: Regions): Promise<void> {
  const random = seededRandom(seed)
  const bodies = Array.from({ length: 1_000 }, () => {
    const { lngs, lats } = random.pick(samples)
    const at = random.between(0, lngs.length - 1)
    const [lng, lat] = [lngs[at] / 1e7, Math.min(88, Math.max(-88, lats[at] / 1e7))]
    const ring = [
      [lng - 0.05, lat - 0.05],
      [lng + 0.05, lat - 0.05],
      [lng + 0.05, lat + 0.05],
      [lng - 0.05, lat + 0.05],
      [lng - 0.05, lat - 0.05],
    ]
    return JSON.stringify({ countsOnly: true, geoJSON: { type: 'Polygon', coordinates: [ring] } })
  })
  const perSecond = async (urls: readonly string[]) => {
    const endMs = performance.now() + 1_000 * seconds
    let count = 0
    await Promise.all(
      Array.from({ length: CLIENT_COUNT }, async (_, client) => {
        for (let next = client; performance.now() < endMs; next += CLIENT_COUNT) {
          const answer = await fetch(`${urls[client % urls.length]}/api/recipients`, {
            method: 'POST',
            body: bodies[next % bodies.length],
            headers: { 'content-type': 'application/json' },
          })
          await answer.arrayBuffer()
          if (answer.status !== 200) throw new Error(`a count was answered ${answer.status}`)
          count++
        }
      }),
    )
    return count / seconds
  }
  const ratios: number[] = []
  for (let round = 0; round < ROUND_COUNT; round++) {
    const alone = await perSecond([one.url])
    const spread = await perSecond(machines.map(({ url }) => url))
    ratios.push(spread / alone)
    tell(`counts/s: ${alone.toFixed(0)} by one, ${spread.toFixed(0)} by three`)
  }
  tell(`counts: ratio ${median(ratios).toFixed(2)} (${spreadOf(ratios)})`)
}

/** Everybody of the western hemisphere, as NDJSON. */
async function lists({ machines, one }: Regions): Promise<void> {
  const west = [
    [-179, -80],
    [0, -80],
    [0, 80],
    [-179, 80],
    [-179, -80],
  ]
  const body = JSON.stringify({ geoJSON: { type: 'Polygon', coordinates: [west] } })
  const megabytesPerSecond = async (url: string) => {
    const startedMs = performance.now()
    const answer = await fetch(`${url}/api/recipients?format=ndjson`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json' },
    })
    let byteCount = 0
    for await (const piece of answer.body ?? []) byteCount += piece.length
    return byteCount / 1e3 / (performance.now() - startedMs)
  }
  const ratios: number[] = []
  for (let round = 0; round < ROUND_COUNT; round++) {
    const alone = await megabytesPerSecond(one.url)
    const spread = await megabytesPerSecond(machines[round % machines.length].url)
    ratios.push(spread / alone)
    tell(`list MB/s: ${alone.toFixed(0)} by one, ${spread.toFixed(0)} by three`)
  }
  tell(`lists: ratio ${median(ratios).toFixed(2)} (${spreadOf(ratios)})`)
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((left, right) => left - right)[Math.floor(numbers.length / 2)]
}

function spreadOf(numbers: readonly number[]): string {
  return `${Math.min(...numbers).toFixed(2)} to ${Math.max(...numbers).toFixed(2)}`
}
