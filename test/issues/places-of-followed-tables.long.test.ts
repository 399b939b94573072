import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { followCommand } from '../../src/commands/follow.js'
import type { OperatorError } from '../../src/errors.js'
import { type Ended, Followed, peopleIn } from '../follow/followed.js'
import { withNewestPostgres } from '../support/data/postgres-binaries.js'
import { type PostgresServer, startPostgres } from '../support/data/postgres-server.js'
import { silentLog } from '../support/data/snapshots.js'
import { byTier } from '../support/tier.js'

let server: PostgresServer

/** @param since  the release of PostgreSQL that has it */
type Form = readonly [name: string, sql: string, since?: number]

/** Forms of docs/operations/followed-tables.md; `m` is what is followed. */
const goesOn: readonly Form[] = [
  ['VACUUM FULL', 'VACUUM FULL m'],
  ['CLUSTER', 'CLUSTER m USING m_pkey'],
  ['REINDEX', 'REINDEX TABLE m'],
  ['REINDEX CONCURRENTLY', 'REINDEX TABLE CONCURRENTLY m'],
  ['CREATE INDEX', 'CREATE INDEX ON m (phone)'],
  ['ADD COLUMN', 'ALTER TABLE m ADD tel text'],
  ['ADD COLUMN DEFAULT random()', 'ALTER TABLE m ADD extra float8 DEFAULT random()'],
  ['DROP COLUMN', 'ALTER TABLE m DROP n1'],
  ['RENAME COLUMN', 'ALTER TABLE m RENAME n2 TO remark'],
  ['ALTER COLUMN TYPE', 'ALTER TABLE m ALTER n3 TYPE int USING 1'],
  ['SET STATISTICS', 'ALTER TABLE m ALTER phone SET STATISTICS 500; ANALYZE m'],
  ['SET (n_distinct)', 'ALTER TABLE m ALTER phone SET (n_distinct = 5)'],
  ['SET STORAGE', 'ALTER TABLE m ALTER phone SET STORAGE EXTERNAL'],
  ['SET COMPRESSION', 'ALTER TABLE m ALTER phone SET COMPRESSION pglz'],
  ['SET DEFAULT', `ALTER TABLE m ALTER phone SET DEFAULT '+9990'`],
  ['SET NOT NULL', 'ALTER TABLE m ALTER phone SET NOT NULL'],
  ['wider type', 'ALTER TABLE m ALTER phone TYPE varchar(60)'],
  ['GRANT of a column', 'GRANT SELECT (phone) ON m TO other'],
  ['GRANT of a column again', 'GRANT SELECT (phone) ON m TO other'],
  ['COMMENT', `COMMENT ON COLUMN m.phone IS 'x'`],
  ['ADD CHECK', `ALTER TABLE m ADD CONSTRAINT c CHECK (lat > -91)`],
  ['ADD UNIQUE', 'ALTER TABLE m ADD UNIQUE (id, phone)'],
  ['TRIGGER', 'ALTER TABLE m DISABLE TRIGGER ALL'],
  ['SET (fillfactor)', 'ALTER TABLE m SET (fillfactor = 70)'],
  ['CLUSTER ON', 'ALTER TABLE m CLUSTER ON m_pkey'],
  ['OWNER', 'ALTER TABLE m OWNER TO other'],
  ['SET TABLESPACE', 'ALTER TABLE m SET TABLESPACE pg_default'],
  ['REPLICA IDENTITY FULL', 'ALTER TABLE m REPLICA IDENTITY FULL'],
  ['SET ACCESS METHOD', 'ALTER TABLE m SET ACCESS METHOD heap', 15],
  [
    'MERGE',
    `MERGE INTO m USING (VALUES (3)) AS v (id) ON m.id = v.id WHEN MATCHED THEN UPDATE SET lat = m.lat + 1`,
    15,
  ],
  ['INHERIT', 'CREATE TABLE up (id int NOT NULL, phone varchar(60)); ALTER TABLE m INHERIT up'],
  ['NO INHERIT', 'ALTER TABLE m NO INHERIT up'],
  [
    'ATTACH PARTITION',
    `CREATE TABLE parts (LIKE m) PARTITION BY RANGE (id);
      ALTER TABLE parts ATTACH PARTITION m FOR VALUES FROM (0) TO (9000)`,
  ],
  ['ADD VALUE', `ALTER TYPE kind ADD VALUE 'c'`],
  ['ROW LEVEL SECURITY', 'ALTER TABLE m ENABLE ROW LEVEL SECURITY'],
  ['publication ADD TABLE', 'CREATE TABLE o (id int); ALTER PUBLICATION $pub ADD TABLE o'],
  ['publication SET TABLE', 'ALTER PUBLICATION $pub SET TABLE m'],
]

