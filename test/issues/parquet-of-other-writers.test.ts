/**
 * Parquet as writers other than DuckDB make it: names in another case, coordinate systems, checksums.
 *
 * @module
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { readAreas } from '../gazetteer/files/area-files.js'
import { readRows } from '../support/data/read-files.js'
import { runSql } from '../support/data/recipient-files.js'
import { temporaryDirectory } from '../support/service/hickory.js'

/** Of DuckDB, which reads `phone` behind `PHONE` as `phone_1`: the people of the other column were imported. */
t.test('columns that differ by their case alone are told apart', async (t) => {
  const columns = "'+9991' AS PHONE, '+9992' AS phona, 1.5 AS lat, 2.5 AS lng"
  const path = await writeParquet(t, columns, ['phona', 'phone'])
  for (const [number, phone] of [
    ['PHONE', '+9991'],
    ['phone', '+9992'],
  ] as const) {
    t.same((await readRows([path], { columns: { number } })).phones, [phone])
  }
  await t.rejects(readRows([path]), { code: 'InputRejected', message: /more than one column/ })

  const same = "'+9991' AS phone, '+9992' AS phona, 1.5 AS lat, 2.5 AS lng"
  const twice = await writeParquet(t, same, ['phona', 'phone'])
  for (const columns of [{}, { number: 'phone' }]) {
    const read = readRows([twice], { columns })
    await t.rejects(read, { code: 'InputRejected', message: /more than one column "phone"/ })
  }

  const nested = "{a: 1, b: {c: 2}} AS id, '+9992' AS phone, 1.5 AS lat, 2.5 AS lng"
  t.same((await readRows([await writeParquet(t, nested)])).phones, ['+9992'])
})

/** DuckDB drops a coordinate system that it does not know: points of NAD27 were taken for those of WGS 84. */
t.test("the coordinates of Parquet's own geometries are those that the file names", async (t) => {
  const path = join(temporaryDirectory(t), 'a.parquet')
  for (const crs of ['OGC:CRS84', 'EPSG:4326', 'EPSG:4979', 'srid:4326']) {
    writeFileSync(path, replaced(POINT, SRID, crs))
    t.same((await readRows([path])).lats, [15_000_000], crs)
  }
  for (const [crs, message] of [
    ['srid:4267', /column "geom" are in EPSG:4267, and must be/],
    ['EPSG:4267', /are in EPSG:4267/],
    ['srid:0000', /are in an unknown coordinate system/],
    ['something', /are in something/],
    ['projjson:', /are in an unknown coordinate system/],
  ] as const) {
    writeFileSync(path, replaced(POINT, SRID, crs))
    await t.rejects(readRows([path]), { code: 'InputRejected', message }, crs)
  }
  writeFileSync(path, POINT)
  await t.rejects(readAreas(path), { code: 'InputRejected', message: /EPSG:4267/ })
  writeFileSync(path, replaced(POINT, '\x0c\x22', '\x0c\x24'))
  await t.rejects(readAreas(path), { code: 'InputRejected', message: /great circles/ })
})

/** A changed digit of a phone was imported, although the writer had left a checksum. */
t.test('a page that does not agree with its checksum is damage', async (t) => {
  const path = join(temporaryDirectory(t), 'a.parquet')
  for (const file of [PLAIN_PAGES, PACKED_PAGES]) {
    writeFileSync(path, file)
    const read = await readRows([path])
    t.same(read.phones, ['+9995550001', '+9995550002'])
    t.same(
      [read.lats, read.lngs],
      [
        [15_000_000, 25_000_000],
        [35_000_000, 45_000_000],
      ],
    )
    for (const bytes of ['+9995550001', '\0\0\xf8\x3f']) {
      const damaged = Buffer.from(file)
      damaged[damaged.indexOf(Buffer.from(bytes, 'latin1')) + bytes.length - 1] ^= 1
      writeFileSync(path, damaged)
      const message = /a page of column "(number|lat)" does not agree with its checksum/
      await t.rejects(readRows([path]), { code: 'InputRejected', message })
    }
  }
})

/** They were called damaged, or of a type that they do not have. */
t.test('a file that is whole and not read is not called damaged', async (t) => {
  const digits = "'+9991' AS number, 1.5::DECIMAL(38, 20) AS lat, 2.5 AS lng"
  const decimals = await writeParquet(t, digits, ['\x15\x4c', '\x15\x4e'])
  const lists = await writeParquet(t, "['+9991'] AS number, 1.5 AS lat, 2.5 AS lng")
  const texts = await writeParquet(t, "'+9991' AS number, 1.5 AS lat, 2.5 AS lng", [
    '+9991',
    '+999\xe9',
  ])
  const packed = join(temporaryDirectory(t), 'b.parquet')
  // Snappy becomes LZO in what the footer says of the first column.
  writeFileSync(packed, replaced(PACKED_PAGES, 'number\x15\x02', 'number\x15\x06'))
  const encrypted = join(temporaryDirectory(t), 'c.parquet')
  writeFileSync(encrypted, 'PARE and more')
  for (const [path, message] of [
    [decimals, /column "lat" is DECIMAL of more than 38 digits, and the lat must be/],
    [lists, /column "number" is a list, and the number must be/],
    [texts, /is refused: a text in it is not UTF-8/],
    [packed, /is refused: it is compressed in a way that is not read/],
    [encrypted, /is an encrypted Parquet file/],
  ] as const) {
    await t.rejects(readRows([path]), { code: 'InputRejected', message }, String(message))
  }
})

