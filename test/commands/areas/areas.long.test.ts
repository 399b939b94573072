/**
 * `hickory areas`: from a file to a name, and back.
 *
 * @module
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { writeLayers } from '../../../src/gazetteer/write-layers.js'
import { square, writeShapefile } from '../../gazetteer/files/area-files.js'
import { layerOf, squareArea } from '../../support/data/areas.js'
import { hickoryHere } from '../../support/service/command-line.js'
import { temporaryDirectory } from '../../support/service/hickory.js'

function made(t: Parameters<typeof temporaryDirectory>[0]) {
  const directory = temporaryDirectory(t)
  const data = join(directory, 'data')
  mkdirSync(data)
  const shapes = [[square(-95, 29)], [square(-93, 29), square(-92.75, 29.25, 0.5).toReversed()]]
  const file = writeShapefile(join(directory, 'counties'), shapes, ['48201', '48167'])
  const run = (...args: string[]) => hickoryHere('areas', ...args)
  const importArgs = (...more: string[]) => [
    'import',
    '--data',
    data,
    '--layer',
    'counties',
    '--key',
    'id',
    ...more,
    file,
  ]
  return { directory, data, file, run, importArgs }
}

/** Into a directory that has areas, an import does not put the layers that come with the program. */
const makeLayer = (data: string) =>
  writeLayers(data, { set: [layerOf('zones', squareArea('z', 50, 50))] })

t.test('import, list, show and remove', async (t) => {
  const { data, run, importArgs } = made(t)
  const dry = await run(...importArgs('--dry-run'))
  t.match(dry, { code: 0, stdout: /fields {5}id, name\n.*2 areas of 2 features/s })
  t.match(dry.stdout, /dry run {4}nothing was changed/)
  t.same(readdirSync(data), [])
  const imported = await run(
    ...importArgs('--name', 'name', '--alias', 'SAME=0{id}', '--licence', 'public domain'),
  )
  t.match(imported, { code: 0, stdout: /layer {6}counties: 2 areas, 12 vertices, 2 aliases/ })
  t.match(imported.stdout, /system {5}WGS 84 \(the file does not say it\)/)
  t.match(imported.stdout, /bounds {5}-95.0000,29.0000,-92.0000,30.0000/)
  t.match(imported.stdout, /keys {7}48201, 48167/)
  const listed = await run('list', '--data', data)
  t.match(listed, {
    code: 0,
    stdout: /source {5}counties: counties.shp\nlicence {4}counties: public domain/,
  })
  const json = JSON.parse((await run('list', '--data', data, '--json')).stdout)
  t.match(json.layers, [
    { layer: 'counties', areaCount: 2, aliasCount: 2 },
    // What comes with the program is there, too.
    { layer: 'countries' },
    { layer: 'states' },
  ])
  t.equal(json.layers.length, 3)
  t.ok(Math.abs(Date.now() - Date.parse(json.createdAt)) < 3_600_000, json.createdAt)
  t.match(await run('show', '--data', data, 'same:048167'), {
    code: 0,
    stdout: 'area       counties:48167\nname       Name 48167\naliases    SAME:048167\n',
  })
  const shown = JSON.parse(
    (await run('show', '--data', data, 'counties:48201', '--geojson')).stdout,
  )
  t.same(shown.geometry, { type: 'MultiPolygon', coordinates: [[square(-95, 29)]] })
  t.match(await run('show', '--data', data, 'counties:48202'), {
    code: 2,
    stderr: /no area is called counties:48202; is it .*The layers are counties, countries, states/,
  })
  t.match(await run('remove', '--data', data, 'zones'), { code: 5, stderr: /zones is no layer/ })
  t.match(await run('remove', '--data', data, 'counties'), {
    code: 0,
    stdout: /removed {4}counties/,
  })
  const left = JSON.parse((await run('list', '--data', data, '--json')).stdout)
  t.match(left.layers, [{ layer: 'countries' }, { layer: 'states' }])
  const again = await run('import', '--default', '--data', data)
  t.match(again, { code: 0, stdout: /layer {6}counties: 3230 areas/ })
  const fiji = JSON.parse((await run('show', '--data', data, 'ISO:FJ', '--geojson')).stdout || '{}')
  const lngs = fiji.geometry.coordinates.flat(2).map(([lng]: [number]) => lng)
  t.ok(Math.min(...lngs) >= -180 && Math.max(...lngs) <= 180, 'cut at the antimeridian')
})

