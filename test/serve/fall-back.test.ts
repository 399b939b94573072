import { appendFileSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import fs from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { Log } from '../../src/log.js'
import { openOrFallBack } from '../../src/serve/fall-back.js'
import { createArenaPool } from '../../src/shard/arena-pool.js'
import { manyColumns } from '../support/data/columns.js'
import { publishTest } from '../support/data/snapshots.js'

/** Three snapshots, of 10, 20 and 30 recipients, and what is logged while one is opened. */
async function generations(t: Test) {
  const data = t.testdir({})
  const ids: string[] = []
  for (const count of [10, 20, 30]) ids.push(await publishTest(data, 1, manyColumns(count)))
  const errors: [fields: object, message: string][] = []
  const log = { error: (...line: [object, string]) => void errors.push(line) } as unknown as Log
  const damage = (at: number) =>
    appendFileSync(join(data, 'snapshots', ids[at], '1-0000.shard'), 'x')
  return { data, ids, errors, damage, open: () => openOrFallBack(data, { log }) }
}

t.test('the current snapshot is served as long as it is whole', async (t) => {
  const { ids, errors, damage, open } = await generations(t)
  damage(0)
  const { snapshot, refused } = await open()
  t.same([snapshot.id, refused, errors], [ids[2], undefined, []])
})

t.test('where it is damaged, the newest one before it is served, and that is said', async (t) => {
  for (const [damaged, expected] of [
    [[2], 1],
    [[2, 1], 0],
  ] as const) {
    const { ids, errors, damage, open } = await generations(t)
    for (const at of damaged) damage(at)
    const { snapshot, refused } = await open()
    t.equal(snapshot.id, ids[expected])
    t.match(refused, { snapshotId: ids[2], reason: /1-0000\.shard: found \d+ bytes, expected/ })
    t.equal(errors.length, damaged.length + 1)
    const [fields, message] = errors[damaged.length]
    t.match(fields, { snapshotId: ids[2], servedId: ids[expected], reason: /1-0000\.shard/ })
    t.equal(message, 'fell back to another snapshot')
  }
})

t.test('where none is whole, each of them is named', async (t) => {
  const { ids, damage, open } = await generations(t)
  for (const at of [0, 1, 2]) damage(at)
  const message = new RegExp(`${ids[2]}/1-.*${ids[1]}/1-.*${ids[0]}/1-.* import the sources again`)
  await t.rejects(open(), { code: 'SnapshotCorrupt', message })
})

t.test('a newer one than the current one is not served', async (t) => {
  const { data, ids, damage, open } = await generations(t)
  writeFileSync(join(data, 'CURRENT'), `${ids[1]}\n`)
  t.equal((await open()).snapshot.id, ids[1])
  damage(1)
  t.equal((await open()).snapshot.id, ids[0])
  damage(0)
  await t.rejects(open(), { code: 'SnapshotCorrupt' })
})

t.test('where CURRENT names nothing that is there, the newest whole one is served', async (t) => {
  const { data, ids, damage, open } = await generations(t)
  const path = join(data, 'CURRENT')
  const cases: [content: string, refused: object][] = [
    ['', { snapshotId: undefined, reason: /found 0 characters/ }],
    ['nonsense\n', { snapshotId: undefined, reason: /not a snapshot id/ }],
    ['000000-aaaaaaaa\n', { snapshotId: '000000-aaaaaaaa', reason: /which is not in/ }],
    ['000009-aaaaaaaa\n', { snapshotId: '000009-aaaaaaaa', reason: /which is not in/ }],
  ]
  const check = async (served: string, expected: object) => {
    const { snapshot, refused } = await open()
    t.equal(snapshot.id, served)
    t.match(refused, expected)
  }
  for (const [content, expected] of cases) {
    writeFileSync(path, content)
    await check(ids[2], expected)
  }
  rmSync(path)
  await check(ids[2], { reason: /there is no CURRENT in/ })
  damage(2)
  await check(ids[1], { reason: /there is no CURRENT in/ })
})

t.test('nothing older takes the place of one that a later version wrote', async (t) => {
  const { data, ids, errors, damage, open } = await generations(t)
  for (const at of [2, 1]) {
    const path = join(data, 'snapshots', ids[at], 'manifest.json')
    const manifest = readFileSync(path, 'utf8')
    writeFileSync(path, manifest.replace(/"formatVersion": \d+/, '"formatVersion": 99'))
    if (at === 2) await t.rejects(open(), { code: 'NewerFormat' })
    t.same(errors, [], 'there is nothing to fall back to, and nothing is said of it')
    if (at === 2) {
      writeFileSync(path, manifest)
      damage(2)
    }
  }
  t.equal((await open()).snapshot.id, ids[0], 'beside a damaged one, the newest that can be read')
})

t.test('what was never published is never served', async (t) => {
  const { data, ids, open } = await generations(t)
  rmSync(join(data, 'CURRENT'))
  const [snapshots, id] = [join(data, 'snapshots'), ids[2]]
  renameSync(join(snapshots, id), join(snapshots, `${id}.tmp`))
  mkdirSync(join(snapshots, 'other'))
  t.equal((await open()).snapshot.id, ids[1])
})

t.test('without any snapshot it says how to make one', async (t) => {
  const log = { error: () => t.fail('nothing to log') } as unknown as Log
  const expected = { code: 'SnapshotMissing', message: /hickory import/ }
  await t.rejects(openOrFallBack(t.testdir({}), { log }), expected)
  const data = t.testdir({ CURRENT: 'nonsense\n' })
  await t.rejects(openOrFallBack(data, { log }), { code: 'SnapshotCorrupt', message: /CURRENT/ })
})

t.test('who gives up is not told of damage, and nothing else is tried', async (t) => {
  const { data, errors } = await generations(t)
  const log = { error: (...line: [object, string]) => void errors.push(line) } as unknown as Log
  const opening = openOrFallBack(data, { log, stopping: AbortSignal.abort() })
  await t.rejects(opening, { message: /given up/ })
  t.same(errors, [])
})

t.test('the memory of what was refused is used for what is served', async (t) => {
  const { data, damage, ids } = await generations(t)
  damage(2)
  const arenas = createArenaPool(1)
  const log = { error: () => {} } as unknown as Log
  const { snapshot } = await openOrFallBack(data, { log, arenas })
  arenas.giveBack(snapshot.arenas.map((arena) => ({ arena })))
  const [room] = arenas.take([100])
  t.equal(room.arena, snapshot.arenas[0])
  t.equal(snapshot.id, ids[1])
})

t.test(
  'what the system does not let read is not damage, and nothing older is served',
  async (t) => {
    const { data, ids, errors, open } = await generations(t)
    // Somebody went back, so that the newest one is not what CURRENT names.
    writeFileSync(join(data, 'CURRENT'), `${ids[1]}\n`)
    for (const name of ['1-0000.shard', 'manifest.json', 'repeats', 'CURRENT']) {
      for (const code of ['EACCES', 'EMFILE', 'ENOMEM']) {
        const allow = refuse(name, code)
        t.teardown(allow)
        const message = new RegExp(`${name}: cannot be read: ${code}`)
        await t.rejects(open(), { code: 'Failed', message })
        allow()
      }
    }
    t.same(errors, [])
    t.equal((await open()).snapshot.id, ids[1])
  },
)

t.test('what the disk cannot read is damage', async (t) => {
  const { data, ids, open } = await generations(t)
  writeFileSync(join(data, 'CURRENT'), `${ids[2]}\n`)
  const allow = refuse(join(ids[2], '1-0000.shard'), 'EIO')
  t.teardown(allow)
  const { snapshot, refused } = await open()
  t.equal(snapshot.id, ids[1])
  t.match(refused, { snapshotId: ids[2], reason: /1-0000\.shard: EIO/ })
})

/** Has the system open no file of this name, until it is taken back. */
function refuse(name: string, code: string): () => void {
  const { open, readFile } = fs
  const unlessRefused =
    <Args extends unknown[], Result>(work: (...args: Args) => Promise<Result>) =>
    async (...args: Args) => {
      if (!String(args[0]).endsWith(name)) return await work(...args)
      throw Object.assign(new Error(`${code}: not now, open`), { code, syscall: 'open' })
    }
  Object.assign(fs, { open: unlessRefused(open), readFile: unlessRefused(readFile) })
  syncBuiltinESMExports()
  return () => {
    Object.assign(fs, { open, readFile })
    syncBuiltinESMExports()
  }
}
