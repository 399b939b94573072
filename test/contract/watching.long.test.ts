/**
 * Clients that watch a context of a real service: each comes to know every last count, over suppressions, new
 * snapshots and restarts, and for as long as its key lasts.
 *
 * @module
 */
import { readFileSync } from 'node:fs'
import { Agent, get, type IncomingMessage } from 'node:http'
import { get as getSecurely, Agent as SecureAgent } from 'node:https'
import t, { type Test } from 'tap'
import { squareGeometry } from '../support/data/store.js'
import {
  COUNT,
  changeList,
  importPlaces,
  phoneOf,
  places,
  placesWorld,
} from '../support/data/suppressions.js'
import { createAuthority } from '../support/service/certificates.js'
import { hickory, type Service, serve, temporaryDirectory } from '../support/service/hickory.js'
import { proxies } from '../support/service/proxies.js'
import { until } from '../support/service/until.js'

const WATCHER_COUNT = Number(process.env.HICKORY_TEST_WATCHERS ?? 1_000)
const ID = '4c1f9a2e7b6d4e0f9a3b5c8d1e2f7a60'
/** Everybody is there. */
const CONTEXT = { Id: ID, Areas: [{ Id: 'all', Geometry: squareGeometry(-1, -1, 60) }] }

interface Told {
  readonly id: string
  readonly kind: string
  readonly total: number | undefined
  readonly snapshotId: string | undefined
}

type At = Pick<Service, 'url'>

/** One client, and what it was told. */
class Watching {
  readonly events: Told[] = []
  status: number | undefined
  hasEnded = false
  #rest = ''

  constructor(
    { url }: At,
    headers: Readonly<Record<string, string>> = {},
    id = ID,
    by: Agent = agent,
  ) {
    const ask = url.startsWith('https') ? getSecurely : get
    const request = ask(`${url}/api/contexts/${id}/events`, { agent: by, headers }, (answer) => {
      this.status = answer.statusCode
      this.#read(answer)
    })
    request.on('error', () => {
      this.hasEnded = true
    })
  }

  get last(): Told | undefined {
    return this.events.at(-1)
  }

  #read(answer: IncomingMessage): void {
    answer.setEncoding('utf8').on('data', (text: string) => {
      const blocks = (this.#rest + text).split('\n\n')
      this.#rest = blocks.pop() ?? ''
      for (const block of blocks) this.#take(block)
    })
    answer.on('close', () => {
      this.hasEnded = true
    })
  }

  #take(block: string): void {
    const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1]
    const data = field('data')
    if (data === undefined) return
    const { Areas, SnapshotId: snapshotId } = JSON.parse(data)
    const total = Areas?.[0]?.ContactTotalCount
    this.events.push({ id: field('id') ?? '', kind: field('event') ?? '', total, snapshotId })
  }
}

const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY, keepAlive: false })

async function change(
  { url }: Service,
  verb: 'PUT' | 'DELETE',
  headers: Readonly<Record<string, string>> = {},
  body: object = CONTEXT,
): Promise<number> {
  const path = `${url}/api/contexts/${ID}`
  const type = { 'Content-Type': 'application/json', connection: 'close' }
  const sent = verb === 'PUT' && { body: JSON.stringify(body) }
  const answer = await fetch(path, { method: verb, headers: { ...type, ...headers }, ...sent })
  return answer.status
}

const all = (watching: readonly Watching[], total: number) =>
  until(() => watching.every(({ last }) => last?.total === total), 60_000)

function residentBytes({ process }: Service): number {
  const status = readFileSync(`/proc/${process.pid}/status`, 'latin1')
  return 1024 * Number(/VmRSS:\s+(\d+)/.exec(status)?.[1])
}

const startOf = (t: Test, data: string, ...args: string[]) =>
  serve(t, '--data', data, '--http-threads', '2', '--query-threads', '2', ...args)

t.test(`${WATCHER_COUNT} clients watch one context`, async (t) => {
  const data = await placesWorld(t)
  const service = await startOf(t, data)
  t.equal(await change(service, 'PUT'), 200)
  const before = residentBytes(service)
  const watching = Array.from({ length: WATCHER_COUNT }, () => new Watching(service))
  await all(watching, COUNT)
  const startedMs = performance.now()
  const rounds = 30
  for (let round = 0; round < rounds; round++) {
    t.equal((await changeList(service, 'PUT', 'all', [phoneOf(round)])).status, 200)
  }
  await all(watching, COUNT - rounds)
  const seconds = (performance.now() - startedMs) / 1_000
  const eventCounts = watching.map(({ events }) => events.length)
  t.comment(
    `${rounds} changes in ${seconds.toFixed(1)} s; at most ${Math.max(...eventCounts)} events`,
  )
  t.ok(Math.max(...eventCounts) <= 3 + seconds, 'one a second')
  t.ok(watching.every(({ events }) => events.every(({ id }, at) => id !== events[at - 1]?.id)))
  const bytesEach = Math.max(0, residentBytes(service) - before) / WATCHER_COUNT
  t.comment(`${Math.round(bytesEach / 1024)} KiB a watcher`)
  t.ok(bytesEach < 100 * 1024)

  await t.test('over a new snapshot', async (t) => {
    await importPlaces(t, data, 1, places(COUNT + 7))
    await all(watching, COUNT + 7 - rounds)
    t.equal(new Set(watching.map(({ last }) => last?.snapshotId)).size, 1)
  })

  await t.test('over a change to the context, and until it is deleted', async (t) => {
    const Areas = [{ Id: 'none', Geometry: squareGeometry(100, 50, 1) }]
    t.equal(await change(service, 'PUT', {}, { Id: ID, Areas }), 200)
    await all(watching, 0)
    t.equal(await change(service, 'PUT'), 200)
    await all(watching, COUNT + 7 - rounds)
    t.equal(await change(service, 'DELETE'), 204)
    await until(() => watching.every(({ hasEnded }) => hasEnded))
    t.ok(watching.every(({ last }) => last?.kind === 'deleted'))
    const late = new Watching(service)
    await until(() => late.hasEnded)
    t.equal(late.status, 404)
  })
})