const refused: readonly Form[] = [
  [
    'publish_generated_columns, and back',
    `ALTER PUBLICATION $pub SET (publish_generated_columns = stored);
      ALTER PUBLICATION $pub SET (publish_generated_columns = none)`,
    18,
  ],
  [
    'WHERE and back',
    `ALTER PUBLICATION $pub SET TABLE m WHERE (id > 5); UPDATE m SET lat = 3 WHERE id = 4;
      ALTER PUBLICATION $pub SET TABLE m`,
  ],
  ['TYPE USING', `ALTER TABLE m ALTER phone TYPE varchar(30) USING phone || '9'`],
  ['another type', 'ALTER TABLE m ALTER phone TYPE text'],
  ['narrower type', 'ALTER TABLE m ALTER phone TYPE varchar(20)'],
  ['DROP COLUMN, ADD COLUMN', 'ALTER TABLE m DROP lat; ALTER TABLE m ADD lat float8 DEFAULT 12'],
  [
    'RENAME COLUMN to another',
    'ALTER TABLE m RENAME phone TO landline; ALTER TABLE m RENAME mobile TO phone',
  ],
  [
    'RENAME COLUMN and back',
    `ALTER TABLE m RENAME phone TO x; ALTER TABLE m RENAME mobile TO phone; UPDATE m SET lat = 3 WHERE id = 3;
      ALTER TABLE m RENAME phone TO mobile; ALTER TABLE m RENAME x TO phone`,
  ],
  ['RENAME of a used column', 'ALTER TABLE m RENAME phone TO x'],
  ['RENAME VALUE', `ALTER TYPE kind RENAME VALUE 'a' TO 'z'`],
  [
    'another PRIMARY KEY',
    'ALTER TABLE m DROP CONSTRAINT m_pkey; ALTER TABLE m ADD PRIMARY KEY (phone)',
  ],
  [
    'PRIMARY KEY made anew',
    'ALTER TABLE m DROP CONSTRAINT m_pkey; ALTER TABLE m ADD PRIMARY KEY (id)',
  ],
  [
    'DROP TABLE, CREATE TABLE',
    `CREATE TABLE n (LIKE m INCLUDING ALL); INSERT INTO n SELECT * FROM m WHERE id < 4; DROP TABLE m CASCADE;
      ALTER TABLE n RENAME TO m; ALTER PUBLICATION $pub ADD TABLE m`,
  ],
  [
    'RENAME TABLE to another',
    `CREATE TABLE n (LIKE m INCLUDING ALL); ALTER TABLE m RENAME TO old; ALTER TABLE n RENAME TO m;
      ALTER PUBLICATION $pub ADD TABLE m`,
  ],
  ['RENAME TABLE', 'ALTER TABLE m RENAME TO old'],
  ['SET SCHEMA', 'CREATE SCHEMA away; ALTER TABLE m SET SCHEMA away'],
  [
    'publication DROP TABLE, ADD TABLE',
    'ALTER PUBLICATION $pub DROP TABLE m; DELETE FROM m WHERE id = 5; ALTER PUBLICATION $pub ADD TABLE m',
  ],
  [
    'publication made anew',
    'DROP PUBLICATION $pub; DELETE FROM m WHERE id = 5; CREATE PUBLICATION $pub FOR TABLE m',
  ],
  [
    'publish = insert, and back',
    `ALTER PUBLICATION $pub SET (publish = 'insert'); DELETE FROM m WHERE id = 5;
      ALTER PUBLICATION $pub SET (publish = 'insert, update, delete, truncate')`,
  ],
  [
    'publish = insert, and back with another owner',
    `ALTER PUBLICATION $pub SET (publish = 'insert'); DELETE FROM m WHERE id = 5;
      ALTER PUBLICATION $pub SET (publish = 'insert, update, delete, truncate'); ALTER PUBLICATION $pub OWNER TO other`,
  ],
  [
    'UNLOGGED and back',
    `ALTER PUBLICATION $pub DROP TABLE m; ALTER TABLE m SET UNLOGGED; DELETE FROM m WHERE id = 5;
      ALTER TABLE m SET LOGGED; ALTER PUBLICATION $pub ADD TABLE m`,
  ],
]

/** Each form is a copy and three starts of the command; the soak has all of them. */
function some<Of>(forms: readonly Of[]): readonly Of[] {
  return byTier({ ci: forms.filter((_, at) => at % 3 === 0), soak: forms })
}

