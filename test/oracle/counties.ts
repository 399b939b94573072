/**
 * Asks a running service who is in each county of the United States, and compares every answer
 * with a brute-force count over the files that were imported. Anyone can run it:
 *
 *   node dist/test/oracle/counties.js --csv r.csv --url http://127.0.0.1:8080 [--limit N] [--list]
 *
 * `--csv` may be given several times, once for each source: as a path, or as ID=path to compare
 * source by source rather than in sum. `--list` asks for the recipients too, and compares their
 * phones and positions. Nothing of src/ is used. Phones are never printed.
 *
 * @module
 */
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { createGunzip } from 'node:zlib'
import type { Geometry } from 'geojson'
import {
  type County,
  loadCounties,
  polygonsOf,
  withoutDegenerateRings,
} from '../support/data/counties.js'
import { prepare } from './geometry/exact.js'
import { rowsInside, sortIntoCells } from './geometry/grid.js'

/** What was imported, row by row. */
export interface Rows {
  readonly phones: readonly string[]
  /** Units of 1e-7 degree. */
  readonly lngs: ArrayLike<number>
  readonly lats: ArrayLike<number>
  /** Absent when answers are to be compared in sum over all sources. */
  readonly sourceIds?: ArrayLike<number> | undefined
}

export interface SourceRecord {
  readonly SourceId: number
  readonly Count: number
  readonly Recipients?: readonly {
    readonly Number: string
    readonly LatLng: { readonly Lat: number; readonly Lng: number }
  }[]
}

/** Sends one request. */
export type Ask = (geometry: Geometry, countsOnly: boolean, county: County) => Promise<Answer>

/** The `SourceRecords` of an answer, or the `ErrorCode` of one that is 400. */
export type Answer = { readonly records: readonly SourceRecord[] } | { readonly refused: string }

export interface Mismatch {
  readonly county: County
  /** What differs, in counts. */
  readonly reason: string
}

export interface Comparison {
  readonly countyCount: number
  /** Recipients that were counted, over all counties and sources. */
  readonly recipientCount: number
  readonly mismatches: readonly Mismatch[]
}

/** Compares the answers for each county with brute force; with `list`, the recipients as well. */
export async function checkCounties(options: {
  readonly rows: Rows
  readonly ask: Ask
  readonly counties: readonly County[]
  readonly list: boolean
  readonly onMismatch?: (mismatch: Mismatch) => void
}): Promise<Comparison> {
  const { rows, ask, counties, list, onMismatch } = options
  const grid = sortIntoCells(rows)
  const mismatches: Mismatch[] = []
  let recipientCount = 0
  for (const county of counties) {
    const { geometry } = county
    // Rings that have shrunk to a point or an edge are sent, and held against, as they are.
    const isRefused = withoutDegenerateRings(geometry) === undefined
    const inside = isRefused ? [] : rowsInside(prepare(polygonsOf(geometry)), rows, grid)
    recipientCount += inside.length
    const reasons: string[] = []
    for (const countsOnly of list ? [true, false] : [true]) {
      const answer = await ask(geometry, countsOnly, county)
      if (isRefused) reasons.push(...compareRefusal(answer))
      else reasons.push(...compareAnswer(rows, inside, answer, countsOnly))
    }
    for (const reason of reasons) {
      const mismatch = { county, reason }
      mismatches.push(mismatch)
      onMismatch?.(mismatch)
    }
  }
  return { countyCount: counties.length, recipientCount, mismatches }
}

/** Reads `number`, `lat` and `lng` of a CSV file with a header, gzipped or not. */
export async function readRows(paths: readonly string[]): Promise<Rows> {
  const files = paths.map((path) => /^(?:([0-9]+)=)?(.*)$/s.exec(path) ?? [])
  const withIds = files.filter(([, id]) => id !== undefined).length
  if (withIds !== 0 && withIds !== files.length) throw new Error('give all --csv an ID, or none')
  const phones: string[] = []
  const lngs: number[] = []
  const lats: number[] = []
  const sourceIds: number[] = []
  for (const [, id, path] of files)
    for await (const [phone, lat, lng] of csvRows(path)) {
      phones.push(phone)
      lngs.push(parseUnits(lng))
      lats.push(parseUnits(lat))
      if (id !== undefined) sourceIds.push(Number(id))
    }
  return { phones, lngs, lats, sourceIds: withIds === 0 ? undefined : sourceIds }
}

/** What has no ring of three different points is refused, since it holds nothing. */
function compareRefusal(answer: Answer): string[] {
  if ('refused' in answer && answer.refused === 'DegenerateRing') return []
  return ['has no ring of three different points, but is not refused for it']
}

function compareAnswer(
  rows: Rows,
  inside: readonly number[],
  answer: Answer,
  countsOnly: boolean,
): string[] {
  if ('refused' in answer) return [`is refused: ${answer.refused}`]
  const reasons = compareCounts(rows, inside, answer.records)
  return countsOnly ? reasons : [...reasons, ...compareLists(rows, inside, answer.records)]
}

