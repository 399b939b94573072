/**
 * Commands beside the load test itself, as they are called.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t from 'tap'

function run(script: string, ...args: readonly string[]) {
  const path = fileURLToPath(new URL(`../../loadtest/${script}.js`, import.meta.url))
  // Without the loaders that the test runner puts into NODE_OPTIONS.
  const { NODE_OPTIONS: _, ...env } = process.env
  return spawnSync(process.execPath, [path, ...args], { env, encoding: 'utf8' })
}

t.test('each tells how it is called', async (t) => {
  for (const script of ['data', 'compare', 'run']) {
    const { status, stdout } = run(script, '--help')
    t.equal(status, 0, script)
    t.match(stdout, /^npm run loadtest/, script)
    t.match(stdout, '--help', script)
  }
})

t.test('what is wrong is named, with the usage below', async (t) => {
  const few = run('data', '--out', '.', '--recipients', '5')
  t.equal(few.status, 1)
  t.match(few.stderr, /--recipients is an integer from 1000 .*not "5"\nnpm run loadtest:data/)
  t.match(run('data').stderr, /--out DIR is where to write\nnpm run loadtest:data/)
  const threshold = run('compare', '--threshold', '0', 'new.json')
  t.equal(threshold.status, 2)
  t.match(threshold.stderr, /--threshold is an integer from 1 to 1000, not "0"/)
})