/** Those that the server has. */
async function known(forms: readonly Form[]): Promise<readonly Form[]> {
  const { rows } = await server.run(`SELECT current_setting('server_version_num')::int AS version`)
  return forms.filter(([, , since = 0]) => rows[0].version >= since * 10_000)
}

const CREATE = `CREATE TYPE kind AS ENUM ('a', 'b');
  CREATE TABLE m (n1 text, n2 text, n3 text, id int PRIMARY KEY, phone varchar(30), mobile varchar(30), lat float8, lng float8, contact kind);
  INSERT INTO m (id, phone, mobile, lat, lng, contact)
    SELECT i, '+9991' || i, '+9992' || i, i, i, 'a' FROM generate_series(1, 10) i`

const DROP = `DROP TABLE IF EXISTS m, n, o, up, parts, old CASCADE; DROP SCHEMA IF EXISTS away CASCADE; DROP TYPE IF EXISTS kind;
  DROP PUBLICATION IF EXISTS hickory_1`

const CHANGES = `UPDATE m SET lat = -lat WHERE id = 1; DELETE FROM m WHERE id = 2;
  INSERT INTO m (id, phone, lat, lng, contact) VALUES (2, '+99912', 2, 2, 'b')`

const COLUMNS = ['--number', 'phone']

/** A table that is followed. */
async function begin(t: Test, publication = ''): Promise<Followed> {
  await run(DROP)
  await server.run(CREATE)
  await run(publication)
  const followed = new Followed(t, server, 'm')
  await followed.copy(...COLUMNS)
  return followed
}

/** Each statement as a transaction of its own, as some must be. */
async function run(sql: string): Promise<void> {
  for (const each of sql.split(';')) {
    if (each.trim() !== '') await server.run(each.replaceAll('$pub', 'hickory_1'))
  }
}

/** Starts the command twice, which must end with the same reason. */
async function refuses(t: Test, { data }: Followed, form: string, before?: Ended): Promise<void> {
  const start = () => {
    const command = followCommand({ dataDirectory: () => data, log: silentLog })
    const flags = ['--table', 'm', '--source', '1', ...COLUMNS]
    return command.parseAsync([server.url(), ...flags], { from: 'user' }).then(
      () => ({ exitCode: 0, message: 'it went on' }),
      (error: OperatorError) => error,
    )
  }
  const first = await start()
  t.equal(first.exitCode, 5, `${form}: ${first.message}`)
  t.match(
    first.message,
    /--initial-copy|there is no table|no column "phone"|the key, is not unique/,
    form,
  )
  t.equal((await start()).message, first.message, `${form}: the same again`)
  if (before !== undefined) t.match(before, { code: 5, output: first.message }, form)
}

/** Whether the people of the table are those of the data directory, soon. */
async function isRight({ data }: Followed): Promise<boolean> {
  const { rows } = await server.run('SELECT id, phone, lng, lat, contact FROM m')
  const expected = rows.map(({ id, phone, lng, lat, contact }) =>
    [id, JSON.stringify([phone, lng * 1e7, lat * 1e7, contact])].join(' '),
  )
  for (let round = 0; round < 400; round++) {
    const people = [...(await peopleIn(data))].map((entry) => entry.join(' '))
    if (people.sort().join() === expected.sort().join()) return true
    await sleep(25)
  }
  return false
}

withNewestPostgres(t, byTier({ ci: false, soak: true }), async (t, binaries) => {
  server = await startPostgres(
    t,
    ['wal_level=logical', 'max_replication_slots=80', 'max_wal_senders=10', 'timezone=UTC'],
    binaries,
  )
  await server.run('CREATE ROLE other SUPERUSER')
  goesOnOrIsRefused(t)
})

