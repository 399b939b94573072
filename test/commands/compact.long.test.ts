import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { Change } from '../../src/changes/change.js'
import { prepareBatch } from '../../src/journal/batch.js'
import { journalDirectory, journalPath } from '../../src/journal/files.js'
import { summaryOfJournal } from '../../src/journal/summary.js'
import { JournalWriter } from '../../src/journal/writer.js'
import { limits } from '../../src/limits.js'
import { listSnapshots } from '../../src/snapshot/directory.js'
import { encodeIdentities, readIdentities } from '../../src/snapshot/identities/list.js'
import { withCompactionLock, withDataLock } from '../../src/snapshot/publish/lock.js'
import { audienceName, audiencesDirectory } from '../../src/snapshot/retention/audience-names.js'
import { peopleIn, peopleInSnapshot } from '../support/data/people.js'
import { hickoryHere } from '../support/service/command-line.js'
import { temporaryDirectory } from '../support/service/hickory.js'

const ROWS = 'number,lat,lng,id\n+9991,1,2,a\n+9992,1,2,b\n'

t.test('a compaction says why there is nothing to do', async (t) => {
  const { data, run, imports, appends } = place(t)
  t.match(await run('compact'), { code: 3, stderr: /there is no snapshot/ })
  t.notOk(existsSync(data))
  await imports(1)
  const before = readdirSync(data).sort()
  t.match(await run('compact'), { code: 0, stdout: /^unchanged .* no change in the journal/ })
  t.same(readdirSync(data).sort(), before, 'no journal is begun')
  await appends(1, upsert('c'))
  t.match(await run('compact'), {
    code: 0,
    stdout:
      /^source +1 x: 1 added, 0 changed, 0 deleted, 3 recipients\nbatches +up to 1\nsnapshot +000002-/m,
  })
  t.match(await run('compact'), { code: 0, stdout: /^unchanged .* up to batch 1: / })
  t.match(await run('compact', '--quiet'), { code: 0, stdout: '', stderr: '' })
  await appends(1, upsert('c'), upsert('d'))
  t.match(await run('compact', '--at-least', '5'), { code: 0, stdout: /^unchanged +fewer than 5 / })
  t.match(await run('compact', '--at-least', '4'), { code: 0, stdout: /^snapshot/m })
  await appends(1, { op: 'clear' })
  t.match(await run('compact', '--at-least', '1000'), { code: 0, stdout: /^snapshot/m })
  t.match(await run('compact', '--at-least', '0'), { code: 2, stderr: /--at-least is a whole/ })
  for (const keep of ['0', `${limits.snapshotCountMax + 1}`, '1.5', '']) {
    t.match(await run('compact', '--keep', keep), { code: 2, stderr: /--keep is a whole number/ })
  }
  t.match(await run('compact', '--keep', `${limits.snapshotCountMax}`), { code: 0 })
})

t.test(
  'all sources are up to the same batch, and carried over where nothing changed',
  async (t) => {
    const { data, run, imports, appends, sequences } = place(t)
    await imports(1)
    await imports(2)
    await appends(2, upsert('c'))
    await appends(9, upsert('c'))
    await appends(2, { op: 'delete', identity: 'c' })
    t.equal((await run('compact')).code, 0)
    t.same(await sequences(), [
      [1, 3],
      [2, 3],
    ])
    const people = await peopleInSnapshot(data)
    t.same(
      [...people].map(([, own]) => [...own.keys()]),
      [
        ['a', 'b'],
        ['a', 'b'],
      ],
    )
    await appends(1, { op: 'clear' })
    t.equal((await run('compact')).code, 0)
    t.equal((await peopleInSnapshot(data)).get(1)?.size, 0)
    await appends(1, upsert('z'))
    t.equal((await run('compact')).code, 0)
    t.same([...((await peopleInSnapshot(data)).get(1)?.keys() ?? [])], ['z'])
  },
)

t.test('with more people than there is memory for, there are several snapshots', async (t) => {
  const { data, run, imports, appends, sequences } = place(t)
  await imports(1)
  const { compactionHeldCount } = limits
  Object.assign(limits, { compactionHeldCount: 4 })
  t.teardown(() => Object.assign(limits, { compactionHeldCount }))
  const publishes = async () => (await run('compact')).stdout.match(/^batches +up to \d+/gm)
  for (const keys of ['cd', 'de', 'f']) await appends(1, ...[...keys].map(upsert))
  t.same(await publishes(), ['batches    up to 3'], 'four people, of whom one changes twice')
  for (const keys of ['cd', 'ef', 'g']) await appends(1, ...[...keys].map(upsert))
  t.same(await publishes(), ['batches    up to 5', 'batches    up to 6'], 'one more')
  t.same(await sequences(), [[1, 6]])
  t.equal((await peopleInSnapshot(data)).get(1)?.size, 2 + 5)
  t.match(await run('verify', '--all'), { code: 0 })
})

