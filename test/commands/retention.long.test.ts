import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { limits } from '../../src/limits.js'
import { openSnapshot } from '../../src/snapshot/load/open.js'
import { withDataLock } from '../../src/snapshot/publish/lock.js'
import { fingerprint } from '../support/data/snapshots.js'
import { hickoryHere } from '../support/service/command-line.js'
import { temporaryDirectory } from '../support/service/hickory.js'

const ANY = ['--max-shrink', '100%']

function place(t: Test) {
  const data = join(temporaryDirectory(t), 'data')
  mkdirSync(data)
  const run = (name: string, ...args: string[]) => hickoryHere(name, '--data', data, ...args)
  return {
    data,
    run,
    /** Imports so many rows, other ones for another first number, and returns what is current. */
    put: async (source: number, count: number, first: number, ...flags: string[]) => {
      const row = (_: unknown, at: number) => `+999${first + at},1,${2 + at / 1000}\n`
      writeFileSync(
        join(data, 'a.csv'),
        `number,lat,lng\n${Array.from({ length: count }, row).join('')}`,
      )
      const label = flags.includes('--label') ? [] : ['--label', `Source ${source}`]
      const names = ['--source', `${source}`, ...label]
      const { code, stderr } = await run('import', ...names, ...flags, join(data, 'a.csv'))
      t.equal(code, 0, stderr)
      return current(data)
    },
  }
}

const current = (data: string) => readFileSync(join(data, 'CURRENT'), 'utf8').trim()
const idsIn = (data: string) => readdirSync(join(data, 'snapshots')).sort()

async function countsOf(data: string): Promise<Record<number, number>> {
  const { sources } = await openSnapshot(data)
  return Object.fromEntries(sources.map(({ id, recipientCount }) => [id, recipientCount]))
}

t.test('content that is current already publishes nothing', async (t) => {
  const { data, run, put } = place(t)
  const first = await put(1, 100, 0)
  await put(2, 100, 500)
  const before = fingerprint(data)
  const again = await run('import', '--source', '2', join(data, 'a.csv'))
  t.match(again, { code: 0, stdout: /^unchanged +.*\nsnapshot +000002-/m })
  const json = await run('import', '--source', '2', '--json', join(data, 'a.csv'))
  t.match(JSON.parse(json.stdout), { published: false, unchanged: true, snapshotId: null })
  t.same(fingerprint(data), before)
  const sources = [{ id: 2, files: ['a.csv'] }]
  writeFileSync(join(data, 'sources.json'), JSON.stringify({ sources }))
  t.match(await run('import', '--all'), { code: 0, stdout: /^ +2 .* unchanged\n\nunchanged/m })
  t.same(idsIn(data), [first, current(data)])

  const label = ['--source', '2', '--label', 'Other']
  t.match((await run('import', ...label, join(data, 'a.csv'))).stdout, /^snapshot +000003-/m)
  const id = current(data)
  const path = join(data, 'snapshots', id, '2-0000.shard')
  const bytes = readFileSync(path)
  bytes[5000] ^= 1
  rmSync(path)
  writeFileSync(path, bytes)
  const repaired = await run('import', '--source', '2', join(data, 'a.csv'))
  t.match(
    repaired,
    { code: 0, stdout: /^snapshot +000004-/m },
    'what is damaged is published again',
  )
  t.match(await run('verify'), { code: 0 })
})

