/**
 * A thousand rounds of imports, suppressions, restarts and requests, held against a map and brute
 * force:
 *
 *   node dist/test/oracle/model.js [--rounds N] [--seed S]
 *
 * The seed repeats a run. Nothing that is printed is of anybody: phones begin with +999.
 *
 * @module
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { noModelTotals, runModel } from '../support/model-run.js'
import { readOptions } from '../support/read-options.js'

const values = readOptions('npm run test:model --', {
  rounds: { type: 'string', default: '1000' },
  seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
})
const directory = mkdtempSync(join(tmpdir(), 'hickory-model-'))
try {
  const totals = noModelTotals()
  say(`seed ${values.seed}, ${values.rounds} rounds`)
  const wrong = await runModel(directory, Number(values.seed), Number(values.rounds), totals)
  for (const fault of wrong) say(JSON.stringify(fault))
  say(`${JSON.stringify(totals)}, ${wrong.length} wrong (seed ${values.seed})`)
  process.exitCode = wrong.length === 0 && totals.requestCount > 0 ? 0 : 1
} finally {
  rmSync(directory, { recursive: true })
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