t.test('somebody else is at it', async (t) => {
  const { data, run, imports, appends } = place(t)
  await imports(1)
  await appends(1, upsert('c'))
  await withDataLock(data, async () => {
    t.match(await run('compact'), { code: 6, stderr: /another import is using/ })
  })
  let waitingCount = 0
  await withCompactionLock(data, async () => {
    t.match(await run('compact'), { code: 6, stderr: /another compaction is using/ })
    const { compactionWaitMs } = limits
    Object.assign(limits, { compactionWaitMs: 1 })
    t.match(await run('pin', 'current'), { code: 6, stderr: /another import is using/ })
    Object.assign(limits, { compactionWaitMs })
  })
  const order: string[] = []
  const compacting = withCompactionLock(data, async () => {
    await sleep(3 * limits.compactionPollMs)
    order.push('compaction')
  })
  await sleep(limits.compactionPollMs)
  await withDataLock(
    data,
    async () => order.push('import'),
    () => waitingCount++,
  )
  await compacting
  t.same(order, ['compaction', 'import'])
  t.equal(waitingCount, 1)
  const held = withCompactionLock(data, () => sleep(limits.compactionPollMs))
  await sleep(50)
  t.match(await run('pin', 'current'), { code: 0, stderr: /^a compaction is under way: waiting/ })
  await held
  t.same(
    readdirSync(data).filter((name) => name.endsWith('.lock')),
    [],
  )
})

t.test('sources of an earlier version', async (t) => {
  const { data, run, imports, appends, identitiesFile } = place(t)
  await imports(1)
  await imports(2)
  const list = await identitiesFile()
  await appends(1, upsert('c'))
  await appends(2, upsert('c'))
  const known = await readIdentities(data, list.id)
  writeFileSync(list.path, encodeIdentities(known.filter(({ id }) => id === 2)))
  const part = await run('compact')
  t.match(part, { code: 0, stderr: /changes of source 1 are left out: .* import it once more/ })
  t.match(part.stdout, /^source +2 x: 1 added/)
  t.same(
    await readIdentities(data, list.id),
    known.filter(({ id }) => id === 2),
  )
  rmSync((await identitiesFile()).path)
  t.match(await run('compact'), { code: 2, stderr: /no source of .* takes changes: .* import it/ })
})

t.test('a journal that is damaged, cut too far, or another one', async (t) => {
  const { data, run, imports, appends, appendsEach } = place(t)
  await imports(1)
  await imports(2)
  await appendsEach(24, 'c')
  const directory = journalDirectory(data)
  const path = journalPath(directory, 1)
  const bytes = readFileSync(path)
  writeFileSync(
    path,
    bytes.map((byte, at) => (at === 200 ? byte ^ 1 : byte)),
  )
  const before = await listSnapshots(data)
  t.match(await run('compact'), { code: 14, stderr: /is damaged: changes-000001.*restore/s })
  t.same(await listSnapshots(data), before)
  writeFileSync(path, bytes)

  const writer = new JournalWriter({ directory })
  writer.truncate(20)
  await writer.release()
  t.match(await run('compact'), {
    code: 14,
    stderr: /batch 1 is no more .* import sources 1, 2 again/,
  })
  await imports(2)
  t.match(await run('compact'), { code: 14, stderr: /import source 1 again/ })
  await imports(1)
  t.match(await run('compact'), { code: 0, stdout: /^unchanged/ })

  rmSync(directory, { recursive: true })
  await appends(1, upsert('c'))
  t.match(await run('compact'), {
    code: 14,
    stderr: /up to batch 24.*ends with 1.*sources 1, 2 again/,
  })
})

