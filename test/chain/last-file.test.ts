import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { LastFile } from '../../src/chain/last-file.js'
import { syncedPaths } from '../support/data/synced-paths.js'
import { temporaryDirectory } from '../support/service/hickory.js'

t.test('what is confirmed is on disk, and a new file in its directory', async (t) => {
  const directory = temporaryDirectory(t)
  const pathOf = (number: number) => join(directory, String(number))
  const file = new LastFile(pathOf)
  t.teardown(() => file.close())
  const synced = await syncedPaths(t)
  file.begin(1)
  t.same(synced, [directory])
  let syncedBefore: readonly string[] = []
  file.append({ file: 1, bytes: 0 }, Buffer.from('one'), () => {
    syncedBefore = [...synced]
  })
  t.same(syncedBefore, [directory, pathOf(1)])
  t.equal(readFileSync(pathOf(1), 'utf8'), 'one')
})

t.test('of what is refused nothing stays behind the end', async (t) => {
  const directory = temporaryDirectory(t)
  const pathOf = (number: number) => join(directory, String(number))
  const file = new LastFile(pathOf)
  t.teardown(() => file.close())
  file.begin(1)
  file.append({ file: 1, bytes: 0 }, Buffer.from('one'))
  const refuse = () => {
    throw new Error('refused')
  }
  t.throws(() => file.append({ file: 1, bytes: 3 }, Buffer.from('two'), refuse), /refused/)
  t.equal(readFileSync(pathOf(1), 'utf8'), 'one')
  t.equal(file.refused, 1)
  t.equal(file.hasRemains({ file: 1, bytes: 3 }), false)
})
