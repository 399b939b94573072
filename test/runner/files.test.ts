import t from 'tap'
import { tierOf } from '../support/tier.js'
import { chooseFiles, testFiles } from './files.js'
import { reaching } from './imports.js'

t.test('both tiers are all test files', async (t) => {
  const short = chooseFiles('short', []).files
  const all = chooseFiles('all', []).files
  t.same([...all].sort(), testFiles())
  t.same(
    [...short].sort(),
    testFiles().filter((file) => tierOf(file) === 'short'),
  )
  t.same(
    [...chooseFiles('long-only', []).files].sort(),
    testFiles().filter((file) => tierOf(file) === 'long'),
  )
})

t.test('a folder, a file or a name is the tests of it', async (t) => {
  const degrees = 'test/geometry/degrees.test.ts'
  const { files } = chooseFiles('short', ['src/geometry'])
  t.ok(files.includes(degrees))
  t.ok(files.every((file) => file.startsWith('test/geometry/')))
  t.same(chooseFiles('short', ['test/geometry/']).files, files)
  for (const path of ['src/geometry/degrees.ts', degrees, 'dist/test/geometry/degrees.test.js']) {
    t.same(chooseFiles('short', [path]), { files: [degrees] }, path)
  }
  const untested = chooseFiles('short', ['src/snapshot/format/shard-image.ts']).files
  t.ok(untested.includes('test/snapshot/format/shard-file.test.ts'), 'what reaches it')
  const testName = 'a folder, a file or a name is the tests of it'
  t.same(chooseFiles('short', [testName]), { files: ['test/runner/files.test.ts'], testName })
  t.same(chooseFiles('short', ['src/geometry', degrees]).files, files, 'once')
})

t.test('a file of the long tier runs when it is named, and its folder in test:all', async (t) => {
  const kill = 'test/faults/kill.long.test.ts'
  t.same(chooseFiles('short', [kill]).files, [kill])
  t.notOk(chooseFiles('short', ['test/faults']).files.includes(kill))
  t.ok(chooseFiles('all', ['test/faults']).files.includes(kill))
})

t.test('what is not there is an error', async (t) => {
  for (const what of ['src/nothing', 'test/nothing.test.ts', ['no', 'such', 'test'].join(' ')]) {
    t.throws(() => chooseFiles('short', [what]), { message: /there is no test of/ })
  }
})

t.test('files are reached over any number of others, also in a circle', async (t) => {
  const graph = new Map([
    ['a', ['b']],
    ['b', ['c']],
    ['c', ['a', 'd']],
    ['e', ['a']],
    ['d', []],
  ])
  t.same(
    [...reaching(graph, ['d'])],
    [
      ['d', 0],
      ['c', 1],
      ['b', 2],
      ['a', 3],
      ['e', 4],
    ],
  )
})
