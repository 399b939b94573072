/**
 * Shapefiles and archives of them, written byte by byte.
 *
 * @module
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { read } from 'shapefile'
import t from 'tap'
import { testSeed } from '../../support/random/properties.js'
import { temporaryDirectory } from '../../support/service/hickory.js'
import { byTier } from '../../support/tier.js'
import { dbfOf, type Ring, readAreas, shpOf, square, writeShapefile, zipOf } from './area-files.js'

const REJECTED = { code: 'InputRejected' }
const WGS84 =
  'GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],' +
  'PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]'

const reversed = (ring: Ring) => ring.toReversed() as Ring

t.test('an island in a lake of an island, in any order of rings', async (t) => {
  const path = join(temporaryDirectory(t), 'nested')
  const [land, lake, island, pond] = [
    square(0, 0, 10),
    reversed(square(1, 1, 8)),
    square(2, 2, 6),
    reversed(square(3, 3, 4)),
  ]
  for (const rings of [
    [land, lake, island, pond],
    [pond, island, lake, land],
    [lake, pond, land, island],
  ]) {
    const file = writeShapefile(path, [rings], ['a'], WGS84)
    const [{ geometry }] = (await readAreas(file)).areas
    const { type, coordinates } = geometry as { type: string; coordinates: Ring[][] }
    t.equal(type, 'MultiPolygon')
    // The pond is a hole of its island, and not of the land around both.
    t.same(
      new Set(coordinates.map((polygon) => JSON.stringify(polygon))),
      new Set([JSON.stringify([land, lake]), JSON.stringify([island, pond])]),
    )
  }
})

t.test('a ring without area stays, by itself', async (t) => {
  const path = join(temporaryDirectory(t), 'flat')
  const flat: Ring = [
    [2, 2],
    [3, 3],
    [2, 2],
    [2, 2],
  ]
  const file = writeShapefile(path, [[square(0, 0, 4), flat, reversed(square(1, 1, 0.5))]], ['a'])
  const [{ geometry }] = (await readAreas(file)).areas
  const coordinates = [[square(0, 0, 4), reversed(square(1, 1, 0.5))], [flat]]
  t.same(geometry, { type: 'MultiPolygon', coordinates })
})

t.test('rings that cross are refused, as nobody can say which are holes', async (t) => {
  const path = join(temporaryDirectory(t), 'crossing')
  const file = writeShapefile(path, [[square(0, 0, 4), reversed(square(2, 2, 4))]], ['a'])
  await t.rejects(readAreas(file), { ...REJECTED, message: /has rings that cross/ })
})

t.test('as another reader reads it: random squares that are apart', async (t) => {
  const directory = temporaryDirectory(t)
  const degrees = fc.double({ min: -85, max: 85, noNaN: true })
  const shapes = fc.array(fc.array(degrees, { minLength: 1, maxLength: 4 }), { maxLength: 8 })
  const property = fc.asyncProperty(shapes, async (lats) => {
    const areas = lats.map((own) => own.map((lat, i) => square(3 * i - 100, lat)))
    const path = writeShapefile(
      join(directory, 'areas'),
      areas,
      areas.map((_, i) => `k${i}`),
    )
    const [{ areas: found }, others] = await Promise.all([readAreas(path), read(path)])
    t.same(
      found.map(({ key, geometry }) => ({ key, geometry })),
      others.features.map(({ properties, geometry }) => ({ key: properties?.id, geometry })),
    )
  })
  await fc.assert(property, { seed: testSeed(t), numRuns: byTier({ ci: 12, soak: 500 }) })
})

t.test('texts in the encoding that the file says, or that is told', async (t) => {
  const directory = temporaryDirectory(t)
  const stem = join(directory, 'areas')
  const path = writeShapefile(stem, [[square(0, 0)]], ['a'])
  const nameWith = async (encoding?: string) => {
    const name = { text: '{name}', parts: [{ field: 'name' }] }
    return (await readAreas(path, { name, encoding })).areas[0].name
  }
  writeFileSync(`${stem}.dbf`, dbfOf(['id', 'name'], [['a', 'Cañon']]))
  t.equal(await nameWith(), 'Cañon')
  writeFileSync(`${stem}.cpg`, 'ISO-8859-1')
  t.equal(await nameWith(), 'Cañon')
  writeFileSync(`${stem}.cpg`, 'UTF-8\n')
  await t.rejects(nameWith(), { ...REJECTED, message: /bytes that are no text/ })
  t.equal(await nameWith('1252'), 'Cañon')
  writeFileSync(`${stem}.dbf`, dbfOf(['id', 'name'], [['a', 'Cañon']], [], 'utf8'))
  t.equal(await nameWith(), 'Cañon')
  writeFileSync(`${stem}.cpg`, 'OEM 437')
  await t.rejects(nameWith(), { ...REJECTED, message: /not known, "OEM 437"/ })
})

t.test(
  'a record that is marked as deleted is none, and a null shape has no geometry',
  async (t) => {
    const stem = join(temporaryDirectory(t), 'areas')
    const path = writeShapefile(stem, [[square(0, 0)], [square(2, 0)], null], ['a', 'b', 'c'])
    await t.rejects(readAreas(path), {
      ...REJECTED,
      message: /feature 3 \(key c\) has no geometry/,
    })
    writeFileSync(`${stem}.dbf`, dbfOf(['id'], [['a'], ['b'], ['c']], [1]))
    const { areas, tally } = await readAreas(path, { skipsInvalid: true })
    t.same([areas.map(({ key }) => key), tally.invalidCount], [['a'], 1])
  },
)

t.test('what is damaged or cut off, at any byte', async (t) => {
  const directory = temporaryDirectory(t)
  const stem = join(directory, 'areas')
  const path = writeShapefile(stem, [[square(0, 0)], [square(2, 0)]], ['a', 'b'], WGS84)
  const [shp, dbf] = [readFileSync(path), readFileSync(`${stem}.dbf`)]
  const stride = byTier({ ci: 11, soak: 1 })
  const start = testSeed(t) % stride
  for (let length = start; length < shp.length; length += stride) {
    writeFileSync(path, shp.subarray(0, length))
    await t.rejects(readAreas(path), REJECTED, `.shp cut after ${length} bytes`)
  }
  writeFileSync(path, shp)
  // The last byte marks the end, and nobody needs it.
  for (let length = start; length < dbf.length - 1; length += stride) {
    writeFileSync(`${stem}.dbf`, dbf.subarray(0, length))
    await t.rejects(readAreas(path), REJECTED, `.dbf cut after ${length} bytes`)
  }
  writeFileSync(`${stem}.dbf`, dbf)
  t.equal((await readAreas(path)).areas.length, 2)
  writeFileSync(`${stem}.shx`, Buffer.alloc(100 + 8))
  await t.rejects(readAreas(path), { ...REJECTED, message: /2 records, and the .shx 1/ })
  rmSync(`${stem}.shx`)
  writeFileSync(path, shpOf([[square(0, 0)]]))
  await t.rejects(readAreas(path), { ...REJECTED, message: /the .shp only 1/ })
  writeFileSync(path, shpOf([[square(0, 0)], [square(2, 0)], [square(4, 0)]]))
  await t.rejects(readAreas(path), { ...REJECTED, message: /the .shp has more/ })
  writeFileSync(path, shpOf([], 3))
  await t.rejects(readAreas(path), { ...REJECTED, message: /it has lines, and no areas/ })
  rmSync(`${stem}.dbf`)
  await t.rejects(readAreas(path), { ...REJECTED, message: /the .dbf of the same name/ })
  await t.rejects(readAreas(`${stem}.prj`), { ...REJECTED, message: /name the .shp/ })
})

t.test('random damage never does anything but refuse, or read what is there', async (t) => {
  const stem = join(temporaryDirectory(t), 'areas')
  const path = writeShapefile(stem, [[square(0, 0)], [square(2, 0)]], ['a', 'b'])
  const whole = [readFileSync(path), readFileSync(`${stem}.dbf`)] as const
  const place = fc.tuple(fc.constantFrom(0, 1), fc.nat(), fc.nat(255))
  const property = fc.asyncProperty(place, async ([file, at, value]) => {
    const bytes = Buffer.from(whole[file])
    bytes[at % bytes.length] = value
    writeFileSync(file === 0 ? path : `${stem}.dbf`, bytes)
    writeFileSync(file === 0 ? `${stem}.dbf` : path, whole[1 - file])
    const found = await readAreas(path).catch((error) => error)
    if (found instanceof Error) t.match(found, { name: 'Error', exitCode: 5 })
    else t.ok(found.areas.length <= 2)
  })
  await fc.assert(property, { seed: testSeed(t), numRuns: byTier({ ci: 35, soak: 1_000 }) })
})

t.test('archives', async (t) => {
  const directory = temporaryDirectory(t)
  const stem = join(directory, 'areas')
  writeShapefile(stem, [[square(0, 0)]], ['a'], WGS84)
  const own = ['shp', 'dbf', 'prj'].map((ending) => ({
    name: `folder/Areas.${ending.toUpperCase()}`,
    bytes: readFileSync(`${stem}.${ending}`),
  }))
  const path = join(directory, 'areas.zip')
  const before = readdirSync(tmpdir()).filter((name) => name.startsWith('hickory-areas-'))
  const write = (entries: Parameters<typeof zipOf>[0]) => writeFileSync(path, zipOf(entries))
  write([{ name: 'readme.txt', bytes: Buffer.from('x') }, ...own])
  t.match(await readAreas(path), {
    areas: [{ key: 'a' }],
    tally: { files: [{ format: 'shapefile', saidCrs: 'GCS_WGS_1984' }] },
  })
  write([...own, { name: 'other.shp', bytes: own[0].bytes }])
  await t.rejects(readAreas(path), { ...REJECTED, message: /2 shapefiles: .*\(Areas, other\)/ })
  t.equal((await readAreas(path, { table: 'Areas' })).areas.length, 1)
  write(own.slice(0, 1))
  await t.rejects(readAreas(path), { ...REJECTED, message: /the .dbf/ })
  write([{ name: 'readme.txt', bytes: Buffer.from('x') }])
  await t.rejects(readAreas(path), {
    ...REJECTED,
    message: /without a shapefile or KML \(readme.txt\)/,
  })
  // A bomb says that it is small, or says how large it is.
  const bomb = Buffer.alloc(20_000_000)
  write([{ name: 'a.shp', bytes: bomb, saidBytes: 100 }, own[1]])
  await t.rejects(readAreas(path), REJECTED)
  write([{ name: 'a.shp', bytes: Buffer.alloc(100), saidBytes: 0xfffffff0 }, own[1]])
  await t.rejects(readAreas(path), REJECTED)
  write(own)
  const whole = readFileSync(path)
  for (let length = 1; length < whole.length; length += 7) {
    writeFileSync(path, whole.subarray(0, length))
    await t.rejects(readAreas(path), REJECTED, `cut after ${length} bytes`)
  }
  const after = readdirSync(tmpdir()).filter((name) => name.startsWith('hickory-areas-'))
  t.same(
    after.filter((name) => !before.includes(name)),
    [],
    'nothing stays on the disk',
  )
})
