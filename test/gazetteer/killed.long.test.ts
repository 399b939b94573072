/**
 * Whenever a writer is killed, CURRENT names a version that is whole: the old one or the new one.
 *
 * @module
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { areasDirectory, readCurrentAreas } from '../../src/gazetteer/directory.js'
import { openGazetteer } from '../../src/gazetteer/gazetteer.js'
import { verifyVersion } from '../../src/gazetteer/verify.js'
import { writeLayers } from '../../src/gazetteer/write-layers.js'
import { layerOf, squareArea } from '../support/data/areas.js'
import { temporaryDirectory } from '../support/service/hickory.js'

const seed = Number(process.env.HICKORY_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))
t.comment(`seed ${seed}`)

const WRITER = new URL('../../src/gazetteer/write-layers.js', import.meta.url).href

/** Writes versions, each of 200 areas whose key says which one it is, until it is killed. */
const program = (data: string) => `
const { writeLayers } = await import(${JSON.stringify(WRITER)})
for (let round = 0; ; round++) {
  const areas = Array.from({ length: 200 }, (_, i) => ({
    key: round + '-' + i, name: 'area', aliases: ['code:' + i],
    geometry: { type: 'Polygon', coordinates: [[[0, 0], [1, 0], [1, 1]]] },
  }))
  await writeLayers(${JSON.stringify(data)}, { set: [{ layer: 'zones', areas }] })
  process.stdout.write('.')
}`

t.test('old or new, never half', async (t) => {
  const data = temporaryDirectory(t)
  await writeLayers(data, { set: [layerOf('zones', squareArea('first-0', 0, 0))] })
  let state = seed
  const seen = new Set<string>()
  for (let round = 0; round < 40; round++) {
    const args = ['--input-type=module', '-e', program(data)]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(child.stdout, 'data')
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    await sleep((state / 2 ** 32) * 100)
    child.kill('SIGKILL')
    await once(child, 'close')
    // Nobody is there to renew it any more.
    rmSync(join(areasDirectory(data), 'import.lock'), { recursive: true, force: true })
    const version = readCurrentAreas(data) ?? ''
    await verifyVersion(data, version)
    seen.add(version)
    const gazetteer = openGazetteer(data)
    const keys = gazetteer?.search({ limit: 1_000 }).areas.map(({ key }) => key.split('-')[0]) ?? []
    t.equal(new Set(keys).size, 1, `${version} has areas of one round`)
    t.equal(keys.length, 200)
    await gazetteer?.close()
  }
  t.ok(seen.size > 1, `${seen.size} versions were current after a kill`)
})
