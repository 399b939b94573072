/**
 * Installations by npm, or from source, that are not whole: each message says so, and what to do.
 *
 * @module
 */
import t from 'tap'
import { installationFault } from '../../src/commands/installation-fault.js'
import { OperatorError } from '../../src/errors.js'
import { runWithout } from './fixtures/run-without.js'

t.test('a library that is missing', async (t) => {
  // Each of the others is in installation-fault.long.test.ts.
  const { status, stderr } = runWithout(t, 'lmdb', ['inspect'])
  t.equal(status, 1, stderr)
  t.match(stderr, /^hickory: the installation is not whole: Cannot find package 'lmdb'/m)
  t.match(stderr, /Install it again: unpack the tarball, or call `npm install` or `npm ci`/)
  t.notMatch(stderr, /\n {4}at /, 'without a stack')
})

t.test('how else a library is told to be missing', async (t) => {
  for (const [code, message] of [
    ['MODULE_NOT_FOUND', "Cannot find module '@duckdb/node-bindings-linux-x64/duckdb.node'"],
    ['ERR_DLOPEN_FAILED', '/a/duckdb.node: file too short'],
    [undefined, 'No native build was found for platform=linux arch=x64'],
    [undefined, "Cannot find package 'piscina' imported from /a/pool.js"],
  ] as const) {
    const fault = installationFault(Object.assign(new Error(`${message}\nmore`), { code }))
    t.match(fault, { exitCode: 1, message: `the installation is not whole: ${message}. Install` })
  }
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
