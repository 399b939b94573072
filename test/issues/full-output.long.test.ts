/**
 * Where standard output or the log could not be written, on a disk that is full of logs, a command
 * ended with a stack trace: a nightly import imported nothing.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { temporaryDirectory } from '../support/service/hickory.js'

const CLI = fileURLToPath(new URL('../../bundle/cli.js', import.meta.url))

t.test('an import publishes, whatever cannot be printed', async (t) => {
  const data = temporaryDirectory(t)
  const file = join(t.testdir({}), 'rows.csv')
  writeFileSync(file, 'number,lat,lng\n+9991,1,2\n')
  const options = ['import', '--data', data, '--source', '1', '--label', 'x', file]
  const full = openSync('/dev/full', 'w')

  const quiet = spawn(process.execPath, [CLI, ...options], { stdio: ['ignore', full, 'pipe'] })
  const [stderr, [code]] = await Promise.all([text(quiet.stderr as Readable), once(quiet, 'exit')])
  t.equal(code, 1)
  t.match(stderr, /^hickory: done, but standard output cannot be written, since the disk is full/m)
  t.notMatch(stderr, /\n {4}at /)
  t.equal(readdirSync(join(data, 'snapshots')).length, 1)

  // The same rows would be no new snapshot.
  writeFileSync(file, 'number,lat,lng\n+9991,1,3\n')
  const unlogged = spawn(process.execPath, [CLI, ...options], { stdio: ['ignore', 'pipe', full] })
  const [stdout, [otherCode]] = await Promise.all([
    text(unlogged.stdout as Readable),
    once(unlogged, 'exit'),
  ])
  t.equal(otherCode, 0)
  t.match(stdout, /^snapshot {3}000002-/m)
})
