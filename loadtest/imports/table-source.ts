/**
 * The same recipients as a table of a PostgreSQL server.
 *
 * @module
 */
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'

export interface TableSource {
  /** What `hickory import` is given instead of a file. */
  readonly args: readonly string[]
  readonly version: string
  remove(): Promise<void>
}

const TABLE = 'hickory_bench_import'

/** Copies a CSV file into a table of the server that PGHOST and its like name. */
export async function createTableSource(
  csvPath: string,
  signal: AbortSignal,
): Promise<TableSource> {
  const { PGHOST: host, PGPORT: port = '5432', PGUSER: user, PGDATABASE: database } = process.env
  if (host === undefined || user === undefined || database === undefined) {
    throw new Error('--postgres needs a server: eval "$(npm run --silent postgis:start)"')
  }
  const version = await withClient(async (client) => {
    await client.query(`DROP TABLE IF EXISTS ${TABLE}`)
    await client.query(
      `CREATE UNLOGGED TABLE ${TABLE} (number text, lat float8, lng float8, contact text)`,
    )
    const copy = client.query(copyFrom(`COPY ${TABLE} FROM STDIN (FORMAT csv, HEADER true)`))
    await pipeline(createReadStream(csvPath, { highWaterMark: 1 << 20 }), copy, { signal })
    await client.query(`VACUUM (ANALYZE, FREEZE) ${TABLE}`)
    const { rows } = await client.query<{ server_version: string }>('SHOW server_version')
    return `PostgreSQL ${rows[0].server_version}`
  })
  const parameters = new URLSearchParams({ host, port, user })
  const url = `postgres:///${encodeURIComponent(database)}?${parameters}`
  return {
    args: ['--from', url, '--query', `SELECT number, lat, lng, contact FROM ${TABLE}`],
    version,
    remove: () =>
      withClient((client) => client.query(`DROP TABLE IF EXISTS ${TABLE}`)).then(() => {}),
  }
}

async function withClient<Result>(use: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client()
  await client.connect()
  try {
    return await use(client)
  } finally {
    await client.end()
  }
}