t.test('a compaction takes no place of an import, and rollback goes by imports', async (t) => {
  const { data, run, imports, appends, compacts, current } = place(t)
  const ids: string[] = []
  for (let at = 0; at < 3; at++) {
    await imports(1)
    ids.push(await current())
    await appends(1, upsert(`${at}`))
  }
  const compactions: string[] = []
  for (let at = 0; at < 3; at++) {
    await appends(1, upsert(`d${at}`))
    compactions.push(await compacts())
  }
  t.same(await listSnapshots(data), [ids[0], ids[1], ...compactions.slice(1)])
  t.match((await run('inspect')).stdout, `${ids[2]} with changes`)
  t.match((await run('rollback', '--list')).stdout, `${ids[2]} with changes`)
  const shown = JSON.parse((await run('inspect', '--json')).stdout)
  t.match(shown.snapshots[0], { retention: { importId: ids[2] } })

  t.match((await run('rollback')).stdout, `${ids[1]} is current now`)
  t.equal((await peopleIn(data)).get(1)?.size, 2 + 2 + 3, 'changes since that import are there')
  await run('rollback', compactions[2])
  const shard = join(data, 'snapshots', compactions[2], '1-0000.shard')
  const bytes = readFileSync(shard)
  rmSync(shard)
  writeFileSync(shard, bytes.subarray(1))
  const expected = (await peopleIn(data, compactions[1])).get(1)
  t.match((await run('rollback')).stdout, `${compactions[1]} is current now`)
  t.same((await peopleIn(data)).get(1), expected, 'what a damaged one had is not lost')
  t.equal(expected?.size, 2 + 1 + 3)

  await appends(1, upsert('e'))
  await compacts()
  await imports(1)
  t.equal((await listSnapshots(data)).length, 3 + 1, 'of each import one, and what was damaged')
})

t.test('what an audience holds is not removed, and --keep removes imports', async (t) => {
  const { data, run, imports, appends, compacts, current } = place(t)
  await imports(1)
  const first = await current()
  await imports(2)
  await appends(1, upsert('c'))
  const held = await compacts()
  const directory = audiencesDirectory(data)
  const { name } = audienceName('0'.repeat(32), held, (Math.ceil(Date.now() / 1000) + 600) * 1_000)
  mkdirSync(directory)
  writeFileSync(join(directory, name), '')
  for (let at = 0; at < 2; at++) {
    await appends(1, upsert(`${at}`))
    await compacts()
  }
  const ids = await listSnapshots(data)
  t.equal(ids.length, 4)
  t.ok(ids.includes(first) && ids.includes(held))
  rmSync(join(directory, name))
  const alone = await run('compact', '--keep', '1')
  t.match(alone.stdout, /^unchanged.*\njournal +\d files? removed; /)
  t.same(await listSnapshots(data), ids.slice(2))
})

t.test('the journal begins with what a snapshot needs, and its ids stay known', async (t) => {
  const { data, run, imports, appendsEach, compacts, current } = place(t)
  await imports(1)
  const first = await current()
  await appendsEach(30, '')
  await compacts()
  t.equal(summaryOfJournal(journalDirectory(data))?.firstSequence, 1, 'the import needs it')
  await appendsEach(30, 'n')
  const { journalLargeBytes } = limits
  Object.assign(limits, { journalLargeBytes: 1 })
  const told = await run('compact')
  Object.assign(limits, { journalLargeBytes })
  t.match(told, {
    code: 0,
    stderr: /the journal takes .* needs what comes after batch 30: .*--keep 1/,
  })
  t.notOk((await listSnapshots(data)).includes(first))
  const { firstSequence = 0, lastSequence } = summaryOfJournal(journalDirectory(data)) ?? {}
  t.ok(firstSequence > 20 && firstSequence <= 31, `${firstSequence}`)
  t.equal(lastSequence, 60)
  const writer = new JournalWriter({ directory: journalDirectory(data) })
  const again = [prepareBatch({ sourceId: 1, batchId: '1', changes: [upsert('0')] })]
  t.same(writer.append(again), [{ kind: 'repeated', sequence: 1 }])
  await writer.release()

  t.match((await run('doctor')).stdout, new RegExp(`journal +ok .*batches ${firstSequence} to 60`))
  const backup = join(temporaryDirectory(t), 'backup.tar')
  t.match(await run('backup', backup), { code: 0 })
  const restored = join(temporaryDirectory(t), 'restored')
  t.match(await hickoryHere('restore', '--data', restored, backup), { code: 0 })
  t.same(await peopleIn(restored), await peopleIn(data))
  t.match(await hickoryHere('compact', '--data', restored), { code: 0, stdout: /^unchanged/ })
})

