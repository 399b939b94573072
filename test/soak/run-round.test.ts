import { existsSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { dist } from '../runner/files.js'
import type { Area } from './areas.js'
import { runRound } from './run-round.js'

const program = relative(dist, fileURLToPath(new URL('./fixtures/round.js', import.meta.url)))

t.test('a round that passes leaves nothing but its last line', async (t) => {
  const { area, log } = areaOf(t, 'passes')
  const { summary, failure } = await runRound(area, 5, new AbortController().signal)
  t.equal(summary, 'seed 5 passes')
  t.equal(failure, undefined)
  t.notOk(existsSync(log))
})

t.test('one that fails is told with its output and with what repeats it', async (t) => {
  const { area, log } = areaOf(t, 'fails')
  const { failure } = await runRound(area, 5, new AbortController().signal)
  t.match(failure?.what, /^ended with 3; .*\.log$/)
  t.match(failure?.tail, 'FOUND something')
  t.equal(failure?.command, `KIND=test node dist/${program} fails --seed 5`)
  t.match(readFileSync(log, 'utf8'), 'seed 5 fails')
})

t.test('one that stays ends with all its processes when the soak is ended', async (t) => {
  const { area, log } = areaOf(t, 'stays')
  const stop = new AbortController()
  const running = runRound(area, 5, stop.signal)
  while (!existsSync(log) || !readFileSync(log, 'utf8').includes('stays')) await sleep(20)
  stop.abort()
  const { failure } = await running
  t.match(failure?.what, /^ended with SIGTERM/)
  const pid = Number(/^pid (\d+)$/m.exec(failure?.tail ?? '')?.[1])
  t.ok(pid > 0)
  t.notOk(existsSync(log))
  const late = AbortSignal.timeout(20_000)
  while (isRunning(pid)) {
    late.throwIfAborted()
    await sleep(20)
  }
})

/** One that has ended may wait for somebody to ask how. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

function areaOf(t: Test, how: string) {
  const name = `test-${process.pid}-${how}`
  const log = join(tmpdir(), `hickory-soak-${name}-5.log`)
  t.teardown(() => rmSync(log, { force: true }))
  const round = { program, args: [how], takesSeed: true, environment: { KIND: 'test' } }
  const area: Area = { name, shows: 'How rounds end.', needs: [], round }
  return { area, log }
}
