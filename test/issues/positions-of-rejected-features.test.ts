import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import t from 'tap'
import { hickoryHere } from '../support/service/command-line.js'
import { temporaryDirectory } from '../support/service/hickory.js'

/** The file of rejected rows had `[3,4]` as the latitude of a line, which is its second position. */
t.test('of a feature without one position, no position is written', async (t) => {
  const geometries: readonly [text: string, reason: string, lat: string, lng: string][] = [
    ['{"type":"LineString","coordinates":[[1,2],[3,4]]}', 'GeometryNotPoint', '', ''],
    ['{"type":"MultiPoint","coordinates":[[1,2]]}', 'GeometryNotPoint', '', ''],
    ['{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]],[]]}', 'GeometryNotPoint', '', ''],
    ['{"type":"Point","coordinates":[[1,2],[3,4]]}', 'LatInvalid', '', ''],
    ['{"type":"Point","coordinates":[{"x":1},2]}', 'LngInvalid', '', ''],
    ['{"coordinates":[1,2]}', 'GeometryNotPoint', '', ''],
    ['null', 'GeometryNotPoint', '', ''],
    ['{"type":"Point","coordinates":[1,2],"coordinates":[3,4]}', 'JsonInvalid', '', ''],
    [
      '{"type":"LineString","coordinates":[[1,2],[3,4]],"crs":{"type":"name"}}',
      'GeometryProjected',
      '',
      '',
    ],
    // What is one position stays as it was read.
    ['{"type":"Point","coordinates":[1,95]}', 'LatOutOfRange', '95', '1'],
    ['{"type":"Point","coordinates":[5]}', 'LatMissing', '', '5'],
    ['{"type":"Point","coordinates":["x",2]}', 'LngInvalid', '2', 'x'],
    [
      '{"type":"Point","coordinates":[500000,200000],"crs":{"type":"name"}}',
      'GeometryProjected',
      '200000',
      '500000',
    ],
  ]
  const directory = temporaryDirectory(t)
  const features = geometries.map(
    ([geometry], index) =>
      `{"type":"Feature","properties":{"number":"+99955501${index + 10}"},"geometry":${geometry}}`,
  )
  const lines = join(directory, 'lines.geojson')
  writeFileSync(lines, features.join('\n'))
  const collection = join(directory, 'collection.geojson')
  writeFileSync(collection, `{"type":"FeatureCollection","features":[${features.join(',')}]}`)
  for (const path of [lines, collection]) {
    const rejects = join(directory, 'rejects.csv')
    await hickoryHere(
      ...['import', '--data', join(directory, 'data'), '--source', '1', '--label', 'A'],
      ...['--dry-run', '--rejects', rejects, path],
    )
    const rows: Record<string, string>[] = parse(readFileSync(rejects), { columns: true })
    t.same(
      rows.map(({ reason, lat, lng, number }) => [number, reason, lat, lng]),
      geometries.map(([, reason, lat, lng], index) => [
        `+99955501${index + 10}`,
        ...[reason, lat, lng],
      ]),
    )
  }
})
