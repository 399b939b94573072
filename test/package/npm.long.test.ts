/**
 * The package for npm, installed into an empty folder as a user does, and run by npx.
 *
 * @module
 */
import { execFile, spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { temporaryDirectory } from '../support/service/hickory.js'
import { deadLinks } from './dead-links.js'
import { makePackages } from './packages.js'

t.test('npm installs the package, and npx serves the sample', async (t) => {
  const out = temporaryDirectory(t)
  const made = await makePackages('--only', 'npm', '--out', out)
  t.equal(made.code, 0, made.stderr)
  const file = readdirSync(out).find((name) => name.endsWith('.tgz')) ?? ''
  const home = temporaryDirectory(t)
  writeFileSync(join(home, 'package.json'), '{}')
  const startedMs = performance.now()
  const flags = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error']
  await promisify(execFile)('npm', ['install', ...flags, join(out, file)], { cwd: home })
  const installed = join(home, 'node_modules/hickory')
  const manifest = readFileSync(join(installed, 'package.json'), 'utf8')
  t.notMatch(manifest, /devDependencies|"scripts"/, 'nothing is compiled when it is installed')
  t.notOk(existsSync(join(home, 'node_modules/typescript')))
  for (const path of ['README.md', 'LICENSE', 'CHANGELOG.md', 'data/default', 'dist/bundle']) {
    t.ok(existsSync(join(installed, path)), path)
  }
  for (const path of ['src', 'test', 'dist/test', 'dist/src/cli.js', 'dist/workers']) {
    t.notOk(existsSync(join(installed, path)), path)
  }
  t.same(deadLinks(installed), [])
  // npx has processes below it, which end with its group.
  const args = ['--no-install', 'hickory', 'serve', '--sample', '--port', '0']
  const npx = spawn('npx', args, {
    cwd: home,
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const ended = new Promise((resolve) => npx.once('close', resolve))
  const end = (signal: NodeJS.Signals) => {
    if (npx.pid !== undefined && npx.exitCode === null) process.kill(-npx.pid, signal)
  }
  t.teardown(() => end('SIGKILL'))
  const url = await new Promise<string>((resolve, reject) => {
    let written = ''
    npx.stdout.on('data', (chunk) => {
      written += chunk
      const address = / at (http:\S+)\n/.exec(written)?.[1]
      if (address !== undefined) resolve(address)
    })
    ended.then(() => reject(new Error(`npx ended: ${written}`)))
  })
  const reply = await fetch(`${url}/api/contexts`)
  t.equal(reply.status, 200)
  await reply.text()
  const seconds = (performance.now() - startedMs) / 1000
  t.comment(`first answer ${seconds.toFixed(1)} s after npm install began`)
  end('SIGTERM')
  await ended
})
