/**
 * `hickory doctor`: each thing that can be wrong with a data directory is found, and what to do is said.
 *
 * @module
 */
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { noteConnection } from '../../src/cluster/state-file.js'
import { setJournalLog } from '../../src/journal/seed.js'
import { makeClustered } from '../support/data/clustered.js'
import { appendBatches } from '../support/data/journal.js'
import { hickoryHere } from '../support/service/command-line.js'
import { temporaryDirectory } from '../support/service/hickory.js'

const template = join(temporaryDirectory(t), 'data')

t.before(async () => {
  const directory = temporaryDirectory(t)
  const rows = join(directory, 'rows.csv')
  writeFileSync(rows, 'number,lat,lng\n+9995550101,1,2\n+9995550102,3,4\n')
  const args = ['--data', template, '--source', '1', '--label', 'Residents', rows]
  for (const more of [[], ['--key', 'number']]) {
    const { code, stderr } = await hickoryHere('import', ...args, ...more)
    if (code !== 0) throw new Error(stderr)
    writeFileSync(rows, 'number,lat,lng\n+9995550101,1,2\n+9995550103,3,4\n')
  }
})

interface Told {
  readonly name: string
  readonly state: string
  readonly found: string
  readonly advice?: string
}

function world(t: Test) {
  const data = join(temporaryDirectory(t), 'data')
  // Some releases of Node.js copy folders without their modes.
  execFileSync('cp', ['-Rp', template, data])
  const [older, current] = readdirSync(join(data, 'snapshots')).sort()
  return {
    data,
    older,
    current,
    inSnapshot: (id: string, name: string) => join(data, 'snapshots', id, name),
    /** Each look has it checked, by another process. */
    async makeStore() {
      const list = join(temporaryDirectory(t), 'list.txt')
      writeFileSync(list, '+9995550101\n')
      const { code, stderr } = await hickoryHere('suppress', '--data', data, list)
      t.equal(code, 0, stderr)
    },
    async look(...args: string[]) {
      const { code, stdout, stderr } = await hickoryHere(
        'doctor',
        '--data',
        data,
        '--json',
        ...args,
      )
      const told: Told[] = JSON.parse(stdout).checks
      const of = (name: string) => told.find((check) => check.name === name)
      return { code, stderr, told, of }
    },
  }
}

t.test('a directory that is as it should be', async (t) => {
  const { data, current, look, makeStore } = world(t)
  await makeStore()
  const before = readdirSync(data, { recursive: true })
  const { code, told, of } = await look('--full')
  t.equal(code, 0)
  t.equal(of('start')?.found, `would serve ${current}`)
  t.equal(told.length, 20)
  for (const { name, state, found, advice } of told) {
    t.not(state, 'failed', `${name}: ${found}`)
    t.equal(advice === undefined, state === 'ok', `${name} says what to do if need be`)
  }
  const { stdout } = await hickoryHere('doctor', '--data', data)
  t.equal(stdout.trimEnd().split('\n').length, told.length + 1, 'one line a check')
  t.same(readdirSync(data, { recursive: true }), before, 'nothing is changed')
})

t.test('damage is found, and what a start would do', async (t) => {
  const { data, older, current, inSnapshot, look } = world(t)
  const shard = inSnapshot(current, '1-0000.shard')
  const bytes = readFileSync(shard)
  const flipped = Buffer.from(bytes)
  flipped[bytes.length - 9] ^= 1
  chmodSync(shard, 0o600)
  writeFileSync(shard, flipped)
  t.equal((await look()).of('start')?.found, `would serve ${current}`, 'a quick look reads no rows')
  const full = await look('--full')
  t.match(full, { code: 1, stderr: /^hickory: failed: start\. / })
  t.match(full.of('snapshots'), { state: 'warning', found: `${current} is damaged (1-0000.shard` })
  t.match(full.of('start'), { state: 'failed', found: `would fall back to ${older}` })

  writeFileSync(shard, bytes)
  truncateSync(shard, bytes.length - 1)
  t.match((await look()).of('start'), { state: 'failed', found: `would fall back to ${older}` })
  rmSync(inSnapshot(older, 'manifest.json'))
  t.match((await look()).of('start'), { state: 'failed', found: 'no snapshot is intact' })
  writeFileSync(shard, bytes)
  writeFileSync(join(data, 'CURRENT'), 'x')
  t.match((await look()).of('start')?.found, /would fall back to .*CURRENT: found 1 characters/)
})

