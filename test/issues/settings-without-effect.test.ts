/**
 * Settings that were taken and did nothing, of commands; those of a service are in test/config.test.ts.
 *
 * @module
 */
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { hickoryHere } from '../support/service/command-line.js'
import { temporaryDirectory } from '../support/service/hickory.js'

const NOTHING_DONE = { code: 2, stdout: '' }

/** It said that shards are placed on "the machines that are members now", and published a snapshot. */
t.test('shards are moved within a cluster alone', async (t) => {
  const data = temporaryDirectory(t)
  const file = join(data, 'people.csv')
  writeFileSync(file, 'phone,lat,lng\n+9995550101,29.7,-95.3\n')
  const place = ['--data', join(data, 'store')]
  const imported = await hickoryHere('import', ...place, '--source', '1', '--label', 'A', file)
  t.equal(imported.code, 0)
  const snapshots = () => readdirSync(join(data, 'store', 'snapshots'))
  const before = snapshots()
  t.match(await hickoryHere('cluster', 'move', ...place), {
    ...NOTHING_DONE,
    stderr: /^hickory: .*store is of no cluster: name the data directory of a machine .*\n$/,
  })
  t.same(snapshots(), before)
})

t.test('commands of a cluster refuse what says nothing without --cluster', async (t) => {
  const place = ['--data', temporaryDirectory(t)]
  for (const [flag, value] of [
    ['--cluster-id', 'other'],
    ['--cluster-credentials', '/credentials'],
    ['--cluster-nkey', '/seed'],
    ['--cluster-tls-ca', '/ca.pem'],
  ]) {
    const stderr = new RegExp(`^hickory: ${flag} needs --cluster, .*\n$`)
    t.match(await hickoryHere('cluster', 'status', ...place, flag, value), {
      ...NOTHING_DONE,
      stderr,
    })
  }
})

t.test('variables of a service concern no other command, if each is right', async (t) => {
  const variables = { HICKORY_NAME: 'site-a', HICKORY_AUDIT_KEEP_DAYS: '7' }
  Object.assign(process.env, variables)
  t.teardown(() => Object.keys(variables).map((name) => delete process.env[name]))
  const outcome = await hickoryHere('verify', '--data', join(temporaryDirectory(t), 'none'))
  t.match(outcome.stderr, /none/)
  process.env.HICKORY_AUDIT_KEEP_DAYS = 'x'
  const refused = await hickoryHere('verify', '--data', temporaryDirectory(t))
  t.match(refused, { ...NOTHING_DONE, stderr: /^hickory: HICKORY_AUDIT_KEEP_DAYS must be/ })
})
