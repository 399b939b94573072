import { cpSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import t from 'tap'
import { attachShard } from '../../src/shard/layout.js'
import { rankOf } from '../../src/shard/ties/ranked-set.js'
import { readCurrent } from '../../src/snapshot/directory.js'
import { openSnapshot } from '../../src/snapshot/load/open.js'
import type { Snapshot } from '../../src/snapshot/snapshot.js'
import { manyColumns } from '../support/data/columns.js'
import { copyVersion1, VERSION_1 } from '../support/data/damage.js'
import { publishTest } from '../support/data/snapshots.js'
import { serve, temporaryDirectory } from '../support/service/hickory.js'

const INPUTS = { 1: 'residents.csv', 2: 'visitors.csv' } as const

interface Row {
  readonly number: string
  readonly lat: string
  readonly lng: string
}

function rowsOf(sourceId: 1 | 2): Row[] {
  return parse(readFileSync(join(VERSION_1, INPUTS[sourceId])), { columns: true })
}

/** Phone and place of each recipient of a source, and whether its phone is said to repeat. */
function recipientsOf(snapshot: Snapshot, sourceId: number): string[] {
  const texts = snapshot.shards
    .filter((shard) => shard.sourceId === sourceId)
    .flatMap((image) => {
      const { phones, phoneOffsets, coords, phoneTies } = attachShard(image)
      const { set, ids } = phoneTies
      const isRepeated = (i: number) =>
        ids.length > 0 && set !== null && rankOf(set, i) < rankOf(set, i + 1)
      return Array.from({ length: image.recipientCount }, (_, i) => {
        const phone = Buffer.from(phones.slice(phoneOffsets[i], phoneOffsets[i + 1]))
        return `${phone} ${coords[2 * i]} ${coords[2 * i + 1]} ${isRepeated(i)}`
      })
    })
  return texts.sort()
}

function expectedOf(sourceId: 1 | 2): string[] {
  const phones = [...rowsOf(1), ...rowsOf(2)].map(({ number }) => number)
  const units = (degrees: string) => Math.round(Number(degrees) * 1e7)
  return rowsOf(sourceId)
    .map(({ number: phone, lat, lng }) => {
      const isRepeated = phones.filter((other) => other === phone).length > 1
      return `${phone} ${units(lng)} ${units(lat)} ${isRepeated}`
    })
    .sort()
}

t.test('a snapshot of format version 1 loads, with all that was imported', async (t) => {
  const snapshot = await openSnapshot(VERSION_1)
  t.equal(snapshot.shards.length, 4)
  t.match(snapshot.sources, [
    { id: 1, label: 'Residents', recipientCount: 30 },
    { id: 2, label: 'Visitors ü', recipientCount: 25 },
  ])
  for (const sourceId of [1, 2] as const) {
    t.same(recipientsOf(snapshot, sourceId), expectedOf(sourceId))
    t.ok(expectedOf(sourceId).some((text) => text.endsWith('true')))
  }
})

t.test('files of version 1 are carried over into a snapshot of version 2', async (t) => {
  const data = t.testdir({})
  copyVersion1(data)
  const id = await publishTest(data, 3, manyColumns(50))
  const path = (file: string) => join(data, 'snapshots', id, file)
  t.same(
    ['1-0000.shard', '2-0001.shard', '3-0000.shard', 'repeats'].map(
      (file) => readFileSync(path(file))[8],
    ),
    [1, 1, 2, 2],
  )
  t.equal(statSync(path('1-0000.shard')).nlink, 2)
  const snapshot = await openSnapshot(data)
  for (const sourceId of [1, 2] as const) {
    t.same(recipientsOf(snapshot, sourceId), expectedOf(sourceId))
  }
})

t.test('a service answers from a snapshot of version 1', async (t) => {
  const data = temporaryDirectory(t)
  copyVersion1(data)
  const service = await serve(t, '--data', data)
  const square = [
    [8, 47],
    [8.5, 47],
    [8.5, 47.5],
    [8, 47.5],
    [8, 47],
  ]
  const response = await fetch(`${service.url}/api/recipients`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({
      countsOnly: true,
      geoJSON: { type: 'Polygon', coordinates: [square] },
    }),
  })
  const { SourceRecords } = (await response.json()) as { SourceRecords: { Count: number }[] }
  const isInside = ({ lat, lng }: Row) => Number(lng) < 8.5 && Number(lat) < 47.5
  t.same(
    SourceRecords.map(({ Count }) => Count),
    ([1, 2] as const).map((sourceId) => rowsOf(sourceId).filter(isInside).length),
  )
  t.equal((await service.stop()).code, 0)
})