t.test('what a machine of a cluster must know is looked at', async (t) => {
  const { data, current, look, inSnapshot } = world(t)
  t.match((await look()).of('cluster'), { state: 'ok', found: 'of none' })
  await makeClustered(data)
  t.match((await look()).of('cluster'), {
    state: 'ok',
    found: 'site-a of the cluster main, with the members site-a, site-b',
  })
  t.match((await look()).of('nats'), { state: 'ok', found: /no service has run/ })
  const nats = { servers: ['nats://127.0.0.1:1'] }
  const connection = { clusterId: 'main', name: 'site-a', nats, natsMonitors: [] }
  await noteConnection(data, connection)
  t.match((await look()).of('nats'), { state: 'warning', found: 'NATS at nats://127.0.0.1:1' })
  rmSync(join(data, 'cluster', 'connection.json'))
  t.equal((await look()).of('start')?.found, `would serve ${current}`)
  const state = join(data, 'cluster', 'state.json')
  const written = readFileSync(state)

  truncateSync(inSnapshot(current, '1-0000.shard'), 10)
  for (const check of ['snapshots', 'start']) {
    t.match((await look()).of(check)?.advice, /it fetches what is damaged$/)
  }
  const verified = await hickoryHere('verify', '--data', data)
  t.match(verified, { code: 4, stderr: /it fetches what is damaged from another machine/ })

  chmodSync(state, 0o640)
  t.match((await look()).of('permissions'), { state: 'ok' }, 'nobody reaches it')
  chmodSync(join(data, 'cluster'), 0o750)
  t.match((await look()).of('permissions')?.found, /cluster \(mode 750\)/)
  chmodSync(join(data, 'cluster'), 0o700)

  writeFileSync(state, written.toString().replace('of site-a', 'of site-b'))
  t.match((await look()).of('cluster'), {
    state: 'warning',
    found: 'state.json is not as it was written',
    advice: 'it begins with what that has',
  })
  rmSync(state)
  const gone = await look()
  t.match(gone, { code: 1, stderr: /cluster/ })
  t.match(gone.of('cluster'), { state: 'failed', advice: /empty the directory.*cluster leave/ })
  t.equal((await hickoryHere('cluster', 'leave', '--data', data)).code, 0)
  t.match((await look()).of('cluster'), { state: 'ok', found: 'of none' })

  await makeClustered(data)
  await setJournalLog(join(data, 'journal'), undefined)
  t.match((await look()).of('cluster'), { state: 'failed', found: 'the journal is of no cluster' })
})

t.test('what is strange about a directory is told', async (t) => {
  const { data, older, look, makeStore } = world(t)
  chmodSync(data, 0o750)
  t.match((await look()).of('permissions'), { state: 'warning', advice: `chmod go= ${data}` })
  chmodSync(data, 0o700)
  writeFileSync(join(data, 'sources.json'), '{}', { mode: 0o644 })
  t.match((await look()).of('permissions')?.found, /sources\.json \(mode 644\)/)
  rmSync(join(data, 'sources.json'))
  t.match((await look()).of('permissions'), { state: 'ok' })

  const soon = Date.now() / 1000 + 7_200
  utimesSync(join(data, 'snapshots', older), soon, soon)
  t.match((await look()).of('clock'), { state: 'warning', found: older })

  writeFileSync(join(data, 'CURRENT'), `${older}\n`)
  t.match((await look()).of('start')?.found, /would serve .* \(rolled back from /)

  await makeStore()
  const store = join(data, 'store', 'data.mdb')
  const pages = readFileSync(store)
  writeFileSync(store, pages.fill(0xff, 0, 8_192))
  t.match(await look(), { code: 1, stderr: /^hickory: failed: store\. / })
})

t.test('an empty directory is no failure, and a missing one is', async (t) => {
  const { data, look } = world(t)
  for (const name of readdirSync(data)) rmSync(join(data, name), { recursive: true })
  const empty = await look()
  t.equal(empty.code, 0)
  t.match(empty.of('start'), { state: 'warning', found: 'would fail: there is nothing to serve' })
  t.match(empty.of('store'), { state: 'ok', found: 'none yet' })
  rmSync(data, { recursive: true })
  t.match(await look(), { code: 1, stderr: /^hickory: failed: directory\. / })
  t.notOk(readdirSync(join(data, '..')).includes('data'))
  mkdirSync(data)
})

t.test('a journal of changes is read whole', async (t) => {
  const { data, look } = world(t)
  t.match((await look()).of('journal'), { state: 'ok', found: /^none yet/ })
  await appendBatches(data, 3)
  t.match((await look()).of('journal'), { state: 'ok', found: 'intact, batches 1 to 3' })
  const path = join(data, 'journal', 'changes-000002.journal')
  const bytes = readFileSync(path)
  bytes[bytes.length - 1] ^= 1
  writeFileSync(path, bytes)
  const damaged = await look()
  t.equal(damaged.code, 1)
  t.match(damaged.of('journal'), {
    state: 'failed',
    found: /is damaged: changes-000002\.journal at byte 0 \(batch 2\) is missing or not as/,
    advice: /^restore .* or move .* away and import/,
  })
})

t.test('a self-test looks at no directory of the user', async (t) => {
  for (const flags of [['--data', temporaryDirectory(t)], ['--full']]) {
    t.match(await hickoryHere('doctor', '--self-test', ...flags), {
      code: 2,
      stderr: /'--self-test' cannot be used with option '--(data|full)/,
    })
  }
})
