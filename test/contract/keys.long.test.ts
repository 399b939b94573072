/**
 * Keys where services run: taken by all threads of all processes, kept over restarts, and damaged.
 *
 * @module
 */
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { limits } from '../../src/limits.js'
import { openTables, storeDirectory } from '../../src/store/tables.js'
import { COUNT, importPlaces, places, placesWorld } from '../support/data/suppressions.js'
import { hickoryHere } from '../support/service/command-line.js'
import {
  hickory,
  type Owner,
  type Service,
  serve,
  temporaryDirectory,
} from '../support/service/hickory.js'
import { until } from '../support/service/until.js'
import { byTier } from '../support/tier.js'

const EVERYWHERE = '{"type":"Polygon","coordinates":[[[-1,-1],[60,-1],[60,60],[-1,60],[-1,-1]]]}'

/** Each request comes on a connection of its own, and so at any front thread. */
async function ask({ url }: Service, key: string | undefined, body: object = {}) {
  const headers: Record<string, string> = { connection: 'close' }
  if (key !== undefined) headers.authorization = `Bearer ${key}`
  const asked = { geoJSON: JSON.parse(EVERYWHERE), countsOnly: true, ...body }
  const answer = await fetch(`${url}/api/recipients`, {
    method: 'POST',
    headers,
    body: JSON.stringify(asked),
  })
  return { status: answer.status, headers: answer.headers, text: await answer.text() }
}

const statusOf = async (service: Service, key: string | undefined, body?: object) =>
  (await ask(service, key, body)).status

async function keys(data: string, ...args: string[]) {
  const [command, ...rest] = args
  return hickoryHere('keys', command, '--data', data, ...rest)
}

async function create(data: string, name: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await keys(data, 'create', '--name', name, ...args)
  if (code !== 0) throw new Error(stderr)
  return stdout.trimEnd()
}

const keyed = (t: Owner, data: string, ...args: string[]) =>
  serve(t, '--data', data, '--keys', '--http-threads', '2', '--query-threads', '2', ...args)

t.test('every thread of every process goes by a change when its command ends', async (t) => {
  const data = await placesWorld(t)
  const services = [await keyed(t, data), await keyed(t, data)]
  t.match(services[0].output().stderr, /there is no key yet/)
  const statuses = async (key: string | undefined) => {
    const found = new Set<number>()
    for (const service of services) {
      for (let i = 0; i < 4; i++) found.add(await statusOf(service, key))
    }
    return [...found]
  }
  t.same(await statuses(undefined), [401])
  for (let round = 0; round < byTier({ ci: 1, soak: 2 }); round++) {
    const key = await create(data, `desk-${round}`, '--scopes', 'counts')
    t.same(await statuses(key), [200])
    const rotated = await keys(data, 'rotate', `desk-${round}`)
    const other = rotated.stdout.trimEnd()
    t.same(await statuses(other), [200])
    t.same(await statuses(key), [200], 'both live')
    t.equal((await keys(data, 'rotate', `desk-${round}`, '--finish')).code, 0)
    t.same(await statuses(key), [401])
    t.equal((await keys(data, 'revoke', `desk-${round}`)).code, 0)
    t.same(await statuses(other), [401])
  }
  await services[1].stop('SIGKILL')
  const started = performance.now()
  const alone = await create(data, 'alone', '--scopes', 'counts')
  t.equal(await statusOf(services[0], alone), 200)
  t.ok(performance.now() - started < 30_000, 'nobody waits for the dead')
  services[0].process.kill('SIGSTOP')
  const stuck = await keys(data, 'revoke', 'alone')
  t.equal(stuck.code, 1)
  t.match(stuck.stderr, new RegExp(`is stored, but.*process ${services[0].process.pid}\\)`))
  services[0].process.kill('SIGCONT')
  t.equal((await keys(data, 'revoke', 'alone')).code, 0, 'the same again waits for it')
  t.equal(await statusOf(services[0], alone), 401)
  t.equal((await services[0].stop()).code, 0)
})

