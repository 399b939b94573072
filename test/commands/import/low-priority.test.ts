// Own process: it lowers its priority, which only root could raise again.
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { constants, getPriority } from 'node:os'
import t from 'tap'
import { commands } from '../../../src/commands/all.js'
import { runCommandLine } from '../../../src/commands/command-line.js'
import { lowerPriority } from '../../../src/commands/import/low-priority.js'

const low = constants.priority.PRIORITY_BELOW_NORMAL

t.test('long work goes behind other processes where the process is its own', async (t) => {
  t.capture(process.stderr, 'write', () => true)
  const data = t.testdir({})
  for (const words of [
    ['import', '--source', '1', '--label', 'A', `${data}/nothing.csv`],
    ['areas', 'import', '--dry-run', '--layer', 'a', '--key', 'k', `${data}/nothing.geojson`],
    ['compact'],
  ]) {
    const own = { lowerPriority: () => void called.push(words[0]) }
    const called: string[] = []
    const args = words[0] === 'areas' ? words : [...words, '--data', data]
    await runCommandLine(commands, args)
    t.ok(getPriority() < low)
    await runCommandLine(commands, args, own)
    t.same(called, [words[0]])
  }
})

t.test('a low priority is that of all threads and of what is started from them', async (t) => {
  lowerPriority()
  t.ok(getPriority() >= low)
  if (process.platform !== 'linux') return
  for (const id of readdirSync('/proc/self/task')) t.ok(getPriority(Number(id)) >= low)
  const script = "process.stdout.write(String(require('node:os').getPriority()))"
  t.ok(Number(execFileSync(process.execPath, ['-e', script], { encoding: 'utf8' })) >= low)
})