t.test('what is wrong is named, and changes nothing', async (t) => {
  const { directory, data, file, run, importArgs } = made(t)
  t.match(await run('list', '--data', data), { code: 0, stdout: /there is no layer yet/ })
  t.match(await run('show', '--data', data, 'a:b'), { code: 2, stderr: /there is no layer yet/ })
  await makeLayer(data)
  const before = readFileSync(join(data, 'areas', 'CURRENT'))
  const bad = (...more: string[]) => run(...importArgs(...more))
  t.match(await bad('--name', 'NAME'), {
    code: 5,
    stderr: /no field "NAME" for --name; its fields are id, name\n/,
  })
  t.match(await bad('--default'), { code: 2, stderr: /--default reads no file/ })
  t.match(await run('import', '--layer', 'x', file), { code: 2, stderr: /--key FIELD is missing/ })
  t.match(await run('import', '--layer', 'x', '--key', 'y'), {
    code: 2,
    stderr: /no file is named/,
  })
  t.match(await bad('--alias', 'SAME'), { code: 2, stderr: /--alias is SCHEME=TEMPLATE/ })
  t.match(await bad('--alias', 'SAME={id'), { code: 2, stderr: /has a { without its }/ })
  t.match(await bad('--alias', 'X=1'), { code: 5, stderr: /has the alias X:1, which .* has/ })
  t.match(await bad('--alias', 'X=1', '--dry-run'), { code: 5, stderr: /has the alias X:1/ })
  t.match(await bad('--where', 'id'), { code: 2, stderr: /--where is FIELD=VALUE/ })
  t.match(await bad('--where', 'id=none'), { code: 5, stderr: /counties has no areas/ })
  t.match(await bad('--crs', 'EPSG:4267'), { code: 5, stderr: /the coordinate system EPSG:4267/ })
  t.match(await bad('--crs', 'nonsense'), { code: 5, stderr: /system nonsense is not one/ })
  t.match(await run('import', '--layer', 'x', '--key', 'id', '--data', data, '-'), {
    code: 2,
    stderr: /standard input/,
  })
  const missing = join(directory, 'none.shp')
  t.match(await run('import', '--layer', 'x', '--key', 'id', '--data', data, missing), {
    code: 5,
    stderr: /none.shp does not exist/,
  })
  t.match(
    await run('import', '--layer', 'x', '--key', 'id', '--data', join(directory, 'no'), file),
    {
      code: 2,
      stderr: /no does not exist/,
    },
  )
  t.same(readFileSync(join(data, 'areas', 'CURRENT')), before)
})

t.test('what is left out is told', async (t) => {
  const { directory, data, run } = made(t)
  await makeLayer(data)
  const path = join(directory, 'areas.geojsonl')
  const line = (id: string | null, fips: string | null, geometry: object | null) =>
    JSON.stringify({ type: 'Feature', properties: { id, fips }, geometry })
  const area = (lng: number) => ({ type: 'Polygon', coordinates: [square(lng, 0)] })
  writeFileSync(
    path,
    [
      line('a', '1', area(0)),
      line('b', null, area(3)),
      line('c', '3', null),
      line('a', '1', area(6)),
    ].join('\n'),
  )
  const args = [
    'import',
    '--data',
    data,
    '--layer',
    'l',
    '--key',
    'id',
    '--alias',
    'F={fips}',
    path,
  ]
  t.match(await run(...args), { code: 5, stderr: /feature 3 \(key c\) has no geometry/ })
  const done = await run(...args, '--merge', '--skip-invalid')
  t.match(done, {
    code: 0,
    stdout: /2 areas of 4 features.*, 1 merged into others, 1 left out by --skip-invalid/,
  })
  t.match(done.stderr, /1 areas have no alias F/)
  t.match(done.stderr, /1 features are left out.*\n.*feature 3 \(key c\) has no geometry/)
  const shown = JSON.parse((await run('show', '--data', data, 'F:1', '--geojson')).stdout)
  t.equal(shown.geometry.coordinates.length, 2)

  // A part of an area under the name of the whole would leave people out.
  const islands = [line('a', '1', area(0)), line('a', '1', null), line('b', '2', area(6))]
  writeFileSync(path, islands.join('\n'))
  const whole = await run(...args, '--merge', '--skip-invalid')
  t.match(whole, { code: 0, stdout: /1 areas of 3 features.*, 2 left out by --skip-invalid/ })
  t.match(whole.stderr, /feature 1 \(key a\) is a part of an area that lacks another/)
  t.match(await run('show', '--data', data, 'F:1'), { code: /[^0]/ })
  t.match(await run(...args, '--skip-invalid'), {
    code: 5,
    stderr: /feature 2 has the key a, as .*feature 1/,
  })
})

/** It ended the import, by a message that named neither the file nor the feature nor the key. */
t.test('a key that cannot be one is named with its feature, and may be left out', async (t) => {
  const { data, run } = made(t)
  await makeLayer(data)
  const path = join(data, 'zones.geojson')
  const long = 'k'.repeat(65)
  const keys = ['a', 'a b', 'c', long, 'é', 'a:b', 'g', 'h']
  const line = (id: string, index: number) => {
    const lng = index === 6 ? 500_000 : index * 3
    const geometry = { type: 'Polygon', coordinates: [square(lng, 0)] }
    const properties = { id, name: id === 'h' ? ' \u0007' : id }
    return JSON.stringify({ type: 'Feature', properties, geometry })
  }
  writeFileSync(path, keys.map(line).join('\n'))
  const args = ['import', '--data', data, '--layer', 'zones', '--key', 'id', path]
  const refused = await run(...args)
  t.match(refused, { code: 5 })
  const rule = 'and a key has 1 to 64 letters without accents, digits, ., _, ~ or -'
  t.match(refused.stderr, `${path}: feature 2 has the key "a b", ${rule}`)
  for (const more of [['--dry-run'], []]) {
    const done = await run(...args, '--skip-invalid', ...more)
    t.match(done, { code: 0, stdout: /3 areas of 8 features.*, 5 left out by --skip-invalid/ })
    const told = done.stderr.split('\n').filter((text) => text.includes(`${path}: feature`))
    t.same(
      told.map((text) => / feature (\d+) /.exec(text)?.[1]),
      ['2', '4', '5', '6', '7'],
    )
    t.match(told[4], /feature 7 \(key g\) has the position 500000,0, which is beyond ±180,±90/)
  }
  // What is found when areas are written names the feature as well.
  const unnamed = await run(...args, '--name', 'name', '--skip-invalid')
  t.match(unnamed, {
    code: 5,
    stderr: /zones\.geojson: feature 8 \(h\) must have a name without U\+0007/,
  })
})
