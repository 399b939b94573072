/**
 * Damages a snapshot in ten thousand ways, one at a time, each of which must be found:
 *
 *   node dist/test/snapshot/long.js [--damages N] [--seed S]
 *
 * @module
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { damageMany, prepareSubject } from '../support/data/damage.js'
import { readOptions } from '../support/read-options.js'

const values = readOptions('npm run test:damage --', {
  damages: { type: 'string', default: '10000' },
  seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
})
const directory = mkdtempSync(join(tmpdir(), 'hickory-damage-'))
try {
  print(`seed ${values.seed}`)
  await prepareSubject(directory)
  const { kinds, missed } = await damageMany(directory, Number(values.seed), Number(values.damages))
  for (const [kind, count] of Object.entries(kinds)) print(`${count} times ${kind}`)
  for (const what of missed) print(`not found: ${what}`)
  print(missed.length === 0 ? 'every damage was found' : `${missed.length} were not found`)
  process.exitCode = missed.length === 0 ? 0 : 1
} finally {
  rmSync(directory, { recursive: true, force: true })
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
