/**
 * The publication and the slot through which the changes of a table are read.
 *
 * @module
 */
import type { Client } from 'pg'
import { OperatorError } from '../../../errors.js'
import { isSqlState } from '../faults.js'
import { type DatabaseAddress, shownUrl } from '../url.js'
import { parseLsn } from './lsn.js'
import type { FollowedTable } from './table.js'
import { queryPatiently, type Waiting } from './wait.js'

export interface ServerState {
  /** Of the cluster: another one, or one that was set up anew, has another one. */
  readonly systemId: string
  /** As the server counts: 170012 is 17.12. */
  readonly version: number
  /** Whether it replays the log of another one, and may be behind what it has sent. */
  readonly isStandby: boolean
  readonly slot: SlotState | undefined
}

interface SlotState {
  /** The server sends what was committed behind it. */
  readonly confirmedLsn: bigint
  readonly isActive: boolean
  /** Why the server has removed what was to be sent, in a word; undefined where it has not. */
  readonly lostBy: string | undefined
  /** Whether it is a copy of the slot of another server, to be used after a failover. */
  readonly isSynced: boolean
  /** Whether it is one for pgoutput, in this database. */
  readonly isOurs: boolean
}

/** What the server says where another process uses the slot. */
export const SLOT_IN_USE = '55006'

/**
 * @throws OperatorError  where the server sends no changes at all
 */
export async function readServer(
  client: Client,
  address: DatabaseAddress,
  slot: string,
): Promise<ServerState> {
  const { rows: settings } = await client.query<{
    version: number
    level: string
    encoding: string
    system: string
    standby: boolean
  }>(
    `SELECT current_setting('server_version_num')::integer AS version,
       current_setting('wal_level') AS level, current_setting('server_encoding') AS encoding,
       (SELECT system_identifier::text FROM pg_control_system()) AS system,
       pg_is_in_recovery() AS standby`,
  )
  const { version, level, encoding, system, standby } = settings[0]
  // Before 12 a slot cannot be copied.
  if (version < 120_000) {
    throw refusal(
      address,
      `the server is PostgreSQL ${Math.floor(version / 10_000)}, and 12 is needed, or a later one`,
    )
  }
  if (level !== 'logical') {
    throw refusal(
      address,
      `wal_level is ${level}, and changes can only be read with wal_level = logical: set it in postgresql.conf and restart the server`,
    )
  }
  if (encoding === 'SQL_ASCII') {
    throw refusal(address, 'the database has no encoding (SQL_ASCII), and cannot be followed')
  }
  const { rows } = await client.query<{
    confirmed: string | null
    active: boolean
    status: string | null
    reason: string | null
    synced: string | null
    ours: boolean | null
  }>(
    `SELECT confirmed_flush_lsn::text AS confirmed, active, to_jsonb(s)->>'wal_status' AS status,
       to_jsonb(s)->>'invalidation_reason' AS reason, to_jsonb(s)->>'synced' AS synced,
       plugin = 'pgoutput' AND database = current_database() AS ours
     FROM pg_catalog.pg_replication_slots s WHERE slot_name = $1`,
    [slot],
  )
  const found = { systemId: system, version, isStandby: standby }
  const [row] = rows
  if (row === undefined) return { ...found, slot: undefined }
  const { confirmed, active, status, reason, synced, ours } = row
  const state = {
    confirmedLsn: parseLsn(confirmed ?? '0/0'),
    isActive: active,
    lostBy: reason ?? (status === 'lost' ? 'wal_removed' : undefined),
    isSynced: synced === 'true',
    isOurs: ours === true,
  }
  return { ...found, slot: state }
}

/**
 * Whether the publication is there.
 *
 * @throws OperatorError  where it is another one than is needed
 */
export async function checkPublication(
  client: Client,
  address: DatabaseAddress,
  publication: string,
  table: FollowedTable,
): Promise<boolean> {
  const { rows } = await client.query<{
    all: boolean
    listed: boolean
    filter: string | null
  }>(
    `SELECT p.pubinsert AND p.pubupdate AND p.pubdelete AND p.pubtruncate AS all, t.pubname IS NOT NULL AS listed,
       to_jsonb(t)->>'rowfilter' AS filter
     FROM pg_catalog.pg_publication p LEFT JOIN (
       SELECT t.* FROM pg_catalog.pg_publication_tables t
       JOIN pg_catalog.pg_namespace n ON n.nspname = t.schemaname
       JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = t.tablename
       WHERE c.oid = $2
     ) t USING (pubname)
     WHERE p.pubname = $1`,
    [publication, table.oid],
  )
  const [row] = rows
  if (row === undefined) return false
  const said = `the publication "${publication}"`
  if (!row.listed) {
    throw refusal(
      address,
      `${said} does not have ${table.name}, so that changes are missing: ALTER PUBLICATION "${publication}" ADD TABLE ${table.name}, and start again with --initial-copy`,
    )
  }
  if (!row.all) {
    throw refusal(
      address,
      `${said} leaves changes out: ALTER PUBLICATION "${publication}" SET (publish = 'insert, update, delete, truncate'), and start again with --initial-copy`,
    )
  }
  if (row.filter !== null) {
    throw refusal(address, `${said} leaves rows of ${table.name} out: it must have no WHERE`)
  }
  return true
}

