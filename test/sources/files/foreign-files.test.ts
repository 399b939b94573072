import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { readRows } from '../../support/data/read-files.js'

const NOBODY = 65_534

/** The head of the first entry of a ZIP archive. */
function zipOf(name: string): Buffer {
  const head = Buffer.alloc(30)
  head.write('PK\x03\x04', 'latin1')
  head.writeUInt16LE(name.length, 26)
  return Buffer.concat([head, Buffer.from(name), Buffer.alloc(200, 7)])
}

const cases: readonly (readonly [name: string, content: Buffer, message: RegExp])[] = [
  ['people.zip', zipOf('people.csv'), /is a ZIP archive, .*unzip -p/],
  ['people.csv', zipOf('people.csv'), /is a ZIP archive, .*unzip -p/],
  ['people.xlsx', zipOf('[Content_Types].xml'), /is a workbook .*XLSX.*save it as "CSV UTF-8"/],
  ['people.csv', zipOf('xl/workbook.xml'), /is a workbook/],
  ['people.xls', Buffer.from('d0cf11e0a1b11ae100000000', 'hex'), /is a document of Excel/],
  ['people.pdf', Buffer.from('%PDF-1.7\n'), /is a PDF/],
  ['people.db', Buffer.from('SQLite format 3\0'), /is a SQLite database/],
  ['people.csv.bz2', Buffer.from('BZh91AY'), /packed with bzip2.*gzip/],
  ['people.csv.xz', Buffer.from('fd377a585a0000', 'hex'), /packed with xz.*gzip/],
  ['people.shp', Buffer.from('0000270a0000', 'hex'), /is a shapefile, .*ogr2ogr/],
  ['people.html', Buffer.from('<!DOCTYPE html><p>'), /is HTML, .*failed download/],
  ['people.csv', Buffer.from('<?xml version="1.0"?>'), /is XML/],
  ['people.bin', Buffer.from(Array.from({ length: 999 }, (_, at) => at % 256)), /is binary/],
  ['people.csv', Buffer.alloc(0), /is empty, without even a header/],
  ['people.csv.gz', gzipSync(zipOf('people.csv')), /is a ZIP archive/],
]

t.test('a file that is not read says what it is, and what to do', async (t) => {
  for (const [name, content, message] of cases) {
    const path = join(t.testdir({}), name)
    writeFileSync(path, content)
    for (const format of [undefined, 'csv', 'ndjson'] as const) {
      await t.rejects(readRows([path], { format }), { code: 'InputRejected', message }, name)
    }
  }
})

t.test("another user's file says so", async (t) => {
  const path = join(t.testdir({ 'a.csv': 'number,lat,lng\n' }), 'a.csv')
  chmodSync(path, 0)
  const isRoot = process.geteuid?.() === 0
  // Nothing is forbidden to root.
  if (isRoot) process.seteuid?.(NOBODY)
  const read = readRows([path])
  const failure = await read
    .catch((error: Error) => error)
    .finally(() => isRoot && process.seteuid?.(0))
  t.match(failure, { code: 'InputRejected', message: /may not be read by this user/ })
})
