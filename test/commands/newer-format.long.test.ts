/**
 * What an earlier version of Hickory does with a data directory that a later one has written: every command
 * says so and changes nothing, and there is a way back.
 *
 * @module
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { LISTING_FILE } from '../../src/backup/listing.js'
import { openTables, readFormat, storeDirectory } from '../../src/store/tables.js'
import { hickoryHere } from '../support/service/command-line.js'
import { temporaryDirectory } from '../support/service/hickory.js'

/** With two snapshots of one source. */
const template = temporaryDirectory(t)

t.before(async () => {
  const csv = join(template, 'a.csv')
  for (const lng of [10, 11]) {
    writeFileSync(csv, `number,lat,lng\n+99912345678,59.9,${lng}\n`)
    const args = ['--data', template, '--source', '1', '--label', 'A', csv]
    const { code, stderr } = await hickoryHere('import', ...args)
    if (code !== 0) throw new Error(stderr)
  }
})

t.test('a snapshot of a later version', async (t) => {
  const { data, older, newer } = filled(t)
  const manifest = join(data, 'snapshots', newer, 'manifest.json')
  const text = readFileSync(manifest, 'utf8')
  writeFileSync(manifest, text.replace('"formatVersion": 2', '"formatVersion": 3'))
  const before = contentOf(data)
  const csv = join(data, 'a.csv')
  const archive = join(temporaryDirectory(t), 'backup.tar')
  for (const args of [
    ['serve', '--port', '0'],
    ['verify'],
    ['verify', '--all', '--json'],
    ['inspect', 'current'],
    ['import', '--source', '1', csv],
    ['import', '--source', '2', '--label', 'B', csv],
    ['remove', '--source', '1'],
    ['backup', archive],
  ]) {
    const { code, stderr } = await hickoryHere(args[0], '--data', data, ...args.slice(1))
    t.equal(code, 13, `${args.join(' ')}: ${stderr}`)
    t.match(stderr, /found format version 3, expected 1 or 2/)
    t.match(stderr, /a later version of Hickory wrote this snapshot/)
    t.match(stderr, /Install that version again, or go back with `hickory rollback --data /)
  }
  const { stdout } = await hickoryHere('inspect', '--data', data)
  t.match(stdout, new RegExp(`${newer} +current +newer`))
  const list = (await hickoryHere('rollback', '--list', '--data', data)).stdout
  t.match(list, /current, newer: /)
  const doctor = (await hickoryHere('doctor', '--data', data)).stdout
  t.match(doctor, `would fail: ${newer} is of a later version of Hickory`)
  t.notMatch(doctor, /import again/)
  t.same(contentOf(data), before, 'nothing was changed')

  const back = await hickoryHere('rollback', '--data', data)
  t.equal(back.code, 0, back.stderr)
  t.match(back.stdout, `${older} is current now`)
  const imported = await hickoryHere('import', '--data', data, '--source', '1', csv)
  t.equal(imported.code, 0, imported.stderr)
  t.ok(readdirSync(join(data, 'snapshots')).includes(newer), 'the newer one is still there')
})

t.test('a snapshot of a later version, and no earlier one', async (t) => {
  const { data, older, newer } = filled(t)
  for (const id of [older, newer]) {
    const manifest = join(data, 'snapshots', id, 'manifest.json')
    const text = readFileSync(manifest, 'utf8')
    writeFileSync(manifest, text.replace('"formatVersion": 2', '"formatVersion": 3'))
  }
  const { code, stderr } = await hickoryHere('rollback', '--data', data)
  t.equal(code, 4)
  t.match(stderr, new RegExp(`${older} is newer: .*found format version 3.*: nothing was changed`))
})

t.test('a store of a later version', async (t) => {
  const { data } = filled(t)
  await hickoryHere('keys', 'create', '--data', data, '--name', 'a', '--scopes', 'counts')
  const tables = openTables(storeDirectory(data), 'write')
  tables.transact(() => {
    tables.meta.put('format', '5')
  })
  await tables.close()
  const before = contentOf(data)
  const archive = join(temporaryDirectory(t), 'backup.tar')
  for (const args of [
    ['serve', '--port', '0'],
    ['keys', 'list'],
    ['keys', 'create', '--name', 'b', '--scopes', 'counts'],
    ['backup', archive],
  ]) {
    const { code, stderr } = await hickoryHere(...args, '--data', data)
    t.equal(code, 13, `${args.join(' ')}: ${stderr}`)
    t.match(stderr, /found store format 5, expected 1, 2, 3, 4/)
    t.match(stderr, /Install that version again, or restore a backup/)
  }
  const { stdout } = await hickoryHere('doctor', '--data', data)
  t.match(stdout, /^store +failed +.*found store format 5/m)
  t.same(contentOf(data), before, 'nothing was changed')
})

t.test('a backup of before restores the earlier format of the store', async (t) => {
  const { data } = filled(t)
  const other = temporaryDirectory(t)
  const archive = join(other, 'backup.tar')
  // The first writer makes the store.
  await hickoryHere('suppress', '--data', data, '--count')
  t.equal((await hickoryHere('backup', archive, '--data', data)).code, 0)
  await hickoryHere('keys', 'create', '--data', data, '--name', 'a', '--scopes', 'counts')
  t.equal(await readFormat(storeDirectory(data)), '3')
  const restored = join(other, 'restored')
  t.equal((await hickoryHere('restore', archive, '--data', restored)).code, 0)
  t.equal(await readFormat(storeDirectory(restored)), '1')
})

t.test('a backup of a later version', async (t) => {
  const { data, newer } = filled(t)
  await hickoryHere('suppress', '--data', data, '--count')
  const place = temporaryDirectory(t)
  const good = join(place, 'good.tar')
  t.equal((await hickoryHere('backup', good, '--data', data)).code, 0)
  const names = tar('-tf', good).trim().split('\n')
  const manifest = `snapshots/${newer}/manifest.json`
  const changes: [file: string, change: (text: string) => string, says: RegExp][] = [
    [manifest, laterFormat, new RegExp(`later-0\\.tar holds the snapshot ${newer}, which a later`)],
    [
      LISTING_FILE,
      laterFormat,
      /later-1\.tar holds a backup of format 3 instead of 1, which a later/,
    ],
  ]
  for (const [i, [file, change, says]] of changes.entries()) {
    const files = join(place, String(i))
    mkdirSync(files)
    tar('-xf', good, '-C', files)
    const path = join(files, file)
    const before = readFileSync(path)
    const after = Buffer.from(change(String(before)))
    writeFileSync(path, after)
    const listing = join(files, LISTING_FILE)
    writeFileSync(listing, readFileSync(listing, 'utf8').replace(digestOf(before), digestOf(after)))
    const archive = join(place, `later-${i}.tar`)
    tar('-cf', archive, '-C', files, ...names)
    const restored = join(place, 'restored')
    const { code, stderr } = await hickoryHere('restore', archive, '--data', restored)
    t.equal(code, 13, stderr)
    t.match(stderr, says)
    t.match(stderr, /Restore it with that version; nothing was taken from it/)
    t.notOk(existsSync(restored))
  }
})

/** Of a manifest and of a listing. */
function laterFormat(text: string): string {
  return text.replace(/"formatVersion": [12]/, '"formatVersion": 3')
}

function digestOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function tar(...args: string[]): string {
  return execFileSync('tar', args, { encoding: 'utf8' })
}

/** A copy of the template. */
function filled(t: Test): { data: string; older: string; newer: string } {
  const data = join(temporaryDirectory(t), 'data')
  execFileSync('cp', ['-Rp', template, data])
  const [older, newer] = readdirSync(join(data, 'snapshots')).sort()
  return { data, older, newer }
}

/** By path, in base 64; without the file in which LMDB notes who reads. */
function contentOf(data: string): Record<string, string> {
  const entries = readdirSync(data, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map((e) => join(e.parentPath, e.name))
  return Object.fromEntries(
    paths
      .filter((path) => !path.endsWith('lock.mdb'))
      .sort()
      .map((path) => [path, readFileSync(path, 'base64')]),
  )
}
