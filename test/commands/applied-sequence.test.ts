import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { Change } from '../../src/changes/change.js'
import { applyCommand } from '../../src/commands/apply.js'
import { importCommand } from '../../src/commands/import/import.js'
import { prepareBatch } from '../../src/journal/batch.js'
import { journalDirectory } from '../../src/journal/files.js'
import { JournalWriter } from '../../src/journal/writer.js'
import { readCurrent } from '../../src/snapshot/directory.js'
import { readIdentities } from '../../src/snapshot/identities/list.js'
import { openSnapshot } from '../../src/snapshot/load/open.js'
import { silentLog } from '../support/data/snapshots.js'
import { temporaryDirectory } from '../support/service/hickory.js'

const ROWS = 'number,lat,lng,id\n+9991,1,2,a\n+9992,1,2,b\n'

t.test('each source says up to which batch changes are in it', async (t) => {
  const { data, imports, appends, sequences, changes } = place(t)
  await imports(1)
  t.same(await sequences(), [[1, undefined]], 'there is no journal yet')
  await appends(1, [upsert('c')])
  await appends(9, [upsert('c')])
  await imports(2)
  t.same(await sequences(), [
    [1, undefined],
    [2, 2],
  ])
  await imports(1)
  t.same(
    await sequences(),
    [
      [1, 2],
      [2, 2],
    ],
    'the same rows are published again, since they replace what was changed',
  )
  await appends(2, [upsert('d')])
  await changes(2, { op: 'delete', key: 'a' })
  t.same(await sequences(), [
    [1, 2],
    [2, 3],
  ])
  const id = await readCurrent(data)
  await imports(1)
  t.not(await readCurrent(data), id)
})

t.test('a file of changes comes after the changes that are in the journal', async (t) => {
  const { imports, appends, changes, countOf } = place(t)
  await imports(1)
  await appends(1, [upsert('c'), upsert('d')])
  await appends(2, [{ op: 'clear' }])
  await appends(1, [{ op: 'delete', identity: 'c' }])
  await changes(1, { op: 'delete', key: 'a' })
  t.equal(await countOf(1), 2, 'b and d are there')
  await changes(1, { op: 'delete', key: 'd' })
  t.equal(await countOf(1), 1, 'no change of the journal comes a second time')
})

t.test('a source that was emptied is so, and still has keys', async (t) => {
  const { imports, appends, changes, countOf } = place(t)
  await imports(1)
  await appends(1, [upsert('c'), { op: 'clear' }])
  await changes(1, { op: 'delete', key: 'a' })
  t.equal(await countOf(1), 0)
  await appends(1, [upsert('a'), { op: 'clear' }, upsert('b')])
  await changes(1, { op: 'delete', key: 'x' })
  t.equal(await countOf(1), 1)
  await appends(1, [{ op: 'clear' }, upsert('b')])
  await changes(1, { op: 'upsert', key: 'e', number: '+9995', lat: 1, lng: 2 })
  t.equal(await countOf(1), 2)
})

function upsert(key: string): Change {
  return { op: 'upsert', identity: key, phone: '+9993', lng: 1, lat: 1, contact: '', key }
}

function place(t: Test) {
  const data = temporaryDirectory(t)
  const file = join(temporaryDirectory(t), 'people.csv')
  const changed = join(temporaryDirectory(t), 'changes.ndjson')
  writeFileSync(file, ROWS)
  const context = { dataDirectory: () => data, log: silentLog }
  const run = async (command: ReturnType<typeof applyCommand>, args: readonly string[]) => {
    const written = t.capture(process.stdout, 'write', () => true)
    try {
      await command.exitOverride().parseAsync(args, { from: 'user' })
    } finally {
      written.restore()
    }
  }
  let batchCount = 0
  return {
    data,
    imports: (id: number) =>
      run(importCommand(context), ['--source', `${id}`, '--label', 'x', '--key', 'id', file]),
    async appends(sourceId: number, changes: readonly Change[]) {
      const writer = new JournalWriter({ directory: journalDirectory(data) })
      writer.append([prepareBatch({ sourceId, batchId: `${++batchCount}`, changes })])
      await writer.release()
    },
    async changes(id: number, row: object) {
      writeFileSync(changed, JSON.stringify(row))
      const guards = ['--allow-empty', '--max-shrink', '100%']
      await run(applyCommand(context), ['--source', `${id}`, ...guards, changed])
    },
    async sequences() {
      const known = await readIdentities(data, (await readCurrent(data)) ?? '')
      return known.map(({ id, appliedSequence }) => [id, appliedSequence])
    },
    async countOf(sourceId: number) {
      const { sources } = await openSnapshot(data)
      return sources.find(({ id }) => id === sourceId)?.recipientCount
    },
  }
}
