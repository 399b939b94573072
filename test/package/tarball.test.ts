import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { writeTarball } from '../../src/package/tarball.js'
import { temporaryDirectory } from '../support/service/hickory.js'

const FILES = ['VERSION', 'app/b.js', 'bin/hickory', 'app/a/ä.js', 'app/a/B.js', 'LICENSE']
const TIME = new Date('2026-11-23T00:00:00Z')

t.test('the same tree gives the same bytes, in whatever order it was made', async (t) => {
  const first = await packed(tree(t, FILES))
  const second = await packed(tree(t, FILES.toReversed()))
  t.ok(first.equals(second))
  const other = tree(t, FILES)
  writeFileSync(join(other, 'LICENSE'), 'another')
  t.notOk(first.equals(await packed(other)), 'another tree gives others')
})

t.test('what says that a tree is half comes first, and what it looks for last', async (t) => {
  const folder = tree(t, FILES)
  const target = join(folder, '../packed.tar.gz')
  await writeTarball(folder, 'hickory', target, () => undefined)
  const lines = String(execFileSync('tar', ['-tvzf', target, '--utc']))
    .trim()
    .split('\n')
  const names = lines.map((line) => line.split(/\s+/).at(-1))
  t.same(names.slice(0, 4), ['hickory/', 'hickory/bin/', 'hickory/bin/hickory', 'hickory/LICENSE'])
  t.equal(names.at(-1), 'hickory/VERSION')
  t.equal(names.length, FILES.length + 4, 'folders have entries, so that no umask matters')
  for (const line of lines) t.match(line, /^[d-]rw\S+ root\/root +\d+ 2026-11-23 00:00 /)
})

t.test('a link stays a link, and whatever is no file, folder or link is refused', async (t) => {
  const folder = tree(t, FILES)
  symlinkSync('LICENSE', join(folder, 'link'))
  const target = join(folder, '../packed.tar.gz')
  await writeTarball(folder, '.', target, () => undefined)
  t.match(String(execFileSync('tar', ['-tvzf', target])), './link -> LICENSE\n')
  execFileSync('mkfifo', [join(folder, 'pipe')])
  await t.rejects(packed(folder), { message: 'pipe is no file, folder or link' })
})

function tree(t: Tap, files: readonly string[]): string {
  const root = join(temporaryDirectory(t), 'tree')
  for (const file of files) {
    mkdirSync(join(root, dirname(file)), { recursive: true })
    writeFileSync(join(root, file), `the text of ${file}`)
    utimesSync(join(root, file), TIME, TIME)
  }
  for (const folder of ['app/a', 'app', 'bin', '.']) utimesSync(join(root, folder), TIME, TIME)
  return root
}

async function packed(folder: string): Promise<Buffer> {
  const target = join(folder, '../packed.tar.gz')
  await writeTarball(folder, 'hickory', target, () => undefined)
  return readFileSync(target)
}

type Tap = Parameters<typeof temporaryDirectory>[0]
