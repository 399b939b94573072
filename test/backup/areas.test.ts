/**
 * A backup has the current areas, and none that are damaged.
 *
 * @module
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { versionDirectory } from '../../src/gazetteer/directory.js'
import { openGazetteer } from '../../src/gazetteer/gazetteer.js'
import { writeLayers } from '../../src/gazetteer/write-layers.js'
import { layerOf, squareArea } from '../support/data/areas.js'
import { importPlace } from '../support/data/import-place.js'
import { hickoryHere } from '../support/service/command-line.js'
import { temporaryDirectory } from '../support/service/hickory.js'

t.test('areas come back from a backup', async (t) => {
  const { data, at, put } = importPlace(t)
  put(3, 1)
  const source = ['--source', '1', '--label', 'Source 1']
  const imported = await hickoryHere('import', '--data', data, ...source, at('people.csv'))
  t.equal(imported.code, 0, imported.stderr)
  await writeLayers(data, { set: [layerOf('old', squareArea('a', 0, 0))] })
  const { version } = await writeLayers(data, {
    set: [layerOf('zones', squareArea('b', 0, 0))],
    remove: ['old'],
  })
  const directory = temporaryDirectory(t)
  const archive = join(directory, 'backup.tar')
  t.match(await hickoryHere('backup', '--data', data, archive), { code: 0 })
  const restored = join(directory, 'restored')
  t.match(await hickoryHere('restore', '--data', restored, archive), { code: 0 })
  t.match(
    (await hickoryHere('verify', '--data', restored)).stdout,
    `areas ${version} (current)  intact`,
  )
  const gazetteer = openGazetteer(restored)
  t.teardown(() => gazetteer?.close())
  t.equal(gazetteer?.version, version)
  t.equal(gazetteer?.find('zones:b')?.id, 'zones:b')

  const file = join(versionDirectory(data, version), 'data.mdb')
  const bytes = readFileSync(file)
  bytes[5_000] ^= 1
  writeFileSync(file, bytes)
  const again = join(directory, 'again.tar')
  t.match(await hickoryHere('backup', '--data', data, again), { code: 4, stderr: /found SHA-256/ })
  t.notOk(existsSync(again))
  const verified = await hickoryHere('verify', '--data', data)
  t.match(verified, { code: 4, stderr: `areas are damaged: ${version}. Import the layers again` })
  t.match(verified.stdout, `areas ${version} (current)  damaged: `)
  const { stdout } = await hickoryHere('doctor', '--data', data, '--json')
  t.match(
    JSON.parse(stdout).checks.find(({ name }: { name: string }) => name === 'areas'),
    { state: 'failed' },
  )
})
