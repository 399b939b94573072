import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { NODE } from '../../src/package/node-binary.js'
import { prune } from '../../src/package/prune.js'
import { temporaryDirectory } from '../support/service/hickory.js'

t.test('what production reads stays, and the licences', async (t) => {
  const modules = temporaryDirectory(t)
  const kept = [
    'one/LICENSE',
    'one/index.js',
    'one/package.json',
    `one/prebuilds/node.abi${NODE.abi}.glibc.node`,
    `uWebSockets.js/uws_linux_x64_${NODE.abi}.node`,
    // Its licence may be there alone.
    'two/README.md',
    'two/main.cjs',
  ]
  const gone = [
    'one/README.md',
    'one/test/index.js',
    `one/prebuilds/node.abi${NODE.abi}.musl.node`,
    `one/prebuilds/node.abi${NODE.abi + 1}.glibc.node`,
    `uWebSockets.js/uws_linux_arm64_${NODE.abi}.node`,
    'one/index.d.ts',
    'three/src/main.c',
  ]
  for (const name of [...kept, ...gone]) {
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    writeFileSync(join(modules, name), '')
  }
  await prune(modules, 'x64')
  const left = readdirSync(modules, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(modules.length + 1))
  t.same(left.sort(), kept.sort())
  t.notOk(readdirSync(modules).includes('three'), 'nor a folder with nothing in it')
})
