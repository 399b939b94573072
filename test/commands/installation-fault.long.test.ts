/**
 * Installations of which a library is missing or cut off: the messages of the program itself.
 *
 * @module
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { temporaryDirectory } from '../support/service/hickory.js'
import { runWithout } from './fixtures/run-without.js'

const BINARIES = `@lmdb/lmdb-${process.platform}-${process.arch}`
const READER = `@duckdb/node-bindings-${process.platform}-${process.arch}`

t.test('a library that is missing', async (t) => {
  const cases: [library: string, args: string, names: RegExp][] = [
    [BINARIES, 'inspect', /No native build was found/],
    [READER, 'import --source 1 --label A a.csv', /Cannot find module '@duckdb\/node-bindings-/],
    ['piscina', 'serve --sample --port 0', /Cannot find package 'piscina'/],
  ]
  for (const [library, args, names] of cases) {
    const { status, stderr } = runWithout(t, library, args.split(' '))
    t.equal(status, 1, stderr)
    t.match(stderr, /^hickory: the installation is not whole: /m)
    t.match(stderr, names)
    t.match(stderr, /Install it again: unpack the tarball, or call `npm install` or `npm ci`/)
    t.notMatch(stderr, /\n {4}at /, 'without a stack')
  }
})

t.test('a binary that was cut off', async (t) => {
  const { status, stderr } = runWithout(t, READER, ['import', '--source', '1', 'a.csv'], 'cut')
  t.equal(status, 1)
  t.match(stderr, /^hickory: the installation is not whole: .*duckdb\.node: file too short/m)
})

t.test('too few open files are not taken for libraries that are missing', async (t) => {
  const data = temporaryDirectory(t)
  for (const count of [100, 128, 150, 200]) {
    const cli = fileURLToPath(new URL('../../bundle/cli.js', import.meta.url))
    const line = `ulimit -n ${count}; exec "$0" "$@"`
    const args = [
      '-c',
      line,
      process.execPath,
      cli,
      'serve',
      '--sample',
      '--port=0',
      '--data',
      data,
    ]
    const { stderr } = spawnSync('sh', args, { encoding: 'utf8', timeout: 10_000 })
    t.notMatch(stderr, /not whole/, `${count} files`)
  }
})
