/**
 * Changes and questions, while everything happens to three sites that may:
 *
 *   node dist/test/cluster/faults/long.js [--changes N] [--queries N] [--people N] [--batch N] [--hold MS]
 *     [--only FAULT,FAULT] [--seed S] [--rounds N] [--at each|one|leader] [--logs DIR]
 *
 * Batches have 100 to --batch changes. With --at one, each fault hits one site that is drawn; with --at leader, that whose
 * server of NATS leads the log.
 *
 * Needs nats-server, and root for networks and disks of their own: without it, faults of these are left out. All of it goes
 * away at the end.
 *
 * @module
 */
import { mkdirSync } from 'node:fs'
import { readOptions } from '../../support/read-options.js'
import { runFaults } from './run.js'
import { summaryOf } from './summary.js'

const values = readOptions('node dist/test/cluster/faults/long.js', {
  changes: { type: 'string', default: '1000000' },
  queries: { type: 'string', default: '1000000' },
  people: { type: 'string', default: '10000' },
  batch: { type: 'string', default: '100' },
  hold: { type: 'string', default: '8000' },
  only: { type: 'string' },
  rounds: { type: 'string', default: '1' },
  at: { type: 'string', default: 'each' },
  logs: { type: 'string' },
  seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
})
if (!['each', 'one', 'leader'].includes(values.at)) {
  process.stderr.write(`--at must be each, one or leader, not "${values.at}"\n`)
  process.exit(2)
}
if (values.logs !== undefined) mkdirSync(values.logs, { recursive: true })
const ends: (() => unknown)[] = []
let cleaning: Promise<void> | undefined
/** Once: a signal and the failure that follows from it would end the process before all is gone. */
const cleanUp = () => {
  cleaning ??= (async () => {
    for (const end of ends.splice(0).reverse()) await end()
  })()
  return cleaning
}
const say = (line: string) => process.stdout.write(`${line}\n`)
say(`seed ${values.seed}, ${values.changes} changes, ${values.queries} questions`)
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    await cleanUp()
    process.exit(1)
  })
}
try {
  const { problems, episodes, ...totals } = await runFaults(
    { teardown: (end: () => unknown) => void ends.push(end) } as never,
    {
      seed: Number(values.seed),
      changeCount: Number(values.changes),
      queryCount: Number(values.queries),
      peopleCount: Number(values.people),
      batchChangeCount: Number(values.batch),
      holdMs: Number(values.hold),
      only: values.only?.split(','),
      roundCount: Number(values.rounds),
      isBrief: values.at === 'one',
      hitsLeader: values.at === 'leader',
      logDirectory: values.logs,
      say,
    },
  )
  for (const line of summaryOf(episodes)) say(line)
  for (const problem of problems.slice(0, 20)) say(`WRONG: ${problem}`)
  say(`${JSON.stringify(totals)}, ${problems.length} wrong (seed ${values.seed})`)
  process.exitCode = problems.length === 0 ? 0 : 1
} finally {
  await cleanUp()
}
