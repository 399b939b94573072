/**
 * Recipients as bytes: every format says the same of them.
 *
 * @module
 */
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import t from 'tap'
import { csvEscaped } from '../../../src/format/csv.js'
import { writeJsv } from '../../../src/format/jsv.js'
import { limits } from '../../../src/limits.js'
import { buildShard } from '../../../src/shard/build/build.js'
import { partition } from '../../../src/shard/build/partition.js'
import { attachShard, type Shard } from '../../../src/shard/layout.js'
import { encodeRows } from '../../../src/shard/rows/encode-rows.js'
import type { RowFormat } from '../../../src/shard/rows/row-format.js'
import { anyRecipients, columnsOf, type TestRecipient } from '../../support/data/columns.js'
import { testSeed } from '../../support/random/properties.js'
import { byTier } from '../../support/tier.js'

const LINES: RowFormat = { kind: 'ndjson', prefix: '{"SourceId":2147483647,"Number":"' }
const FEATURES: RowFormat = {
  kind: 'geojson',
  prefix: ',{"type":"Feature","properties":{"SourceId":7,"Number":"',
  isContinued: false,
}

const bytes = new Uint8Array(limits.rowBufferBytes)

t.test('all recipients of all runs are written in every format', async (t) => {
  const property = fc.property(anyRecipients, (recipients) => {
    const shard = shardOf(recipients)
    const rows = rowsOf(shard)
    t.equal(encoded(shard, { kind: 'json' }), rows.map(jsonRow).join(''))
    t.equal(encoded(shard, { kind: 'jsv' }), rows.map(jsvRow).join(''))
    t.equal(encoded(shard, LINES), rows.map(line).join(''))
    t.equal(encoded(shard, FEATURES), rows.map(feature).join(''))
    t.same(
      parse(encoded(shard, { kind: 'csv', prefix: '7,' })),
      rows.map((row) => ['7', ...row]),
    )
  })
  fc.assert(property, { seed: testSeed(t), numRuns: byTier({ ci: 120, soak: 1_000 }) })
})

t.test('there is room for rows that grow the most', async (t) => {
  for (const phone of ['"'.repeat(64), '\\'.repeat(64), ',', ' ', '+999']) {
    const recipient = { phone, lng: -1_791_234_567, lat: -891_234_567, contact: '' }
    const shard = shardOf(Array.from({ length: 50 }, () => recipient))
    const row: Row = [phone, '-89.1234567', '-179.1234567']
    t.equal(encoded(shard, { kind: 'json' }), jsonRow(row).repeat(50))
    t.equal(encoded(shard, { kind: 'jsv' }), jsvRow(row).repeat(50))
    t.equal(encoded(shard, LINES), line(row).repeat(50))
    t.equal(encoded(shard, FEATURES), feature(row).repeat(50))
    t.same(parse(encoded(shard, { kind: 'csv', prefix: '' })), Array(50).fill(row))
  }
})

type Row = readonly [phone: string, lat: string, lng: string]

function jsonRow([phone, lat, lng]: Row): string {
  return `,{"Number":${JSON.stringify(phone)},"LatLng":{"Lat":${lat},"Lng":${lng}}}`
}

function line([phone, lat, lng]: Row): string {
  const text = JSON.stringify(phone)
  return `{"SourceId":2147483647,"Number":${text},"LatLng":{"Lat":${lat},"Lng":${lng}}}\n`
}

function feature([phone, lat, lng]: Row): string {
  const properties = `{"SourceId":7,"Number":${JSON.stringify(phone)}}`
  const geometry = `{"type":"Point","coordinates":[${lng},${lat}]}`
  return `,{"type":"Feature","properties":${properties},"geometry":${geometry}}`
}

/** As it stands in a field of CSV. */
function jsvRow([phone, lat, lng]: Row): string {
  return `,{Number:${csvEscaped(writeJsv(phone))},LatLng:{Lat:${lat},Lng:${lng}}}`
}

function shardOf(recipients: readonly TestRecipient[]): Shard {
  const columns = columnsOf(recipients)
  const [rows] = partition(columns, columns.recipientCount)
  return attachShard(buildShard(columns, rows, 1, 0))
}

/** Every recipient, in runs with an empty one and two that touch. */
function encoded(shard: Shard, format: RowFormat): string {
  const half = shard.recipientCount >> 1
  const runs = Uint32Array.of(0, 0, 0, half, half, shard.recipientCount)
  const { rowCount, byteCount } = encodeRows(shard, runs, format, bytes)
  t.equal(rowCount, shard.recipientCount)
  return Buffer.from(bytes.subarray(0, byteCount)).toString()
}

function rowsOf({ recipientCount, phones, phoneOffsets, coords }: Shard): Row[] {
  return Array.from({ length: recipientCount }, (_, i) => [
    Buffer.from(phones.subarray(phoneOffsets[i], phoneOffsets[i + 1])).toString(),
    degreesText(coords[2 * i + 1]),
    degreesText(coords[2 * i]),
  ])
}

function degreesText(units: number): string {
  return (units / 1e7).toFixed(7).replace(/\.?0+$/, '')
}
