/**
 * Audiences on three machines: whichever one froze them, all list the same people in the same bytes, also when that machine
 * dies, when a machine begins with nothing, and when a disk damages what it has.
 *
 * @module
 */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import {
  COUNT,
  changeList,
  importPlaces,
  phoneOf,
  places,
  placesWorld,
} from '../support/data/suppressions.js'
import { hickory, type Service, serve, temporaryDirectory } from '../support/service/hickory.js'
import { until, untilTold } from '../support/service/until.js'
import { serveMachine } from './support/machines.js'
import { startNatsServer } from './support/nats-servers.js'

t.test('three machines', async (t) => {
  const nats = await startNatsServer(t)
  const reach = [...nats.reach, '--max-lag', '15']
  const dataA = await placesWorld(t)
  const [dataB, dataC, dataD] = [1, 2, 3].map(() => temporaryDirectory(t))
  const start = (name: string, data: string) => serveMachine(t, { name, data, reach })

  const alone = await serve(t, '--data', dataA)
  const before = await freeze(alone)
  const whole = await read(alone, before.Id)
  t.equal(whole.lines.length, COUNT)
  await alone.stop()

  const a = await start('site-a', dataA)
  const [b, c] = await Promise.all([start('site-b', dataB), start('site-c', dataC)])
  const all = [a, b, c]

  await t.test('one of before the cluster is there on all', async (t) => {
    for (const machine of all) {
      await untilTold(async () => (await statusOf(machine, before.Id)) === 200)
      t.same(await read(machine, before.Id), whole)
    }
  })

  // Somebody who came since the snapshot, by another machine.
  const Sequence = await changePlace(c, 'came', '+999777')
  const made = await freeze(a, { minSequence: Sequence })
  t.equal(made.Count, COUNT + 1)
  const wholeMade = await read(a, made.Id)
  t.equal(wholeMade.lines.length, COUNT + 1)

  await t.test('its pages are the same on each', async (t) => {
    await checkPages(t, all, made.Id, wholeMade)
    const lists = await Promise.all(all.map((machine) => listOf(machine)))
    t.same(lists[1], lists[0])
    t.same(lists[2], lists[0])
    t.equal(lists[0].length, 2)
  })

  await t.test('whoever is suppressed by one is left out by all', async (t) => {
    await changeList(b, 'PUT', 'all', [phoneOf(3), '+999777'])
    const rest = wholeMade.lines.filter((line) => !/\+999(000003|777)"/.test(line))
    t.equal(rest.length, COUNT - 1)
    for (const machine of all) {
      const { lines, headers } = await read(machine, made.Id)
      t.same(lines, rest)
      t.equal(headers['x-audience-suppressed'], '2')
    }
    await changeList(c, 'DELETE', 'all', [phoneOf(3), '+999777'])
    await checkPages(t, all, made.Id, wholeMade)
  })

  await t.test('an import changes nothing', async (t) => {
    const id = await importPlaces(t, dataA, 1, places(COUNT - 100))
    for (const machine of all) await untilTold(async () => (await snapshotOf(machine)) === id)
    await checkPages(t, all, made.Id, wholeMade)
    await checkPages(t, all, before.Id, whole)
  })

  const last = await freeze(a)
  t.equal(last.Count, COUNT - 100)
  await a.stop('SIGKILL')

  const wholeLast = await read(b, last.Id)
  await t.test('one that was made just before its machine died is there', async (t) => {
    t.equal(wholeLast.lines.length, last.Count)
    await checkPages(t, [b, c], last.Id, wholeLast)
    await checkPages(t, [c, b], made.Id, wholeMade)
  })

  await t.test('one that is deleted by one is gone on all', async (t) => {
    const [name] = namesOf(dataC, before.Id)
    t.ok(name)
    let status = 503
    // Until another machine writes.
    await untilTold(async () => {
      status = (await send(b, `/api/audiences/${before.Id}`, { method: 'DELETE' })).status
      return status !== 503
    })
    t.equal(status, 204)
    for (const machine of [b, c]) t.equal(await statusOf(machine, before.Id), 404)
    await until(() => namesOf(dataC, before.Id).length === 0)
    await until(() => namesOf(dataB, before.Id).length === 0)
    const again = await send(c, `/api/audiences/${before.Id}`, { method: 'DELETE' })
    t.equal(again.status, 404)
  })

  await c.stop()
  let again = c
  await t.test('what a disk has damaged is fetched anew', async (t) => {
    const [name] = namesOf(dataC, made.Id)
    const file = join(dataC, 'audiences', name)
    const intact = digestOf(file)
    flip(file, -20)
    const shardsOf = join(dataC, 'snapshots', made.SnapshotId)
    const [shard] = readdirSync(shardsOf).filter((each) => each.endsWith('.shard'))
    const intactShard = digestOf(join(shardsOf, shard))
    const copy = readFileSync(join(shardsOf, shard))
    // One of the last bytes is padding; somewhere in the middle are positions and numbers.
    flip(join(shardsOf, shard), Math.floor(copy.length / 2))
    t.not(digestOf(file), intact)
    again = await start('site-c', dataC)
    await checkPages(t, [again], made.Id, wholeMade)
    t.equal(digestOf(file), intact)
    t.equal(digestOf(join(shardsOf, shard)), intactShard)
  })

  await t.test('a machine that begins with nothing serves all of them', async (t) => {
    const empty = await start('site-a', dataD)
    const statuses = new Set<number>()
    for (const [{ Id }, expected] of [
      [made, wholeMade],
      [last, wholeLast],
    ] as const) {
      await untilTold(async () => {
        const status = await statusOf(empty, Id)
        statuses.add(status)
        return status === 200
      })
      await checkPages(t, [empty, again, b], Id, expected)
    }
    t.notOk(statuses.has(404), 'what is known is never unknown')
    t.equal(await statusOf(empty, before.Id), 404)
    const found = await hickory('verify', '--all', '--data', dataD)
    t.equal(found.code, 0, found.stderr)
    for (const { Id } of [made, last]) t.match(found.stdout, new RegExp(`audience ${Id} .*intact`))
  })
})

interface Made {
  readonly Id: string
  readonly Count: number
  readonly SnapshotId: string
}

/** What is the same on all machines. */
interface Listed {
  readonly lines: readonly string[]
  readonly headers: Readonly<Record<string, string | null>>
}

/** So that no request finds its connection closed by a service that ends. */
const send = (
  { url }: Pick<Service, 'url'>,
  path: string,
  { method = 'GET', body }: { readonly method?: string; readonly body?: object } = {},
) =>
  fetch(`${url}${path}`, {
    method,
    headers: { connection: 'close', 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })

async function freeze(machine: Service, more: object = {}): Promise<Made> {
  const body = { geoJSON: { xmin: -180, ymin: -90, xmax: 180, ymax: 90 }, ...more }
  const answer = await send(machine, '/api/audiences', { method: 'POST', body })
  if (answer.status !== 200) throw new Error(`status ${answer.status}: ${await answer.text()}`)
  return (await answer.json()) as Made
}

async function changePlace(machine: Service, batchId: string, number: string): Promise<number> {
  const changes = [{ op: 'upsert', number, lat: 0.2, lng: 0.2 }]
  const body = { batchId, changes }
  const answer = await send(machine, '/api/sources/1/changes', { method: 'POST', body })
  return ((await answer.json()) as { Sequence: number }).Sequence
}

async function statusOf(machine: Service, id: string): Promise<number> {
  const answer = await send(machine, `/api/audiences/${id}?limit=1`)
  await answer.arrayBuffer()
  return answer.status
}

async function listOf(machine: Service): Promise<readonly unknown[]> {
  const answer = await send(machine, '/api/audiences')
  return ((await answer.json()) as { Results: unknown[] }).Results
}

async function snapshotOf(machine: Service): Promise<string | null> {
  const answer = await send(machine, '/readyz')
  return ((await answer.json()) as { snapshotId?: string }).snapshotId ?? null
}

const HEADERS = ['x-snapshot', 'x-sequence', 'x-audience-digest', 'x-audience-suppressed']

async function read(machine: Service, id: string, query = ''): Promise<Listed & { next?: string }> {
  const answer = await send(machine, `/api/audiences/${id}?format=ndjson${query}`)
  const text = await answer.text()
  if (answer.status !== 200) throw new Error(`status ${answer.status}: ${text}`)
  const next = answer.headers.get('x-next-after')
  return {
    lines: text.split('\n').filter((line) => line !== ''),
    headers: Object.fromEntries(HEADERS.map((name) => [name, answer.headers.get(name)])),
    ...(next !== null && { next }),
  }
}

/** Each page by the next machine; and the whole of it in other formats by each. */
async function checkPages(
  t: Test,
  machines: readonly Service[],
  id: string,
  whole: Listed,
): Promise<void> {
  const lines: string[] = []
  let next: string | undefined = '0'
  for (let at = 0; next !== undefined; at++) {
    const query: string = `&limit=97&after=${next}`
    const page: Awaited<ReturnType<typeof read>> = await read(
      machines[at % machines.length],
      id,
      query,
    )
    t.same(page.headers, whole.headers)
    lines.push(...page.lines)
    next = page.next
  }
  t.same(lines, whole.lines)
  for (const format of ['geojson', 'csv', 'json']) {
    const bodies = new Set<string>()
    for (const machine of machines) {
      bodies.add(await (await send(machine, `/api/audiences/${id}?format=${format}`)).text())
    }
    t.equal(bodies.size, 1, format)
  }
}

const namesOf = (data: string, id: string) =>
  readdirSync(join(data, 'audiences')).filter((name) => name.startsWith(id))

const digestOf = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex')

/** @param at  from the end where it is negative */
function flip(path: string, at: number): void {
  const bytes = readFileSync(path)
  bytes[at < 0 ? bytes.length + at : at] ^= 4
  writeFileSync(path, bytes)
}
