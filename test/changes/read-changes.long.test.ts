import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { LastChanges } from '../../src/changes/last-changes.js'
import { readChanges } from '../../src/changes/read-changes.js'
import { limits } from '../../src/limits.js'
import { temporaryDirectory } from '../support/service/hickory.js'

t.test('a file has as many changes as its bound, and not one more', async (t) => {
  const rules = { hasKeys: false, allowsNullIsland: false, numbers: undefined }
  const path = join(temporaryDirectory(t), 'changes.ndjson')
  const rows = (count: number) =>
    Array.from({ length: count }, (_, at) => `{"op":"delete","number":"+999${at}"}\n`).join('')
  writeFileSync(path, rows(limits.appliedChangeCount))
  const changes = new LastChanges()
  const rowCount = await readChanges(path, rules, changes)
  t.equal(rowCount, limits.appliedChangeCount)
  t.equal(changes.byIdentity.size, limits.appliedChangeCount)
  writeFileSync(path, rows(limits.appliedChangeCount + 1))
  await t.rejects(readChanges(path, rules, new LastChanges()), {
    code: 'InputRejected',
    message: /has more than 1000000 changes: import the source/,
  })
})
