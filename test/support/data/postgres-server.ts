/**
 * A PostgreSQL server for one test file: in a directory and on a port of its own, with TLS, and ended
 * with the process of the test, however that ends.
 *
 * @module
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { Owner } from '../service/hickory.js'
import { untilTold } from '../service/until.js'
import { postgresBinaries } from './postgres-binaries.js'

export interface PostgresServer {
  readonly port: number
  /** Where its socket is, and its files. */
  readonly directory: string
  /** Of the authority that signed its certificate, which is for localhost and not for 127.0.0.1. */
  readonly authorityFile: string
  /** Of another one. */
  readonly otherAuthorityFile: string
  /** The URL of a user that needs the password `secret`. */
  url(parameters?: string, host?: string): string
  /** Runs statements as the owner of everything. */
  run(sql: string): Promise<pg.QueryResult>
  /**
   * Ends it as an administrator would, and starts it again; it takes connections when this resolves.
   *
   * @param meanwhile  a command of the shell, in the directory of which `data` is the server's
   * @param signal  QUIT ends it at once, as a crash would
   */
  restart(meanwhile?: string, signal?: 'INT' | 'QUIT'): Promise<void>
  /** Ends it at once, as a crash would. */
  stop(): Promise<void>
}

const PASSWORD = 'secret'

/**
 * @param more  settings, such as `wal_level=logical`
 * @param others  the directory of another server than the one that is installed, which need not have PostGIS
 */
export async function startPostgres(
  t: Owner,
  more: readonly string[] = [],
  others?: string,
): Promise<PostgresServer> {
  const binaries = others ?? postgresBinaries()
  const owner = serverOwner()
  const directory = mkdtempSync(join(tmpdir(), 'hickory-postgres-'))
  chown(directory, owner)
  const data = join(directory, 'data')
  const passwordFile = join(directory, 'password')
  writeFileSync(passwordFile, PASSWORD)
  chown(passwordFile, owner)
  execFileSync(
    join(binaries, 'initdb'),
    [
      `--pgdata=${data}`,
      '--username=hickory',
      '--auth-local=trust',
      '--auth-host=scram-sha-256',
      `--pwfile=${passwordFile}`,
      '--encoding=UTF8',
      '--locale=C',
      '--no-sync',
    ],
    { stdio: ['ignore', 'ignore', 'inherit'], cwd: directory, ...owner },
  )
  certify(directory, owner)
  const port = await freePort()
  const settings = [
    'listen_addresses=127.0.0.1',
    `unix_socket_directories=${directory}`,
    'fsync=off',
    'shared_buffers=16MB',
    'max_connections=30',
    'ssl=on',
    `ssl_cert_file=${directory}/server.crt`,
    `ssl_key_file=${directory}/server.key`,
    'log_min_messages=panic',
    ...more,
  ]
  // A shell that waits for its input to end ends the server and deletes its files, whatever became
  // of this process. For each line, a command, it starts the server anew.
  const guard = spawn(
    '/bin/sh',
    [
      '-c',
      '"$@" & server=$!; while read signal line; do kill -$signal $server; wait $server; eval "$line"; "$@" & server=$!; done; ' +
        'kill -QUIT $server; wait $server; rm -rf "$0"',
      directory,
      join(binaries, 'postgres'),
      `-D${data}`,
      `-p${port}`,
      ...settings.flatMap((setting) => ['-c', setting]),
    ],
    { stdio: ['pipe', 'ignore', 'inherit'], cwd: directory, ...owner },
  )
  const stop = () => end(guard)
  t.teardown(async () => {
    await stop()
    rmSync(directory, { recursive: true, force: true })
  })
  const first = others === undefined ? 'CREATE EXTENSION IF NOT EXISTS postgis' : 'SELECT 1'
  await untilReady(directory, port, first)
  return {
    port,
    directory,
    authorityFile: join(directory, 'authority.crt'),
    otherAuthorityFile: join(directory, 'other.crt'),
    url: (parameters = '', host = '127.0.0.1') =>
      `postgres://hickory:${PASSWORD}@${host}:${port}/postgres?${parameters}`,
    run: (sql) => runAsOwner(directory, port, sql),
    async restart(meanwhile = ':', signal = 'INT') {
      const startedAt = async () => {
        const { rows } = await runAsOwner(
          directory,
          port,
          'SELECT pg_postmaster_start_time()::text',
        )
        return String(rows[0].pg_postmaster_start_time)
      }
      const before = await startedAt()
      guard.stdin?.write(`${signal} ${meanwhile}\n`)
      const isStarted = async () => (await startedAt().catch(() => before)) !== before
      while (!(await isStarted())) await new Promise((resolve) => setTimeout(resolve, 50))
    },
    stop,
  }
}

interface UserIds {
  readonly uid?: number
  readonly gid?: number
}

/** The server refuses to run as root. */
function serverOwner(): UserIds {
  if (process.getuid?.() !== 0) return {}
  const fields = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .find(([name]) => name === 'postgres')
  if (fields === undefined) throw new Error('there is no user postgres to run a server as')
  return { uid: Number(fields[2]), gid: Number(fields[3]) }
}

function chown(path: string, { uid, gid }: UserIds): void {
  if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid)
}

function certify(directory: string, owner: UserIds): void {
  const openssl = (...args: string[]) =>
    execFileSync('openssl', args, { stdio: 'ignore', cwd: directory, ...owner })
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  for (const name of ['authority', 'other']) {
    const names = ['-keyout', `${name}.key`, '-out', `${name}.crt`, '-subj', `/CN=test ${name}`]
    openssl('req', '-x509', '-days', '2', ...newKey, ...names)
  }
  const server = ['-keyout', 'server.key', '-out', 'server.csr', '-subj', '/CN=localhost']
  openssl('req', ...newKey, ...server)
  writeFileSync(join(directory, 'server.ext'), 'subjectAltName=DNS:localhost\n')
  const signed = ['-in', 'server.csr', '-out', 'server.crt', '-extfile', 'server.ext']
  const authority = ['-CA', 'authority.crt', '-CAkey', 'authority.key', '-CAcreateserial']
  openssl('x509', '-req', '-days', '2', ...signed, ...authority)
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' ? (address?.port ?? 0) : 0))
    })
  })
}

const READY_MS = 60_000

async function untilReady(directory: string, port: number, sql: string): Promise<void> {
  const deadlineMs = performance.now() + READY_MS
  for (;;) {
    try {
      await runAsOwner(directory, port, sql)
      return
    } catch (error) {
      if (performance.now() > deadlineMs) throw error
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}

/** After a promotion a server takes changes later than questions, and says then in which timeline it goes on. */
export async function untilPrimary(server: Pick<PostgresServer, 'run'>): Promise<void> {
  await untilTold(async () => {
    const { rows } = await server.run('SELECT pg_is_in_recovery() AS "isStandby"')
    return rows[0].isStandby === false
  })
}

async function runAsOwner(directory: string, port: number, sql: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ host: directory, port, user: 'hickory', database: 'postgres' })
  client.on('error', () => undefined)
  await client.connect()
  try {
    return await client.query(sql)
  } finally {
    await client.end()
  }
}

function end(guard: ChildProcess): Promise<void> {
  if (guard.exitCode !== null || guard.signalCode !== null) return Promise.resolve()
  return new Promise((resolve) => {
    guard.once('exit', () => resolve())
    guard.stdin?.end()
  })
}
