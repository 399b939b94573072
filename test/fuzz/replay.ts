/**
 * Sends what the fuzzer found to a service of its own once more:
 *
 *   node dist/test/fuzz/replay.js FILE
 *
 * A finding names its file.
 *
 * @module
 */
import { readFileSync } from 'node:fs'
import { serve, temporaryDirectory } from '../support/service/hickory.js'
import { createHealthCheck } from './health-check.js'
import { judgeOutcome, judgePoked } from './judge.js'
import { createLane } from './lane.js'
import { poke } from './poke.js'
import { readTranscript } from './transcript.js'
import { publishWorld } from './world.js'

const ends: (() => unknown)[] = []
try {
  process.exitCode = await replay(process.argv[2])
} finally {
  for (const end of ends.reverse()) await end()
}

async function replay(path: string | undefined): Promise<number> {
  if (path === undefined) {
    process.stderr.write('node dist/test/fuzz/replay.js FILE\n')
    return 2
  }
  const plan = readTranscript(readFileSync(path, 'utf8'))
  const owner = { teardown: (end: () => unknown) => void ends.push(end) }
  const data = temporaryDirectory(owner)
  const world = await publishWorld(data)
  const { url } = await serve(owner, '--data', data)
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

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
