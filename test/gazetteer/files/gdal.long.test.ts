/**
 * The counties of the United States as GDAL writes them: in each format, and in the coordinate systems that
 * such files come in. Every area must be where it was.
 *
 * @module
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import t from 'tap'
import type { DraftArea } from '../../../src/gazetteer/write-layers.js'
import { loadCounties, withoutDegenerateRings } from '../../support/data/counties.js'
import { temporaryDirectory } from '../../support/service/hickory.js'
import { type Ring, readAreas, type Shape, wkbOf } from './area-files.js'

const directory = temporaryDirectory(t)
const source = join(directory, 'counties.geojson')
// What rounding has shrunk to points is no ring in every format.
const counties = loadCounties().flatMap(({ id, name, geometry }) => {
  const left = withoutDegenerateRings(geometry)
  return left === undefined ? [] : [{ type: 'Feature', properties: { id, name }, geometry: left }]
})
writeFileSync(source, JSON.stringify({ type: 'FeatureCollection', features: counties }))
const { areas: original } = await readAreas(source)

/** By ogr2ogr. @param flags  before the file that is read */
function convert(name: string, format: string, ...flags: string[]): string {
  const path = join(directory, name)
  execFileSync('ogr2ogr', ['-f', format, ...flags, path, source], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  return path
}

t.test('each format has the same areas, to the last digit', async (t) => {
  t.equal(original.length, 3_230)
  mkdirSync(join(directory, 'shp'))
  const paths = [
    convert('a.geojson', 'GeoJSON', '-lco', 'COORDINATE_PRECISION=15'),
    convert('a.geojsonl', 'GeoJSONSeq', '-lco', 'COORDINATE_PRECISION=15'),
    convert('shp/a.shp', 'ESRI Shapefile'),
    convert('a.shz', 'ESRI Shapefile'),
    convert('a.gpkg', 'GPKG'),
    convert('a.fgb', 'FlatGeobuf'),
    convert('unindexed.fgb', 'FlatGeobuf', '-lco', 'SPATIAL_INDEX=NO'),
    await writeGeoParquet(),
  ]
  for (const path of paths) {
    const { areas } = await readAreas(path)
    t.same(canonical(areas), canonical(original), path)
  }
  // KML is written with fifteen digits. LIBKML leaves out the geometry of rings that touch themselves.
  const some = ['-spat', '-97', '29', '-93', '33', '-skipfailures']
  for (const [path, most] of [
    [convert('a.kml', 'KML'), 0],
    [convert('b.kml', 'LIBKML', ...some), 5],
    [convert('b.kmz', 'LIBKML', ...some), 5],
  ] as const) {
    const { areas, tally } = await readAreas(path, { skipsInvalid: most > 0 })
    t.equal(tally.featureCount, most > 0 ? 89 : original.length)
    t.ok(tally.invalidCount <= most, `${path}: ${tally.invalidCount} without a geometry`)
    t.ok(farthest(areas) < 1e-12, `${path}: ${farthest(areas)} degrees away`)
  }
})

t.test('each coordinate system leads back', async (t) => {
  for (const [system, degrees, ...bounds] of SYSTEMS) {
    // On the same datum, so that PROJ does not choose a shift of its own.
    const clipped = ['-spat', ...bounds, '-s_srs', degrees, '-t_srs', system]
    const name = system.replace(':', '')
    mkdirSync(join(directory, name))
    const paths = [
      convert(
        `${name}.geojson`,
        'GeoJSON',
        ...clipped,
        '-lco',
        'COORDINATE_PRECISION=9',
        '-lco',
        'RFC7946=NO',
      ),
      convert(`${name}/a.shp`, 'ESRI Shapefile', ...clipped),
      convert(`${name}.gpkg`, 'GPKG', ...clipped),
      convert(`${name}.fgb`, 'FlatGeobuf', ...clipped),
    ]
    for (const path of paths) {
      const plan = path.endsWith('.geojson') ? { crs: await wktOf(system) } : {}
      const { areas, tally } = await readAreas(path, plan)
      t.ok(areas.length > 10, `${areas.length} areas of ${path}, ${tally.files[0].takenCrs}`)
      t.ok(farthest(areas) < 1e-7, `${path}: ${farthest(areas)} degrees away`)
    }
  }
})

t.test('what is no longer the same place is refused by its name', async (t) => {
  const path = convert('nad27.gpkg', 'GPKG', '-t_srs', 'EPSG:4267')
  await t.rejects(readAreas(path), { code: 'InputRejected', message: /NAD27 has the datum/ })
})

/** A system, degrees of its datum, and where it is made for. */
const SYSTEMS: readonly (readonly [string, string, string, string, string, string])[] = [
  ['EPSG:3857', 'EPSG:4326', '-180', '-90', '180', '90'],
  ['EPSG:5070', 'EPSG:4269', '-125', '24', '-66', '50'],
  ['EPSG:3338', 'EPSG:4269', '-170', '52', '-130', '72'],
  ['EPSG:26915', 'EPSG:4269', '-97', '29', '-93', '33'],
  ['EPSG:2276', 'EPSG:4269', '-104', '31', '-94', '34'],
]

async function wktOf(system: string) {
  const text = execFileSync('gdalsrsinfo', ['-o', 'wkt2', '--single-line', system])
    .toString()
    .trim()
  return { kind: 'wkt', text } as const
}

/** The distance in degrees of each vertex from its place; rings are in the order in which GDAL writes them. */
function farthest(areas: readonly DraftArea[]): number {
  const places = new Map(original.map((area) => [area.key, verticesOf(area)]))
  let most = 0
  for (const area of areas) {
    const vertices = verticesOf(area)
    const wanted = places.get(area.key) ?? []
    if (vertices.length !== wanted.length) return Number.POSITIVE_INFINITY
    for (const [lng, lat] of vertices) {
      // Which of them is it: the nearest one.
      let least = Number.POSITIVE_INFINITY
      for (const [x, y] of wanted)
        least = Math.min(least, Math.max(Math.abs(x - lng), Math.abs(y - lat)))
      most = Math.max(most, least)
    }
  }
  return most
}

function verticesOf({ geometry }: DraftArea): Ring {
  return ringsOf(geometry).flat(2)
}

function ringsOf(geometry: object): Ring[][] {
  const { type, coordinates } = geometry as { type: string; coordinates: unknown }
  return (type === 'Polygon' ? [coordinates] : coordinates) as Ring[][]
}

/** Rings in one direction from one vertex on, and polygons in one order. */
function canonical(areas: readonly DraftArea[]): Map<string, string[]> {
  return new Map(
    areas.map(({ key, geometry }) => [
      key,
      ringsOf(geometry)
        .map(([shell, ...holes]) =>
          JSON.stringify([ringText(shell), ...holes.map(ringText).sort()]),
        )
        .sort(),
    ]),
  )
}

function ringText(ring: Ring): string {
  const open = ring.slice(0, -1).map((position) => position.join(','))
  const turned = (list: readonly string[]) => {
    const first = list.indexOf([...list].sort()[0])
    return [...list.slice(first), ...list.slice(0, first)].join(' ')
  }
  return [turned(open), turned(open.toReversed())].sort()[0]
}

/** GDAL of Debian writes none; DuckDB does, with WKB written as OGC says. */
async function writeGeoParquet(): Promise<string> {
  const path = join(directory, 'a.parquet')
  const rows = counties.map(({ properties, geometry }) => ({
    id: properties.id,
    wkb: wkbOf(geometry as unknown as Shape).toString('hex'),
  }))
  const lines = join(directory, 'wkb.ndjson')
  writeFileSync(lines, rows.map((row) => JSON.stringify(row)).join('\n'))
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  const geo =
    '{"version":"1.0.0","primary_column":"wkb","columns":{"wkb":{"encoding":"WKB","geometry_types":[]}}}'
  await connection.run(
    `COPY (SELECT id::VARCHAR AS id, unhex(wkb) AS wkb FROM read_csv('${lines}', delim = '\x1f', header = false, ` +
      `columns = {line: 'VARCHAR'}, quote = ''), LATERAL (SELECT json_extract_string(line, '$.id') AS id, ` +
      `json_extract_string(line, '$.wkb') AS wkb)) TO '${path}' (FORMAT parquet, KV_METADATA {geo: '${geo}'})`,
  )
  connection.closeSync()
  instance.closeSync()
  return path
}