function goesOnOrIsRefused(t: Test): void {
  t.test(
    'what changes no row goes on, while the command runs and while it is stopped',
    async (t) => {
      const running = await begin(t)
      const forms = await known(goesOn)
      for (const [form, sql] of forms) {
        await run(`${sql}; ${CHANGES}`)
        t.ok(await isRight(running), `${form}, while it runs`)
      }
      await running.stop()
      const stopped = await begin(t)
      const isRewriting = ([name]: Form) => /FULL|CLUSTER|TYPE|DEFAULT random/.test(name)
      for (const some of [forms.filter(isRewriting), forms.filter((form) => !isRewriting(form))]) {
        await stopped.stop()
        for (const [, sql] of some) await run(`${sql}; ${CHANGES}`)
        await stopped.start(...COLUMNS)
        t.ok(await isRight(stopped), `${some.length} forms while it is stopped`)
      }
      await stopped.stop()
    },
  )

  t.test(
    'what changes rows in other ways than the log tells is refused from then on',
    async (t) => {
      for (const [form, sql] of some(await known(refused))) {
        const followed = await begin(t)
        await followed.stop()
        await run(sql)
        await refuses(t, followed, form)
      }
    },
  )

  t.test('it ends by itself where that happens while it runs', async (t) => {
    const cases: readonly (readonly [form: string, publication: string, sql: string])[] = [
      [
        'DROP TABLE, CREATE TABLE',
        'CREATE PUBLICATION $pub FOR ALL TABLES',
        'CREATE TABLE n (LIKE m INCLUDING ALL); INSERT INTO n SELECT * FROM m WHERE id < 6; DROP TABLE m CASCADE; ALTER TABLE n RENAME TO m',
      ],
      ['TYPE USING', '', `ALTER TABLE m ALTER phone TYPE varchar(30) USING phone || '9'`],
      [
        'DROP TABLE, ADD TABLE',
        '',
        `ALTER PUBLICATION $pub DROP TABLE m; ALTER PUBLICATION $pub ADD TABLE m`,
      ],
      [
        'UNLOGGED and back',
        'CREATE PUBLICATION $pub FOR ALL TABLES',
        'ALTER TABLE m SET UNLOGGED; DELETE FROM m WHERE id = 5; ALTER TABLE m SET LOGGED',
      ],
      [
        'another PRIMARY KEY',
        '',
        `ALTER TABLE m DROP CONSTRAINT m_pkey; ALTER TABLE m ADD PRIMARY KEY (phone); DELETE FROM m WHERE id = 5;
        ALTER TABLE m DROP CONSTRAINT m_pkey; ALTER TABLE m ADD PRIMARY KEY (id)`,
      ],
    ]
    for (const [form, publication, sql] of some(cases)) {
      const followed = await begin(t, publication)
      await run(sql)
      await refuses(t, followed, form, await followed.ended())
      await followed.copy(...COLUMNS, '--max-shrink', '100%')
      await run(CHANGES)
      t.ok(await isRight(followed), `${form}: a copy makes it good`)
      await followed.stop()
    }
  })

  t.test(
    'other options than before are refused, and a file of an earlier release is taken',
    async (t) => {
      const followed = await begin(t)
      await followed.stop()
      t.match(await followed.fail('--number', 'mobile'), {
        code: 2,
        output: /--number phone, not mobile/,
      })
      t.match(await followed.fail(...COLUMNS, '--normalize', 'e164:US'), {
        code: 2,
        output: /without rules/,
      })
      await followed.start()
      await followed.stop()
      const file = join(followed.data, 'follow/1.json')
      const { identity, timeline, lastCommit, rules, ...earlier } = JSON.parse(
        readFileSync(file, 'utf8'),
      )
      t.ok(identity && timeline && lastCommit)
      t.equal(rules, '')
      writeFileSync(file, JSON.stringify(earlier))
      await followed.start(...COLUMNS)
      await run(CHANGES)
      t.ok(await isRight(followed))
      await followed.stop()
      await run(`ALTER TABLE m DROP lat; ALTER TABLE m ADD lat float8 DEFAULT 12`)
      await refuses(t, followed, 'after the first start')
    },
  )

  t.test('a server that was set back is refused, and one that lost nothing goes on', async (t) => {
    const followed = await begin(t)
    await run(CHANGES)
    t.ok(await isRight(followed))
    // As after a failover: the server goes on in a timeline of its own.
    await server.restart(
      `touch data/recovery.signal; echo "restore_command = 'false'" >> data/postgresql.auto.conf`,
    )
    const { rows } = await server.run('SELECT timeline_id FROM pg_control_checkpoint()')
    t.equal(rows[0].timeline_id, 2)
    await run(CHANGES)
    t.ok(await isRight(followed), 'another timeline')

    await server.restart('cp -a data kept')
    await run(CHANGES)
    t.ok(await isRight(followed))
    await followed.stop()
    await server.restart('rm -rf data; cp -a kept data')
    await refuses(t, followed, 'shorter')

    await followed.copy(...COLUMNS)
    await run('UPDATE m SET lat = 20 WHERE id = 3')
    t.ok(await isRight(followed))
    await followed.stop()
    await server.restart('rm -rf kept; cp -a data kept')
    await followed.start(...COLUMNS)
    await run('UPDATE m SET lat = 21 WHERE id = 3')
    t.ok(await isRight(followed))
    await followed.stop()
    await server.restart('rm -rf data; cp -a kept data')
    await run(`UPDATE m SET lat = 22 WHERE id = 4;
    CREATE TABLE o AS SELECT repeat('x', 500) FROM generate_series(1, 5000)`)
    await refuses(t, followed, 'the log has passed the place')
  })
}