function compareCounts(
  { sourceIds }: Rows,
  inside: readonly number[],
  records: readonly SourceRecord[],
): string[] {
  if (sourceIds === undefined) {
    const actual = records.reduce((sum, { Count }) => sum + Count, 0)
    return actual === inside.length ? [] : [`expected ${inside.length}, counted ${actual}`]
  }
  const expected = new Map<number, number>()
  for (const row of inside) expected.set(sourceIds[row], (expected.get(sourceIds[row]) ?? 0) + 1)
  const actual = new Map<number, number>()
  for (const record of records)
    actual.set(record.SourceId, (actual.get(record.SourceId) ?? 0) + record.Count)
  return [...new Set([...expected.keys(), ...actual.keys()])]
    .filter((id) => (expected.get(id) ?? 0) !== (actual.get(id) ?? 0))
    .map((id) => `source ${id}: expected ${expected.get(id) ?? 0}, counted ${actual.get(id) ?? 0}`)
}

/** Compares the recipients as a multiset of source, phone and position. */
function compareLists(
  { phones, lngs, lats, sourceIds }: Rows,
  inside: readonly number[],
  records: readonly SourceRecord[],
): string[] {
  const reasons: string[] = []
  const missing = new Map<string, number>()
  for (const row of inside) {
    // The quotient is the double nearest to the decimal, which is what parsing JSON gives, too.
    const position = `${lats[row] / 1e7} ${lngs[row] / 1e7}`
    const key = `${sourceIds?.[row] ?? ''} ${position} ${phones[row]}`
    missing.set(key, (missing.get(key) ?? 0) + 1)
  }
  let listedCount = 0
  let unexpectedCount = 0
  for (const { SourceId, Count, Recipients = [] } of records) {
    if (Recipients.length !== Count)
      reasons.push(`source ${SourceId}: ${Recipients.length} listed with a count of ${Count}`)
    for (const { Number: phone, LatLng } of Recipients) {
      const id = sourceIds === undefined ? '' : SourceId
      const key = `${id} ${LatLng.Lat} ${LatLng.Lng} ${phone}`
      const left = missing.get(key) ?? 0
      listedCount += 1
      if (left === 0) unexpectedCount += 1
      else missing.set(key, left - 1)
    }
  }
  const missingCount = inside.length - (listedCount - unexpectedCount)
  if (missingCount > 0 || unexpectedCount > 0)
    reasons.push(`of the list, ${missingCount} missing and ${unexpectedCount} unexpected`)
  return reasons
}

/** Fields number, lat and lng of each row; fields may be quoted but hold no line ends. */
async function* csvRows(path: string): AsyncGenerator<[phone: string, lat: string, lng: string]> {
  const file = createReadStream(path)
  const input = path.endsWith('.gz') ? file.pipe(createGunzip()) : file
  file.on('error', (error) => input.destroy(error))
  let columns: number[] | undefined
  for await (const line of createInterface({ input, crlfDelay: Infinity })) {
    const fields = line.includes('"') ? splitQuoted(line) : line.split(',')
    if (columns === undefined) {
      columns = ['number', 'lat', 'lng'].map((name) => fields.indexOf(name))
      if (columns.includes(-1)) throw new Error(`${path} has no columns number, lat and lng`)
    } else if (line !== '') {
      const [phone, lat, lng] = columns
      yield [fields[phone], fields[lat], fields[lng]]
    }
  }
}

function splitQuoted(line: string): string[] {
  const fields = line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)
  return Array.from(fields, ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain)
}

/** Whole units of 1e-7 degree, by moving the decimal point in the text: nothing is rounded. */
function parseUnits(degrees: string): number {
  const parts = /^([+-]?)([0-9]{1,3})(?:\.([0-9]{0,7})0*)?$/.exec(degrees)
  if (parts === null) throw new Error('a coordinate is not a decimal of 7 places at most')
  const [, sign, whole, fraction = ''] = parts
  const units = Number(whole + fraction.padEnd(7, '0'))
  return sign === '-' ? -units : units
}

/** Asks a running service at `url`. */
export function askService(url: string): Ask {
  return async (geometry, countsOnly) => {
    const features = [{ type: 'Feature', geometry, properties: {} }]
    const response = await fetch(new URL('/api/recipients', url), {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ countsOnly, geoJSON: { type: 'FeatureCollection', features } }),
    })
    const body = (await response.json()) as {
      readonly SourceRecords: readonly SourceRecord[]
      readonly ResponseStatus?: { readonly ErrorCode: string }
    }
    if (response.ok) return { records: body.SourceRecords }
    if (response.status === 400) return { refused: body.ResponseStatus?.ErrorCode ?? 'unknown' }
    throw new Error(`the service answered ${response.status}`)
  }
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      csv: { type: 'string', multiple: true },
      url: { type: 'string' },
      limit: { type: 'string' },
      list: { type: 'boolean', default: false },
    },
  })
  if (values.csv === undefined || values.url === undefined)
    throw new Error('usage: counties.js --csv [ID=]FILE … --url URL [--limit N] [--list]')
  const startedMs = performance.now()
  const { countyCount, recipientCount, mismatches } = await checkCounties({
    rows: await readRows(values.csv),
    ask: askService(values.url),
    counties: loadCounties().slice(
      0,
      values.limit === undefined ? undefined : Number(values.limit),
    ),
    list: values.list,
    onMismatch: ({ county, reason }) =>
      void process.stdout.write(`${county.id} ${county.name}: ${reason}\n`),
  })
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
  process.stdout.write(
    `${countyCount} counties, ${recipientCount} recipients compared, ` +
      `${mismatches.length} mismatches, ${seconds} s\n`,
  )
  return mismatches.length === 0 ? 0 : 1
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) process.exitCode = await main()
