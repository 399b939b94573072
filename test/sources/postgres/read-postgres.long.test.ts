import { chmodSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { importCommand } from '../../../src/commands/import/import.js'
import { openSnapshot } from '../../../src/snapshot/load/open.js'
import type { ColumnNames } from '../../../src/sources/batch.js'
import { readFault } from '../../../src/sources/postgres/faults.js'
import { previewPostgres, readPostgres } from '../../../src/sources/postgres/read-postgres.js'
import { parseDatabaseUrl } from '../../../src/sources/postgres/url.js'
import { collectGarbage } from '../../support/collect-garbage.js'
import { BatchKeeper, sinkThat } from '../../support/data/batch-keeper.js'
import { type PostgresServer, startPostgres } from '../../support/data/postgres-server.js'
import { fingerprint, silentLog } from '../../support/data/snapshots.js'
import { temporaryDirectory } from '../../support/service/hickory.js'

/** A join, since a function alone would be kept as a whole before its first row is sent. */
const ENDLESS = `SELECT i::text AS number, 1 AS lat, 2 AS lng
  FROM generate_series(1, 10000) AS i, generate_series(1, 10000) AS j`

const SSL_REQUEST_CODE = 80_877_103

await againstServer(await startPostgres(t))

t.test('a failure while rows are read says what to do, and nothing of the server', async (t) => {
  const address = parseDatabaseUrl('postgres://u:secret@h/d')
  const quoted = 'value "+9995551234"'
  const codes = ['25006', '25P03', '40001', '53100', '53200', '53400', '55P03', '57014', '57P01']
  codes.push('57P02', '57P04', '58030', 'XX001', 'XX000', '22P02', 'P0001', '42883', '99999')
  const messages = codes.map((code) => readFault({ code, message: quoted }, address).message)
  for (const [index, message] of messages.entries()) {
    t.match(message, /^postgres:\/\/u@h:5432\/d: /)
    t.match(message, new RegExp(`\\(${codes[index]}\\)`))
    t.notMatch(message, /secret|5551234/)
  }
  t.match(readFault({ code: '53100', message: '' }, address).message, /disk is full/)
  t.match(readFault({ code: 'ECONNRESET', message: '' }, address).message, /connection was lost/)
})

async function againstServer(server: PostgresServer): Promise<void> {
  await server.run(`
    CREATE TABLE people AS
      SELECT '+999' || i AS number, 10 + i * 0.1::float8 AS lat, -20 - i * 0.1::float8 AS lng,
        'household ' || i / 2 AS contact
      FROM generate_series(1, 5) AS i;
    CREATE SEQUENCE counter;
    CREATE ROLE stranger LOGIN PASSWORD 'secret'`)

  await t.test('rows come in the order of the query, with the columns by name', async (t) => {
    const { rows, report } = await read(server, 'SELECT * FROM people ORDER BY number DESC;')
    t.equal(report.rowCount, 5)
    t.same(rows[0], {
      phone: '+9995',
      lat: 105_000_000,
      lng: -205_000_000,
      contact: 'household 2',
    })
    t.same(
      rows.map(({ phone }) => phone),
      ['+9995', '+9994', '+9993', '+9992', '+9991'],
    )
  })

  await t.test('columns can be named, repeat and be called anything', async (t) => {
    const query = `SELECT 1 AS lat, 2 AS "a ""b"" c", number AS "select", 3 AS "Straße", 4 AS lat
      FROM people -- a comment`
    const { rows } = await read(server, query, { number: 'select', lat: 'Straße', lng: 'a "b" c' })
    t.match(rows[0], { lat: 30_000_000, lng: 20_000_000 })
  })

  await t.test('a coordinate is the same in every type', async (t) => {
    for (const type of ['float8', 'float4', 'numeric', 'text', 'varchar(20)', 'char(20)']) {
      const query = `SELECT number, '29.76'::${type} AS lat, '-95.3698'::${type} AS lng FROM people`
      const { rows } = await read(server, query)
      t.match(rows[0], { lat: 297_600_000, lng: -953_698_000 }, type)
    }
    for (const type of ['int2', 'int4', 'int8']) {
      const { rows } = await read(
        server,
        `SELECT 7::${type} AS number, 1::${type} lat, 2::${type} lng`,
      )
      t.same(rows, [{ phone: '7', lat: 10_000_000, lng: 20_000_000, contact: '' }], type)
    }
    const odd = await read(
      server,
      `SELECT '+9991' AS number, x::float8 AS lat, x::numeric AS lng
       FROM unnest('{NaN,Infinity,91,null,90}'::text[]) AS x`,
    )
    t.same(reasonsOf(odd), { LatInvalid: 2, LatOutOfRange: 1, LatMissing: 1 })
  })

  await t.test('points of PostGIS stand for latitude and longitude', async (t) => {
    const points = `(VALUES
      (1, 'SRID=4326;POINT(1 2)'::geometry), (2, 'POINT(3 4)'), (3, 'SRID=4326;POINT Z(5 6 7)'),
      (4, 'SRID=3857;POINT(111319.49079327358 0)'), (5, 'SRID=4326;POINT EMPTY'), (6, NULL),
      (7, 'LINESTRING(0 0,1 1)'), (8, 'MULTIPOINT(1 1)'), (9, 'POINT(181 0)')) AS v(number, place)`
    const result = await read(server, `SELECT number, place FROM ${points}`)
    t.same(result.rows, [
      { phone: '1', lng: 10_000_000, lat: 20_000_000, contact: '' },
      { phone: '2', lng: 30_000_000, lat: 40_000_000, contact: '' },
      { phone: '3', lng: 50_000_000, lat: 60_000_000, contact: '' },
      { phone: '4', lng: 10_000_000, lat: 0, contact: '' },
    ])
    t.same(reasonsOf(result), { GeometryNotPoint: 4, LngOutOfRange: 1 })
    t.match(result.report.rejects[0].examples[0], { line: 5, unit: 'row' })
    const geography = `SELECT number, st_setsrid(place, 4326)::geography AS g, place AS h
      FROM ${points} WHERE number = 1`
    const named = await read(server, geography, { lat: 'g', lng: 'g' })
    t.match(named.rows, [{ lng: 10_000_000, lat: 20_000_000 }])
    await t.rejects(read(server, geography), { message: /several columns of geometry/ })
    const both = await read(server, `SELECT number, place, 8 AS lat, 9 AS lng FROM ${points}`)
    t.match(both.rows[0], { lng: 90_000_000, lat: 80_000_000 })
  })

  await t.test('of rows with one key the first that is good is taken', async (t) => {
    const result = await read(
      server,
      `SELECT * FROM (VALUES ('+9991', 99, 1, 'a'), ('+9992', 2, 1, 'a'), ('+9993', 3, 1, 'a'),
        ('+9994', 4, 1, NULL), ('+9995', 5, 1, ' '), ('+9996', 6, 1, 'b'))
        AS v(number, lat, lng, id)`,
      { key: 'id' },
    )
    t.same(
      result.rows.map(({ phone }) => phone),
      ['+9992', '+9996'],
    )
    t.same(reasonsOf(result), { LatOutOfRange: 1, KeyMissing: 2, KeyRepeated: 1 })
  })

  await t.test('a text of megabytes is a row that is rejected', async (t) => {
    const result = await read(
      server,
      `SELECT CASE i WHEN 2 THEN repeat('9', 5000000) ELSE '+9991' END AS number, 1 AS lat, 2 AS lng
       FROM generate_series(1, 3) AS i`,
    )
    t.same(reasonsOf(result), { NumberTooLong: 1 })
    t.equal(result.rows.length, 2)
  })

  await t.test('memory does not grow with the rows', async (t) => {
    let [mostBytes, chunkCount] = [0, 0]
    collectGarbage()
    // The engine may still hold a page of keys of a test before.
    const { arrayBuffers: heldBytes } = process.memoryUsage()
    const query = `SELECT '+999' || i AS number, 1.5 AS lat, 2 AS lng
      FROM generate_series(1, 300000) AS i`
    const report = await readPostgres(
      { url: server.url(), query, columns: {} },
      sinkThat(() => {
        if (++chunkCount % 10 !== 0) return
        // What is garbage already says nothing of what is held.
        collectGarbage()
        mostBytes = Math.max(mostBytes, process.memoryUsage().arrayBuffers - heldBytes)
      }),
    )
    t.equal(report.acceptedCount, 300_000)
    t.comment(`held at most ${mostBytes} bytes, in ${chunkCount} chunks`)
    t.ok(mostBytes > 0 && mostBytes < 8 << 20, 'buffers of a few megabytes')
  })

  await t.test('a preview shows the first rows and reports all of them', async (t) => {
    const query = 'SELECT number, lat, lng, contact FROM people UNION ALL SELECT null, 1, 1, null'
    const preview = await previewPostgres({ url: server.url(), query, columns: {} }, 2)
    t.match(preview, {
      columns: { number: 'number', lat: 'lat', lng: 'lng', contact: 'contact' },
      rows: [{ phone: '+9991', lat: '10.1000000', lng: '-20.1000000', contact: 'household 0' }, {}],
      report: { rowCount: 6, acceptedCount: 5, rejectedCount: 1 },
    })
    t.equal(preview.rows.length, 2)
  })

  await t.test('a query that cannot be read is refused with what is wrong', async (t) => {
    const cases: [query: string, message: RegExp][] = [
      ['', /empty/],
      ['SELECT 1;SELECT 2', /several statements/],
      ['INSERT INTO people SELECT * FROM people', /not a SELECT/],
      ['DROP TABLE people', /not a SELECT/],
      ['WITH d AS (DELETE FROM people RETURNING *) SELECT * FROM d', /read only/],
      [`SELECT number, lat, lng + nextval('counter') AS lng FROM people`, /read only.*25006/],
      ['SELECT number FROM people WHERE', /at character 32 of the query/],
      ['SELECT * FROM people; -- all', /leave out the semicolon/],
      ['SELECT * FROM nowhere', /at character 15 .*"nowhere" does not exist \(42P01\)/],
      ['SELECT nothing FROM people', /"nothing" does not exist/],
      ['SELECT number, lat FROM people', /no column "lng"/],
      ['SELECT number, true AS lat, lng FROM people', /"lat" is of type bool/],
      ['SELECT 1.5::float8 AS number, lat, lng FROM people', /"number" is of type float8/],
      ['SELECT number, $1 AS lat, lng FROM people', /refuses the query/],
      [`SELECT number, lat, number::int / 0 AS lng FROM people`, /22012/],
      [`SELECT number, lat, ('x' || number)::int AS lng FROM people`, /22P02/],
      [`SELECT number, st_setsrid(st_point(1, 2), 990000) FROM people`, /XX000/],
      ['SELECT * FROM pg_authid', /no column|permission/],
    ]
    for (const [query, message] of cases) {
      const error = await failure(read(server, query))
      t.match(error, { message }, query)
      t.notMatch(error.message, /secret|x\+999/, query)
    }
    t.equal((await server.run('SELECT count(*)::int AS n FROM people')).rows[0].n, 5)
  })

  await t.test('limits of the server are told apart', async (t) => {
    const options = (text: string) => server.url(`options=${encodeURIComponent(text)}`)
    const slow = `SELECT number, lat, lng, pg_sleep(5) FROM people`
    const timeout = options('-c statement_timeout=100')
    t.match(await failure(read(server, slow, {}, timeout)), { message: /statement_timeout/ })
    const large = 'SELECT number, lat, lng FROM people, generate_series(1, 100000) AS i ORDER BY -i'
    const room = options('-c temp_file_limit=1MB -c work_mem=64kB')
    t.match(await failure(read(server, large, {}, room)), { message: /temp_file_limit/ })
  })

  await t.test('who may not connect is told why, and the password is never shown', async (t) => {
    const { port, directory } = server
    const { port: silentPort } = await silentServer(t)
    const cases: [url: string, message: RegExp][] = [
      [`postgres://hickory:secret@nowhere.invalid:${port}/postgres`, /host nowhere.invalid is not/],
      ['postgres://hickory:secret@127.0.0.1:1/postgres', /nothing listens on port 1/],
      [`postgres://hickory:secretly@127.0.0.1:${port}/postgres`, /password is wrong/],
      [`postgres://nobody:secret@127.0.0.1:${port}/postgres`, /password is wrong/],
      [`postgres://hickory@127.0.0.1:${port}/postgres`, /asks for a password/],
      [`postgres://nobody@/postgres?host=${directory}&port=${port}`, /role "nobody" does not/],
      [`postgres://hickory:secret@127.0.0.1:${port}/none`, /database "none" does not exist/],
      [`postgres://hickory:secret@/postgres?host=/nowhere&port=${port}`, /no socket/],
      [`postgres://hickory:secret@127.0.0.1:${silentPort}/postgres`, /does not answer/],
    ]
    for (const [url, message] of cases) {
      const error = await failure(read(server, 'SELECT 1', {}, url))
      t.match(error, { code: 'InputRejected', message })
      t.notMatch(error.message, 'secret')
    }
    const stranger = `postgres://stranger:secret@127.0.0.1:${port}/postgres`
    const refused = await failure(read(server, 'SELECT * FROM people', {}, stranger))
    t.match(refused, { message: /permission denied for table people \(42501\)/ })
  })

  await t.test('TLS is as sslmode says', async (t) => {
    const { authorityFile: authority, otherAuthorityFile: other, port } = server
    const run = (mode: string, host = '127.0.0.1') =>
      read(
        server,
        `SELECT '1' AS number, 1 AS lat, 2 AS lng, ssl::text AS contact
         FROM pg_stat_ssl WHERE pid = pg_backend_pid()`,
        {},
        server.url(mode, host),
      )
    const good: [mode: string, host: string, isTls: string][] = [
      ['', '127.0.0.1', 'true'],
      ['sslmode=disable', '127.0.0.1', 'false'],
      ['sslmode=allow', '127.0.0.1', 'false'],
      ['sslmode=prefer', '127.0.0.1', 'true'],
      ['sslmode=require', '127.0.0.1', 'true'],
      [`sslmode=require&sslrootcert=${authority}`, '127.0.0.1', 'true'],
      [`sslmode=verify-ca&sslrootcert=${authority}`, '127.0.0.1', 'true'],
      [`sslmode=verify-full&sslrootcert=${authority}`, 'localhost', 'true'],
    ]
    for (const [mode, host, isTls] of good)
      t.match((await run(mode, host)).rows, [{ contact: isTls }])
    const bad: [mode: string, message: RegExp][] = [
      [`sslmode=verify-full&sslrootcert=${authority}`, /for another name than 127.0.0.1/],
      [`sslmode=require&sslrootcert=${other}`, /not trusted/],
      [`sslmode=verify-ca&sslrootcert=${other}`, /not trusted/],
      ['sslrootcert=system', /not trusted/],
      ['sslmode=verify-ca&sslrootcert=/nowhere', /\/nowhere of sslrootcert cannot be read/],
    ]
    for (const [mode, message] of bad) t.match(await failure(run(mode)), { message }, mode)
    const plain = await plainProxy(t, port)
    const url = (mode: string) => `postgres://hickory:secret@127.0.0.1:${plain}/postgres?${mode}`
    const query = `SELECT '1' AS number, 1 AS lat, 2 AS lng`
    t.equal((await read(server, query, {}, url('sslmode=prefer'))).rows.length, 1)
    const refused = await failure(read(server, query, {}, url('sslmode=require')))
    t.match(refused, { message: /offers no TLS/ })
  })

  await t.test('a password comes from ~/.pgpass', async (t) => {
    const file = join(temporaryDirectory(t), 'pgpass')
    writeFileSync(file, `127.0.0.1:${server.port}:*:hickory:secret\n`)
    chmodSync(file, 0o600)
    process.env.PGPASSFILE = file
    t.teardown(() => {
      delete process.env.PGPASSFILE
    })
    const url = `postgres://hickory@127.0.0.1:${server.port}/postgres`
    t.equal((await read(server, 'SELECT * FROM people', {}, url)).rows.length, 5)
  })

  await t.test('texts that are not UTF-8 are rejected', async (t) => {
    await server.run(`CREATE DATABASE raw ENCODING 'SQL_ASCII' TEMPLATE template0`)
    const query = String.raw`SELECT convert_from(x, 'SQL_ASCII') AS number, 1 AS lat, 2 AS lng
      FROM (VALUES ('\x2b39ff'::bytea), ('\x2b39')) AS v(x)`
    const url = server.url().replace('/postgres?', '/raw?')
    t.same(reasonsOf(await read(server, query, {}, url)), { EncodingInvalid: 1 })
  })

  await t.test('a server that says nothing for too long is given up', async (t) => {
    const query = 'SELECT number, lat, lng, pg_sleep(1) FROM people LIMIT 2'
    const times = { connectMs: 10_000, stallMs: 300 }
    const input = { url: server.url(), query, columns: {} }
    const error = await failure(readPostgres(input, new BatchKeeper(), { times }))
    t.match(error, { code: 'InputRejected', message: /nothing came for 0.3 seconds/ })
  })

  await t.test('what the sink refuses is said, and the connection is closed', async (t) => {
    const sink = sinkThat(() => {
      throw new Error('full')
    })
    const { message } = await failure(
      readPostgres({ url: server.url(), query: ENDLESS, columns: {} }, sink),
    )
    t.equal(message, 'full')
    const left = `SELECT FROM pg_stat_activity WHERE application_name = 'hickory import'`
    while ((await server.run(left)).rowCount !== 0) await sleep(20)
    t.pass('the server has ended its query, too')
  })

  await t.test(
    'an import publishes what a query gives, and nothing if it breaks off',
    async (t) => {
      const data = temporaryDirectory(t)
      const run = async (id: string, query: string) => {
        const written = t.capture(process.stdout, 'write', () => true)
        const command = importCommand({ dataDirectory: () => data, log: silentLog })
        const from = ['--from', server.url('sslmode=require'), '--query', query]
        const args = ['--source', id, '--label', 'From a database', ...from]
        const { message = '' } =
          (await command.parseAsync(args, { from: 'user' }).then(
            () => undefined,
            (error: Error) => error,
          )) ?? {}
        written.restore()
        const out = written().map((call) => String(call.args[0]))
        return { out: out.join(''), message }
      }
      const good = await run('3', 'SELECT * FROM people')
      t.match(good, { out: /^accepted {3}5$/m, message: '' })
      t.notMatch(good.out, 'secret')
      t.match((await openSnapshot(data)).sources, [{ id: 3, recipientCount: 5 }])
      const before = fingerprint(data)
      const ended = `SELECT number, lat, lng, CASE WHEN i = 1000
      THEN pg_terminate_backend(pg_backend_pid()) END FROM people, generate_series(1, 2000) AS i`
      t.match(await run('3', ended), { message: /administrator ended the session/ })
      const none = 'SELECT * FROM people LIMIT 0'
      t.match(await run('3', none), { message: /no row to replace the 5 recipients/ })
      t.match(await run('4', none), { message: /the query gave no row/ })
      t.same(fingerprint(data), before)
    },
  )

  await t.test('a server that crashes in the middle is an error', async (t) => {
    let stopped: Promise<void> | undefined
    const reading = readPostgres(
      { url: server.url(), query: ENDLESS, columns: {} },
      sinkThat(() => {
        stopped ??= server.stop()
      }),
    )
    t.match(await failure(reading), { code: 'InputRejected', message: /57P0|connection was lost/ })
    await stopped
  })
}

async function read(
  server: PostgresServer,
  query: string,
  columns: ColumnNames = {},
  url = server.url(),
) {
  const sink = new BatchKeeper()
  const times = { connectMs: 3_000, stallMs: 60_000 }
  const report = await readPostgres({ url, query, columns }, sink, { times })
  return { rows: sink.rows, report }
}

function reasonsOf({ report }: Awaited<ReturnType<typeof read>>): Record<string, number> {
  return Object.fromEntries(report.rejects.map(({ reason, count }) => [reason, count]))
}

async function failure(work: Promise<unknown>): Promise<Error> {
  return await work.then(
    () => {
      throw new Error('it should have failed')
    },
    (error: Error) => error,
  )
}

/** Takes connections and never says anything. */
async function silentServer(t: Test): Promise<{ port: number }> {
  const server = createServer((socket) => socket.on('error', () => undefined))
  return { port: await listen(t, server) }
}

/** The server as if it had no TLS. */
async function plainProxy(t: Test, port: number): Promise<number> {
  const proxy = createServer((client) => {
    client.on('error', () => undefined)
    client.once('data', (first) => {
      if (first.readInt32BE(4) === SSL_REQUEST_CODE) {
        client.write('N')
        return
      }
      const server = connect(port, '127.0.0.1')
      server.on('error', () => undefined)
      server.write(first)
      client.pipe(server).pipe(client)
    })
  })
  return await listen(t, proxy)
}

async function listen(t: Test, server: ReturnType<typeof createServer>): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('it listens on a port')
  return address.port
}