t.test('an unknown version is refused by name, in each file', async (t) => {
  const data = t.testdir({})
  await publishTest(data, 1, manyColumns(50))
  const id = await readCurrent(data)
  const cases: [file: string, version: number, expected: RegExp][] = [
    ['1-0000.shard', 3, /1-0000\.shard: found format version 3, expected 1 or 2/],
    ['1-0000.shard', 0, /1-0000\.shard: found format version 0, expected 1 or 2/],
    ['repeats', 1, /repeats: found format version 1, expected 2/],
    ['repeats', 3, /repeats: found format version 3, expected 2/],
    ['manifest.json', 3, /manifest\.json: found format version 3, expected 1 or 2/],
    ['manifest.json', 0, /manifest\.json: found format version 0, expected 1 or 2/],
  ]
  for (const [file, version, message] of cases) {
    const path = join(data, 'snapshots', `${id}`, file)
    const original = readFileSync(path)
    writeFileSync(path, withVersion(file, original, version))
    // A later version writes later manifests. Of anything else, the manifest says which file it is.
    const code = file === 'manifest.json' && version > 2 ? 'NewerFormat' : 'SnapshotCorrupt'
    await t.rejects(openSnapshot(data), { code, message })
    writeFileSync(path, original)
  }
  await t.resolves(openSnapshot(data))
})

t.test('what has the right version and another content is refused', async (t) => {
  const data = t.testdir({})
  copyVersion1(data)
  const first = join(data, 'snapshots', `${await readCurrent(data)}`)
  const second = join(data, 'snapshots', await publishTest(data, 3, manyColumns(50)))
  const manifest = readFileSync(join(second, 'manifest.json'))
  // A manifest of version 2 with the member of version 1, and the other way round.
  const swapped: [directory: string, version: number][] = [
    [first, 2],
    [second, 1],
  ]
  for (const [directory, version] of swapped) {
    const path = join(directory, 'manifest.json')
    const original = readFileSync(path)
    writeFileSync(path, withVersion('manifest.json', original, version))
    writeFileSync(join(data, 'CURRENT'), `${directory.split('/').at(-1)}\n`)
    await t.rejects(openSnapshot(data), { code: 'SnapshotCorrupt', message: /manifest\.json/ })
    writeFileSync(path, original)
  }
  // The repeats are missing, or those of another snapshot.
  rmSync(join(second, 'repeats'))
  await t.rejects(openSnapshot(data), { code: 'SnapshotCorrupt', message: /repeats: ENOENT/ })
  const third = join(data, 'snapshots', await publishTest(data, 4, manyColumns(50, 25)))
  cpSync(join(third, 'repeats'), join(second, 'repeats'))
  writeFileSync(join(data, 'CURRENT'), `${second.split('/').at(-1)}\n`)
  await t.rejects(openSnapshot(data), { code: 'SnapshotCorrupt', message: /repeats: found/ })
  t.ok(readFileSync(join(second, 'manifest.json')).equals(manifest))
})

function withVersion(file: string, bytes: Buffer, version: number): Buffer {
  if (file === 'manifest.json') {
    return Buffer.from(String(bytes).replace(/"formatVersion": \d/, `"formatVersion": ${version}`))
  }
  const changed = Buffer.from(bytes)
  changed.writeUInt32LE(version, 8)
  return changed
}
