/**
 * GeoPackage, FlatGeobuf, KML and GeoParquet: files that their libraries write, and what is damaged of them.
 *
 * @module
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import fc from 'fast-check'
import { geojson } from 'flatgeobuf'
import initSqlJs from 'sql.js'
import t from 'tap'
import { testSeed } from '../../support/random/properties.js'
import { temporaryDirectory } from '../../support/service/hickory.js'
import { byTier } from '../../support/tier.js'
import { type Ring, readAreas, type Shape, square, wkbOf, zipOf } from './area-files.js'

const REJECTED = { code: 'InputRejected' }
const CUT_COUNT = byTier({ ci: 8, soak: 60 })
const DAMAGE_COUNT = byTier({ ci: 15, soak: 300 })

const features = [
  { id: '0101', geometry: { type: 'Polygon', coordinates: [square(1, 2, 3), square(2, 3)] } },
  {
    id: '0102',
    geometry: { type: 'MultiPolygon', coordinates: [[square(-179.5, 60)], [square(170, -60)]] },
  },
] as const
const expected = features.map(({ id, geometry }) => ({ key: id, geometry }))

type Write = (path: string) => Promise<void>

const writers: Record<string, Write> = {
  'areas.gpkg': writeGeoPackage,
  'areas.fgb': async (path) => {
    const collection = {
      type: 'FeatureCollection',
      features: features.map(({ id, geometry }) => ({
        type: 'Feature',
        properties: { id, note: 'é' },
        geometry,
      })),
    }
    writeFileSync(path, geojson.serialize(collection as never, 4326))
  },
  'areas.kml': async (path) => writeFileSync(path, kmlOf()),
  'areas.kmz': async (path) => {
    writeFileSync(path, zipOf([{ name: 'doc.kml', bytes: Buffer.from(kmlOf()) }]))
  },
  'areas.parquet': (path) => writeGeoParquet(path, {}),
}

for (const [name, write] of Object.entries(writers)) {
  t.test(name, async (t) => {
    const path = join(temporaryDirectory(t), name)
    await write(path)
    const { areas } = await readAreas(path)
    t.same(
      areas.map(({ key, geometry }) => ({ key, geometry })),
      expected,
    )
    await t.rejects(readAreas(path, { where: [['GEOID', '1']] }), {
      ...REJECTED,
      message: /no field "GEOID" for --where; its fields are .*id/,
    })
  })

  t.test(`${name}, cut or damaged`, async (t) => {
    const path = join(temporaryDirectory(t), name)
    await write(path)
    const whole = readFileSync(path)
    // Each read of Parquet starts DuckDB.
    const share = name.endsWith('.parquet') ? 3 : 1
    const lengths = fc.nat(whole.length - 1)
    const cut = fc.asyncProperty(lengths, async (length) => {
      writeFileSync(path, whole.subarray(0, length))
      // KML may be cut after its last element, where only white space follows.
      await t.rejects(readAreas(path), REJECTED, `cut after ${length} bytes`)
    })
    const seed = testSeed(t)
    await fc.assert(cut, {
      seed,
      numRuns: Math.ceil(CUT_COUNT / share),
      examples: [[0], [1], [whole.length - 1]],
    })
    const damage = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 })
    const damaged = fc.asyncProperty(damage, async (places) => {
      const bytes = Buffer.from(whole)
      for (const [at, value] of places) bytes[at % bytes.length] = value
      writeFileSync(path, bytes)
      const found = await readAreas(path).catch((error) => error)
      if (found instanceof Error) t.match(found, { exitCode: 5 }, String(found.stack))
      else t.ok(found.areas.length <= 2)
    })
    await fc.assert(damaged, { seed, numRuns: Math.ceil(DAMAGE_COUNT / share) })
  })
}

t.test('GeoParquet says its coordinates, and what it is not read of', async (t) => {
  const path = join(temporaryDirectory(t), 'areas.parquet')
  const crs = {
    type: 'GeographicCRS',
    name: 'NAD27',
    datum: { type: 'GeodeticReferenceFrame', name: 'North American Datum 1927' },
  }
  await writeGeoParquet(path, { crs })
  await t.rejects(readAreas(path), { ...REJECTED, message: /system NAD27 has the datum North/ })
  await writeGeoParquet(path, { crs: null })
  t.match((await readAreas(path)).tally.files, [{ saidCrs: undefined, takenCrs: 'WGS 84' }])
  await writeGeoParquet(path, { edges: 'spherical' })
  await t.rejects(readAreas(path), { ...REJECTED, message: /great circles/ })
  await writeGeoParquet(path, { encoding: 'polygon' })
  await t.rejects(readAreas(path), REJECTED)
})

t.test('what is no area in KML', async (t) => {
  const path = join(temporaryDirectory(t), 'areas.kml')
  const document = (content: string) =>
    `<kml xmlns="http://www.opengis.net/kml/2.2"><Document>${content}</Document></kml>`
  const polygon = `<Polygon><outerBoundaryIs><LinearRing><coordinates>0,0 1,0 1,1 0,0</coordinates></LinearRing></outerBoundaryIs></Polygon>`
  const key = { text: '{name}', parts: [{ field: 'name' }] }
  const point = '<Point><coordinates>1,2</coordinates></Point>'
  const wrong: readonly (readonly [string, RegExp])[] = [
    [document('<NetworkLink/>'), /has a NetworkLink/],
    [document(`<Placemark><name>a</name>${point}</Placemark>`), /\(key a\) is a Point/],
    [document(`<Placemark><name>a</name>${polygon}${point}</Placemark>`), /two geometries/],
    [
      document(
        `<Placemark><name>a</name><MultiGeometry>${polygon}${point}</MultiGeometry></Placemark>`,
      ),
      /is a Point/,
    ],
    [document('<Placemark><name>a</name><Polygon/></Placemark>'), /Polygon/],
    [document('<Placemark><name>a</name><Model/></Placemark>'), /Model/],
    [
      document(`<Placemark><name>a</name>${polygon.replace('1,0', '1;0')}</Placemark>`),
      /\(line 1\)/,
    ],
    [document('<Placemark><name>a</name></Placemark>'), /has no geometry/],
    ['<gpx/>', /not KML/],
    [`<!DOCTYPE x [<!ENTITY a "b">]>${document('')}`, /document type/],
    ['<kml><Document>', /not well-formed/],
  ]
  for (const [text, message] of wrong) {
    writeFileSync(path, text)
    await t.rejects(readAreas(path, { key }), { ...REJECTED, message }, text)
  }
  writeFileSync(path, document(`<Folder><Placemark><name>a</name>${polygon}</Placemark></Folder>`))
  t.equal((await readAreas(path, { key })).areas.length, 1)
})

async function writeGeoPackage(path: string): Promise<void> {
  const { Database } = await initSqlJs()
  const database = new Database()
  database.run(
    'CREATE TABLE gpkg_contents (table_name, data_type, srs_id);' +
      'CREATE TABLE gpkg_geometry_columns (table_name, column_name, srs_id);' +
      'CREATE TABLE gpkg_spatial_ref_sys (srs_name, srs_id, organization, organization_coordsys_id, definition);' +
      "INSERT INTO gpkg_contents VALUES ('areas', 'features', 4326), ('notes', 'attributes', NULL);" +
      "INSERT INTO gpkg_geometry_columns VALUES ('areas', 'geom', 4326);" +
      "INSERT INTO gpkg_spatial_ref_sys VALUES ('WGS 84', 4326, 'EPSG', 4326, 'GEOGCS[…]');" +
      'CREATE TABLE areas (fid INTEGER PRIMARY KEY, geom BLOB, id TEXT)',
  )
  for (const { id, geometry } of features) {
    // Magic, version 0, an envelope of 32 bytes, little-endian, and the number of the system.
    const header = Buffer.concat([Buffer.from('GP\0\x03', 'latin1'), Buffer.alloc(4 + 32)])
    const blob = Buffer.concat([header, wkbOf(geometry as Shape)])
    database.run('INSERT INTO areas (geom, id) VALUES (?, ?)', [blob, id])
  }
  writeFileSync(path, database.export())
  database.close()
}

async function writeGeoParquet(path: string, column: object): Promise<void> {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  const entry = { encoding: 'WKB', geometry_types: [], ...column }
  const geo = { version: '1.1.0', primary_column: 'geometry', columns: { geometry: entry } }
  const rows = features
    .map(({ id, geometry }) => `('${id}', unhex('${wkbOf(geometry as Shape).toString('hex')}'))`)
    .join(', ')
  await connection.run(
    `COPY (SELECT * FROM (VALUES ${rows}) AS t(id, geometry)) TO '${path}' ` +
      `(FORMAT parquet, KV_METADATA {geo: '${JSON.stringify(geo)}'})`,
  )
  connection.closeSync()
  instance.closeSync()
}

function kmlOf(): string {
  const ringText = (ring: Ring) =>
    `<LinearRing><coordinates>${ring.map(([lng, lat]) => `${lng},${lat},0`).join(' ')}</coordinates></LinearRing>`
  const polygonText = ([shell, ...holes]: readonly Ring[]) =>
    `<Polygon><outerBoundaryIs>${ringText(shell)}</outerBoundaryIs>${holes
      .map((hole) => `<innerBoundaryIs>${ringText(hole)}</innerBoundaryIs>`)
      .join('')}</Polygon>`
  const placemarks = features.map(({ id, geometry }) => {
    const shapes =
      geometry.type === 'Polygon'
        ? polygonText(geometry.coordinates)
        : `<MultiGeometry>${geometry.coordinates.map(polygonText).join('')}</MultiGeometry>`
    const data = `<ExtendedData><SchemaData><SimpleData name="id">${id}</SimpleData></SchemaData></ExtendedData>`
    return `<Placemark><name>Area ${id}</name>${data}${shapes}</Placemark>`
  })
  return `<?xml version="1.0" encoding="UTF-8"?>\n<kml xmlns="http://www.opengis.net/kml/2.2"><Document>${placemarks.join('')}</Document></kml>`
}
