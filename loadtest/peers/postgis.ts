/**
 * PostGIS as a peer: the same recipients in a table with a GiST index, asked by prepared
 * statements over one connection.
 *
 * What is timed is what a client of the database sees: the statement, the trip there and back, and
 * the answer. Statements run in one process of the server, as the engine runs in one thread.
 *
 * @module
 */
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { UNITS_PER_DEGREE } from '../../src/geometry/units.js'
import type { RecipientColumns } from '../../src/shard/columns.js'
import type { Shard } from '../../src/shard/layout.js'
import { POINT_BYTES, putPoint } from './ewkb.js'

/** Recipients in the database. */
export interface PostgisTable {
  readonly name: string
  /** Time to copy, to index and to vacuum; undefined if they were there from before. */
  readonly loadedMs: number | undefined
}

export class Postgis {
  readonly #client: pg.Client
  readonly version: string

  private constructor(client: pg.Client, version: string) {
    this.#client = client
    this.version = version
  }

  /** Connects to what PGHOST, PGPORT, PGUSER and PGDATABASE say. */
  static async connect(): Promise<Postgis> {
    const client = new pg.Client()
    await client.connect()
    await client.query('CREATE EXTENSION IF NOT EXISTS postgis')
    // Compiling a plan costs more than these statements, and workers would be further cores.
    await client.query('SET jit = off')
    await client.query('SET max_parallel_workers_per_gather = 0')
    const { rows } = await client.query<{ server: string; postgis: string }>(
      `SELECT current_setting('server_version') AS server, postgis_lib_version() AS postgis`,
    )
    return new Postgis(client, `PostGIS ${rows[0].postgis}, PostgreSQL ${rows[0].server}`)
  }

  async close(): Promise<void> {
    await this.#client.end()
  }

  /**
   * Loads recipients in the order given, unless they are there from a run before.
   *
   * @param positions  longitudes and latitudes in units, alternately; see `importOrder` and
   *   `clusteredOrder`
   */
  async load(positions: readonly Int32Array[]): Promise<PostgisTable> {
    const startedMs = performance.now()
    const recipientCount = positions.reduce((sum, { length }) => sum + length / 2, 0)
    const name = `${SCHEMA}.recipients_${recipientCount}_${fingerprint(positions)}`
    const { rows } = await this.#client.query('SELECT to_regclass($1) AS found', [name])
    if (rows[0].found !== null) {
      await this.#warm(name)
      return { name, loadedMs: undefined }
    }
    const loading = `${SCHEMA}.loading`
    await this.#client.query(`CREATE SCHEMA IF NOT EXISTS ${SCHEMA}`)
    await this.#client.query(`DROP TABLE IF EXISTS ${loading}`)
    await this.#client.query(
      `CREATE UNLOGGED TABLE ${loading} (id integer, position geometry(Point, 4326))`,
    )
    const copy = copyFrom(`COPY ${loading} FROM STDIN (FORMAT binary)`)
    await pipeline(Readable.from(binaryRows(positions)), this.#client.query(copy))
    await this.#client.query(`CREATE INDEX ON ${loading} USING gist (position)`)
    await this.#client.query(`VACUUM (ANALYZE, FREEZE) ${loading}`)
    // Last, so that what was broken off is not taken for whole.
    await this.#client.query(`ALTER TABLE ${loading} RENAME TO ${name.slice(SCHEMA.length + 1)}`)
    await this.#warm(name)
    return { name, loadedMs: performance.now() - startedMs }
  }

