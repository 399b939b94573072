/**
 * The service's end of a compaction, with the command itself.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { prepareBatch } from '../../src/journal/batch.js'
import { journalDirectory } from '../../src/journal/files.js'
import { JournalWriter } from '../../src/journal/writer.js'
import { startCompaction } from '../../src/live/compaction.js'
import { createLineLog } from '../../src/log.js'
import { listSnapshots } from '../../src/snapshot/directory.js'
import { peopleInSnapshot } from '../support/data/people.js'
import { hickoryHere } from '../support/service/command-line.js'
import { temporaryDirectory } from '../support/service/hickory.js'
import { until } from '../support/service/until.js'

interface Line {
  readonly level: number
  readonly msg: string
}

t.test('two services of one directory', async (t) => {
  const data = join(temporaryDirectory(t), 'data')
  const file = `${data}.csv`
  writeFileSync(file, 'number,lat,lng,id\n+9991,1,2,a\n')
  const args = ['--source', '1', '--label', 'x', '--key', 'id', file]
  t.match(await hickoryHere('import', '--quiet', '--data', data, ...args), { code: 0 })
  const writer = new JournalWriter({ directory: journalDirectory(data) })
  const changes = [{ op: 'delete', identity: 'a' }] as const
  writer.append([prepareBatch({ sourceId: 1, batchId: 'b', changes })])
  await writer.release()

  const auditDirectory = join(temporaryDirectory(t), 'audit')
  const services = [1, 2].map(() => {
    const lines: Line[] = []
    const log = createLineLog((line) => lines.push(JSON.parse(line)))
    const options = { dataDirectory: data, auditDirectory, log, retryMs: 50, leastCount: 1 }
    return { lines, compaction: startCompaction(options) }
  })
  for (const { compaction } of services) compaction.due()
  await until(() =>
    services.every(({ lines }) => lines.some(({ msg }) => msg === 'changes are in a snapshot now')),
  )
  for (const { compaction } of services) await compaction.stop()
  t.notOk(services.some(({ lines }) => lines.some(({ level }) => level >= 40)))
  t.equal((await listSnapshots(data)).length, 2, 'one compaction has done it')
  t.equal((await peopleInSnapshot(data)).get(1)?.size, 0)
  t.match((await hickoryHere('audit', 'show', auditDirectory)).stdout, /compact/)
})
