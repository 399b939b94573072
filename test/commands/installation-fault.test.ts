/**
 * Installations by npm, or from source, that are not whole: each message says so, and what to do.
 *
 * @module
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { installationFault } from '../../src/commands/installation-fault.js'
import { OperatorError } from '../../src/errors.js'
import { temporaryDirectory } from '../support/service/hickory.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const BINARIES = `@lmdb/lmdb-${process.platform}-${process.arch}`
const READER = `@duckdb/node-bindings-${process.platform}-${process.arch}`

t.test('a library that is missing', async (t) => {
  const cases: [library: string, args: string, names: RegExp][] = [
    ['commander', 'inspect', /Cannot find package 'commander'/],
    ['lmdb', 'inspect', /Cannot find package 'lmdb'/],
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

t.test('a system that is too old, or has musl', async (t) => {
  for (const [message, names] of [
    ["libc.so.6: version `GLIBC_2.34' not found (required by node.napi.glibc.node)", /GLIBC_2\.34/],
    ["libstdc++.so.6: version `GLIBCXX_3.4.29' not found (required by a.node)", /GLIBCXX_3\.4\.29/],
    [
      'Error loading shared library ld-linux-x86-64.so.2: No such file (needed by a.node)',
      /ld-linux/,
    ],
  ] as const) {
    const error = Object.assign(new Error(message), { code: 'ERR_DLOPEN_FAILED' })
    const fault = installationFault(error)
    t.equal(fault?.exitCode, 7)
    t.match(fault?.message, names)
    t.match(fault?.message, /needs Linux with glibc 2\.34 or later/)
  }
})

t.test('other errors are no fault of the installation', async (t) => {
  for (const error of [
    new Error('x is not a function'),
    new OperatorError('Usage', 'there is no file'),
    Object.assign(new Error('no such file'), { code: 'ENOENT' }),
    'text',
  ]) {
    t.equal(installationFault(error), undefined)
  }
})

/** Runs the program with other libraries: all but one, or one with empty binaries. */
function runWithout(t: Test, library: string, args: string[], how: 'gone' | 'cut' = 'gone') {
  const directory = temporaryDirectory(t)
  cpSync(join(root, 'dist/src'), join(directory, 'dist/src'), { recursive: true })
  cpSync(join(root, 'dist/workers'), join(directory, 'dist/workers'), { recursive: true })
  for (const name of ['package.json', 'data']) {
    symlinkSync(join(root, name), join(directory, name))
  }
  linkAll(join(root, 'node_modules'), join(directory, 'node_modules'), library)
  if (how === 'cut') {
    const path = join(directory, 'node_modules', library)
    mkdirSync(path, { recursive: true })
    for (const name of readdirSync(join(root, 'node_modules', library))) {
      if (name.endsWith('.node')) writeFileSync(join(path, name), '')
      else symlinkSync(join(root, 'node_modules', library, name), join(path, name))
    }
  }
  writeFileSync(join(directory, 'a.csv'), 'number,lat,lng\n+99912345678,1,2\n')
  const cli = join(directory, 'dist/src/cli.js')
  // Links are not followed, so that libraries look for others where the one is missing.
  const own = ['--preserve-symlinks', '--preserve-symlinks-main', cli, ...args]
  const { NODE_OPTIONS: _, ...env } = process.env
  return spawnSync(process.execPath, own, { cwd: directory, env, encoding: 'utf8' })
}

function linkAll(from: string, to: string, without: string): void {
  mkdirSync(to, { recursive: true })
  for (const name of readdirSync(from)) {
    if (name === without) continue
    if (name === dirname(without))
      linkAll(join(from, name), join(to, name), without.slice(name.length + 1))
    else symlinkSync(join(from, name), join(to, name))
  }
}