t.test(
  '--keep says how many stay, also in sources.json, and pinned ones do not count',
  async (t) => {
    const { data, run, put } = place(t)
    const ids: string[] = []
    for (let at = 0; at < 3; at++) ids.push(await put(1, 100 + at, 0))
    t.match(await run('pin', ids[0], '--note', 'the first'), { code: 0, stdout: /is pinned/ })
    ids.push(await put(1, 103, 0))
    t.same(idsIn(data), ids)
    ids.push(await put(1, 104, 0, '--keep', '2'))
    t.same(idsIn(data), [ids[0], ids[3], ids[4]])
    writeFileSync(join(data, 'sources.json'), JSON.stringify({ keep: 4, sources: [] }))
    for (let at = 5; at < 8; at++) ids.push(await put(1, 100 + at, 0))
    t.same(idsIn(data), [ids[0], ...ids.slice(-4)])
    writeFileSync(join(data, 'sources.json'), 'nonsense')
    ids.push(await put(1, 108, 0))
    t.same(idsIn(data), [ids[0], ...ids.slice(-5)], 'nothing is removed where it cannot be read')
    for (const keep of [
      `${limits.snapshotCountMin - 1}`,
      `${limits.snapshotCountMax + 1}`,
      '1.5',
      'x',
      '',
    ]) {
      t.match(await run('import', '--source=1', '--keep', keep, 'a.csv'), {
        code: 2,
        stderr: /--keep/,
      })
    }
    t.match(await run('unpin', ids[0]), { code: 0 })
    ids.push(await put(1, 109, 0, '--keep', `${limits.snapshotCountMin}`))
    t.same(idsIn(data), ids.slice(-limits.snapshotCountMin))
    await put(1, 110, 0, '--keep', `${limits.snapshotCountMax}`)
  },
)

t.test('pins are for snapshots that are there, and have notes of a bounded length', async (t) => {
  const { data, run, put } = place(t)
  t.match(await run('pin', 'current'), { code: 3 })
  const id = await put(1, 100, 0)
  const none = '000009-00000000'
  t.match(await run('pin', none), { code: 2, stderr: /there is no snapshot 000009/ })
  t.match(await run('unpin', id), { code: 2, stderr: /is not pinned; pinned are none/ })
  const longest = 'é'.repeat(limits.pinNoteBytes / 2)
  t.equal((await run('pin', 'current', '--note', longest)).code, 0)
  t.equal((await run('pin', 'current', '--note', `${longest}e`)).code, 2)
  t.equal((await run('pin', 'current', '--note', 'two\nlines')).code, 2)
  t.equal((await run('pin', id, '--note', 'again')).code, 0)
  t.match((await run('inspect')).stdout, / pinned: again$/m)
  const json = JSON.parse((await run('inspect', '--json')).stdout)
  t.match(json.snapshots[0].retention, { isGood: true, pin: { id, note: 'again' } })
  await withDataLock(data, async () => {
    t.equal((await run('pin', id)).code, 6)
    t.equal((await run('unpin', id)).code, 6)
    t.equal((await run('accept', id)).code, 6)
    t.equal((await run('remove', '--source', '1')).code, 6)
  })
  rmSync(join(data, 'snapshots', id), { recursive: true })
  rmSync(join(data, 'CURRENT'))
  const pins = Array.from({ length: limits.pinCount }, (_, at) => ({
    id: `${100_000 + at}-00000000`,
    pinnedAt: new Date().toISOString(),
  }))
  writeFileSync(join(data, 'pins.json'), JSON.stringify({ pins, accepted: [] }))
  const next = await put(1, 100, 0)
  t.match(await run('pin', next), { code: 2, stderr: /at most 1000/ })
  t.equal((await run('unpin', pins[0].id)).code, 0, 'what is gone can be unpinned')
  t.equal((await run('pin', next)).code, 0)
  writeFileSync(join(data, 'pins.json'), '{')
  for (let at = 1; at < 5; at++) await put(1, 100 + at, 0)
  t.equal(idsIn(data).length, 5, 'nothing is removed where pins cannot be read')
  t.match(await run('pin', 'current'), { code: 4, stderr: /pins\.json: found what is not JSON/ })
})

