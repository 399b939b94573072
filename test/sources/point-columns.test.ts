import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { readRows, rejectedLines } from '../support/data/read-files.js'
import { runSql } from '../support/data/recipient-files.js'
import { testSeed } from '../support/random/properties.js'

interface Wkb {
  readonly lng: number
  readonly lat: number
  readonly isBigEndian?: boolean
  readonly type?: number
  readonly srid?: number
}

/** A point as (E)WKB, in hexadecimal digits. */
function wkb({ lng, lat, isBigEndian = false, type = 1, srid }: Wkb): string {
  const bytes = Buffer.alloc(srid === undefined ? 21 : 25)
  bytes[0] = isBigEndian ? 0 : 1
  const number = srid === undefined ? type : (type | 0x2000_0000) >>> 0
  const put = (value: number, at: number) =>
    isBigEndian ? bytes.writeUInt32BE(value, at) : bytes.writeUInt32LE(value, at)
  put(number, 1)
  if (srid !== undefined) put(srid, 5)
  for (const [at, value] of [lng, lat].entries()) {
    const place = bytes.length - 16 + 8 * at
    if (isBigEndian) bytes.writeDoubleBE(value, place)
    else bytes.writeDoubleLE(value, place)
  }
  return bytes.toString('hex')
}

const LINE = `010200000002000000${'00'.repeat(32)}`
const CASES: readonly (readonly [hex: string, reason: string | undefined])[] = [
  [wkb({ lng: 2, lat: 1.5 }), undefined],
  [wkb({ lng: 2, lat: 1.5, isBigEndian: true }).toUpperCase(), undefined],
  [wkb({ lng: 2, lat: 1.5, srid: 4326 }), undefined],
  [wkb({ lng: 2, lat: 1.5, srid: 4326, isBigEndian: true }), undefined],
  [wkb({ lng: 2, lat: 1.5, srid: 3857 }), 'GeometryProjected'],
  [wkb({ lng: 2, lat: 1.5, srid: 3857, isBigEndian: true }), 'GeometryProjected'],
  [wkb({ lng: 2, lat: 91 }), 'LatOutOfRange'],
  [wkb({ lng: 0, lat: 0 }), 'PositionZero'],
  [wkb({ lng: Number.NaN, lat: Number.NaN }), 'GeometryNotPoint'],
  [LINE, 'GeometryNotPoint'],
  ['', 'GeometryNotPoint'],
  ['zz', 'GeometryNotPoint'],
  [wkb({ lng: 2, lat: 1 }).slice(0, -2), 'GeometryNotPoint'],
]

t.test('a column of points in hexadecimal digits stands for the position', async (t) => {
  const csv = CASES.map(([hex]) => `+9991,${hex},c\n`).join('')
  const json = CASES.map(([hex]) => `${JSON.stringify({ number: '+9991', geom: hex })}\n`).join('')
  for (const [name, content, first] of [
    ['a.csv', `number,geom,contact\n${csv}`, 2],
    ['a.ndjson', json, 1],
  ] as const) {
    const path = join(t.testdir({}), name)
    writeFileSync(path, content)
    for (const columns of [{}, { lat: 'geom', lng: 'geom' }]) {
      const read = await readRows([path], { columns })
      t.same([...read.lats], [15_000_000, 15_000_000, 15_000_000, 15_000_000], name)
      t.same([...read.lngs], [20_000_000, 20_000_000, 20_000_000, 20_000_000], name)
      t.same(rejectedLines(read), expectedLines(first), name)
    }
  }
})

t.test('Parquet has points as bytes, and GeoParquet says which column and in what', async (t) => {
  const path = join(t.testdir({}), 'a.parquet')
  const values = CASES.map(([hex], at) => `(${at}, '${hex}')`).join(', ')
  const good = `(VALUES ${values}) AS v(id, hex) WHERE id NOT IN (10, 11, 12) ORDER BY id`
  const columns = `'+9991' AS number, from_hex(hex) AS geom`
  await runSql(`COPY (SELECT ${columns} FROM ${good}) TO '${path}' (FORMAT parquet)`)
  const bytes = await readRows([path])
  t.same([...bytes.lats], [15_000_000, 15_000_000, 15_000_000, 15_000_000])
  t.equal(bytes.rejectedCount, 6)

  const point = `'POINT(2 1.5)'::GEOMETRY AS place, '+9991' AS number`
  await runSql(`COPY (SELECT ${point}) TO '${path}' (FORMAT parquet)`)
  const geo = await readRows([path])
  t.same([[...geo.lngs], [...geo.lats]], [[20_000_000], [15_000_000]], 'the primary column')

  for (const [crs, message] of [
    ['{"id":{"authority":"EPSG","code":4326}}', undefined],
    ['{"id":{"authority":"OGC","code":"CRS84"}}', undefined],
    ['{"id":{"authority":"EPSG","code":3857}}', /"place" are in EPSG:3857.*ogr2ogr/],
    ['{"name":"Local grid"}', /are in "Local grid"/],
    ['null', /are in an unknown coordinate system/],
  ] as const) {
    await writeGeo(path, crs)
    const read = readRows([path])
    if (message === undefined) t.same([...(await read).lats], [15_000_000], crs)
    else await t.rejects(read, { code: 'InputRejected', message }, crs)
  }
})

t.test('coordinates of points are kept to the last unit', async (t) => {
  const unit = (max: number) => fc.integer({ min: -max, max }).map((units) => units / 1e7)
  const point = fc.record({ lng: unit(1_800_000_000), lat: unit(900_000_000) })
  const points = fc.sample(point, { seed: testSeed(t), numRuns: 2_000 })
  const path = join(t.testdir({}), 'a.csv')
  writeFileSync(path, `number,wkb\n${points.map((at) => `+9991,${wkb(at)}\n`).join('')}`)
  const read = await readRows([path], { rowOptions: { allowsNullIsland: true } })
  t.same(
    [...read.lngs],
    points.map(({ lng }) => Math.round(lng * 1e7)),
  )
  t.same(
    [...read.lats],
    points.map(({ lat }) => Math.round(lat * 1e7)),
  )
})

function expectedLines(first: number): Record<string, number[]> {
  const lines: Record<string, number[]> = {}
  for (const [at, [, reason]] of CASES.entries()) {
    if (reason === undefined) continue
    lines[reason] = [...(lines[reason] ?? []), at + first]
  }
  return lines
}

async function writeGeo(path: string, crs: string): Promise<void> {
  const column = `{"encoding":"WKB","geometry_types":["Point"],"crs":${crs}}`
  const geo = `{"version":"1.1.0","primary_column":"place","columns":{"place":${column}}}`
  await runSql(
    `COPY (SELECT '+9991' AS number, ST_AsWKB('POINT(2 1.5)'::GEOMETRY) AS place)
      TO '${path}' (FORMAT parquet, KV_METADATA {geo: '${geo}'})`,
  )
}
