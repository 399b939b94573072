/**
 * GDAL's own client of OGC API - Features reads what the service has: collections, counts, a box, many pages, keys.
 */
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { importGrid } from '../../support/data/grid.js'
import { squareGeometry } from '../../support/data/store.js'
import { hickory, type Service, serve, temporaryDirectory } from '../../support/service/hickory.js'
import {
  COUNTIES,
  DISTRICTS,
  OTHERS,
  SQUARES,
  serveAreas,
  serveNamedAreas,
  storeAreas,
  ZONES,
} from './areas.js'

const run = promisify(execFile)

/** @returns what it prints */
async function gdal(program: 'ogrinfo' | 'ogr2ogr', args: readonly string[]): Promise<string> {
  const env = { ...process.env, NO_PROXY: '127.0.0.1', no_proxy: '127.0.0.1' }
  return (await run(program, args, { env, timeout: 60_000, maxBuffer: 1 << 26 })).stdout
}

interface Feature {
  readonly id?: string
  readonly geometry: object | null
  readonly properties: Readonly<Record<string, unknown>>
}

/** All of a collection as GDAL gives it. */
async function readBy(url: string, id: string, ...options: readonly string[]): Promise<Feature[]> {
  const collection = await gdal('ogr2ogr', [
    ...['-f', 'GeoJSON', '/vsistdout/', `OAPIF:${url}/ogc`, id],
    ...options,
  ])
  return JSON.parse(collection).features
}

async function served({ url }: Service, id: string): Promise<Feature[]> {
  const response = await fetch(`${url}/ogc/collections/${id}/items?limit=1000`)
  return ((await response.json()) as { features: Feature[] }).features
}

const named = (features: readonly Feature[]) =>
  features.map(({ properties: { Name, ContactTotalCount } }) => [Name, ContactTotalCount])

t.test('GDAL lists the collections', async (t) => {
  const { url } = await serveAreas(t)
  const text = await gdal('ogrinfo', ['-ro', `OAPIF:${url}/ogc`])
  for (const id of [DISTRICTS, OTHERS]) t.match(text, id)
  const layer = await gdal('ogrinfo', ['-ro', '-so', `OAPIF:${url}/ogc`, DISTRICTS])
  t.match(layer, /Feature Count: 25\n/)
  t.match(layer, /Extent: \(0\.0+, 0\.0+\) - \(2\.50+, 2\.50+\)/)
  t.match(layer, /ContactTotalCount: Integer/)
})

t.test('GDAL reads every feature with its count, over many pages', async (t) => {
  const service = await serveAreas(t)
  for (const pageSize of [4, 10, 1_000]) {
    const read = await readBy(service.url, DISTRICTS, '-oo', `PAGE_SIZE=${pageSize}`)
    const expected = await served(service, DISTRICTS)
    t.same(named(read), named(expected), `pages of ${pageSize}`)
    t.same(
      read.map(({ geometry }) => geometry),
      expected.map(({ geometry }) => geometry),
    )
  }
  t.same(
    named(await readBy(service.url, DISTRICTS)),
    SQUARES.map(({ Name }, at) => [Name, (at + 1) ** 2]),
  )
  const others = await readBy(service.url, OTHERS)
  t.same(named(others), named(await served(service, OTHERS)))
})

t.test('GDAL filters by a box', async (t) => {
  const { url } = await serveAreas(t)
  const inBox = await readBy(url, DISTRICTS, '-spat', '2.05', '2.05', '3', '3')
  t.same(named(inBox), [
    ['Square 20', 441],
    ['Square 21', 484],
    ['Square 22', 529],
    ['Square 23', 576],
    ['Square 24', 625],
  ])
  // In the bounds of the triangle, and beyond its longest side.
  const names = (await readBy(url, OTHERS, '-spat', '6', '6', '9', '9')).map(
    ({ properties }) => properties.Name,
  )
  t.notOk(names.includes('South-west half'))
})

t.test('GDAL reads layers of the gazetteer: all pages, and by a box', async (t) => {
  const { url } = await serveNamedAreas(t)
  const ids = (features: readonly Feature[]) => features.map(({ properties: { Id } }) => Id)
  const all = await readBy(url, COUNTIES, '-oo', 'PAGE_SIZE=500')
  t.equal(all.length, 3_230)
  t.equal(new Set(ids(all)).size, 3_230)
  const box = ['-95.5', '29.5', '-95', '30']
  const inBox = await readBy(url, COUNTIES, '-oo', 'PAGE_SIZE=2', '-spat', ...box)
  const response = await fetch(
    `${url}/ogc/collections/${COUNTIES}/items?limit=1000&bbox=${box.join(',')}`,
  )
  const { features } = (await response.json()) as { features: Feature[] }
  t.same(ids(inBox), ids(features))
  t.ok(ids(inBox).includes('counties:48201') && inBox.length < 20, `${inBox.length}`)
  t.same(named(await readBy(url, ZONES)), [
    ['Seam', 0],
    ['Square', 100],
    ['Triangle', 5_050],
  ])
})

t.test('GDAL shows a key, and gets what the key may have', async (t) => {
  const data = temporaryDirectory(t)
  await importGrid(t, data)
  const keyOf = async (name: string, scopes: string, ...more: string[]) => {
    const args = ['--data', data, '--name', name, '--scopes', scopes, ...more]
    const { code, stdout, stderr } = await hickory('keys', 'create', ...args)
    if (code !== 0) throw new Error(`keys create ended with ${code}: ${stderr}`)
    return stdout.trim()
  }
  const [reader, lister] = [await keyOf('reader', 'contexts'), await keyOf('lister', 'counts')]
  const file = join(temporaryDirectory(t), 'boundary.json')
  writeFileSync(file, JSON.stringify(squareGeometry(0, 0, 1)))
  const bounded = await keyOf('bounded', 'contexts', '--boundary', file)
  const service = await serve(t, '--data', data, '--keys')
  await storeAreas(service, { Authorization: `Bearer ${reader}` })
  const asking = (key: string) => ['--config', 'GDAL_HTTP_HEADERS', `Authorization: Bearer ${key}`]
  t.equal((await readBy(service.url, DISTRICTS, ...asking(reader))).length, 25)
  t.same(
    named(await readBy(service.url, DISTRICTS, ...asking(bounded))),
    SQUARES.map(({ Name }, at) => [Name, Math.min(at + 1, 10) ** 2]),
    'nobody beyond the boundary of the key is counted',
  )
  await t.rejects(readBy(service.url, DISTRICTS, ...asking(lister)))
  await t.rejects(readBy(service.url, DISTRICTS))
})