const SRID = 'srid:4267'

/** One point of lng 2 and lat 1.5 of the type GEOMETRY, written by hyparquet-writer. */
const POINT = Buffer.from(
  'UEFSMRUGFR4VHlwVAhUAFQIVABUAFQAAAAsAAAArOTk5NTU1MDAwMRUGFTIVMlwVAhUAFQIVABUAFQAAABUAAAABAQAAAAAAAAAAAABAAAAA' +
    'AAAA+D8VBBk8SARyb290FQQAFQwlABgGbnVtYmVyJQAAFQwlABgEZ2VvbWwMIhgJc3JpZDo0MjY3AAAAFgIZHBksJggcFQwZFQAZGAZudW1i' +
    'ZXIVABYCFkgWSCYIAAAmUBwVDBkVABkYBGdlb20VABYCFlwWXCZQAAAWpAEWAjakAQAoCWh5cGFycXVldBksHAAAHAAAAJIAAABQQVIx',
  'base64',
)

/** Two people, written by pyarrow with `write_page_checksum=True`. */
const PLAIN_PAGES = Buffer.from(
  'UEFSMRUAFUgVSBW3gK7QCxwVBBUAFQYVBhwAAAACAAAABAELAAAAKzk5OTU1NTAwMDELAAAAKzk5OTU1NTAwMDIVABUsFSwVwfDe0gIcFQQV' +
    'ABUGFQYcAAAAAgAAAAQBAAAAAAAA+D8AAAAAAAAEQBUAFSwVLBWhpPLwBxwVBBUAFQYVBhwAAAACAAAABAEAAAAAAAAMQAAAAAAAABJAFQQZ' +
    'TDUAGAZzY2hlbWEVBgAVDCUCGAZudW1iZXIlAEwcAAAAFQolAhgDbGF0ABUKJQIYA2xuZwAWBBkcGTwmABwVDBklBgAZGAZudW1iZXIVABYE' +
    'FnoWeiYISRwVABUAFQIAPBYsGQYZJgAEAAAAJgAcFQoZJQYAGRgDbGF0FQAWBBZeFl4mggFJHBUAFQAVAgA8KQYZJgAEAAAAJgAcFQoZJQYA' +
    'GRgDbG5nFQAWBBZeFl4m4AFJHBUAFQAVAgA8KQYZJgAEAAAAFrYCFgQmCBa2AgAoIHBhcnF1ZXQtY3BwLWFycm93IHZlcnNpb24gMjUuMC4x' +
    'GTwcAAAcAAAcAAAAAgEAAFBBUjE=',
  'base64',
)

/** The same, with `data_page_version='2.0'`, dictionaries and snappy. */
const PACKED_PAGES = Buffer.from(
  'UEFSMRUEFTwVQBXyiebcBjwVBBUAEgAAHnQLAAAAKzk5OTU1NTAwMDELAAAAKzk5OTU1NTAwMDIVBhUKFQoVwLn7/wlMFQQVABUEFRAVBBUA' +
    'EhwAAAAEAQEDAhUEFSAVJBXy3YhfPBUEFQASAAAQPAAAAAAAAPg/AAAAAAAABEAVBhUKFQoVwLn7/wlMFQQVABUEFRAVBBUAEhwAAAAEAQED' +
    'AhUEFSAVJBWSiaT9BTwVBBUAEgAAEDwAAAAAAAAMQAAAAAAAABJAFQYVChUKFcC5+/8JTBUEFQAVBBUQFQQVABIcAAAABAEBAwIVBBlMNQAY' +
    'BnNjaGVtYRUGABUMJQIYBm51bWJlciUATBwAAAAVCiUCGANsYXQAFQolAhgDbG5nABYEGRwZPCYAHBUMGTUABhAZGAZudW1iZXIVAhYEFqoB' +
    'Fq4BJnAmCCksFQQVABUCABUAFRAVAgA8FiwZBhkmAAQAAAAmABwVChk1AAYQGRgDbGF0FQIWBBaMARaQASaAAia2ASksFQQVABUCABUAFRAV' +
    'AgA8KQYZJgAEAAAAJgAcFQoZNQAGEBkYA2xuZxUCFgQWjgEWkgEmkgMmxgIpLBUEFQAVAgAVABUQFQIAPCkGGSYABAAAABbEAxYEJggW0AMA' +
    'KCBwYXJxdWV0LWNwcC1hcnJvdyB2ZXJzaW9uIDI1LjAuMRk8HAAAHAAAHAAAACgBAABQQVIx',
  'base64',
)

/** @param change  a text of the file and what takes its place, of the same length */
async function writeParquet(
  t: Test,
  columns: string,
  change?: readonly [from: string, to: string],
): Promise<string> {
  const path = join(temporaryDirectory(t), 'a.parquet')
  await runSql(`COPY (SELECT ${columns}) TO '${path}' (FORMAT parquet, COMPRESSION uncompressed)`)
  if (change !== undefined) writeFileSync(path, replaced(readFileSync(path), ...change))
  return path
}

function replaced(file: Buffer, from: string, to: string): Buffer {
  return Buffer.from(file.toString('latin1').replaceAll(from, to), 'latin1')
}