t.test('an import lets go of the journal, too', async (t) => {
  const { data, imports, appendsEach } = place(t)
  await imports(1)
  for (let round = 0; round < 4; round++) {
    await appendsEach(15, `${round}-`)
    await imports(1)
  }
  const { firstSequence = 0 } = summaryOfJournal(journalDirectory(data)) ?? {}
  t.ok(firstSequence > 15 && firstSequence <= 31, `${firstSequence}`)
})

t.test('the journal is left as it is where nobody can say what a snapshot needs', async (t) => {
  const { data, run, imports, appends, appendsEach, compacts, identitiesFile } = place(t)
  await imports(1)
  await appends(1, upsert('c'))
  await compacts()
  const { path } = await identitiesFile()
  await appendsEach(30, '')
  await compacts()
  writeFileSync(path, 'nothing')
  await appends(1, upsert('last'))
  const { code, stdout, stderr } = await run('compact')
  t.equal(code, 0)
  t.match(stdout, /^snapshot/m)
  t.match(stderr, /^hickory: warning: the journal of changes could not be shortened: .*identities/m)
  t.equal(summaryOfJournal(journalDirectory(data))?.firstSequence, 1)
})

t.test('what was forced stays so', async (t) => {
  const { data, run, imports, appends, compacts } = place(t)
  await imports(1)
  const file = join(temporaryDirectory(t), 'one.csv')
  writeFileSync(file, ROWS.split('\n').slice(0, 2).join('\n'))
  const args = ['--source', '1', '--key', 'id', '--max-shrink', '100%', file]
  t.equal((await run('import', ...args)).code, 0)
  await appends(1, upsert('c'))
  const forced = await compacts()
  t.match((await run('inspect', forced)).stdout, /forced: source 1 maxShrink/)
  t.equal((await run('accept')).code, 0)
  await appends(1, upsert('d'))
  t.notMatch((await run('inspect', await compacts())).stdout, /forced/)
  t.equal((await listSnapshots(data)).length, 3)
})

t.test('batches that come meanwhile are behind the snapshot', async (t) => {
  const { data, run, imports, appends } = place(t)
  await imports(1)
  await appends(1, upsert('c'))
  let isOver = false
  let count = 1
  const compacting = run('compact').finally(() => {
    isOver = true
  })
  while (!isOver) {
    await appends(1, upsert(`m${count++}`))
    await sleep(1)
  }
  t.match(await compacting, { code: 0 })
  t.equal((await peopleIn(data)).get(1)?.size, 2 + count)
  t.match(await run('compact'), { code: 0 })
  t.equal((await peopleInSnapshot(data)).get(1)?.size, 2 + count)
})

function upsert(key: string): Change {
  return { op: 'upsert', identity: key, phone: '+9993', lng: 1, lat: 1, contact: '', key }
}

function place(t: Test) {
  const data = join(temporaryDirectory(t), 'data')
  const file = join(temporaryDirectory(t), 'people.csv')
  writeFileSync(file, ROWS)
  const run = (name: string, ...args: readonly string[]) =>
    hickoryHere(name, '--data', data, ...args)
  let batchCount = 0
  const current = async () => readFileSync(join(data, 'CURRENT'), 'utf8').trim()
  const write = async (sourceId: number, batches: readonly (readonly Change[])[]) => {
    const writer = new JournalWriter({ directory: journalDirectory(data), fileBytes: 1_500 })
    for (const changes of batches) {
      writer.append([prepareBatch({ sourceId, batchId: `${++batchCount}`, changes })])
    }
    await writer.release()
  }
  return {
    data,
    run,
    current,
    async imports(id: number) {
      const args = ['--quiet', '--source', `${id}`, '--label', 'x', '--key', 'id', file]
      const { code, stderr } = await run('import', '--max-shrink', '100%', ...args)
      t.equal(code, 0, stderr)
    },
    appends: (sourceId: number, ...changes: readonly Change[]) => write(sourceId, [changes]),
    /** Batches of one person each, of whom nobody was there. */
    appendsEach: (count: number, prefix: string) =>
      write(
        1,
        Array.from({ length: count }, (_, at) => [upsert(`${prefix}${at}`)]),
      ),
    /** Returns the new snapshot. */
    async compacts() {
      const { code, stderr } = await run('compact', '--quiet')
      t.equal(code, 0, stderr)
      return await current()
    },
    async sequences() {
      const known = await readIdentities(data, await current())
      return known.map(({ id, appliedSequence }) => [id, appliedSequence])
    },
    async identitiesFile() {
      const id = await current()
      return { id, path: join(data, 'snapshots', id, 'identities.json') }
    },
  }
}