  /** Prepares for `countWithin`, for which the index of `load` is of no use. */
  async indexForDistances({ name }: PostgisTable): Promise<void> {
    const index = `${name.slice(SCHEMA.length + 1)}_geography`
    await this.#client.query(
      `CREATE INDEX IF NOT EXISTS ${index} ON ${name} USING gist ((position::geography))`,
    )
    await this.#client.query(`VACUUM ANALYZE ${name}`)
  }

  /** Counts who is in a polygon, or on its boundary. */
  countCovered({ name }: PostgisTable, hexEwkb: string): Promise<number> {
    return this.#count(
      `covered ${name}`,
      `SELECT count(*)::integer FROM ${name} WHERE ST_Covers($1::geometry, position)`,
      [hexEwkb],
    )
  }

  /** Counts who is within a distance of a point or of a line of great circles. */
  countWithin({ name }: PostgisTable, hexEwkb: string, metres: number): Promise<number> {
    return this.#count(
      `within ${name}`,
      `SELECT count(*)::integer FROM ${name}
       WHERE ST_DWithin(position::geography, $1::geography, $2, false)`,
      [hexEwkb, (metres * POSTGIS_RADIUS_METRES) / RADIUS_METRES],
    )
  }

  async isValid(hexEwkb: string): Promise<boolean> {
    const text = 'SELECT ST_IsValid($1::geometry) AS valid'
    const { rows } = await this.#client.query({ name: 'valid', text, values: [hexEwkb] })
    return rows[0].valid
  }

  async #count(name: string, text: string, values: unknown[]): Promise<number> {
    const { rows } = await this.#client.query({ name, text, values })
    return rows[0].count
  }

  /** Reads table and index once, so that no statement is the first to want a page. */
  async #warm(name: string): Promise<void> {
    await this.#client.query('CREATE EXTENSION IF NOT EXISTS pg_prewarm')
    await this.#client.query(
      `SELECT pg_prewarm(oid) FROM pg_class
       WHERE oid = $1::regclass
          OR oid IN (SELECT indexrelid FROM pg_index WHERE indrelid = $1::regclass)`,
      [name],
    )
  }
}

/** As rows of a table lie that was loaded as the recipients came. */
export function importOrder({ lngs, lats }: RecipientColumns): Int32Array[] {
  const positions = new Int32Array(2 * lngs.length)
  for (let row = 0; row < lngs.length; row++) {
    positions[2 * row] = lngs[row]
    positions[2 * row + 1] = lats[row]
  }
  return [positions]
}

/** With neighbours side by side, as rows lie after a CLUSTER. */
export function clusteredOrder(shards: readonly Shard[]): Int32Array[] {
  return shards.map(({ coords }) => coords)
}

const SCHEMA = 'hickory_bench'

/** Spheres differ: ours, and the mean of the WGS 84 ellipsoid that PostGIS takes. */
const RADIUS_METRES = 6_371_000
const POSTGIS_RADIUS_METRES = (2 * 6_378_137 + 6_356_752.314245179) / 3

/** Tells recipients apart that have the same count: FNV-1a over their coordinates. */
function fingerprint(positions: readonly Int32Array[]): string {
  let hash = 0x811c9dc5
  for (const coords of positions) {
    for (let i = 0; i < coords.length; i++) hash = Math.imul(hash ^ coords[i], 0x01000193)
  }
  return (hash >>> 0).toString(16)
}

const HEADER = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1')
const TRAILER = Buffer.from([0xff, 0xff])
const ROW_BYTES = 2 + 4 + 4 + 4 + POINT_BYTES
const ROWS_PER_CHUNK = 8_192

/** What COPY reads; see "Binary Format" in PostgreSQL's manual. */
function* binaryRows(positions: readonly Int32Array[]): Generator<Buffer> {
  yield HEADER
  let id = 0
  for (const coords of positions) {
    const recipientCount = coords.length / 2
    for (let start = 0; start < recipientCount; start += ROWS_PER_CHUNK) {
      const end = Math.min(recipientCount, start + ROWS_PER_CHUNK)
      const bytes = Buffer.alloc(ROW_BYTES * (end - start))
      let at = 0
      for (let index = start; index < end; index++) {
        at = bytes.writeInt16BE(2, at)
        at = bytes.writeInt32BE(4, at)
        at = bytes.writeInt32BE(id++, at)
        at = bytes.writeInt32BE(POINT_BYTES, at)
        // The quotient is the double nearest to the decimal, which is what parsing it would give.
        const lng = coords[2 * index] / UNITS_PER_DEGREE
        putPoint(bytes, at, lng, coords[2 * index + 1] / UNITS_PER_DEGREE)
        at += POINT_BYTES
      }
      yield bytes
    }
  }
  yield TRAILER
}
