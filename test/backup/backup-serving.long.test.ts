/**
 * Backups while a service runs, numbers are suppressed and imports replace and remove snapshots; and the
 * bound of what an archive may hold.
 *
 * @module
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { packTar } from 'modern-tar'
import t from 'tap'
import { readArchive } from '../../src/backup/read-archive.js'
import { limits } from '../../src/limits.js'
import {
  COUNT,
  changeList,
  countOf,
  importPlaces,
  phoneOf,
  places,
  placesWorld,
} from '../support/data/suppressions.js'
import { hickoryHere } from '../support/service/command-line.js'
import { hickory, serve, temporaryDirectory } from '../support/service/hickory.js'
import { byTier } from '../support/tier.js'

const ROUND_COUNT = byTier({ ci: 4, soak: 8 })

t.test('each backup has what was acknowledged before it began', async (t) => {
  const data = await placesWorld(t)
  const service = await serve(t, '--data', data)
  const directory = temporaryDirectory(t)
  let isOver = false
  const importing = (async () => {
    for (let round = 0; !isOver; round++) {
      await importPlaces(t, data, 2, places(100 + round))
    }
  })()
  for (let i = 0; i < ROUND_COUNT; i++) {
    const { status } = await changeList(service, 'PUT', 'all', [phoneOf(i)])
    t.equal(status, 200)
    const file = join(directory, `${i}.tar.gz`)
    const backup = await hickory('backup', '--data', data, file)
    t.equal(backup.code, 0, backup.stderr)
    const restored = join(directory, `restored-${i}`)
    const restore = await hickoryHere('restore', file, '--data', restored)
    t.equal(restore.code, 0, restore.stderr)
    const list = await hickoryHere('suppress', '--data', restored, '--list')
    const expected = Array.from({ length: i + 1 }, (_, at) => `${phoneOf(at)}\n`)
    t.equal(list.stdout, expected.join(''))
    t.equal((await hickoryHere('verify', '--data', restored)).code, 0)
  }
  isOver = true
  await importing
  const other = await serve(t, '--data', join(directory, `restored-${ROUND_COUNT - 1}`))
  const { status } = await changeList(other, 'PUT', 'all', [phoneOf(50)])
  t.equal(status, 200, 'the restored one has services of its own')
  t.equal(await countOf(other, { sources: [1] }), COUNT - ROUND_COUNT - 1)
  t.equal((await other.stop()).code, 0)
  t.equal((await service.stop()).code, 0)
})

t.test('an archive has a bounded number of files', async (t) => {
  const path = join(temporaryDirectory(t), 'many.tar')
  const take = async (_name: string, bytes: AsyncIterable<Uint8Array>) => {
    for await (const _ of bytes);
  }
  const entries = Array.from({ length: limits.backupFileCount + 1 }, (_, i) => ({
    header: { name: `snapshots/000001-00000000/1-${i}.shard`, size: 0 },
  }))
  writeFileSync(path, await packTar(entries))
  const most = new RegExp(`it holds more than ${limits.backupFileCount} files`)
  await t.rejects(
    readArchive(path, take, () => {}),
    { message: most },
  )
  writeFileSync(path, await packTar(entries.slice(1)))
  await t.rejects(
    readArchive(path, take, () => {}),
    { message: /it ends before/ },
  )
})
