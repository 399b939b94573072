/**
 * Whatever changes in the files of a version is found before the version is used.
 *
 * @module
 */
import { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { areasDirectory, versionDirectory } from '../../src/gazetteer/directory.js'
import { verifyAreas, verifyVersion } from '../../src/gazetteer/verify.js'
import { writeLayers } from '../../src/gazetteer/write-layers.js'
import { layerOf, squareArea } from '../support/data/areas.js'
import { temporaryDirectory } from '../support/service/hickory.js'
import { byTier } from '../support/tier.js'

const seed = Number(process.env.HICKORY_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))
t.comment(`seed ${seed}`)

t.test('a bit that is another one is found, wherever it is', async (t) => {
  const data = temporaryDirectory(t)
  const { version } = await writeLayers(data, { set: [layerOf('zones', squareArea('a', 0, 0))] })
  await verifyVersion(data, version)
  let state = seed
  const random = (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  for (const file of ['data.mdb', 'manifest.json']) {
    const path = join(versionDirectory(data, version), file)
    const bytes = readFileSync(path)
    for (let round = 0; round < byTier({ ci: 50, soak: 300 }); round++) {
      const [at, bit] = [random(bytes.length), random(8)]
      const damaged = Buffer.from(bytes)
      damaged[at] ^= 1 << bit
      writeFileSync(path, damaged)
      const code = 'SnapshotCorrupt'
      await t.rejects(verifyVersion(data, version), { code }, `${file}, bit ${bit} of byte ${at}`)
    }
    truncateSync(path, bytes.length - 1)
    await t.rejects(verifyVersion(data, version), { code: 'SnapshotCorrupt' }, `${file}, shorter`)
    rmSync(path)
    await t.rejects(verifyVersion(data, version), { code: 'SnapshotCorrupt' }, `${file}, missing`)
    writeFileSync(path, bytes)
    await verifyVersion(data, version)
  }
})

t.test('no version is made from one that is damaged', async (t) => {
  const data = temporaryDirectory(t)
  const { version } = await writeLayers(data, { set: [layerOf('zones', squareArea('a', 0, 0))] })
  truncateSync(join(versionDirectory(data, version), 'data.mdb'), 4_096)
  const set = [layerOf('others', squareArea('b', 0, 0))]
  const message = /data\.mdb: found .*Its other layers would be lost: go back .*, or move .* aside/
  await t.rejects(writeLayers(data, { set }), { code: 'SnapshotCorrupt', message })
  const [state] = await verifyAreas(data, 'current')
  t.match(state, { version, isCurrent: true, fault: /found 4096 bytes, expected/ })
})

t.test('a CURRENT that names nothing is told', async (t) => {
  const data = temporaryDirectory(t)
  const { version } = await writeLayers(data, { set: [layerOf('zones', squareArea('a', 0, 0))] })
  writeFileSync(join(areasDirectory(data), 'CURRENT'), 'nonsense')
  await t.rejects(verifyAreas(data, 'all'), { code: 'SnapshotCorrupt' })
  writeFileSync(join(areasDirectory(data), 'CURRENT'), `${version}\n`)
  t.same(
    (await verifyAreas(data, 'all')).map(({ fault }) => fault),
    [undefined],
  )
})
