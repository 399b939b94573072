/** Files that were made for a machine that begins: found by their digests, and gone when too many or a new process came. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { clusterDirectory } from '../../src/cluster/directory.js'
import { LentFiles, lentPath, removeLent } from '../../src/cluster/lent-files.js'
import { limits } from '../../src/limits.js'
import { temporaryDirectory } from '../support/service/hickory.js'

t.test('as many as may be are found, and one past it ends the first', async (t) => {
  const data = temporaryDirectory(t)
  const lent = new LentFiles()
  const made = Array.from({ length: limits.filesLentCount + 1 }, (_, at) => {
    const directory = lentPath(data, `of-${at}`)
    mkdirSync(directory, { recursive: true })
    writeFileSync(join(directory, 'file'), 'any')
    return { directory, paths: new Map([[`digest ${at}`, join(directory, 'file')]]) }
  })
  for (const { directory, paths } of made.slice(0, -1)) await lent.lend(directory, paths)
  for (const [at, { directory }] of made.slice(0, -1).entries()) {
    t.equal(lent.pathOf(`digest ${at}`), join(directory, 'file'))
  }
  const last = made[made.length - 1]
  await lent.lend(last.directory, last.paths)
  t.equal(lent.pathOf('digest 0'), undefined)
  t.notOk(existsSync(made[0].directory))
  t.ok(lent.pathOf('digest 1'))
  t.ok(lent.pathOf(`digest ${limits.filesLentCount}`))
  t.equal(lent.pathOf('another'), undefined)
})

t.test('what a process has left goes, and nothing else', async (t) => {
  const data = temporaryDirectory(t)
  await removeLent(data)
  mkdirSync(lentPath(data, 'of-a'), { recursive: true })
  writeFileSync(join(clusterDirectory(data), 'state.json'), '{}')
  await removeLent(data)
  t.same(readdirSync(clusterDirectory(data)), ['state.json'])
})