t.test('imports that were forced do not push out what was good', async (t) => {
  const { data, run, put } = place(t)
  const good = await put(1, 100, 0)
  for (let at = 0; at < 5; at++) await put(1, 10, 500 + at, ...ANY)
  t.ok(idsIn(data).includes(good))
  for (let at = 0; at < 5; at++) await put(1, 11, 600 + at)
  t.ok(idsIn(data).includes(good), 'nor do those that begin with one that was forced')
  t.equal(idsIn(data).length, 4)
  const { stdout } = await run('rollback', '--list')
  t.match(stdout, /^0\S+ +\d+ s +11 +0 +current, forced: source 1 maxShrink\n +1 Source 1 +11 +0$/m)
  t.match(stdout, new RegExp(`^${good} +\\d+ s +100 +\\+89\\n +1 Source 1 +100 +\\+89$`, 'm'))
  t.match((await run('inspect')).stdout, /current .* forced: source 1 maxShrink$/m)
  t.match(await run('rollback', '--good'), { code: 0 })
  t.same([current(data), await countsOf(data)], [good, { 1: 100 }])
  t.match(await run('rollback', '--good'), { code: 0, stdout: /is current already/ })
})

t.test('a source that may be empty three times is not lost', async (t) => {
  const { data, run, put } = place(t)
  const good = await put(1, 100, 0)
  await put(2, 5, 0)
  await run('rollback', good)
  for (let at = 0; at < 4; at++) {
    await put(1, 0, 0, '--allow-empty', '--label', `Empty ${at}`)
    t.same(await countsOf(data), { 1: 0 })
  }
  t.match(await run('rollback', '--good'), { code: 0 })
  t.same(await countsOf(data), { 1: 100 })
})

t.test('what was forced is good again when it is what it was, or is accepted', async (t) => {
  const { data, run, put } = place(t)
  const first = await put(1, 100, 0)
  await put(1, 50, 0, ...ANY)
  const back = await put(1, 95, 0)
  for (let at = 0; at < 3; at++) await put(1, 95, 500 + at)
  t.notOk(idsIn(data).includes(first), 'a newer one is good')
  t.notOk(idsIn(data).includes(back))
  const good = current(data)
  const forced = await put(1, 50, 0, ...ANY)
  t.match(await run('accept'), { code: 0, stdout: `${forced} is accepted` })
  t.match(await run('accept'), { code: 0, stdout: /nothing was changed/ })
  t.match((await run('inspect')).stdout, /current .* accepted$/m)
  for (let at = 0; at < 3; at++) await put(1, 50, 500 + at)
  t.notOk(idsIn(data).includes(good))
  t.notMatch((await run('rollback', '--list')).stdout, /forced/)
})

t.test('a source is removed, and can be brought back', async (t) => {
  const { data, run, put } = place(t)
  await put(1, 100, 0)
  t.match(await run('remove', '--source', '1'), { code: 2, stderr: /is the only one/ })
  await put(2, 50, 0)
  const whole = await put(3, 20, 0)
  t.match(await run('remove', '--source', '7'), {
    code: 2,
    stderr: /no source 7; there are 1, 2, 3/,
  })
  t.match(await run('remove'), { code: 2 })
  const done = await run('remove', '--source', '2')
  t.match(done, { code: 0, stdout: /^removed +2 Source 2, 50 recipients\nsnapshot +000004-/ })
  t.same(await countsOf(data), { 1: 100, 3: 20 })
  t.equal((await run('remove', '--source', '3')).code, 0)
  for (let at = 0; at < 4; at++) await put(1, 101, at)
  t.ok(idsIn(data).includes(whole), 'what was good stays')
  const { stdout } = await run('rollback', '--list')
  t.match(stdout, /current, forced: source 2 removed; source 3 removed/)
  t.equal((await run('rollback', '--good')).code, 0)
  t.same(await countsOf(data), { 1: 100, 2: 50, 3: 20 })
  t.ok(existsSync(join(data, 'snapshots', whole)))
  const missing = join(temporaryDirectory(t), 'none')
  t.equal((await hickoryHere('remove', '--data', missing, '--source', '1')).code, 3)
  t.notOk(existsSync(missing))
})

