/**
 * A connection to PostgreSQL for as long as a query is read: one transaction that changes nothing
 * and sees the database as it is at its beginning.
 *
 * @module
 */
import pg from 'pg'
import pgpass from 'pgpass'
import { OperatorError } from '../../errors.js'
import { connectText, databaseFault, isOfEnded, isSqlState, sessionFault } from './faults.js'
import { type Security, securitiesOf } from './tls.js'
import { type DatabaseAddress, type DatabaseServer, shownServer, shownUrl } from './url.js'

/** A connection. */
export type Session = pg.Client

export interface SessionTimes {
  /** To connect to a server and to be let in, where the address does not say it. */
  readonly connectMs: number
  /** Without a byte from the server, until it is given up. */
  readonly stallMs: number
}

const KEEP_ALIVE_DELAY_MS = 30_000

/**
 * Calls `use` within the transaction, and closes the connection whatever happens.
 *
 * @param snapshotName  as another session exported it: then the transaction sees what that one saw
 */
export async function withSession<Result>(
  address: DatabaseAddress,
  times: SessionTimes,
  use: (client: pg.Client) => Promise<Result>,
  snapshotName?: string,
): Promise<Result> {
  const client = await connect(address, times)
  const watch = watchStall(client, address, times.stallMs)
  let lost: Error | undefined
  client.once('error', (error) => {
    lost = error
  })
  try {
    await begin(client, address, snapshotName)
    const result = await use(client)
    await client.query('COMMIT')
    await client.end()
    return result
  } catch (error) {
    // It may still be sending: closing politely would read all of that first.
    client.connection.stream.destroy()
    throw watch.stalled() ?? told(error, lost, address)
  } finally {
    watch.stop()
  }
}

/** Whatever else fails while a session is used is no fault of the database. */
function told(error: unknown, lost: Error | undefined, address: DatabaseAddress): unknown {
  if (error instanceof pg.DatabaseError || error === lost) return sessionFault(error, address)
  // What ended the session says more than what was refused for want of one.
  return isOfEnded(error) ? sessionFault(lost ?? error, address) : error
}

/**
 * To the first server that answers and, if it must write, may.
 *
 * @param replicates  whether it is to send the log
 * @throws OperatorError  InputRejected
 */
export async function connect(
  address: DatabaseAddress,
  times: Pick<SessionTimes, 'connectMs'>,
  replicates = false,
): Promise<pg.Client> {
  const { servers, mustWrite } = address
  const texts: string[] = []
  let cause: unknown
  for (const server of servers) {
    try {
      const client = await connectTo(address, server, times, replicates)
      if (!mustWrite || (await mayWrite(client, times.connectMs))) return client
      client.connection.stream.destroy()
      texts.push(READS_ONLY)
      cause ??= new Error(READS_ONLY)
    } catch (error) {
      if (error instanceof OperatorError) throw error
      cause = error
      texts.push(connectText(error, server))
      // As with libpq, the refusal of a server that answers counts for all.
      if (isRefusal(error)) break
    }
  }
  const shown = texts.map((text, index) => `${shownServer(servers[index])}: ${text}`).join('; ')
  throw databaseFault(address, servers.length === 1 ? texts[0] : shown, cause)
}

function isRefusal(error: unknown): boolean {
  const { code = '' } = error as { code?: string }
  return isSqlState(code) && code !== '57P03'
}

async function mayWrite(client: pg.Client, timeoutMs: number): Promise<boolean> {
  const question = { text: 'SHOW transaction_read_only', query_timeout: timeoutMs }
  try {
    const { rows } = await client.query(question)
    return rows[0].transaction_read_only === 'off'
  } catch (error) {
    client.connection.stream.destroy()
    throw error
  }
}

const READS_ONLY = 'it only reads, and target_session_attrs is read-write'

/** By TLS or without, as its mode allows. */
async function connectTo(
  address: DatabaseAddress,
  server: DatabaseServer,
  times: Pick<SessionTimes, 'connectMs'>,
  replicates: boolean,
): Promise<pg.Client> {
  const securities = securitiesOf(address, server)
  for (const [index, security] of securities.entries()) {
    try {
      return await tryConnect(address, server, security, times, replicates)
    } catch (error) {
      const isLast = index === securities.length - 1
      if (isLast || !isWorthOtherSecurity(error, security)) throw error
    }
  }
  throw new Error('there is a way to connect')
}

