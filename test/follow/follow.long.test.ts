import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import t from 'tap'
import { followCommand } from '../../src/commands/follow.js'
import { type PostgresServer, startPostgres } from '../support/data/postgres-server.js'
import { silentLog } from '../support/data/snapshots.js'
import { temporaryDirectory } from '../support/service/hickory.js'
import { Followed, peopleIn } from './followed.js'

const seed = Number(process.env.HICKORY_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))
t.comment(`seed ${seed}`)

const shared = await startPostgres(t, ['wal_level=logical', 'wal_sender_timeout=2s'])

/** The server without what the test before left. */
async function emptied(): Promise<PostgresServer> {
  await shared.run(`SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE active`)
  const inUse = async () =>
    (await shared.run('SELECT FROM pg_replication_slots WHERE active')).rowCount !== 0
  while (await inUse()) await sleep(20)
  await shared.run(`SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots;
    DO $$ DECLARE name text; BEGIN
      FOR name IN SELECT pubname FROM pg_publication LOOP EXECUTE format('DROP PUBLICATION %I', name); END LOOP;
      FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'spatial_ref_sys'
      LOOP EXECUTE format('DROP TABLE %I', name); END LOOP;
    END $$`)
  return shared
}

const TABLE = `(id text PRIMARY KEY, phone varchar(60), lat float8, lng numeric, household char(4), notes text)`

t.test('what is followed equals an import of the table, whatever ends in between', async (t) => {
  const server = await emptied()
  await server.run(`CREATE TABLE people ${TABLE};
    INSERT INTO people SELECT i, '+9990' || i, i % 90, i % 180, 'h' || i % 7, 'x' FROM generate_series(1, 500) i`)
  const followed = new Followed(t, server, 'people')
  const random = mulberry(seed)
  const client = new pg.Client({
    host: server.directory,
    port: server.port,
    user: 'hickory',
    database: 'postgres',
  })
  let isDown = false
  client.on('error', () => {
    isDown = true
  })
  await client.connect()
  // Changes while the copy is made.
  let isCopying = true
  const meanwhile = (async () => {
    while (isCopying) {
      for (const sql of statements(random)) await client.query(sql)
      await sleep(5)
    }
  })()
  await followed.copy('--contact', 'household', '--allow-truncate')
  isCopying = false
  await meanwhile
  await followed.serve(t)
  t.ok(await followed.reached(t, '--contact', 'household'), 'after the copy')
  const flags = ['--contact', 'household', '--allow-truncate']
  for (let round = 0; round < 4; round++) {
    for (let count = 0; count < 30; count++) {
      for (const sql of statements(random)) await client.query(sql)
      if (random() < 0.02) {
        await followed.kill()
        await followed.start(...flags)
      }
    }
    if (round === 2) {
      await client.query('TRUNCATE people')
      for (const sql of statements(random)) await client.query(sql)
    }
    if (round % 2 === 0) await followed.kill()
    for (const sql of statements(random)) await client.query(sql)
    if (round % 2 === 0) await followed.start(...flags)
  }
  t.ok(await followed.reached(t, '--contact', 'household'), 'after kills and TRUNCATE')
  await client.end()
  await server.restart()
  await server.run(`INSERT INTO people VALUES ('late', '+99977', 1, 2, 'z')`)
  t.ok(await followed.reached(t, '--contact', 'household'), 'after a restart of the server')
  t.notOk(isDown)
  const ended = await followed.stop()
  t.equal(ended.code, 0, 'a signal ends it well')
  t.notMatch(ended.output, /\+999|secret/)
  await server.run(`INSERT INTO people VALUES ('later', '+99978', 1, 2, 'z')`)
  await followed.start(...flags)
  t.ok(await followed.reached(t, '--contact', 'household'), 'what was changed meanwhile')
  await followed.stop()
  const before = await peopleIn(followed.data)
  const file = join(followed.data, 'changes.ndjson')
  writeFileSync(file, '{"op":"delete","key":"nobody"}')
  const guards = ['--max-shrink', '100%', '--allow-empty']
  const applied = await followed.command('apply', '--source', '1', ...guards, file)
  t.equal(applied.code, 0, applied.output)
  t.same(await peopleIn(followed.data), before, 'a snapshot of the changes has the same people')
  t.ok((await peopleIn(followed.data)).size > 1)
})

