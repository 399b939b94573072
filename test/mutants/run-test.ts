/**
 * Runs one test file of a working copy to its end or to its first failure, as a process of its own.
 *
 * @module
 */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { compiledOf, dist } from '../runner/files.js'
import type { Tier } from './finders.js'

export type Outcome = 'passed' | 'failed' | 'hung'

interface TestRun {
  /** Of the working copy. */
  readonly root: string
  /** Such as `test/shard/runs.test.ts`. */
  readonly file: string
  readonly tier: Tier
  readonly seed: number
  readonly timeoutMs: number
}

export async function runTest({ root, file, tier, seed, timeoutMs }: TestRun): Promise<Outcome> {
  const at = (compiled: string) => join(root, 'dist', relative(dist, compiled))
  const untracked = at(compiledOf('test/runner/untracked.ts'))
  const options = existsSync(untracked) ? ['--import', pathToFileURL(untracked).href] : []
  // What a file leaves that is ended goes with its folder.
  const temporary = join(root, '..', 'tmp')
  mkdirSync(temporary, { recursive: true })
  const child = spawn(process.execPath, [...options, at(compiledOf(file))], {
    cwd: root,
    env: {
      ...process.env,
      HICKORY_TEST_TIER: tier,
      HICKORY_TEST_SEED: String(seed),
      TAP_BAIL: '1',
      TAP_TIMEOUT: String(Math.ceil((2 * timeoutMs) / 1000)),
      TMPDIR: temporary,
    },
    stdio: 'ignore',
    // A group of its own, so that what it has started is ended with it.
    detached: true,
  })
  running.add(child.pid)
  let hasHung = false
  const timer = setTimeout(() => {
    hasHung = true
    endGroup(child.pid)
  }, timeoutMs)
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('exit', resolve)
  })
  clearTimeout(timer)
  running.delete(child.pid)
  endGroup(child.pid)
  rmSync(temporary, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  if (hasHung) return 'hung'
  return code === 0 ? 'passed' : 'failed'
}

const running = new Set<number | undefined>()

// They are in groups of their own, and would go on.
process.once('exit', () => {
  for (const pid of running) endGroup(pid)
})

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // All of it has ended.
  }
}
