/**
 * A failover loses the last transactions of a server. Those that had come less than a second before were not noticed: the
 * journal had them, and the file of the state did not say so yet.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { Followed, peopleIn } from '../follow/followed.js'
import { withNewestPostgres } from '../support/data/postgres-binaries.js'
import {
  type PostgresServer,
  startPostgres,
  untilPrimary,
} from '../support/data/postgres-server.js'
import { byTier } from '../support/tier.js'

let server: PostgresServer

withNewestPostgres(t, byTier({ ci: false, soak: true }), async (t, binaries) => {
  server = await startPostgres(t, ['wal_level=logical'], binaries)
  losesTransactions(t)
})

function losesTransactions(t: Test): void {
  for (const [when, isKilled] of [
    ['while the command runs', false],
    ['when it is started again', true],
  ] as const) {
    t.test(`transactions that came and were lost are noticed ${when}`, async (t) => {
      await server.run(`DROP TABLE IF EXISTS people;
      CREATE TABLE people (id int PRIMARY KEY, number text, lat float8, lng float8);
      INSERT INTO people SELECT i, '+9991' || i, 1, 1 FROM generate_series(1, 9) i`)
      const followed = new Followed(t, server, 'people')
      await followed.copy()
      await server.restart('rm -rf kept; cp -a data kept')
      const file = join(followed.data, 'follow/1.json')
      const state = readFileSync(file)
      await server.run('DELETE FROM people WHERE id < 4')
      while ((await peopleIn(followed.data)).size > 6) await sleep(2)
      if (isKilled) {
        await followed.kill()
        // It is written once a second, and may have been.
        writeFileSync(file, state)
      }
      await server.restart(
        `rm -rf data; mv kept data; touch data/recovery.signal; echo "restore_command = 'false'" >> data/postgresql.auto.conf`,
        'QUIT',
      )
      await untilPrimary(server)
      await server.run('UPDATE people SET lat = 5 WHERE id = 5')
      const refused = { code: 5, output: /the server left timeline \d at .*--initial-copy/ }
      t.match(await (isKilled ? followed.fail() : followed.ended()), refused)
      t.match(await followed.fail(), refused)
      await followed.copy()
      await server.run('DELETE FROM people WHERE id < 4')
      t.ok(await followed.reached(t), 'a copy makes it good')
      await followed.stop()
      await server.run('DROP PUBLICATION hickory_1')
    })
  }
}
