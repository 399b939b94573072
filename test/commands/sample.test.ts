import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { makeSample, needsSample } from '../../src/commands/sample.js'
import { openSnapshot } from '../../src/snapshot/load/open.js'
import { manyColumns } from '../support/data/columns.js'
import { publishTest, silentLog } from '../support/data/snapshots.js'
import { temporaryDirectory } from '../support/service/hickory.js'

t.test('a sample that was interrupted never takes the place of imported recipients', async (t) => {
  const data = temporaryDirectory(t)
  writeFileSync(join(data, '.sample-unfinished'), '')
  const id = await publishTest(data, 1, manyColumns(5), 'Real')
  t.ok(needsSample(data))
  await makeSample(data, silentLog, () => {})
  t.notOk(needsSample(data))
  t.match(await openSnapshot(data), { id, sources: [{ id: 1, label: 'Real', recipientCount: 5 }] })
})

t.test('a sample is published as a whole', async (t) => {
  const data = temporaryDirectory(t)
  let count = 0
  const stopping = makeSample(data, silentLog, () => {
    if (++count === 3) throw new Error('stop')
  })
  await t.rejects(stopping, { message: 'stop' })
  await t.rejects(openSnapshot(data), { code: 'SnapshotMissing' })
  t.ok(needsSample(data))
})
