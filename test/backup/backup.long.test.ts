/**
 * `hickory backup` and `hickory restore`: what comes back, what is refused, and what is left behind.
 *
 * @module
 */
import { createHash } from 'node:crypto'
import {
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { packTar } from 'modern-tar'
import t, { type Test } from 'tap'
import { openCurrent } from '../../src/backup/gather.js'
import type { StoreEntry } from '../../src/cluster/entries.js'
import { verifyJournal } from '../../src/journal/verify.js'
import { CLUSTERED_FORMAT, META, openTables, storeDirectory } from '../../src/store/tables.js'
import { makeClustered } from '../support/data/clustered.js'
import { appendBatches } from '../support/data/journal.js'
import { phonesOn } from '../support/data/store.js'
import { testSeed } from '../support/random/properties.js'
import { hickoryHere } from '../support/service/command-line.js'
import { temporaryDirectory } from '../support/service/hickory.js'
import { byTier } from '../support/tier.js'

/** An archive of these files, with their list. */
async function archiveOf(files: readonly { name: string; bytes: Buffer }[]): Promise<Uint8Array> {
  const listed = files.map(({ name, bytes }) => ({
    name,
    byteLength: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
  }))
  const listing = {
    format: 'hickory-backup',
    formatVersion: 1,
    createdAt: '2026-01-01T00:00:00.000Z',
    snapshotId: null,
    files: listed,
  }
  const last = { name: 'hickory-backup.json', bytes: Buffer.from(JSON.stringify(listing)) }
  return packTar(
    [...files, last].map(({ name, bytes }) => ({
      header: { name, size: bytes.length },
      body: bytes,
    })),
  )
}

const PASSWORD = 'postgres://reader:secret@db/people'
const template = join(temporaryDirectory(t), 'data')

t.before(async () => {
  const directory = temporaryDirectory(t)
  const rows = join(directory, 'rows.csv')
  const lines = Array.from({ length: 50 }, (_, i) => `+9995550${100 + i},${i + 1},${i}\n`)
  writeFileSync(rows, `number,lat,lng\n${lines.join('')}`)
  const list = join(directory, 'list.txt')
  writeFileSync(list, '+9995550101\n+9995550999\n')
  const source = ['--source', '1', '--label', 'Residents']
  const runs = [
    await hickoryHere('import', '--data', template, ...source, rows),
    await hickoryHere('suppress', '--data', template, list),
  ]
  for (const { code, stderr } of runs) if (code !== 0) throw new Error(stderr)
  const settings = JSON.stringify({ sources: [{ id: 1, from: PASSWORD, query: 'select 1' }] })
  writeFileSync(join(template, 'sources.json'), settings, { mode: 0o644 })
})

function world(t: Test) {
  const directory = temporaryDirectory(t)
  const data = join(directory, 'data')
  cpSync(template, data, { recursive: true })
  const at = (name: string) => join(directory, name)
  return {
    data,
    at,
    left: () => readdirSync(directory).sort(),
    backup: (name: string, ...args: string[]) =>
      hickoryHere('backup', '--data', data, at(name), ...args),
    restore: (name: string, to = 'restored') => hickoryHere('restore', at(name), '--data', at(to)),
  }
}

for (const name of ['b.tar', 'b.tar.gz', 'b.tar.zst']) {
  t.test(`${name} has everything, for its owner alone`, async (t) => {
    const { data, at, left, backup, restore } = world(t)
    const made = await backup(name, '--json')
    t.equal(made.code, 0, made.stderr)
    const told = JSON.parse(made.stdout)
    const bytes = readFileSync(at(name))
    t.match(told, { byteLength: bytes.length, hasStore: true, fileCount: 9 })
    t.equal(told.sha256, createHash('sha256').update(bytes).digest('hex'))
    t.equal(statSync(at(name)).mode & 0o777, 0o600)
    t.same(left(), [name, 'data'], 'nothing else is left')

    const { code, stdout, stderr } = await restore(name)
    t.equal(code, 0, stderr)
    t.match(stdout, new RegExp(`^snapshot +${told.snapshotId}$`, 'm'))
    t.same(left(), [name, 'data', 'restored'])
    const snapshot = `snapshots/${told.snapshotId}`
    for (const file of [
      'CURRENT',
      'sources.json',
      `${snapshot}/manifest.json`,
      `${snapshot}/origin.json`,
      `${snapshot}/identities.json`,
      `${snapshot}/1-0000.identities`,
    ]) {
      t.same(readFileSync(at(`restored/${file}`)), readFileSync(join(data, file)), file)
      t.equal(statSync(at(`restored/${file}`)).mode & 0o777, 0o600)
    }
    t.equal(statSync(at('restored')).mode & 0o777, 0o700)
    t.same(await phonesOn(at('restored'), 'all'), ['+9995550101', '+9995550999'])
    t.equal((await hickoryHere('verify', '--data', at('restored'))).code, 0)
  })
}

t.test('a file is not replaced unasked, nor is a directory', async (t) => {
  const { at, left, backup, restore } = world(t)
  writeFileSync(at('b.tar'), 'mine')
  const refused = await backup('b.tar')
  t.equal(refused.code, 2)
  t.match(refused.stderr, /b\.tar is there already: give another name, or --force to replace it\n$/)
  t.equal(readFileSync(at('b.tar'), 'utf8'), 'mine')
  t.equal((await backup('b.tar', '--force')).code, 0)
  t.equal(statSync(at('b.tar')).mode & 0o777, 0o600)
  mkdirSync(at('d.tar'))
  t.match(
    (await backup('d.tar', '--force')).stderr,
    /d\.tar is there already: give another name\n$/,
  )

  const into = await restore('b.tar', 'data')
  t.equal(into.code, 2)
  t.match(into.stderr, /data is not empty, and nothing in it is replaced/)
  t.match((await restore('b.tar', 'b.tar')).stderr, /is a file: --data names a directory/)
  mkdirSync(at('empty'))
  t.equal((await restore('b.tar', 'empty')).code, 0)
  t.same(left(), ['b.tar', 'd.tar', 'data', 'empty'])
})

t.test('what cannot be backed up is told, and leaves nothing', async (t) => {
  const { data, at, left, backup } = world(t)
  t.match(await backup('b.zip'), {
    code: 2,
    stderr: /b\.zip: the name of a backup ends with \.tar,/,
  })
  t.match(await backup('no/b.tar'), { code: 1, stderr: /\/no does not exist/ })
  const elsewhere = await hickoryHere('backup', '--data', at('mistyped'), at('b.tar'))
  t.match(elsewhere, { code: 2, stderr: /mistyped does not exist/ })
  mkdirSync(at('empty'))
  const nothing = await hickoryHere('backup', '--data', at('empty'), at('b.tar'))
  t.match(nothing, { code: 2, stderr: /empty has neither a snapshot nor a store/ })

  const { PATH } = process.env
  process.env.PATH = at('empty')
  const missing = await backup('b.tar.zst')
  process.env.PATH = PATH
  t.match(missing, { code: 2, stderr: /needs the program zstd, which is not installed: / })

  const [id] = readdirSync(join(data, 'snapshots'))
  const shard = join(data, 'snapshots', id, '1-0000.shard')
  const bytes = readFileSync(shard)
  bytes[bytes.length - 9] ^= 1
  chmodSync(shard, 0o600)
  writeFileSync(shard, bytes)
  t.match(await backup('b.tar'), { code: 4, stderr: /found SHA-256 .* No backup was made/ })
  rmSync(shard)
  t.match(await backup('b.tar'), { code: 4, stderr: /1-0000\.shard: is not there/ })
  t.same(left(), ['data', 'empty'])
})

t.test('a backup of a machine of a cluster is one of no cluster', async (t) => {
  const { data, at, left, backup, restore } = world(t)
  const suppressing = (phone: string, isRemoval = false): StoreEntry => {
    return { kind: 'suppressions', scope: 'all', phones: [phone], isRemoval }
  }
  await appendBatches(data, 2)
  await makeClustered(data, [suppressing('+9995550103'), suppressing('+9995550999', true)])
  writeFileSync(join(data, 'cluster', 'connection.json'), '{}')
  const before = readFileSync(join(data, 'store', 'data.mdb'))
  const { code, stderr, stdout } = await backup('b.tar')
  t.equal(code, 0, stderr)
  t.match(stdout, /^changes +up to batch 4$/m)
  t.same(left(), ['b.tar', 'data'])
  t.ok(before.equals(readFileSync(join(data, 'store', 'data.mdb'))), 'the store is as it was')

  t.equal((await restore('b.tar')).code, 0)
  const restored = at('restored')
  t.same(readdirSync(restored).sort(), ['CURRENT', 'journal', 'snapshots', 'sources.json', 'store'])
  t.same(readdirSync(join(restored, 'journal')).sort(), [
    ...['changes-000001.journal', 'changes-000002.journal', 'head', 'position'],
  ])
  const listed = await phonesOn(restored, 'all')
  t.same(listed, ['+9995550101', '+9995550103'], 'with what its store lacked')
  const tables = openTables(storeDirectory(restored), 'read')
  t.teardown(() => tables.close())
  t.equal(tables.meta.get(META.entriesSequence), undefined)
  t.not(tables.meta.get(META.format), CLUSTERED_FORMAT)
  const [{ kind, sequence }] = await appendBatches(restored, 1)
  t.same({ kind, sequence }, { kind: 'repeated', sequence: 1 }, 'anybody may write to its journal')
})

t.test('a backup that has the identity of a machine is refused', async (t) => {
  const { at, restore, left } = world(t)
  for (const name of ['cluster/state.json', 'journal/committed']) {
    writeFileSync(at('b.tar'), await archiveOf([{ name, bytes: Buffer.from('{}') }]))
    t.match(await restore('b.tar'), { code: 5, stderr: /is not a whole backup/ })
    t.same(left(), ['b.tar', 'data'])
  }
})

t.test('a store without a snapshot is backed up, with a warning', async (t) => {
  const { data, at, backup, restore } = world(t)
  rmSync(join(data, 'CURRENT'))
  rmSync(join(data, 'snapshots'), { recursive: true })
  t.match(await backup('b.tar'), {
    code: 0,
    stderr: /warning: .* has no snapshot, so there is none/,
  })
  t.equal((await restore('b.tar')).code, 0)
  t.same(readdirSync(at('restored')).sort(), ['sources.json', 'store'])
})

t.test('a snapshot that is removed while it is read is read to its end', async (t) => {
  const { data } = world(t)
  const [id] = readdirSync(join(data, 'snapshots'))
  const expected = readFileSync(join(data, 'snapshots', id, '1-0000.shard'))
  const snapshot = await openCurrent(data)
  rmSync(join(data, 'snapshots'), { recursive: true })
  const part = snapshot?.parts.find(({ name }) => name.endsWith('.shard'))
  const pieces: Uint8Array[] = []
  for await (const piece of part?.read() ?? []) pieces.push(piece)
  t.ok(Buffer.concat(pieces).equals(expected))
  await snapshot?.close()
})

t.test('an archive that is cut off or damaged gives the same directory, or none', async (t) => {
  const { data, at, left, backup, restore } = world(t)
  await backup('b.tar')
  const whole = readFileSync(at('b.tar'))
  const seed = testSeed(t)
  const change = fc.oneof(
    fc.record({ cut: fc.integer({ min: 0, max: whole.length - 513 }) }),
    fc.record({ flip: fc.integer({ min: 0, max: whole.length - 1 }), bit: fc.nat(7) }),
  )
  let refusedCount = 0
  await fc.assert(
    fc.asyncProperty(change, async (how) => {
      const bytes = Buffer.from(whole.subarray(0, 'cut' in how ? how.cut : undefined))
      if ('flip' in how) bytes[how.flip] ^= 1 << how.bit
      writeFileSync(at('bad.tar'), bytes)
      const { code, stderr } = await restore('bad.tar')
      t.notMatch(stderr, /999|secret/)
      if (code === 0) {
        const current = readFileSync(at('restored/CURRENT'))
        t.same(current, readFileSync(join(data, 'CURRENT')), 'only padding was changed')
        rmSync(at('restored'), { recursive: true })
      } else {
        refusedCount++
        t.equal(code, 5, stderr)
        t.match(stderr, /bad\.tar is not a whole backup: /)
      }
      t.same(left(), ['b.tar', 'bad.tar', 'data'])
    }),
    { seed, numRuns: byTier({ ci: 12, soak: 1_000 }) },
  )
  t.ok(refusedCount > 0)
  for (const name of ['b.tar.gz', 'b.tar.zst']) {
    await backup(name)
    const packed = readFileSync(at(name))
    writeFileSync(at(name), packed.subarray(0, packed.length >> 1))
    t.match(await restore(name), { code: 5, stderr: /\.tar\.(gz|zst) is not a whole backup/ })
    rmSync(at(name))
  }
  t.same(left(), ['b.tar', 'bad.tar', 'data'])
})

t.test('a file that nothing else checks is compared with the list', async (t) => {
  const { at, backup, restore, left } = world(t)
  await backup('b.tar')
  const bytes = readFileSync(at('b.tar'))
  bytes[bytes.indexOf('select 1') + 7] ^= 1
  writeFileSync(at('b.tar'), bytes)
  const { code, stderr } = await restore('b.tar')
  t.equal(code, 5)
  t.match(stderr, /b\.tar is not a whole backup: sources\.json is not the file in its list/)
  t.same(left(), ['b.tar', 'data'])
})

t.test('nothing is written but what a backup may hold, wherever it says it belongs', async (t) => {
  const { at, left, restore } = world(t)
  const cases: [header: object, problem: RegExp][] = [
    [{ name: '../evil' }, /it holds "\.\.\/evil", which no backup has/],
    [{ name: '/tmp/evil' }, /which no backup has/],
    [{ name: 'store/../../evil' }, /which no backup has/],
    [{ name: 'store/data.mdb/../x' }, /which no backup has/],
    [{ name: 'snapshots/000001-00000000/../../../evil' }, /which no backup has/],
    [{ name: 'snapshots/000001-00000000/x.shard' }, /which no backup has/],
    [{ name: 'CURRENT\n' }, /which no backup has/],
    [{ name: 'x'.repeat(300) }, /which no backup has/],
    [{ name: 'CURRENT', type: 'symlink', linkname: '/etc/passwd' }, /which is a symlink/],
    [{ name: 'CURRENT', type: 'link', linkname: '../evil' }, /which is a link/],
    [{ name: 'store', type: 'directory' }, /which is a directory/],
    [{ name: 'CURRENT', type: 'fifo' }, /which is a fifo/],
    [{ name: 'a.json' }, /it ends before hickory-backup\.json/],
    [{ name: 'hickory-backup.json' }, /its hickory-backup\.json is not JSON/],
  ]
  for (const [header, problem] of cases) {
    const isFile = !('type' in header)
    const entry = { header: { size: isFile ? 1 : 0, ...header }, ...(isFile && { body: 'x' }) }
    writeFileSync(at('bad.tar'), await packTar([entry as never]))
    const { code, stderr } = await restore('bad.tar')
    t.match({ code, stderr }, { code: 5, stderr: problem })
  }
  const twice = { header: { name: 'a.json', size: 1 }, body: 'x' }
  writeFileSync(at('bad.tar'), await packTar([twice, twice]))
  t.match((await restore('bad.tar')).stderr, /it holds a\.json twice/)

  const sums = { byteLength: 1, sha256: createHash('sha256').update('x').digest('hex') }
  const listing = (snapshotId: string | null, names: readonly string[]) => {
    const files = names.map((name) => ({ name, ...sums }))
    const createdAt = '2026-01-01T00:00:00.000Z'
    const body = JSON.stringify({
      format: 'hickory-backup',
      formatVersion: 1,
      createdAt,
      snapshotId,
      files,
    })
    return { header: { name: 'hickory-backup.json', size: body.length }, body }
  }
  const archives: [entries: readonly unknown[], problem: RegExp][] = [
    [[listing(null, []), twice], /it goes on behind hickory-backup\.json/],
    [[listing(null, ['a.json'])], /it holds 0 files, and its list has 1/],
    [[twice, listing(null, ['b.json'])], /a\.json is not the file in its list/],
    [[twice, listing('000001-00000000', ['a.json'])], /it has no CURRENT/],
    [
      [{ header: { name: 'CURRENT', size: 1 }, body: 'x' }, listing(null, ['CURRENT'])],
      /CURRENT names another snapshot/,
    ],
  ]
  for (const [entries, problem] of archives) {
    writeFileSync(at('bad.tar'), await packTar(entries as never))
    t.match(await restore('bad.tar'), { code: 5, stderr: problem })
  }
  t.match(await restore('none.tar'), { code: 5, stderr: /none\.tar does not exist/ })
  t.match(await restore('data'), { code: 5, stderr: /data is a directory/ })
  t.same(left(), ['bad.tar', 'data'])
})

t.test('the journal of changes is in a backup, with the ids of its batches', async (t) => {
  const { data, at, backup, restore } = world(t)
  await appendBatches(data, 4)
  const made = await backup('b.tar')
  t.equal(made.code, 0, made.stderr)
  t.match(made.stdout, /^changes {4}up to batch 4$/m)
  const { code, stderr } = await restore('b.tar')
  t.equal(code, 0, stderr)
  t.match(await verifyJournal(at('restored/journal')), { batchCount: 4, behindBytes: 0 })
  const kinds = (await appendBatches(at('restored'), 5)).map(({ kind }) => kind)
  t.same(kinds, ['repeated', 'repeated', 'repeated', 'repeated', 'written'])
  const shown = await backup('json.tar', '--json')
  t.match(JSON.parse(shown.stdout), { lastSequence: 4 })
})

t.test('a journal that is damaged is not backed up', async (t) => {
  const { data, backup, left } = world(t)
  await appendBatches(data, 3)
  rmSync(join(data, 'journal', 'changes-000002.journal'))
  const before = left()
  const { code, stderr } = await backup('b.tar')
  t.equal(code, 14)
  t.match(stderr, /\(batch 2\)/)
  t.same(left(), before)
})

t.test('a backup whose journal is not whole is not restored', async (t) => {
  const { at, restore, left } = world(t)
  const other = temporaryDirectory(t)
  await appendBatches(other, 3)
  const names = ['changes-000001.journal', 'changes-000003.journal', 'position', 'head/data.mdb']
  const files = names.map((name) => ({
    name: `journal/${name}`,
    bytes: readFileSync(join(other, 'journal', name)),
  }))
  writeFileSync(at('b.tar'), await archiveOf(files))
  const before = left()
  const { code, stderr } = await restore('b.tar')
  t.equal(code, 5)
  t.match(stderr, /is not a whole backup: the journal .* is damaged: .*\(batch 2\)/)
  t.same(left(), before)
})