t.test('a service that stops lets its clients go, and they go on with the next one', async (t) => {
  const data = await placesWorld(t)
  const first = await startOf(t, data)
  t.equal(await change(first, 'PUT'), 200)
  const watching = Array.from({ length: 100 }, () => new Watching(first))
  await all(watching, COUNT)
  const startedMs = performance.now()
  t.equal((await first.stop()).code, 0)
  const seconds = (performance.now() - startedMs) / 1_000
  t.ok(seconds < 15, `stopped in ${seconds.toFixed(1)} s`)
  await until(() => watching.every(({ hasEnded }) => hasEnded))
  const second = await startOf(t, data)
  const headers = { 'Last-Event-ID': watching[0].last?.id ?? '' }
  const again = Array.from({ length: 100 }, () => new Watching(second, headers))
  const fresh = new Watching(second, { 'Last-Event-ID': 'x' })
  await all([fresh], COUNT)
  await until(() => again.every(({ status }) => status === 200))
  t.ok(
    again.every(({ events }) => events.length === 0),
    'what they know is not told again',
  )
  t.equal((await changeList(second, 'PUT', 'all', [phoneOf(1)])).status, 200)
  await all([...again, fresh], COUNT - 1)
})

t.test('events come through TLS and proxies as they happen', async (t) => {
  const data = await placesWorld(t)
  const service = await startOf(t, data)
  t.equal(await change(service, 'PUT'), 200)
  const directory = temporaryDirectory(t)
  const authority = createAuthority(directory, 'authority')
  const certificate = authority.issue('proxy')
  const ca = readFileSync(authority.certificate)
  const port = Number(new URL(service.url).port)
  const secure = new SecureAgent({ ca, servername: 'localhost' })
  const shown = ['--tls-cert', certificate.certificate, '--tls-key', certificate.key]
  const secured = await startOf(t, data, ...shown)
  const watching = [new Watching(secured, {}, ID, secure)]
  for (const start of Object.values(proxies)) {
    const proxy = await start(t, { ports: { blue: port, green: port }, certificate })
    const at = { url: `https://127.0.0.1:${proxy.port}` }
    watching.push(new Watching(at, {}, ID, secure))
  }
  await all(watching, COUNT)
  for (const round of [1, 2]) {
    t.equal((await changeList(service, 'PUT', 'all', [phoneOf(round)])).status, 200)
    const startedMs = performance.now()
    await all(watching, COUNT - round)
    t.ok(performance.now() - startedMs < 10_000, 'they are not collected on the way')
  }
  t.notOk(watching.some(({ hasEnded }) => hasEnded))
  t.equal(await change(service, 'DELETE'), 204)
  await until(() => watching.every(({ hasEnded }) => hasEnded))
  t.ok(watching.every(({ last }) => last?.kind === 'deleted'))
})

t.test('a key must have the scope, and watches for as long as it lasts', async (t) => {
  const data = await placesWorld(t)
  const create = async (name: string, scopes: string, ...more: string[]) => {
    const args = ['--data', data, '--name', name, '--scopes', scopes, ...more]
    const { code, stdout, stderr } = await hickory('keys', 'create', ...args)
    t.equal(code, 0, stderr)
    return { Authorization: `Bearer ${stdout.trimEnd()}` }
  }
  const desk = await create('desk', 'contexts')
  const counts = await create('counts', 'counts')
  const service = await startOf(t, data, '--keys')
  const soon = new Date(Date.now() + 20_000).toISOString()
  const short = await create('short', 'contexts:read', '--expires', soon)
  t.equal(await change(service, 'PUT', desk), 200)
  const [without, other, watching, ending] = [{}, counts, desk, short].map(
    (headers) => new Watching(service, headers),
  )
  await until(() => without.hasEnded && other.hasEnded)
  t.same([without.status, other.status], [401, 403])
  await all([watching, ending], COUNT)
  await until(() => ending.hasEnded)
  t.ok(new Date().toISOString() >= soon)
  t.notOk(watching.hasEnded)
  t.equal((await hickory('keys', 'revoke', '--data', data, 'desk')).code, 0)
  await until(() => watching.hasEnded, 5_000)
})