t.test('a rollback and an import lose nothing good', async (t) => {
  const { data, run, put } = place(t)
  const [first, second] = [await put(1, 100, 0), await put(2, 100, 0)]
  await run('rollback')
  t.equal(current(data), first)
  const third = await put(1, 101, 0)
  t.same(idsIn(data), [first, second, third])
  const { stdout } = await run('rollback', '--list')
  t.match(stdout, new RegExp(`^${second} .* 200 +\\+99 +rolled back from$`, 'm'))
  t.match(stdout, /^ +2 Source 2 +100 +\+100$/m)
  await run('rollback')
  t.equal(current(data), first, 'the one before is the one that it was made from')
  t.equal((await run('rollback', second)).code, 0)
  t.same(await countsOf(data), { 1: 100, 2: 100 })
})

t.test('a rollback that goes nowhere lists where it could go', async (t) => {
  const { data, run, put } = place(t)
  const first = await put(1, 100, 0)
  t.match(await run('rollback'), { code: 2, stdout: first, stderr: /there is no snapshot before/ })
  t.match(await run('rollback', 'x'), { code: 2, stdout: first, stderr: /there is no snapshot x/ })
  t.match(await run('rollback', first, '--list'), { code: 2, stderr: /either an ID, --good or/ })
  const second = await put(1, 101, 0)
  rmSync(join(data, 'snapshots', first, '1-0000.shard'))
  writeFileSync(join(data, 'snapshots', second, 'origin.json'), '{}')
  const { stdout } = await run('rollback', '--list')
  t.match(stdout, new RegExp(`^${first} .*damaged: .*1-0000\\.shard`, 'm'))
  t.match(stdout, new RegExp(`^${second} .*current, origin damaged`, 'm'))
  t.match(await run('rollback', '--good'), { code: 4, stderr: /nothing was changed/ })
  await put(1, 102, 0)
  t.match((await run('rollback', '--list')).stdout, /current$/m, 'the next import passes')
})

t.test('inspect says of one snapshot what the overview says', async (t) => {
  const { run, put } = place(t)
  await put(1, 100, 0)
  t.match((await run('inspect', 'current')).stdout, /^state {7}good$/m)
  const id = await put(1, 20, 0, ...ANY)
  await run('pin', id, '--note', 'before the merge')
  const shown = 'forced: source 1 maxShrink, pinned: before the merge'
  for (const args of [[], [id]]) t.match((await run('inspect', ...args)).stdout, shown)
  const json = JSON.parse((await run('inspect', id, '--json')).stdout)
  t.match(json.retention, {
    isGood: false,
    isAccepted: false,
    pin: { id, note: 'before the merge' },
    forced: [{ id: 1, goodCount: 100, forced: ['maxShrink'] }],
  })
  await run('accept')
  t.match((await run('inspect', id)).stdout, /^state {7}accepted, pinned: before the merge$/m)
})

t.test('verify says when origin.json or pins.json cannot be read', async (t) => {
  const { data, run, put } = place(t)
  const id = await put(1, 100, 0)
  t.match(await run('verify'), { code: 0, stderr: '' })
  const origin = join(data, 'snapshots', id, 'origin.json')
  rmSync(origin)
  t.match(await run('verify'), { code: 0 }, 'snapshots of earlier releases have none')
  writeFileSync(origin, '{}')
  const one = await run('verify')
  t.match(one, { code: 4, stdout: /\(current\) {2}intact[\s\S]*origin\.json +damaged: it is not/ })
  t.match(one.stderr, new RegExp(`origin\\.json is damaged in ${id}.*hickory accept --data`))
  t.notMatch(one.stderr, /hickory rollback/)

  writeFileSync(join(data, 'pins.json'), 'nonsense')
  const both = await run('verify', '--all', '--json')
  t.equal(both.code, 4)
  t.match(JSON.parse(both.stdout), {
    isWhole: false,
    pinsFault: /pins\.json: found what is not JSON; correct it, or remove it and pin again/,
    snapshots: [{ isWhole: true, originFault: /it is not as it was written/ }],
  })
  t.match(both.stderr, /pins\.json: found what is not JSON.*; until then imports remove no/)
  t.match((await run('verify')).stdout, /^pins\.json {2}damaged: /m)
  t.match(await run('inspect', id), { code: 0, stdout: /^state {7}.*pins\.json: found/m })
})
