/**
 * The first copy of a table waited for others without a word, outlived its process in the server, and broke off with a stack
 * trace where sessions may not be idle. Messages of a server that knew of no row yet were withheld.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import t, { type Test } from 'tap'
import { previewPostgres } from '../../src/sources/postgres/read-postgres.js'
import { startPostgres } from '../support/data/postgres-server.js'
import { temporaryDirectory } from '../support/service/hickory.js'

const CLI = fileURLToPath(new URL('../../bundle/cli.js', import.meta.url))
const server = await startPostgres(t, ['wal_level=logical'])
await server.run(`CREATE TABLE people (id int PRIMARY KEY, phone text, lat float8, lng float8);
  INSERT INTO people SELECT i, '+99955' || i, 1, 2 FROM generate_series(1, 5) i;
  CREATE TABLE other (id int)`)

interface Run {
  readonly child: ChildProcess
  output: string
}

function follow(t: Test): Run {
  const flags = ['--table', 'people', '--source', '1', '--label', 'x', '--initial-copy']
  const child = spawn(process.execPath, [
    CLI,
    'follow',
    server.url(),
    ...flags,
    '--data',
    temporaryDirectory(t),
  ])
  const run: Run = { child, output: '' }
  t.teardown(() => child.kill('SIGKILL'))
  t.teardown(() => child.kill('SIGKILL'))
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (bytes) => {
      run.output += bytes
    })
  }
  return run
}

async function said(run: Run, text: string): Promise<void> {
  const untilMs = performance.now() + 30_000
  while (!run.output.includes(text)) {
    if (run.child.exitCode !== null || performance.now() > untilMs)
      throw new Error(`it says: ${run.output}`)
    await sleep(20)
  }
}

async function ended({ child }: Run): Promise<unknown> {
  return child.exitCode ?? child.signalCode ?? (await once(child, 'close'))[0]
}

async function session(t: Test, sql: string): Promise<number> {
  const { directory: host, port } = server
  const client = new pg.Client({ host, port, user: 'hickory', database: 'postgres' })
  client.on('error', () => {})
  await client.connect()
  t.teardown(() => client.end())
  await client.query(`BEGIN; ${sql}`)
  return (await client.query('SELECT pg_backend_pid() AS pid')).rows[0].pid
}

for (const [what, sql] of [
  ['an open transaction', 'INSERT INTO other VALUES (1)'],
  ['a lock of the table', 'LOCK TABLE people IN SHARE ROW EXCLUSIVE MODE'],
]) {
  t.test(`the copy says that it waits for ${what}, and a signal ends it everywhere`, async (t) => {
    await server.run('DROP PUBLICATION IF EXISTS hickory_1')
    await server.run('DROP PUBLICATION IF EXISTS hickory_1')
    const pid = await session(t, sql)
    const run = follow(t)
    await said(run, 'waiting for open transactions')
    t.match(run.output, new RegExp(`"pid":${pid},"since":"20[^"]*Z"`))
    t.notMatch(run.output, /\+999|INSERT|LOCK/)
    const startMs = performance.now()
    run.child.kill('SIGTERM')
    t.equal(await ended(run), 0, run.output)
    t.ok(performance.now() - startMs < 5_000)
    const left = `SELECT FROM pg_stat_activity WHERE application_name = 'hickory follow'`
    while ((await server.run(left)).rowCount !== 0) await sleep(20)
    t.equal((await server.run('SELECT FROM pg_replication_slots')).rowCount, 0)
  })
}

t.test('sessions that may not be idle copy as others do', async (t) => {
  await server.run(`ALTER ROLE hickory SET idle_in_transaction_session_timeout = '1s';
    ALTER ROLE hickory SET idle_session_timeout = '5s'`)
  t.teardown(() => server.run('ALTER ROLE hickory RESET ALL'))
  const run = follow(t)
  await said(run, '"msg":"following"')
  run.child.kill('SIGTERM')
  t.equal(await ended(run), 0, run.output)
})

t.test('a copy that loses its connections says so in a line, and leaves no slot', async (t) => {
  await server.run(`SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots;
    INSERT INTO people SELECT i, '+99955' || i, 1, 2 FROM generate_series(6, 300000) i`)
  const run = follow(t)
  await said(run, '"msg":"copying"')
  const copying = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE pid <> pg_backend_pid() AND application_name LIKE 'hickory%'`
  while ((await server.run(`${copying} AND query LIKE 'COPY%'`)).rowCount === 0) await sleep(5)
  await server.run(copying)
  t.equal(await ended(run), 5, run.output)
  t.match(run.output, /^hickory: postgres:.*(57P01|the connection was lost)/m)
  t.notMatch(run.output, /^ {4}at |could not be dropped/m)
  t.equal((await server.run('SELECT FROM pg_replication_slots')).rowCount, 0)
})

/** A signal left the slot, for which the server keeps its log until its disk is full. */
t.test('a copy that ends by a signal leaves no slot', async (t) => {
  const slots = async () => (await server.run('SELECT slot_name FROM pg_replication_slots')).rows
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGKILL'] as const) {
    const run = follow(t)
    await said(run, '"msg":"copying"')
    t.equal((await slots()).length, 1)
    run.child.kill(signal)
    t.not(await ended(run), 0, run.output)
    const untilMs = performance.now() + 10_000
    while ((await slots()).length > 0 && performance.now() < untilMs) await sleep(20)
    t.same(await slots(), [], signal)
  }
  const run = follow(t)
  await said(run, '"msg":"following"')
  t.match(await slots(), [{ slot_name: 'hickory_1' }])
  run.child.kill('SIGTERM')
  t.equal(await ended(run), 0, run.output)
})

/** The advice to write ::text led to `{+999…}` and `"+999…"` as numbers. */
t.test('the text of a column is advised only where it is a number', async (t) => {
  const said = async (value: string) => {
    const query = `SELECT ${value} AS phone, 1 AS lat, 2 AS lng`
    return previewPostgres({ url: server.url(), query, columns: {} }, 1).then(
      () => 'taken',
      ({ message }: Error) => message,
    )
  }
  t.match(await said('9990000001::float8'), /write "phone"::text AS/)
  for (const [value, advice] of [
    [`ARRAY['+9991']`, /"phone"\[1\] AS …$/],
    [`'"+9991"'::jsonb`, /"phone"->>'…' AS …$/],
    [`'"+9991"'::json`, /"phone"->>'…' AS …$/],
    [`ROW('+9991', 1)`, /should be a text or a whole number$/],
    [`'2026-05-05'::date`, /whole number$/],
    [`now()`, /whole number$/],
    [`'192.0.2.1'::inet`, /whole number$/],
    [`'\\x31'::bytea`, /whole number$/],
    [`true`, /whole number$/],
    [`'1 day'::interval`, /whole number$/],
    [`1.5::float4`, /whole number$/],
  ] as const) {
    const text = await said(value)
    t.match(text, advice, value)
    t.notMatch(text, '::text', value)
  }
})
