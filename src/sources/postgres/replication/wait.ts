/**
 * A statement that may wait for others on the server for hours: a slot is made when each transaction that was open
 * before has ended. It says who is waited for, and is given up when a signal says so.
 *
 * @module
 */
import type { Client, QueryResult, QueryResultRow } from 'pg'
import { limits } from '../../../limits.js'
import { connect } from '../session.js'
import type { DatabaseAddress } from '../url.js'

export interface Waiting {
  /** Gives it up. */
  readonly signal: AbortSignal
  /** Called now and then while it waits. */
  onWait(blockers: readonly Blocker[]): void
}

interface Blocker {
  /** Of its session; 0 for a prepared transaction. */
  readonly pid: number
  /** When its transaction began; null where this user may not see it. */
  readonly since: string | null
}

/** @param client  of a connection that replicates, which takes no parameters */
export async function queryPatiently<Row extends QueryResultRow>(
  client: Client,
  address: DatabaseAddress,
  text: string,
  { signal, onWait }: Waiting,
): Promise<QueryResult<Row>> {
  const { rows } = await client.query('SELECT pg_backend_pid() AS pid')
  const beside = besideOf(address, rows[0].pid)
  const tell = () => void beside(blockersOf).then(onWait, () => undefined)
  const cancel = () => void beside(cancelled).catch(() => client.connection.stream.destroy())
  const firstTelling = setTimeout(tell, limits.followWaitToldMs)
  const telling = setInterval(tell, limits.followRetryMaxMs)
  signal.addEventListener('abort', cancel)
  try {
    // If this process is killed, the server notices it when it has waited that long, and not before.
    for (let lockMs: number = limits.followRetryMaxMs; ; lockMs *= 2) {
      signal.throwIfAborted()
      await client.query(`SET lock_timeout = ${lockMs}`)
      try {
        return await client.query<Row>(text)
      } catch (error) {
        if ((error as { code?: string }).code !== LOCK_TIMEOUT) throw error
      }
    }
  } finally {
    clearTimeout(firstTelling)
    clearInterval(telling)
    signal.removeEventListener('abort', cancel)
  }
}

const LOCK_TIMEOUT = '55P03'

type Beside = <Result>(use: (client: Client, pid: number) => Promise<Result>) => Promise<Result>

/** By another connection, since the one with this process is busy. */
function besideOf(address: DatabaseAddress, pid: number): Beside {
  return async (use) => {
    const client = await connect(address, { connectMs: limits.databaseConnectMs })
    try {
      return await use(client, pid)
    } finally {
      client.connection.stream.destroy()
    }
  }
}

async function blockersOf(client: Client, pid: number): Promise<readonly Blocker[]> {
  const { rows } = await client.query<Blocker>(
    `SELECT b.pid, to_char(a.xact_start AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS since
     FROM unnest(pg_blocking_pids($1)) AS b(pid) LEFT JOIN pg_catalog.pg_stat_activity a USING (pid)`,
    [pid],
  )
  return rows
}

async function cancelled(client: Client, pid: number): Promise<void> {
  await client.query('SELECT pg_cancel_backend($1)', [pid])
}