t.test('a secret is alone on standard output, or in a file for its owner', async (t) => {
  const data = await placesWorld(t)
  const made = await keys(data, 'create', '--name', 'desk', '--scopes', 'contexts,counts')
  t.match(made.stdout, /^hk_[0-9a-z]{10}_[0-9A-Za-z]{43}\n$/)
  t.match(made.stderr, /key desk is made \(contexts:read, contexts:write, counts\)/)
  t.match(made.stderr, /needs --keys, or --open, to start/)
  const file = join(temporaryDirectory(t), 'desk.key')
  writeFileSync(file, 'of before', { mode: 0o644 })
  const rotated = await keys(data, 'rotate', 'desk', '--secret-file', file)
  t.equal(rotated.stdout, '')
  t.equal(statSync(file).mode & 0o777, 0o600)
  const other = readFileSync(file, 'utf8')
  t.match(other, /^hk_/)
  t.equal(other.slice(0, 14), made.stdout.slice(0, 14), 'of the same key')
  const nowhere = await keys(
    data,
    'create',
    '--name',
    'a',
    '--scopes',
    'counts',
    '--secret-file',
    '/nowhere/a',
  )
  t.equal(nowhere.code, 2)
  const table = await keys(data, 'list')
  t.match(table.stdout, /^NAME .*\ndesk +live /)
  t.equal(table.stdout.split('\n').length, 3, 'no key was made that nobody has')
  for (const text of [made.stdout, other]) t.notMatch(table.stdout, text.trimEnd().slice(14))
})

t.test('keys through restarts', async (t) => {
  const data = await placesWorld(t)
  const key = await create(data, 'desk', '--scopes', 'counts', '--expires', '90d')
  const hasty = await create(data, 'hasty', '--scopes', 'counts', '--requests-per-second', '20')
  const rows = String(2 * COUNT + 10)
  const lister = await create(data, 'lister', '--scopes', 'lists', '--rows-per-day', rows)
  const list = { countsOnly: false }
  let service = await keyed(t, data)
  t.equal(await statusOf(service, key), 200)

  await t.test('all threads count together what a key may have', async (t) => {
    // Of 60 at once, as many pass as a second has, and what falls due while they come.
    const startedMs = performance.now()
    const statuses = await Promise.all(Array.from({ length: 60 }, () => statusOf(service, hasty)))
    const seconds = (performance.now() - startedMs) / 1_000
    const passed = statuses.filter((status) => status === 200).length
    t.equal(statuses.filter((status) => status === 429).length, 60 - passed)
    t.ok(passed >= 20 && passed <= 20 + 20 * seconds + 1, `${passed} in ${seconds} s`)

    t.equal(await statusOf(service, lister, list), 200)
    t.equal(await statusOf(service, lister, list), 200)
    const refused = await ask(service, lister, list)
    t.equal(refused.status, 429)
    const left = new RegExp(`has ${COUNT} rows, and this key has 10 of ${rows} left today`)
    t.match(refused.text, left)
    const waitSeconds = Number(refused.headers.get('retry-after'))
    t.ok(waitSeconds > 0 && waitSeconds <= 86_400)
    t.equal(await statusOf(service, lister, { ...list, limit: 10 }), 200, 'a page of what is left')
    t.equal(await statusOf(service, lister, { ...list, limit: 1 }), 429)
  })

  await t.test('they are kept over a restart, and in backups', async (t) => {
    t.equal((await service.stop()).code, 0)
    const listed = JSON.parse((await keys(data, 'list', '--json')).stdout).keys
    const byName = (wanted: string) => listed.find(({ name }: { name: string }) => name === wanted)
    t.match(byName('desk'), { state: 'live', secrets: [{ lastUsedAt: /^20/ }] })
    t.equal(byName('lister').rowsToday, 2 * COUNT + 10)
    service = await keyed(t, data)
    t.equal(await statusOf(service, key), 200)
    t.equal(await statusOf(service, lister, { ...list, limit: 1 }), 429)

    const file = join(temporaryDirectory(t), 'backup.tar')
    const restored = join(temporaryDirectory(t), 'restored')
    t.equal((await hickory('backup', '--data', data, file)).code, 0)
    t.notOk(readFileSync(file).includes(key.slice(14)), 'the secret is in no file')
    t.equal((await hickory('restore', file, '--data', restored)).code, 0)
    const other = await keyed(t, restored)
    t.equal(await statusOf(other, key), 200)
    t.equal(await statusOf(other, undefined), 401)
    await other.stop()
  })
})

