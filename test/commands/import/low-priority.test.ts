import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { constants, getPriority } from 'node:os'
import t from 'tap'
import { lowerPriority } from '../../../src/commands/import/low-priority.js'

t.test('a low priority is that of all threads and of what is started from them', async (t) => {
  lowerPriority()
  const low = constants.priority.PRIORITY_BELOW_NORMAL
  t.ok(getPriority() >= low)
  if (process.platform !== 'linux') return
  for (const id of readdirSync('/proc/self/task')) t.ok(getPriority(Number(id)) >= low)
  const script = "process.stdout.write(String(require('node:os').getPriority()))"
  t.ok(Number(execFileSync(process.execPath, ['-e', script], { encoding: 'utf8' })) >= low)
})
