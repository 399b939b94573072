/**
 * The same rows written in every format that an import reads, by DuckDB where it can.
 *
 * @module
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'

/** Null where there is nothing. */
export interface WrittenRow {
  readonly number: string | null
  readonly lat: number | null
  readonly lng: number | null
  readonly contact: string | null
}

/** Writes the files and returns their names. */
export async function writeEveryFormat(
  directory: string,
  rows: readonly WrittenRow[],
): Promise<string[]> {
  const plain = {
    'rows.csv': `number,lat,lng,contact\n${rows.map(csvLine).join('')}`,
    'rows.ndjson': rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
    'lines.geojson': rows.map((row) => `${JSON.stringify(feature(row))}\n`).join(''),
    'sequence.geojson': rows.map((row) => `\x1e${JSON.stringify(feature(row))}\n`).join(''),
    'dense.geojson': `{"type":"FeatureCollection","features":${JSON.stringify(rows.map(feature))}}`,
    'indented.geojson': JSON.stringify(
      { bbox: [1, 2, 3, 4], features: rows.map(feature), type: 'FeatureCollection' },
      undefined,
      2,
    ),
  }
  const names: string[] = []
  const put = (name: string, content: string | Uint8Array) => {
    writeFileSync(join(directory, name), content)
    names.push(name)
  }
  for (const [name, text] of Object.entries(plain)) {
    put(name, text)
    put(`${name}.gz`, gzipSync(text))
    put(`${name}.zst`, await zstdOf(directory, text))
  }
  // As pzstd writes: a frame to be skipped comes first.
  const frame = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 1, 2, 3, 4])
  put('rows.csv.p.zst', Buffer.concat([frame, await zstdOf(directory, plain['rows.csv'])]))
  await runSql(
    `COPY (SELECT number, lat::DOUBLE AS lat, lng::DOUBLE AS lng, contact
      FROM read_json('${join(directory, 'rows.ndjson')}', format = 'newline_delimited',
        columns = {number: 'VARCHAR', lat: 'DOUBLE', lng: 'DOUBLE', contact: 'VARCHAR'}))
      TO '${join(directory, 'rows.parquet')}' (FORMAT parquet, COMPRESSION zstd)`,
  )
  return [...names, 'rows.parquet']
}

export async function runSql(statement: string): Promise<void> {
  database ??= DuckDBInstance.create(':memory:').then((instance) => instance.connect())
  await (await database).run(statement)
}

/** One for all statements of a process. */
let database: Promise<DuckDBConnection> | undefined

/** Packed by DuckDB, as the one line of a CSV file that is nothing but its header. */
export async function zstdOf(directory: string, text: string): Promise<Uint8Array> {
  const path = join(directory, 'packed.zst')
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  const source = join(directory, 'lines.json')
  writeFileSync(source, lines.map((line) => JSON.stringify({ line })).join('\n'))
  await runSql(
    `COPY (SELECT line FROM read_json('${source}', format = 'newline_delimited',
        columns = {line: 'VARCHAR'}))
      TO '${path}' (FORMAT csv, HEADER false, QUOTE '', ESCAPE '', DELIMITER '\x02', COMPRESSION zstd)`,
  )
  return readFileSync(path)
}

function csvLine({ number, lat, lng, contact }: WrittenRow): string {
  const field = (value: string | number | null) =>
    value === null ? '' : `"${String(value).replaceAll('"', '""')}"`
  return `${[number, lat, lng, contact].map(field).join(',')}\n`
}

function feature({ number, lat, lng, contact }: WrittenRow): object {
  const geometry = { type: 'Point', coordinates: [lng, lat] }
  return { type: 'Feature', properties: { number, contact }, geometry }
}
