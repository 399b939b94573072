/**
 * Writers that are killed while they write, and disks that fail.
 *
 * @module
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { auditPath, readAudit } from '../../src/audit/directory.js'
import { verifyAudit } from '../../src/audit/verify.js'
import { AuditWriter } from '../../src/audit/writer.js'
import { temporaryDirectory } from '../support/service/hickory.js'
import { byTier } from '../support/tier.js'

const ROUND_COUNT = byTier({ ci: 8, soak: 150 })
const PROGRAM = fileURLToPath(new URL('./fixtures/writing-process.js', import.meta.url))

function prepared(t: Test): string {
  const directory = join(temporaryDirectory(t), 'audit')
  new AuditWriter({ directory }).prepare()
  return directory
}

/** What a process said of its groups: the first word is what became of one. */
async function saidBy(child: ChildProcess): Promise<string[][]> {
  let text = ''
  child.stdout?.on('data', (data) => {
    text += data
  })
  await new Promise((resolve) => child.once('close', resolve))
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => line.split(' '))
}

function notesIn(directory: string): Map<unknown, number> {
  const counts = new Map<unknown, number>()
  for (const { line } of readAudit(directory)) {
    if (line.note !== undefined) counts.set(line.note, (counts.get(line.note) ?? 0) + 1)
  }
  return counts
}

t.test(`three writers, of which each is killed ${ROUND_COUNT} times`, async (t) => {
  const directory = prepared(t)
  const written: string[] = []
  let recoveredCount = 0
  const kill = async (name: string) => {
    for (let round = 0; round < ROUND_COUNT; round++) {
      const child = spawn(process.execPath, [PROGRAM, directory, `${name}${round}`])
      const saying = saidBy(child)
      // Each third one is killed at its start; the others write, however long a busy machine takes to start them.
      if (round % 3 > 0 && child.stdout) await Promise.race([once(child.stdout, 'data'), saying])
      await sleep(150 * Math.random())
      child.kill('SIGKILL')
      for (const [outcome, ...notes] of await saying) {
        if (outcome === 'written') written.push(...notes)
        else t.fail(`${outcome} ${notes}`)
      }
    }
  }
  await Promise.all(['a', 'b', 'c'].map(kill))
  const last = new AuditWriter({ directory })
  last.append([])
  await last.release()
  const { damage, lineCount } = await verifyAudit(directory)
  t.equal(damage, undefined)
  const counts = notesIn(directory)
  t.same(
    written.filter((note) => counts.get(note) !== 1),
    [],
    'what was acknowledged is there, once',
  )
  t.equal([...counts.values()].filter((count) => count !== 1).length, 0)
  for (const { line } of readAudit(directory)) if (line.phase === 'recovered') recoveredCount++
  t.ok(written.length > ROUND_COUNT)
  t.comment(`${lineCount} lines, ${written.length} acknowledged, settled ${recoveredCount} times`)
})

/** Makes one call for the first file of the audit fail. */
async function withFault(t: Test, call: string, error: string) {
  const directory = prepared(t)
  const first = spawn(process.execPath, [PROGRAM, directory, 'before', '3'])
  const before = await saidBy(first)
  const inject = `inject=${call}:error=${error}:when=2`
  const options = ['-f', '-qq', '-o', '/dev/null', '-P', auditPath(directory, 1), '-e', inject]
  const child = spawn('strace', [...options, process.execPath, PROGRAM, directory, 'during', '8'])
  const said = [...before, ...(await saidBy(child))]
  return { directory, said }
}

for (const [call, error, isDoubtful] of [
  ['fdatasync', 'EIO', true],
  ['pwrite64', 'ENOSPC', false],
  ['pwrite64', 'EIO', false],
] as const) {
  t.test(`${error} from ${call} refuses one group, and the next one goes on`, async (t) => {
    const { directory, said } = await withFault(t, call, error)
    const refused = said.filter(([outcome]) => outcome !== 'written')
    t.same(
      refused.map(([outcome]) => outcome),
      [error],
    )
    t.equal(said.length, 11)
    t.equal((await verifyAudit(directory)).damage, undefined)
    const counts = notesIn(directory)
    for (const [outcome, ...notes] of said) {
      const count = outcome === 'written' ? 1 : undefined
      for (const note of notes) t.equal(counts.get(note), count, note)
    }
    t.equal(existsSync(auditPath(directory, 2)), isDoubtful, 'a file that was not synced ends')
  })
}
