/**
 * Layers are written whole, into a version of their own, or refused by the area at fault.
 *
 * @module
 */
import { existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { areasDirectory, listVersions, readCurrentAreas } from '../../src/gazetteer/directory.js'
import { openGazetteer } from '../../src/gazetteer/gazetteer.js'
import { MANIFEST_FILE, readAreasManifest, versionOf } from '../../src/gazetteer/manifest.js'
import { verifyAreas } from '../../src/gazetteer/verify.js'
import { type DraftArea, writeLayers } from '../../src/gazetteer/write-layers.js'
import { limits } from '../../src/limits.js'
import { withDataLock } from '../../src/snapshot/publish/lock.js'
import { layerOf, squareArea } from '../support/data/areas.js'
import { temporaryDirectory } from '../support/service/hickory.js'

/** Ids of all areas of the version that is current. */
async function idsOf(t: Test, data: string): Promise<string[]> {
  const gazetteer = openGazetteer(data)
  t.teardown(() => gazetteer?.close())
  return (gazetteer?.search({ limit: 1_000 }).areas ?? []).map(({ id }) => id)
}

t.test('the same areas have the same version in each directory', async (t) => {
  const layers = { set: [layerOf('towns', squareArea('a', 0, 0))] }
  const [one, other] = [temporaryDirectory(t), temporaryDirectory(t)]
  const { version } = await writeLayers(one, layers)
  t.equal((await writeLayers(other, layers)).version, version)
})

t.test(
  'a version whose manifest has its time, as earlier versions wrote it, is read',
  async (t) => {
    const data = temporaryDirectory(t)
    const { version } = await writeLayers(data, { set: [layerOf('towns', squareArea('a', 0, 0))] })
    const directory = join(areasDirectory(data), version)
    const { format, ...facts } = readAreasManifest(data, version)
    const earlier = { format, createdAt: '2026-11-23T00:00:00.000Z', ...facts }
    writeFileSync(join(directory, MANIFEST_FILE), JSON.stringify(earlier))
    const earlierVersion = versionOf(earlier, 1)
    t.not(earlierVersion, version)
    renameSync(directory, join(areasDirectory(data), earlierVersion))
    writeFileSync(join(areasDirectory(data), 'CURRENT'), `${earlierVersion}\n`)
    t.same(await idsOf(t, data), ['towns:a'])
  },
)

t.test('layers are added, replaced, removed, and otherwise stay', async (t) => {
  const data = temporaryDirectory(t)
  t.equal(openGazetteer(data), undefined, 'nothing is there before')
  const zones = { ...layerOf('zones', squareArea('b', 5, 5)), source: 'us', licence: 'none' }
  const first = await writeLayers(data, { set: [layerOf('Towns', squareArea('a', 0, 0)), zones] })
  t.same(first.layers, [
    { layer: 'Towns', areaCount: 1, vertexCount: 4, aliasCount: 0 },
    {
      layer: 'zones',
      source: 'us',
      licence: 'none',
      areaCount: 1,
      vertexCount: 4,
      aliasCount: 0,
    },
  ])
  const replaced = layerOf('towns', squareArea('c', 1, 1), squareArea('d', 2, 2))
  const second = await writeLayers(data, { set: [replaced] })
  t.not(second.version, first.version)
  t.same(await idsOf(t, data), ['zones:b', 'towns:c', 'towns:d'])
  t.same(second.layers[1], first.layers[1], 'what is said of a layer stays with it')
  const third = await writeLayers(data, { remove: ['ZONES'] })
  t.same(await idsOf(t, data), ['towns:c', 'towns:d'])
  t.same(
    await listVersions(data),
    [second.version, third.version],
    'the one before is kept, and no older one',
  )
  await t.rejects(writeLayers(data, { remove: ['zones'] }), {
    code: 'InputRejected',
    message: 'zones is no layer of the gazetteer: there are towns',
  })
  t.equal(readCurrentAreas(data), third.version, 'what is refused changes nothing')
  t.same(readdirSync(areasDirectory(data)).sort(), [second.version, third.version, 'CURRENT'])
})

t.test('an area at fault is named by layer, position and key', async (t) => {
  const data = temporaryDirectory(t)
  const good = squareArea('a', 0, 0, { aliases: ['SAME:1'] })
  const refused = async (area: DraftArea, message: RegExp, layer = 'zones') => {
    const set = [layerOf(layer, good, area)]
    await t.rejects(writeLayers(data, { set }), { code: 'InputRejected', message }, String(message))
  }
  const square = (more: Partial<DraftArea>) => squareArea('b', 9, 9, more)
  const ofType = (type: string, coordinates: unknown) => square({ geometry: { type, coordinates } })
  await refused(square({ key: 'a' }), /^area 2 of zones \(a\) has the key of an area before it$/)
  await refused(square({ key: 'a:b' }), /^area 2 of zones must have a key of 1 to 64 /)
  await refused(square({ key: '' }), /^area 2 of zones must have a key/)
  await refused(square({ name: ' ' }), /^area 2 of zones \(b\) must have a name/)
  await refused(square({ name: 'a\nb' }), /must have a name/)
  await refused(square({ aliases: ['same:1'] }), /has the alias same:1, which zones:a has$/)
  await refused(square({ aliases: ['Zones:a'] }), /has the alias zones:a, which is the name of/)
  await refused(square({ aliases: ['plain'] }), /^area 2 of zones \(b\) must have aliases such as/)
  await refused(ofType('Point', [1, 1]), /^area 2 of zones \(b\): geometry must be a Polygon/)
  await refused(ofType('Polygon', []), /geometry has no polygon, and would select nobody$/)
  await refused(
    ofType('Polygon', [[[0, 91]]]),
    /: geometry\.coordinates\[0\]\[0\] must have a latitude/,
  )
  await refused(
    ofType('Polygon', [
      [
        [0, 1],
        [0, 2],
      ],
    ]),
    /three different positions$/,
  )
  await refused(good, /a layer must be called by a letter/, '1st')
  await t.rejects(writeLayers(data, { set: [layerOf('zones')] }), { message: 'zones has no areas' })
  const twice = [layerOf('zones', good), layerOf('Zones', square({}))]
  await t.rejects(writeLayers(data, { set: twice }), { message: /is given twice$/ })
  t.notOk(existsSync(join(areasDirectory(data), 'CURRENT')), 'nothing of it is there')
  await writeLayers(data, { set: [layerOf('zones', good)] })
  const others = [layerOf('others', square({ aliases: ['SAME:1'] }))]
  await t.rejects(writeLayers(data, { set: others }), {
    message: /^zones:a, which was there before, has the alias SAME:1, which others:b has$/,
  })
})

t.test('bounds hold, and what is at them is taken', async (t) => {
  const data = temporaryDirectory(t)
  const aliases = (count: number) => Array.from({ length: count }, (_, i) => `code:${i}`)
  const written = async (more: Partial<DraftArea>) => {
    const area = squareArea('a', 0, 0, more)
    return await writeLayers(data, { set: [layerOf('zones', area)] }).then(
      () => 'taken',
      ({ code }) => code,
    )
  }
  const { areaAliasCount, areaKeyCharCount, areaNameCharCount } = limits
  t.equal(await written({ aliases: aliases(areaAliasCount) }), 'taken')
  t.equal(await written({ aliases: aliases(areaAliasCount + 1) }), 'InputRejected')
  t.equal(await written({ key: 'k'.repeat(areaKeyCharCount) }), 'taken')
  t.equal(await written({ key: 'k'.repeat(areaKeyCharCount + 1) }), 'InputRejected')
  t.equal(await written({ name: 'é'.repeat(areaNameCharCount) }), 'taken')
  t.equal(await written({ name: 'é'.repeat(areaNameCharCount + 1) }), 'InputRejected')
  const layers = (count: number) =>
    Array.from({ length: count }, (_, i) => layerOf(`l${i}`, squareArea('a', 0, 0)))
  const remove = ['zones']
  await writeLayers(data, { set: layers(limits.areaLayerCount), remove })
  const many = writeLayers(data, { set: [layerOf('another', squareArea('a', 0, 0))] })
  await t.rejects(many, { code: 'InputRejected', message: /more than 64 layers/ })
})

t.test('more positions than a request may have are taken', async (t) => {
  const data = temporaryDirectory(t)
  const count = 2 * limits.vertexCount
  const ring = Array.from({ length: count }, (_, i) => {
    const angle = (2 * Math.PI * i) / count
    return [10 * Math.cos(angle), 10 * Math.sin(angle)]
  })
  const geometry = { type: 'Polygon', coordinates: [ring] }
  const { layers } = await writeLayers(data, {
    set: [layerOf('zones', squareArea('a', 0, 0, { geometry }))],
  })
  t.equal(layers[0].vertexCount, count)
})

t.test('one writes at a time', async (t) => {
  const data = temporaryDirectory(t)
  await withDataLock(areasDirectory(data), async () => {
    const set = [layerOf('zones', squareArea('a', 0, 0))]
    await t.rejects(writeLayers(data, { set }), { code: 'Locked' })
  })
})

t.test('what a writer left that died is removed, and not read', async (t) => {
  const data = temporaryDirectory(t)
  const zones = layerOf('zones', squareArea('a', 0, 0))
  const { version } = await writeLayers(data, { set: [zones] })
  mkdirSync(join(areasDirectory(data), 'new.tmp'))
  writeFileSync(join(areasDirectory(data), 'new.tmp', 'data.mdb'), 'half')
  // Whole, but never current: the writer died before CURRENT was replaced.
  mkdirSync(join(areasDirectory(data), '000002-00000000'))
  t.equal(openGazetteer(data)?.version, version)
  const next = await writeLayers(data, { set: [layerOf('others', squareArea('b', 0, 0))] })
  t.match(next.version, /^000003-/)
  t.same(await listVersions(data), [version, next.version])
  const states = await verifyAreas(data, 'all')
  t.same(
    states.map((state) => [state.version, state.isCurrent, state.fault]),
    [
      [version, false, undefined],
      [next.version, true, undefined],
    ],
  )
})
