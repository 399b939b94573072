import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { addToMap, createDensityMap, drawMap } from '../../../src/commands/inspect/density-map.js'
import { formatAge, formatBytes } from '../../../src/commands/quantities.js'
import { formatTable } from '../../../src/commands/table.js'
import { withDataLock } from '../../../src/snapshot/publish/lock.js'
import { manyColumns } from '../../support/data/columns.js'
import { copyVersion1 } from '../../support/data/damage.js'
import { appendBatches } from '../../support/data/journal.js'
import { fingerprint, publishTest } from '../../support/data/snapshots.js'
import { hickoryHere } from '../../support/service/command-line.js'
import { temporaryDirectory } from '../../support/service/hickory.js'

/** A snapshot of format version 1, then one of version 2, which is current, then one more of it. */
async function place(t: Test) {
  const data = temporaryDirectory(t)
  copyVersion1(data)
  const second = await publishTest(data, 3, manyColumns(200), 'Third')
  const third = await publishTest(data, 4, manyColumns(100), 'Fourth')
  return { data, ids: ['000002-2cc2fd0b', second, third] as const }
}

const damage = (data: string, id: string, file: string) => {
  const path = join(data, 'snapshots', id, file)
  const bytes = readFileSync(path)
  bytes[bytes.length - 1] ^= 1
  rmSync(path)
  writeFileSync(path, bytes)
}

t.test('inspect lists all snapshots, the newest first', async (t) => {
  const { data, ids } = await place(t)
  const { code, stdout } = await hickoryHere('inspect', '--data', data)
  t.equal(code, 0)
  const lines = stdout.trim().split('\n')
  t.match(lines[0], /^snapshot +age +sources +recipients +size +format$/)
  t.match(lines[1], new RegExp(`^${ids[2]} +current +\\d+ s +4 +355 +.* +2$`))
  t.match(lines[2], new RegExp(`^${ids[1]} +\\d+ s +3 +255 +.* +2$`))
  t.match(lines[3], new RegExp(`^${ids[0]} .* 2 +55 +.* +1$`))
  t.equal(lines.length, 4)

  const json = JSON.parse((await hickoryHere('inspect', '--json', '--data', data)).stdout)
  t.match(json, {
    currentId: ids[2],
    snapshots: [
      { id: ids[2], isCurrent: true, formatVersion: 2, sourceCount: 4, recipientCount: 355 },
      { id: ids[1], isCurrent: false, recipientCount: 255 },
      { id: ids[0], formatVersion: 1 },
    ],
  })
})

t.test('inspect goes on beside what it cannot read', async (t) => {
  const { data, ids } = await place(t)
  rmSync(join(data, 'CURRENT'))
  damage(data, ids[1], 'manifest.json')
  const { code, stdout } = await hickoryHere('inspect', '--data', data)
  t.equal(code, 0)
  t.match(stdout, new RegExp(`${ids[1]} +damaged`))
  t.match(stdout, /manifest\.json: found/)
  t.match(stdout, /there is no CURRENT in/)
  t.notMatch(stdout, / current /)
})

t.test('inspect says what is in one snapshot', async (t) => {
  const { data, ids } = await place(t)
  const before = fingerprint(data)
  const { code, stdout } = await hickoryHere('inspect', '--data', data, 'current')
  t.equal(code, 0)
  t.match(stdout, `snapshot    ${ids[2]} (current)`)
  t.match(stdout, /recipients {2}355 of 4 sources/)
  t.match(stdout, /repeats {5}1\d\d numbers that 2\d\d recipients have/)
  t.match(stdout, / +2 {2}Visitors ü +25 +7\.0 % +13 +2 /)
  t.match(
    stdout,
    /1-0000\.shard +15 +4\.6 kB +1 +8\.1381 +47\.0005 +8\.9327 +47\.4850 {2}0511cf978097/,
  )
  t.match(stdout, /3-0000\.shard +200 +\S+ kB +2 /)
  t.equal(stdout.split('\n').filter((line) => /^\|.{72}\|$/.test(line)).length, 24)
  t.same(fingerprint(data), before, 'and changes nothing')

  const json = JSON.parse((await hickoryHere('inspect', ids[0], '--json', '--data', data)).stdout)
  t.match(json, { id: ids[0], isCurrent: false, formatVersion: 1, sources: [{ id: 1 }, { id: 2 }] })
  t.same(json.files['2-0001.shard'], { formatVersion: 1 })
  const counts: number[] = json.map.counts
  t.equal(
    counts.reduce((sum, count) => sum + count, 0),
    55,
  )
})

