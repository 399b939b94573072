/**
 * A connection to PostgreSQL for as long as a query is read: one transaction that changes nothing
 * and sees the database as it is at its beginning.
 *
 * @module
 */
import pg from 'pg'
import pgpass from 'pgpass'
import { OperatorError } from '../../errors.js'
import { connectFault, isSqlState } from './faults.js'
import { type Security, securitiesOf } from './tls.js'
import { type DatabaseAddress, shownUrl } from './url.js'

export interface SessionTimes {
  /** To connect and to be let in. */
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
  try {
    await begin(client, address, snapshotName)
    const result = await use(client)
    await client.query('COMMIT')
    await client.end()
    return result
  } catch (error) {
    // It may still be sending: closing politely would read all of that first.
    client.connection.stream.destroy()
    throw watch.stalled() ?? error
  } finally {
    watch.stop()
  }
}

/**
 * @param replicates  whether it is to send the log
 * @throws OperatorError  InputRejected
 */
export async function connect(
  address: DatabaseAddress,
  times: Pick<SessionTimes, 'connectMs'>,
  replicates = false,
): Promise<pg.Client> {
  const securities = securitiesOf(address)
  for (const [index, security] of securities.entries()) {
    try {
      return await tryConnect(address, security, times, replicates)
    } catch (error) {
      const isLast = index === securities.length - 1
      if (isLast || !isWorthOtherSecurity(error, security)) throw connectFault(error, address)
    }
  }
  throw new Error('there is a way to connect')
}

async function tryConnect(
  address: DatabaseAddress,
  security: Security,
  { connectMs }: Pick<SessionTimes, 'connectMs'>,
  replicates: boolean,
): Promise<pg.Client> {
  const { host, port, user, database, options } = address
  const config: pg.ClientConfig & { replication?: string } = {
    host,
    port,
    user,
    database,
    options: options ?? '',
    password: () => passwordOf(address),
    ssl: security,
    application_name: replicates ? 'hickory follow' : 'hickory import',
    ...(replicates ? { replication: 'database' } : {}),
    connectionTimeoutMillis: connectMs,
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

async function passwordOf(address: DatabaseAddress): Promise<string> {
  const password = address.password ?? (await new Promise((resolve) => pgpass(address, resolve)))
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
  } catch (error) {
    throw connectFault(error, address)
  }
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
