/**
 * Sends mutated requests to a service of its own:
 *
 *   npm run fuzz -- [--requests N] [--seed S] [--seconds-max N]
 *   npm run fuzz -- --replay FILE
 *
 * A run of one seed and number of requests is always the same, but for what overlaps in time. What
 * it finds is printed and kept in files; `--replay` sends such a file once more.
 *
 * @module
 */
import { readFileSync } from 'node:fs'
import { readOptions } from '../support/read-options.js'
import { serve, temporaryDirectory } from '../support/service/hickory.js'
import { describeFinding, describeReport } from './findings.js'
import { fuzz } from './fuzz.js'
import { createHealthCheck } from './health-check.js'
import { judgeOutcome, judgePoked } from './judge.js'
import { createLane } from './lane.js'
import { poke } from './poke.js'
import { readTranscript } from './transcript.js'
import { growthFault } from './verdict.js'
import { publishWorld } from './world.js'

const ends: (() => unknown)[] = []
try {
  process.exitCode = await main()
} finally {
  for (const end of ends.reverse()) await end()
}

async function main(): Promise<number> {
  const values = readOptions('npm run fuzz --', {
    requests: { type: 'string', default: '100000' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    'seconds-max': { type: 'string', default: '3600' },
    replay: { type: 'string' },
  })
  const owner = { teardown: (end: () => unknown) => void ends.push(end) }
  const data = temporaryDirectory(owner)
  const world = await publishWorld(data)
  const service = await serve(owner, '--data', data)
  if (values.replay !== undefined) return replay(service.url, values.replay)
  const [seed, requestCount] = [Number(values.seed), Number(values.requests)]
  const secondsMax = Number(values['seconds-max'])
  say(`seed ${seed}, ${requestCount} requests`)
  const onBatch = (report: Parameters<typeof describeReport>[0]) => say(describeReport(report))
  const report = await fuzz({ service, world, seed, requestCount, secondsMax, onBatch })
  say(describeReport(report))
  const faults = report.findings.map(describeFinding)
  const growth = growthFault(report)
  if (growth !== undefined) faults.push(growth)
  const { code } = await service.stop()
  if (code !== 0) faults.push(`the service ended with ${code}`)
  for (const fault of faults) say(`FOUND ${fault}`)
  say(`${faults.length} found (seed ${seed})`)
  return faults.length === 0 ? 0 : 1

  async function replay(url: string, path: string): Promise<number> {
    const plan = readTranscript(readFileSync(path, 'utf8'))
    const port = Number(new URL(url).port)
    const startedMs = performance.now()
    let fault: string | undefined
    if (plan.ending === 'answer') {
      const lane = createLane(port)
      const outcome = await lane.ask(plan)
      lane.close()
      fault = judgeOutcome(outcome, plan)
      if (outcome.kind === 'answered') {
        say(`${outcome.answer.status} ${outcome.answer.body.toString('utf8', 0, 1_000)}`)
      }
    } else {
      const poked = await poke(port, plan)
      say(`statuses ${poked.statuses.join(', ')}`)
      fault = judgePoked(poked)
    }
    say(`${Math.round(performance.now() - startedMs)} ms; ${fault ?? 'nothing found'}`)
    const health = await createHealthCheck(url, world)()
    say(`afterwards: ${health ?? 'all is well'}`)
    return fault === undefined && health === undefined ? 0 : 1
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