/** @throws OperatorError */
export async function createPublication(
  client: Client,
  address: DatabaseAddress,
  publication: string,
  table: FollowedTable,
  waiting: Waiting,
): Promise<void> {
  const name = client.escapeIdentifier(publication)
  const text = `CREATE PUBLICATION ${name} FOR TABLE ${table.name}`
  await queryPatiently(client, address, text, waiting).catch((error) => {
    throw serverRefusal(error, address, `it has to be made by somebody who may: ${text}`)
  })
}

/** A slot that was just made, and goes with the connection, however that ends. */
interface NewSlot {
  readonly name: string
  /** What was committed behind it comes by the slot. */
  readonly sinceLsn: bigint
  /** What was committed before it is seen by a transaction with this snapshot, until the connection is used again. */
  readonly snapshotName: string
}

/**
 * @param client  of a connection that replicates
 * @throws OperatorError
 */
export async function createSlot(
  client: Client,
  address: DatabaseAddress,
  waiting: Waiting,
): Promise<NewSlot> {
  const { rows: sessions } = await client.query<{ pid: number; free: number }>(
    `SELECT pg_backend_pid() AS pid, current_setting('max_replication_slots')::integer -
       (SELECT count(*)::integer FROM pg_catalog.pg_replication_slots) AS free`,
  )
  const { pid, free } = sessions[0]
  if (free < 2) {
    throw refusal(
      address,
      `${free} replication slots are free, and a copy takes 2: raise max_replication_slots, or drop slots`,
    )
  }
  const name = `hickory_copy_${pid}`
  const text = `CREATE_REPLICATION_SLOT ${name} TEMPORARY LOGICAL pgoutput EXPORT_SNAPSHOT`
  type Row = { consistent_point: string; snapshot_name: string }
  const { rows } = await queryPatiently<Row>(client, address, text, waiting).catch((error) => {
    throw serverRefusal(error, address, 'a role with REPLICATION and a free slot are needed')
  })
  const { consistent_point, snapshot_name } = rows[0]
  return { name, sinceLsn: parseLsn(consistent_point), snapshotName: snapshot_name }
}

/**
 * Makes a slot that stays, and sends the same.
 *
 * @param client  of the connection that has the other one
 * @param isForStandbys  whether standbys get it, too, if they are set up for that
 * @throws OperatorError
 */
export async function keepSlot(
  client: Client,
  address: DatabaseAddress,
  { name }: NewSlot,
  slot: string,
  isForStandbys: boolean,
): Promise<void> {
  const names = [name, slot].map((each) => client.escapeLiteral(each)).join(', ')
  try {
    await client.query(`SELECT pg_copy_logical_replication_slot(${names}, false)`)
    if (isForStandbys) {
      await client.query(`ALTER_REPLICATION_SLOT ${client.escapeIdentifier(slot)} (FAILOVER true)`)
    }
  } catch (error) {
    throw serverRefusal(error, address, `the slot "${slot}" could not be made`)
  }
}

/**
 * Drops it if it is there.
 *
 * @throws OperatorError
 */
export async function dropSlot(
  client: Client,
  address: DatabaseAddress,
  slot: string,
): Promise<void> {
  // A connection that replicates takes no parameters.
  const text = `SELECT pg_drop_replication_slot(slot_name) FROM pg_catalog.pg_replication_slots
    WHERE slot_name = ${client.escapeLiteral(slot)}`
  await client.query(text).catch((error) => {
    throw serverRefusal(error, address, `the slot "${slot}" has to go before it is made again`)
  })
}

/** The log that the server writes. */
interface ServerLog {
  readonly timeline: number
  /** Up to here it is on the server's disk. */
  readonly endLsn: bigint
}

/** @param client  of a connection that replicates */
export async function readLog(client: Client): Promise<ServerLog> {
  const { rows } = await client.query<{ timeline: number; xlogpos: string }>('IDENTIFY_SYSTEM')
  return { timeline: Number(rows[0].timeline), endLsn: parseLsn(rows[0].xlogpos) }
}

/** A place behind all that the server shows as committed. */
export async function committedLsn(client: Client): Promise<bigint> {
  const { rows } = await client.query<{ lsn: string }>(
    `SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_insert_lsn() END::text AS lsn`,
  )
  return parseLsn(rows[0].lsn)
}

/**
 * Where the log of a server left a timeline for the one that it has now.
 *
 * @param client  of a connection that replicates
 * @returns undefined where it does not come from there
 */
export async function switchOf(
  client: Client,
  from: number,
  to: number,
): Promise<bigint | undefined> {
  const { rows } = await client.query<{ content: Buffer | string }>(`TIMELINE_HISTORY ${to}`)
  for (const line of String(rows[0].content).split('\n')) {
    const [timeline, lsn] = line.trim().split(/\s+/)
    if (Number(timeline) === from && lsn !== undefined) return parseLsn(lsn)
  }
  return undefined
}

export function refusal(address: DatabaseAddress, text: string): OperatorError {
  return new OperatorError('InputRejected', `${shownUrl(address)}: ${text}`)
}

/** Words of the server about names and rights: no statement here has a value of a row. */
function serverRefusal(error: unknown, address: DatabaseAddress, advice: string): OperatorError {
  const { code = '', message } = error as { code?: string; message: string }
  const said = isSqlState(code) ? `${message} (${code})` : 'the connection was lost'
  return refusal(address, `${said}: ${advice}`)
}