t.test('what is not there is named', async (t) => {
  const { data, ids } = await place(t)
  for (const command of ['inspect', 'verify', 'rollback']) {
    const unknown = await hickoryHere(command, '--data', data, '000009-00000000')
    t.equal(unknown.code, 2)
    t.match(unknown.stderr, `there is no snapshot 000009-00000000; there are ${ids.join(', ')}`)
    const empty = await hickoryHere(command, '--data', join(data, 'none'))
    t.equal(empty.code, 3)
    t.match(empty.stderr, /hickory import/)
    t.match((await hickoryHere(command, '--help')).stdout, /Example:/)
  }
  t.notOk(Object.keys(fingerprint(data)).includes('none'))
})

t.test('verify names each file, and ends with 4 where one is damaged', async (t) => {
  const { data, ids } = await place(t)
  const good = await hickoryHere('verify', '--data', data, '--all')
  t.equal(good.code, 0)
  t.equal(good.stdout.match(/ intact\n/g)?.length, 3 + 5 + 7 + 8)

  damage(data, ids[2], '2-0001.shard')
  damage(data, ids[2], 'repeats')
  const bad = await hickoryHere('verify', '--data', data)
  t.equal(bad.code, 4)
  t.match(bad.stdout, `${ids[2]} (current)  damaged`)
  t.match(bad.stdout, /2-0001\.shard +4\.6 kB {2}damaged: found a byte at \d+ of the image/)
  t.match(bad.stdout, /repeats +\S+ kB {2}damaged: found block 0 of/)
  t.match(bad.stdout, /1-0000\.shard +4\.6 kB {2}intact/)
  t.match(bad.stderr, `damaged: ${ids[2]}`)
  t.match(bad.stderr, /hickory rollback/)
  t.equal((await hickoryHere('verify', '--data', data, ids[1])).code, 0)

  writeFileSync(join(data, 'CURRENT'), 'nonsense\n')
  t.equal((await hickoryHere('verify', '--data', data)).code, 4)
  const all = await hickoryHere('verify', '--all', '--json', '--data', data)
  t.equal(all.code, 4)
  const json = JSON.parse(all.stdout)
  t.match(json, { isWhole: false, currentId: null, currentFault: /not a snapshot id/ })
  t.same(
    json.snapshots.map(({ isWhole }: { isWhole: boolean }) => isWhole),
    [true, true, false],
  )
  t.equal((await hickoryHere('verify', '--all', ids[1], '--data', data)).code, 2)
})

t.test('verify finds a digest that is wrong, and repeats that are not', async (t) => {
  const data = temporaryDirectory(t)
  await publishTest(data, 1, manyColumns(100))
  const one = await publishTest(data, 2, manyColumns(100, 50))
  const other = await publishTest(data, 2, manyColumns(100, 51))
  // All that opening looks at is right in these: a manifest as it would be written.
  const manifestOf = (id: string) =>
    JSON.parse(readFileSync(join(data, 'snapshots', id, 'manifest.json'), 'utf8'))
  const manifest = manifestOf(one)
  const { createManifest, encodeManifest } = await import(
    '../../../src/snapshot/format/manifest.js'
  )
  const rewrite = (sources: object[], repeats: object) => {
    const { generation, createdAt } = { generation: 9, createdAt: manifest.createdAt }
    const changed = createManifest(generation, createdAt, sources as never, repeats as never)
    const directory = join(data, 'snapshots', changed.id)
    cpSync(join(data, 'snapshots', one), directory, { recursive: true })
    writeFileSync(join(directory, 'manifest.json'), encodeManifest(changed))
    return { id: changed.id, directory }
  }
  const [first, second] = manifest.sources
  const [shard] = first.shards
  const wrong = { ...first, shards: [{ ...shard, sha256: shard.sha256.replace(/^./, '0') }] }
  const digest = rewrite([wrong, second], manifest.repeats)
  const found = await hickoryHere('verify', '--data', data, digest.id)
  t.equal(found.code, 4)
  t.match(found.stdout, /1-0000\.shard +\S+ kB {2}damaged: found SHA-256/)

  const repeats = rewrite([first, second], manifestOf(other).repeats)
  cpSync(join(data, 'snapshots', other, 'repeats'), join(repeats.directory, 'repeats'))
  const unlike = await hickoryHere('verify', '--data', data, repeats.id)
  t.equal(unlike.code, 4)
  t.match(unlike.stdout, /repeats +\S+ kB {2}damaged: found 49 numbers, expected 50/)
})

