/**
 * Where files for a moment cannot be written, standard input "does not exist": Node.js says so of several directories
 * at once on a disk that is read-only.
 *
 * @module
 */
import { execFileSync } from 'node:child_process'
import t from 'tap'
import { startHickory, temporaryDirectory } from '../support/service/hickory.js'

t.test('a disk that cannot be written is named', async (t) => {
  const directory = temporaryDirectory(t)
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'ro', 'tmpfs', directory])
  t.teardown(() => execFileSync('umount', [directory]))
  const { TMPDIR } = process.env
  process.env.TMPDIR = directory
  const source = ['--source', '1', '--label', 'A']
  const { child, finished } = startHickory('import', ...source, '--dry-run', '-')
  if (TMPDIR === undefined) delete process.env.TMPDIR
  else process.env.TMPDIR = TMPDIR
  child.stdin?.end('number,lat,lng\n+9995550101,29.7,-95.3\n')
  const { code, stderr } = await finished
  t.not(code, 0)
  t.match(stderr, /^hickory: .*hickory-import-.* is on a disk that cannot be written.*$/m)
})