t.test('a damaged record lets nobody in, once told, and the service goes on', async (t) => {
  const data = await placesWorld(t)
  const key = await create(data, 'desk', '--scopes', 'counts')
  const fine = await create(data, 'fine', '--scopes', 'counts')
  const service = await keyed(t, data)
  t.equal(await statusOf(service, key), 200)
  const id = key.slice(3, 13)
  const tables = openTables(storeDirectory(data), 'write')
  const json = String(tables.keys.get(id))
  tables.transact(() => {
    tables.keys.put(id, json.slice(0, json.length / 2))
    tables.meta.put('keysVersion', String(Number(tables.meta.get('keysVersion')) + 1))
  })
  await tables.close()
  const told = () => service.output().stderr.split('the record of a key is damaged').length - 1
  await until(() => told() > 0)
  // Threads look for themselves.
  await sleep(5 * limits.keyPollMs)
  t.equal(await statusOf(service, key), 401)
  t.equal(await statusOf(service, fine), 200)
  const other = await create(data, 'other', '--scopes', 'counts')
  t.equal(await statusOf(service, other), 200)
  t.equal(told(), 1)
  t.match((await keys(data, 'list')).stdout, new RegExp(`^${id} +damaged`, 'm'))
  t.equal((await service.stop()).code, 0)
  const again = await keyed(t, data)
  t.equal(await statusOf(again, key), 401)
  t.equal(await statusOf(again, fine), 200)
  t.equal((await keys(data, 'revoke', id)).code, 0)
  t.notMatch((await keys(data, 'list')).stdout, 'damaged')
})

t.test('so many lists are under way at a time, over all threads', async (t) => {
  const data = temporaryDirectory(t)
  await importPlaces(t, data, 1, places(200_000))
  const key = await create(data, 'desk', '--scopes', 'lists', '--concurrent-lists', '2')
  const service = await keyed(t, data)
  const readers = [slowReader(service, key), slowReader(service, key)]
  for (const reader of readers) await reader.begun
  const refused = await ask(service, key, { countsOnly: false, limit: 1 })
  t.equal(refused.status, 429)
  t.match(refused.text, /may have 2 lists at a time/)
  readers[0].leave()
  const deadlineMs = performance.now() + 10_000
  let status = 429
  while (status === 429 && performance.now() < deadlineMs) {
    status = await statusOf(service, key, { countsOnly: false, limit: 1 })
    await sleep(20)
  }
  t.equal(status, 200, 'a list that is over makes room')
  t.equal(await statusOf(service, key, { countsOnly: false, limit: 1 }), 200)
  readers[1].leave()
})

/** Begins a list and reads no more of it. */
function slowReader({ url }: Service, key: string) {
  const { port } = new URL(url)
  const body = `{"geoJSON":${EVERYWHERE}}`
  const socket = connect(Number(port), '127.0.0.1')
  socket.on('error', () => {})
  socket.write(
    `POST /api/recipients HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n` +
      `Content-Length: ${body.length}\r\n\r\n${body}`,
  )
  const begun = new Promise<void>((resolve) => {
    socket.once('data', (data) => {
      if (String(data).startsWith('HTTP/1.1 200')) resolve()
      socket.pause()
    })
  })
  return { begun, leave: () => socket.destroy() }
}

t.test('a service says who it is there for', async (t) => {
  const data = await placesWorld(t)
  const open = await serve(t, '--data', data, '--open', '--host', '0.0.0.0')
  t.match(
    open.output().stderr,
    /the service is open: every client that reaches it gets every number/,
  )
  t.equal(
    await statusOf({ ...open, url: open.url.replace('0.0.0.0', '127.0.0.1') }, undefined),
    200,
  )
  await create(data, 'desk', '--scopes', 'counts')
  await open.stop()
  const forgotten = await hickory('serve', '--data', data, '--port', '0')
  t.equal(forgotten.code, 2)
  t.match(forgotten.stderr, /the data directory has keys \(1\)/)
  // The others of this file are at 127.0.0.1.
  const keyedHere = await serve(t, '--data', data, '--keys', '--host', 'localhost')
  await keyedHere.stop()
})