t.test('rollback goes to the newest whole snapshot before the current one', async (t) => {
  const { data, ids } = await place(t)
  const current = () => readFileSync(join(data, 'CURRENT'), 'utf8').trim()
  damage(data, ids[1], '3-0000.shard')
  const { code, stdout, stderr } = await hickoryHere('rollback', '--data', data)
  t.equal(code, 0)
  t.match(stderr, `hickory: warning: ${ids[1]} is damaged: 3-0000.shard: found block 0`)
  t.match(stdout, `${ids[0]} is current now; before it was ${ids[2]}`)
  t.equal(current(), ids[0])

  const none = await hickoryHere('rollback', '--data', data)
  t.equal(none.code, 2)
  t.match(none.stderr, /no snapshot before/)
  const again = await hickoryHere('rollback', '--data', data, ids[0])
  t.match(again.stdout, /is current already, and whole/)
  const damaged = await hickoryHere('rollback', '--data', data, ids[1])
  t.equal(damaged.code, 4)
  t.match(damaged.stderr, /nothing was changed/)
  t.equal(current(), ids[0])
  t.equal((await hickoryHere('rollback', '--data', data, ids[2])).code, 0, 'and forward again')
  t.equal(current(), ids[2])

  writeFileSync(join(data, 'CURRENT'), 'nonsense\n')
  const mended = await hickoryHere('rollback', '--data', data)
  t.equal(mended.code, 0)
  t.match(mended.stdout, new RegExp(`${ids[2]} is current now; .*not a snapshot id`))
  t.equal(current(), ids[2])
})

t.test('rollback is refused while an import holds the lock, and the others are not', async (t) => {
  const { data, ids } = await place(t)
  await withDataLock(data, async () => {
    const { code, stderr } = await hickoryHere('rollback', '--data', data)
    t.equal(code, 6)
    t.match(stderr, /another import is using/)
    t.equal((await hickoryHere('inspect', '--data', data)).code, 0)
    t.equal((await hickoryHere('verify', '--data', data)).code, 0)
  })
  t.equal(readFileSync(join(data, 'CURRENT'), 'utf8').trim(), ids[2])
})

t.test('a map counts each recipient once, in the cell where it is', async (t) => {
  const box = { minLng: -10, minLat: 0, maxLng: 10, maxLat: 9 }
  const map = createDensityMap(box, 3, 2)
  addToMap(map, Int32Array.from([-10, 9, 10, 0, 0, 9, 0, 5, 0, 4, 10, 9]))
  t.same([...map.counts], [1, 2, 1, 0, 1, 1])
  t.same(drawMap(map), ['+---+', '|.:.|', '| ..|', '+---+', '. 1   : 2'])
  const point = createDensityMap({ minLng: 5, minLat: 5, maxLng: 5, maxLat: 5 }, 2, 1)
  addToMap(point, Int32Array.from([5, 5]))
  t.same(drawMap(point), ['+--+', '|. |', '+--+', '. 1'])
  const globe = { minLng: -1.8e9, minLat: -9e8, maxLng: 1.8e9, maxLat: 9e8 }
  const whole = createDensityMap(globe)
  addToMap(whole, Int32Array.from([-1.8e9, -9e8, 1.8e9, 9e8, -1.8e9, 9e8, 1.8e9, -9e8]))
  t.equal(
    whole.counts.reduce((sum, count) => sum + count, 0),
    4,
  )
})

t.test('a shade stands for so many times as many as the one before', async (t) => {
  const map = createDensityMap({ minLng: 0, minLat: 0, maxLng: 8, maxLat: 0 }, 9, 1)
  map.counts.set([0, 1, 10, 99, 100, 1000, 10_000, 99_999_999, 100_000_000])
  const [, row, , legend] = drawMap(map)
  t.equal(row, '| .::-=+%@|')
  t.match(legend, /^\. 1 {3}: 10 {3}- 100 {3}= 1000 .* @ 100000000$/)
})

t.test('quantities are read by people', async (t) => {
  t.same([0, 999, 1000, 999_949, 999_950, 5.5e12, 7e15].map(formatBytes), [
    '0 B',
    '999 B',
    '1.0 kB',
    '999.9 kB',
    '1.0 MB',
    '5.5 TB',
    '7000.0 TB',
  ])
  t.same([-5, 0, 119_999, 120_000, 7_199_999, 7_200_000, 172_799_999, 172_800_000].map(formatAge), [
    '0 s',
    '0 s',
    '119 s',
    '2 min',
    '119 min',
    '2 h',
    '47 h',
    '2 days',
  ])
  t.same(
    formatTable(
      ['<a', 'bb'],
      [
        ['x', '1'],
        ['yy', '222'],
      ],
    ),
    ['a    bb', 'x     1', 'yy  222'],
  )
})

t.test('inspect shows the journal of changes, if there is one', async (t) => {
  const { data } = await place(t)
  const inspect = (...args: string[]) => hickoryHere('inspect', '--data', data, ...args)
  t.equal(JSON.parse((await inspect('--json')).stdout).journal, null)
  await appendBatches(data, 3)
  t.match((await inspect()).stdout, /^journal of changes: batches 1 to 3, \d+ B$/m)
  const { journal } = JSON.parse((await inspect('--json')).stdout)
  t.match(journal, { firstSequence: 1, lastSequence: 3, byteLength: Number })
  rmSync(join(data, 'journal', 'position'))
  t.match((await inspect()).stdout, /^the journal .* is damaged: head is missing/m)
})