t.test('columns of all kinds are taken as an import takes them', async (t) => {
  const server = await emptied()
  await server.run(`CREATE DOMAIN place AS geometry(Point, 4326);
    CREATE TABLE places (id int PRIMARY KEY, number bigint, geom place, contact text);
    CREATE TABLE texts (id uuid PRIMARY KEY, number text, lat text, lng float4, contact text)`)
  const places = new Followed(t, server, 'places')
  await places.copy('--allow-empty')
  await server.run(`INSERT INTO places VALUES (1, 9991, 'SRID=4326;POINT(-95.4 29.7)', 'a'),
    (2, 9992, 'SRID=4326;POINT EMPTY', 'a'), (3, 9993, NULL, 'b'), (4, NULL, 'SRID=4326;POINT(1 2)', 'b'),
    (5, 9995, 'SRID=4326;POINT(0.00000005 -0.00000005)', ' '), (6, 9996, 'SRID=4326;POINT(181 1)', ''),
    (7, 9997, 'SRID=4326;POINT(0.00000001 0)', 'a'), (8, 9998, 'SRID=4326;POINT(180 -90)', E'\\n')`)
  t.ok(await places.reached(t), 'points')
  t.equal((await peopleIn(places.data)).size, 3)
  await places.stop()
  const texts = new Followed(t, server, 'texts')
  await texts.copy('--allow-empty', '--slot', 'texts', '--normalize', 'e164:US')
  await server.run(`INSERT INTO texts VALUES (gen_random_uuid(), '713 555 0101', ' 29.76 ', 29.76, 'a'),
    (gen_random_uuid(), '(713) 555-0102', '29,76', 1, 'a'), (gen_random_uuid(), '713', '1', 1, 'a'),
    (gen_random_uuid(), '+1 713 555 0103', '1e1', 'NaN', NULL), (gen_random_uuid(), E'\\uFEFF1', '1', 1, NULL),
    (gen_random_uuid(), '7135550104', '1', '-Infinity', NULL), (gen_random_uuid(), '7135550105', '-1.5E-3', 1e-7, repeat('c', 128)),
    (gen_random_uuid(), '7135550106', '1', 1, repeat('c', 129)), (gen_random_uuid(), '', '1', 1, E'\\uFEFFé')`)
  t.ok(await texts.reached(t, '--normalize', 'e164:US'), 'texts')
  t.ok((await peopleIn(texts.data)).size >= 2)
  await server.run(`UPDATE texts SET number = '7135550199', lat = '5'`)
  t.ok(await texts.reached(t, '--normalize', 'e164:US'), 'rejected rows that become good')
  await server.run(
    `UPDATE texts SET lat = '95'; INSERT INTO texts VALUES (gen_random_uuid(), '7135550101', '1', 1)`,
  )
  t.ok(await texts.reached(t, '--normalize', 'e164:US'), 'good rows that become rejected')
  t.equal((await peopleIn(texts.data)).size, 1)
})

t.test(
  'transactions that are long are cut, and others of the table are not mixed in',
  async (t) => {
    const server = await emptied()
    await server.run(
      'CREATE TABLE people (id int PRIMARY KEY, number text, lat float8, lng float8)',
    )
    const followed = new Followed(t, server, 'people')
    await followed.copy('--allow-empty')
    await server.run(
      `INSERT INTO people SELECT i, '+999' || i, 1, 1 FROM generate_series(1, 25000) i`,
    )
    await server.run('UPDATE people SET id = -id')
    await server.run(`BEGIN; UPDATE people SET lat = 2; ROLLBACK`)
    await server.run(
      `BEGIN; DELETE FROM people WHERE id < -20000; SAVEPOINT s; DELETE FROM people; ROLLBACK TO s; COMMIT`,
    )
    t.ok(await followed.reached(t))
    t.equal((await peopleIn(followed.data)).size, 20_000)
    await server.run('CREATE TABLE others AS SELECT generate_series(1, 1000) AS id')
    const { rows } = await server.run('SELECT pg_current_wal_lsn()::text AS lsn')
    const isKept = async () => {
      const { rowCount } = await server.run(
        `SELECT FROM pg_replication_slots WHERE confirmed_flush_lsn < '${rows[0].lsn}'`,
      )
      return rowCount !== 0
    }
    for (let round = 0; round < 200 && (await isKept()); round++) await sleep(50)
    t.notOk(await isKept(), 'the server need not keep what others wrote')
  },
)

