/**
 * CSV of every operation, read back by a database and by a library, and NDJSON by a database: the
 * same values as the JSON.
 *
 * @module
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { parse } from 'csv-parse/sync'
import t, { type Test } from 'tap'
import { temporaryDirectory } from '../support/service/hickory.js'
import { CONTEXT_ID, SQUARE, serveWireWorld } from './wire-world.js'

const { url } = await serveWireWorld(t)
const directory = temporaryDirectory(t)
const database = await (await DuckDBInstance.create()).connect()

type Json = Record<string, unknown>
type Table = readonly (readonly string[])[]

const square = { geoJSON: { type: 'Polygon', coordinates: [SQUARE] } }

const cases: readonly {
  readonly name: string
  readonly path: string
  readonly body?: object
  /** The table that the JSON answer stands for, with its header. */
  readonly table: (json: Json) => Table
}[] = [
  {
    name: 'configuration',
    path: '/api/configuration',
    table: ({ Basemaps }) => tableOf(['Title', 'Url', 'ThumbnailUrl'], Basemaps as Json[]),
  },
  {
    name: 'contexts',
    path: '/api/contexts',
    table: ({ Results }) => tableOf(['Id', 'ContextName', 'AreaCount'], Results as Json[]),
  },
  {
    name: 'counts',
    path: '/api/recipients',
    body: { ...square, countsOnly: true },
    table: ({ SourceRecords }) =>
      tableOf(['SourceId', 'Label', 'Count', 'Status'], SourceRecords as Json[]),
  },
  {
    name: 'recipients',
    path: '/api/recipients',
    body: square,
    table: ({ SourceRecords }) =>
      tableOf(
        ['SourceId', 'Label', 'Number', 'Lat', 'Lng'],
        (SourceRecords as Json[]).flatMap(flat),
      ),
  },
]

for (const { name, path, body, table } of cases) {
  t.test(`${name} in CSV are what they are in JSON`, async (t) => {
    const json = (await (await ask(path, body)).json()) as Json
    const csv = await (await ask(`${path}.csv`, body)).text()
    await compare(t, csv, table(json))
  })
}

t.test('nested cells of a context hold the same names and values', async (t) => {
  const path = `/api/contexts/${CONTEXT_ID}`
  const { Areas } = (await (await ask(path)).json()) as { Areas: Json[] }
  const csv = await (await ask(`${path}.csv`)).text()
  const [header, ...rows] = parse(csv) as string[][]
  t.equal(rows.length, Areas.length)
  for (const [at, area] of Areas.entries()) {
    for (const [column, name] of header.entries()) {
      t.equal(rows[at][column], cellOf(area[name]), `${name} of area ${at}`)
    }
  }
  await compare(t, csv, tableOf(header, Areas))
})

t.test('an outline is a row, its geometries nested', async (t) => {
  const { Outlines, ...about } = (await (await ask('/api/outline', square)).json()) as Json
  const outlines = (Outlines as Json[]).map((outline) => ({ ...outline, ...about }))
  const csv = await (await ask('/api/outline.csv', square)).text()
  const [header] = parse(csv) as string[][]
  await compare(t, csv, tableOf(header, outlines))
})

t.test('recipients by source are nested in a cell', async (t) => {
  const { SourceRecords } = (await (await ask('/api/recipients', square)).json()) as {
    SourceRecords: Json[]
  }
  const csv = await (await ask('/api/recipients.csv?layout=sources', square)).text()
  const columns = ['SourceId', 'Label', 'Count', 'Status', 'Recipients']
  await compare(t, csv, tableOf(columns, SourceRecords))
})

t.test('NDJSON of lists and counts is what it is in JSON', async (t) => {
  for (const [body, rowsOf] of [
    [
      square,
      ({ SourceId, Recipients }: Json) =>
        (Recipients as Json[]).map((recipient) => ({ SourceId, ...recipient })),
    ],
    [{ ...square, countsOnly: true }, (record: Json) => [record]],
  ] as const) {
    const { SourceRecords } = (await (await ask('/api/recipients', body)).json()) as Json
    const lines = await (await ask('/api/recipients?format=ndjson', body)).text()
    const expected = (SourceRecords as Json[]).flatMap<Json>(rowsOf)
    t.same(
      lines
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line)),
      expected,
    )
    const file = join(directory, 'lines.ndjson')
    writeFileSync(file, lines)
    const reader = await database.runAndReadAll(
      `select to_json(each) as json from read_json('${file}', format = 'newline_delimited') as each`,
    )
    const rows = reader.getRowObjectsJson().map(({ json }) => JSON.parse(String(json)))
    t.same(rows, expected, 'by a database')
  }
})

function ask(path: string, body?: object): Promise<Response> {
  if (body === undefined) return fetch(url + path)
  return fetch(url + path, { method: 'POST', body: JSON.stringify(body) })
}

async function compare(t: Test, csv: string, expected: Table): Promise<void> {
  t.ok(csv.endsWith('\r\n'))
  t.same(parse(csv), expected, 'by a library')
  const file = join(directory, 'table.csv')
  writeFileSync(file, csv)
  const reader = await database.runAndReadAll(
    `from read_csv('${file}', header = true, all_varchar = true, auto_detect = false, ` +
      `delim = ',', quote = '"', escape = '"', new_line = '\\r\\n', ` +
      `columns = {${expected[0].map((name) => `'${name}': 'VARCHAR'`).join(', ')}})`,
  )
  const rows = reader.getRowsJson().map((row) => row.map((value) => value ?? ''))
  t.same(rows, expected.slice(1), 'by a database')
}

function tableOf(columns: readonly string[], rows: readonly Json[]): Table {
  return [[...columns], ...rows.map((row) => columns.map((name) => cellOf(row[name])))]
}

function flat({ SourceId, Label, Recipients }: Json): Json[] {
  return (Recipients as { Number: string; LatLng: Json }[]).map(({ Number: phone, LatLng }) => ({
    SourceId,
    Label,
    Number: new NotAFormula(phone),
    ...LatLng,
  }))
}

/** Text that is left as it is, whatever it begins with. */
class NotAFormula {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

function cellOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (value instanceof NotAFormula) return value.text
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value === 'object') return jsv(value)
  return typeof value === 'string' && /^[=+\-@]/.test(value) ? `'${value}` : String(value)
}

/** JSV by its description, for the values of this test. */
function jsv(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(jsv).join(',')}]`
  if (typeof value === 'object' && value !== null) {
    return `{${Object.entries(value)
      .map(([name, member]) => `${name}:${jsv(member)}`)
      .join(',')}}`
  }
  const text = typeof value === 'boolean' ? (value ? 'True' : 'False') : String(value)
  return text === '' || /[",:{}[\]\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