async function tryConnect(
  address: DatabaseAddress,
  { host, port }: DatabaseServer,
  security: Security,
  times: Pick<SessionTimes, 'connectMs'>,
  replicates: boolean,
): Promise<pg.Client> {
  const { user, database, options, connectMs, applicationName } = address
  const usualName = replicates ? 'hickory follow' : 'hickory import'
  const config: pg.ClientConfig & { replication?: string } = {
    host,
    port,
    user,
    database,
    options: options ?? '',
    password: () => passwordOf(address, { host, port }),
    ssl: security,
    application_name: applicationName ?? usualName,
    ...(replicates ? { replication: 'database' } : {}),
    connectionTimeoutMillis: connectMs ?? times.connectMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS,
  }
  const client = new pg.Client(config)
  // The query reports a fault while it runs; the next query reports a fault between two of them.
  client.on('error', () => undefined)
  try {
    await client.connect()
    return client
  } catch (error) {
    client.connection.stream.destroy()
    throw error
  }
}

/** As libpq does for `prefer` and `allow`: when TLS itself fails, or the server wants the other. */
function isWorthOtherSecurity(error: unknown, security: Security): boolean {
  const { code = '', message } = error as { code?: string; message: string }
  if (code === '28000') return true
  if (security === false || isSqlState(code)) return false
  return /SSL/.test(message) || /SSL|TLS|CERT|EPROTO|ECONNRESET/.test(code)
}

async function passwordOf(address: DatabaseAddress, server: DatabaseServer): Promise<string> {
  const wanted = { ...server, user: address.user, database: address.database }
  const password = address.password ?? (await new Promise((resolve) => pgpass(wanted, resolve)))
  if (typeof password === 'string') return password
  throw new OperatorError(
    'InputRejected',
    `${shownUrl(address)}: the server asks for a password: give it in PGPASSWORD, ~/.pgpass or the URL`,
  )
}

/** A database without an encoding is asked for its bytes: one that is wrong would end the query. */
const ENCODING = `CASE current_setting('server_encoding')
  WHEN 'SQL_ASCII' THEN 'SQL_ASCII' ELSE 'UTF8' END`

async function begin(
  client: pg.Client,
  address: DatabaseAddress,
  snapshotName: string | undefined,
): Promise<void> {
  try {
    await client.query('BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY')
    if (snapshotName !== undefined) {
      await client.query(`SET TRANSACTION SNAPSHOT ${client.escapeLiteral(snapshotName)}`)
    }
    // Within the transaction, so that they hold behind a pooler, too.
    await client.query(`SELECT set_config('client_encoding', ${ENCODING}, true)`)
    await client.query('SET LOCAL extra_float_digits = 3')
    // A reader that waits for a disk is idle for the server.
    await client.query(withoutIdleTimeouts('true'))
  } catch (error) {
    throw sessionFault(error, address)
  }
}

/** As SQL that any release understands. */
export function withoutIdleTimeouts(isLocal: 'true' | 'false'): string {
  return `SELECT set_config(name, '0', ${isLocal}) FROM pg_catalog.pg_settings
    WHERE name IN ('idle_in_transaction_session_timeout', 'idle_session_timeout')`
}

interface StallWatch {
  /** The error if nothing came for too long. */
  stalled(): OperatorError | undefined
  stop(): void
}

function watchStall(client: pg.Client, address: DatabaseAddress, stallMs: number): StallWatch {
  const { stream } = client.connection
  let fault: OperatorError | undefined
  let quietCount = 0
  const onData = () => {
    quietCount = 0
  }
  stream.on('data', onData)
  const timer = setInterval(() => {
    if (quietCount++ < 2) return
    fault = new OperatorError(
      'InputRejected',
      `${shownUrl(address)}: nothing came for ${stallMs / 1000} seconds: is the query waiting for ` +
        'a lock, or sorting all of a large table?',
    )
    stream.destroy(fault)
  }, stallMs / 2)
  return {
    stalled: () => fault,
    stop() {
      clearInterval(timer)
      stream.off('data', onData)
    },
  }
}