t.test('it stops where it cannot go on, says why, and goes on after that', async (t) => {
  const server = await emptied()
  await server.run(`CREATE TABLE people (id int PRIMARY KEY, number text, lat float8, lng float8, contact text, notes text);
    ALTER TABLE people SET (toast_tuple_target = 128); ALTER TABLE people ALTER contact SET STORAGE EXTERNAL`)
  const followed = new Followed(t, server, 'people')
  t.match(await followed.fail(), { code: 2, output: /does not follow anything yet: start with/ })
  await followed.copy('--allow-empty')
  const second = new Followed(t, server, 'people')
  t.match(await second.fail('--initial-copy', '--label', 'x'), {
    code: 5,
    output: /somebody follows by the slot "hickory_1" now/,
  })

  await server.run(
    `INSERT INTO people VALUES (1, '+9991', 1, 1); TRUNCATE people; INSERT INTO people VALUES (2, '+9992', 1, 1)`,
  )
  t.match(await followed.ended(), { code: 11, output: /TRUNCATE.*--allow-truncate/ })
  t.match(await followed.fail(), { code: 11 })
  t.equal((await peopleIn(followed.data)).size, 0, 'nothing of the transaction is there')
  await followed.start('--allow-truncate')
  t.ok(await followed.reached(t))

  await server.run(
    `INSERT INTO people VALUES (3, '+9993', 1, 1, repeat('c', 120), repeat('n', 3000))`,
  )
  await server.run(`UPDATE people SET lat = 3 WHERE id = 3`)
  t.match(await followed.ended(), { code: 5, output: /"contact".*TOAST.*REPLICA IDENTITY FULL/ })
  await server.run('ALTER TABLE people REPLICA IDENTITY FULL')
  await followed.copy()
  await server.run(
    `UPDATE people SET lat = 4, id = 33 WHERE id = 3; UPDATE people SET contact = NULL WHERE id = 2`,
  )
  t.ok(await followed.reached(t), 'unchanged values of old rows')

  await followed.stop()
  t.match(await followed.fail('--slot', 'other'), { code: 2, output: /follows public.people by/ })
  await server.run(`INSERT INTO people VALUES (4, '+9994', 1, 1)`)
  await server.run(`SELECT pg_replication_slot_advance('hickory_1', pg_current_wal_lsn())`)
  t.match(await followed.fail(), { code: 5, output: /changes may be missing.*--initial-copy/ })
  await server.run(`SELECT pg_drop_replication_slot('hickory_1')`)
  t.match(await followed.fail(), { code: 5, output: /there is no slot "hickory_1" any more/ })
  await server.run(`SELECT pg_create_logical_replication_slot('hickory_1', 'pgoutput')`)
  t.match(await followed.fail(), { code: 5, output: /it was made anew or read by somebody else/ })
  await followed.copy()
  t.ok(await followed.reached(t), 'a copy makes it good')

  await server.run('ALTER TABLE people RENAME lat TO latitude; UPDATE people SET latitude = 7')
  t.match(await followed.ended(), { code: 5, output: /no column "lat" any more/ })
  await followed.copy()
  t.ok(await followed.reached(t), 'after a change of the table')
  await server.run(`ALTER PUBLICATION hickory_1 DROP TABLE people`)
  await followed.stop()
  t.match(await followed.fail(), { code: 5, output: /does not have public.people/ })
  await server.run('DROP PUBLICATION hickory_1')
  t.match(await followed.fail(), { code: 5, output: /there is no publication "hickory_1"/ })
  await followed.copy()
  await server.run(`INSERT INTO people VALUES (5, '+9995', 1, 1)`)
  t.ok(await followed.reached(t))
  await followed.stop()
  const file = join(followed.data, 'people.csv')
  writeFileSync(file, 'number,lat,lng\n+9991,1,2\n')
  await followed.command('import', '--source', '1', '--max-shrink', '100%', file)
  t.match(await followed.fail(), { code: 2, output: /was imported without --key since/ })
})

