/**
 * An audience of millions, read by many over switches of snapshots and a restart:
 *
 *   node dist/test/audiences/run.js [--recipients N] [--readers N] [--swaps N] [--seed S]
 *
 * @module
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runAudiences } from '../support/audience-run.js'
import { readOptions } from '../support/read-options.js'

const values = readOptions('npm run test:audiences --', {
  recipients: { type: 'string', default: '5000000' },
  readers: { type: 'string', default: '20' },
  swaps: { type: 'string', default: '10' },
  seed: { type: 'string', default: '1' },
})
const directory = mkdtempSync(join(tmpdir(), 'hickory-audiences-'))
const ends: (() => unknown)[] = []
try {
  const options = {
    recipientCount: Number(values.recipients),
    readerCount: Number(values.readers),
    swapCount: Number(values.swaps),
    repeatCount: 7,
    seed: Number(values.seed),
  }
  say(JSON.stringify(options))
  const owner = { teardown: (end: () => unknown) => void ends.push(end) }
  const found = await runAudiences(owner as never, directory, options, say)
  const { contentDigests, digests, costs: _, ...figures } = found
  say(JSON.stringify(figures))
  const isSame = new Set(contentDigests).size === 1 && digests.size === 1
  say(`${contentDigests.length - 1} readers, ${isSame ? 'one digest' : 'DIFFERENT DIGESTS'}`)
  process.exitCode = isSame ? 0 : 1
} finally {
  for (const end of ends) await end()
  rmSync(directory, { recursive: true })
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
