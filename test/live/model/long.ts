/**
 * A million random changes, held against a plain map, while snapshots are made, numbers suppressed, and services
 * restarted and killed:
 *
 *   node dist/test/live/model/long.js [--changes N] [--people N] [--rows N] [--seed S]
 *
 * The seed repeats the changes and questions; how they meet in time, nothing repeats. Nothing that is printed is of
 * anybody: phones begin with +999.
 *
 * @module
 */
import { readOptions } from '../../support/read-options.js'
import { runLiveModel } from './run.js'

const values = readOptions('npm run test:live --', {
  changes: { type: 'string', default: '1000000' },
  people: { type: 'string', default: '5000' },
  rows: { type: 'string', default: '1000' },
  seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
})
const ends: (() => unknown)[] = []
try {
  say(`seed ${values.seed}, ${values.changes} changes`)
  let toldMs = performance.now()
  const totals = await runLiveModel(
    { teardown: (end: () => unknown) => void ends.push(end) } as never,
    {
      changeCount: Number(values.changes),
      seed: Number(values.seed),
      peopleCount: Number(values.people),
      rowCount: Number(values.rows),
      onProgress(done) {
        if (performance.now() < toldMs + 60_000) return
        toldMs = performance.now()
        say(JSON.stringify(done))
      },
    },
  )
  say(`${JSON.stringify(totals)}, none wrong (seed ${values.seed})`)
} finally {
  for (const end of ends) await end()
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