t.test('tables and servers that cannot be followed are refused', async (t) => {
  const server = await emptied()
  const columns = 'number text, lat float8, lng float8'
  await server.run(`CREATE TABLE bare (id int, ${columns});
    CREATE TABLE late (id int UNIQUE DEFERRABLE, ${columns});
    CREATE TABLE hidden (id int UNIQUE, ${columns});
    CREATE TABLE blank (id int PRIMARY KEY, ${columns}); ALTER TABLE blank REPLICA IDENTITY NOTHING;
    CREATE TABLE parts (id int PRIMARY KEY, ${columns}) PARTITION BY HASH (id);
    CREATE UNLOGGED TABLE light (id int PRIMARY KEY, ${columns});
    CREATE TABLE made (id int PRIMARY KEY, x float8, lat float8, lng float8 GENERATED ALWAYS AS (x) STORED, number text);
    CREATE TABLE secured (id int PRIMARY KEY, ${columns}); ALTER TABLE secured ENABLE ROW LEVEL SECURITY;
    CREATE TABLE kept (id int PRIMARY KEY, ${columns}); CREATE PUBLICATION part FOR TABLE kept WITH (publish = 'insert');
    CREATE PUBLICATION few FOR TABLE kept WHERE (id > 1);
    CREATE ROLE plain LOGIN PASSWORD 'secret'; GRANT SELECT ON kept, secured TO plain; GRANT pg_monitor TO plain`)
  const cases: readonly (readonly [table: string, args: readonly string[], said: RegExp])[] = [
    ['nothing', [], /there is no table nothing/],
    ['bare', [], /no primary key of one column: name a column that is unique with --key/],
    ['bare', ['--key', 'id'], /the key, is not unique: CREATE UNIQUE INDEX/],
    ['late', ['--key', 'id'], /must not be DEFERRABLE/],
    ['hidden', ['--key', 'id'], /ALTER TABLE public.hidden REPLICA IDENTITY/],
    ['blank', [], /ALTER TABLE public.blank REPLICA IDENTITY/],
    ['parts', [], /a partitioned table/],
    ['light', [], /not logged/],
    ['made', [], /"lng" of public.made is generated/],
    ['kept', ['--publication', 'part'], /publish = 'insert, update, delete, truncate'/],
    ['kept', ['--publication', 'few'], /must have no WHERE/],
    ['kept', ['--slot', 'No'], /--slot needs 1 to 63 small letters/],
  ]
  const refused = async (table: string, args: readonly string[], url = server.url()) => {
    const command = followCommand({ dataDirectory: () => temporaryDirectory(t), log: silentLog })
    const flags = ['--table', table, '--source', '1', '--initial-copy', '--label', 'x', ...args]
    const written = t.capture(process.stdout, 'write', () => true)
    const fault = await command.parseAsync([url, ...flags], { from: 'user' }).then(
      () => ({ message: 'it was taken' }),
      (error: Error) => error,
    )
    written.restore()
    return fault.message
  }
  for (const [table, args, said] of cases) t.match(await refused(table, args), said)
  const url = server.url().replace('hickory:', 'plain:')
  t.match(await refused('kept', ['--allow-empty'], url), /lacks a right: .*replication/)
  await server.run('ALTER ROLE plain REPLICATION')
  t.match(await refused('kept', ['--allow-empty'], url), /permission denied.*CREATE PUBLICATION/)
  t.match(await refused('secured', [], url), /BYPASSRLS/)
  await server.run(`CREATE TABLE empty (id int PRIMARY KEY, ${columns})`)
  t.match(await refused('empty', []), /--allow-empty/)
  // No slot is left, also of a copy that failed.
  const slots = () => server.run('SELECT FROM pg_replication_slots')
  while ((await slots()).rowCount !== 0) await sleep(20)
  const other = await startPostgres(t)
  await other.run(`CREATE TABLE people (id int PRIMARY KEY, ${columns})`)
  t.match(await refused('people', [], other.url()), /wal_level is replica.*restart/)
})

/** Statements of a transaction or some, which do not fail. */
function statements(random: () => number): string[] {
  const id = () => `k${Math.floor(random() * 400)}`
  const phone = () => (random() < 0.05 ? 'NULL' : `'+999${Math.floor(random() * 1000)}'`)
  const lat = () => (random() < 0.1 ? '95' : (random() * 180 - 90).toFixed(9))
  const lng = () => (random() < 0.05 ? `'NaN'` : (random() * 360 - 180).toFixed(9))
  const insert = () =>
    `INSERT INTO people VALUES ('${id()}', ${phone()}, ${lat()}, ${lng()}, 'h${Math.floor(random() * 9)}', repeat('n', ${Math.floor(random() * 9000)}))
      ON CONFLICT (id) DO UPDATE SET lat = EXCLUDED.lat, lng = EXCLUDED.lng, phone = EXCLUDED.phone`
  const update = () => `UPDATE people SET lat = ${lat()}, household = NULL WHERE id = '${id()}'`
  const remove = () => `DELETE FROM people WHERE id = '${id()}'`
  const rename = () => {
    const to = id()
    return `UPDATE people SET id = '${to}' WHERE id = '${id()}' AND NOT EXISTS (SELECT FROM people WHERE id = '${to}')`
  }
  const swap = () =>
    `UPDATE people SET phone = '+9995', lng = lng WHERE id < '${id()}' AND lat < ${lat()}`
  const kinds = [insert, insert, insert, update, remove, rename]
  const one = () => (random() < 0.02 ? swap() : kinds[Math.floor(random() * kinds.length)]())
  const few = Array.from({ length: 1 + Math.floor(random() * 5) }, one)
  if (random() < 0.4) return few
  return ['BEGIN', ...few, random() < 0.2 ? 'ROLLBACK' : 'COMMIT']
}

/** Numbers from 0 to 1, the same for the same seed. */
function mulberry(start: number): () => number {
  let state = start | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
