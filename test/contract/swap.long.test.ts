/**
 * New snapshots while clients ask all the time: no request fails, and each is answered from the one
 * snapshot that it names.
 *
 * @module
 */
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { get, type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { manyColumns } from '../support/data/columns.js'
import { publishDamaged } from '../support/data/snapshots.js'
import { squareGeometry } from '../support/data/store.js'
import { testSeed } from '../support/random/properties.js'
import { type Random, seededRandom } from '../support/random/world.js'
import { hickory, type Service, serve, temporaryDirectory } from '../support/service/hickory.js'
import { byTier } from '../support/tier.js'

const ROUND_COUNT = byTier({ ci: 3, soak: 20 })
/** Enough for a list that fits in no socket's buffers. */
const RECIPIENT_COUNT = 200_000

type Corner = readonly [west: number, south: number, degrees: number]

/** Squares that clients ask about; recipients are between 0 and 10 degrees. */
const squares: readonly Corner[] = [
  [0, 0, 10],
  [0, 0, 5],
  [2.5, 3.5, 4],
  [7, 1, 0.5],
]
const everybody = squares[0]
const few = squares[3]

/** Who is where, in thousandths of a degree. */
interface World {
  readonly lngs: readonly number[]
  readonly lats: readonly number[]
}

t.test(`${ROUND_COUNT} new snapshots under load`, async (t) => {
  const random = seededRandom(testSeed(t))
  const data = temporaryDirectory(t)
  const worlds = new Map<string, World>()
  worlds.set(...(await importWorld(t, data, random)))
  const service = await serve(t, '--data', data, '--http-threads', '2', '--query-threads', '3')
  const contextId = await postContext(service)
  const load = startLoad(service)

  for (let round = 0; round < ROUND_COUNT; round++) {
    const reader = await slowList(service)
    const [id, world] = await importWorld(t, data, random)
    worlds.set(id, world)
    await untilReady(service, (ready) => ready.snapshotId === id)
    t.notOk(reader.isComplete(), 'the list goes on over the switch')
    t.not(reader.snapshotId, id)
    t.equal(await contextCount(service, contextId), countIn(world, squares[1]))
    const text = await reader.rest()
    t.equal(namesIn(text), namesOf(worlds.get(reader.snapshotId)), 'and is all of one snapshot')
  }

  await t.test('one that does not verify is refused, and the next one taken', async (t) => {
    const servedId = (await ready(service)).snapshotId
    const badId = await publishDamaged(t, data, 1, manyColumns(50))
    const { snapshotId, refused } = await untilReady(service, (ready) => ready.refused)
    t.equal(snapshotId, servedId)
    t.match(refused, { snapshotId: badId, reason: /1-0000\.shard: found \d+ bytes/ })
    t.match(service.output().stderr, /"msg":"refused a new snapshot"/)
    const [id, world] = await importWorld(t, data, random)
    worlds.set(id, world)
    t.same(await untilReady(service, (ready) => ready.snapshotId === id && !ready.loading), {
      status: 'ready',
      snapshotId: id,
    })
  })

  const { counted, listed } = await load.stop()
  t.ok(new Set(counted.map(({ id }) => id)).size > ROUND_COUNT, 'all snapshots were asked')
  for (const [id, world] of worlds) {
    for (const square of squares) {
      const asked = counted.filter((each) => each.id === id && each.square === square)
      const answers = new Set(asked.map(({ count }) => count))
      t.ok(asked.length === 0 || [...answers].join() === `${countIn(world, square)}`, id)
    }
    const lists = new Set(listed.filter((each) => each.id === id).map(({ text }) => namesIn(text)))
    t.ok(lists.size === 0 || [...lists].join() === namesOf(world, few), id)
  }
  t.ok(listed.length > 0 && [...counted, ...listed].every(({ id }) => worlds.has(id)))
  const { code, stderr } = await service.stop()
  t.equal(code, 0)
  t.equal(stderr.match(/"msg":"switched to a new snapshot"/g)?.length, ROUND_COUNT + 1)
  t.notMatch(stderr, /"level":(50|60).*a handler failed/)
})

t.test('a signal while a snapshot is taken stops the service', async (t) => {
  const random = seededRandom(testSeed(t))
  const data = temporaryDirectory(t)
  await importWorld(t, data, random, 20_000)
  for (const delayMs of [0, 200]) {
    const service = await serve(t, '--data', data)
    await importWorld(t, data, random, 20_000)
    while (!service.output().stderr.includes('noticed a new snapshot')) await sleep(5)
    await sleep(delayMs)
    const { code, stderr } = await service.stop()
    t.equal(code, 0)
    t.match(stderr, /"msg":"stopped"/)
  }
})

/** Imports made-up recipients as source 1; gives the snapshot's id, and who is where. */
async function importWorld(
  t: Test,
  data: string,
  random: Random,
  leastCount = RECIPIENT_COUNT,
): Promise<[string, World]> {
  const count = leastCount + random.between(0, 1_000)
  const place = () => random.between(0, 10_000)
  const lngs = Array.from({ length: count }, place)
  const lats = Array.from({ length: count }, place)
  const rows = lngs.map((lng, row) => `+999${row},${lats[row] / 1000},${lng / 1000}`)
  const file = join(temporaryDirectory(t), 'people.csv')
  writeFileSync(file, `number,lat,lng\n${rows.join('\n')}\n`)
  const source = ['--source', '1', '--label', 'A', '--max-shrink', '100%']
  const run = await hickory('import', '--data', data, ...source, file)
  const [, id] = /^snapshot +(\S+)$/m.exec(run.stdout) ?? []
  if (id === undefined) throw new Error(`import ended with ${run.code}: ${run.stderr}`)
  return [id, { lngs, lats }]
}

function rowsIn({ lngs, lats }: World, [west, south, degrees]: Corner): number[] {
  const within = (value: number, start: number) =>
    value >= start * 1000 && value <= (start + degrees) * 1000
  return [...lngs.keys()].filter((row) => within(lngs[row], west) && within(lats[row], south))
}

function countIn(world: World, square: Corner): number {
  return rowsIn(world, square).length
}

/** How many are in a square, and a digest of their phones. */
function namesOf(world: World | undefined, square = everybody): string {
  return digest(world === undefined ? [] : rowsIn(world, square).map((row) => `+999${row}`))
}

function namesIn(text: string): string {
  const [{ Recipients }] = JSON.parse(text).SourceRecords
  return digest(Recipients.map((recipient: { Number: string }) => recipient.Number))
}

function digest(phones: readonly string[]): string {
  const sha256 = createHash('sha256').update(phones.toSorted().join()).digest('hex')
  return `${phones.length} ${sha256}`
}

function bodyFor(square: Corner, countsOnly: boolean): string {
  return JSON.stringify({ countsOnly, geoJSON: polygon(square) })
}

function polygon([west, south, degrees]: Corner): object {
  return { type: 'Polygon', coordinates: squareGeometry(west, south, degrees).rings }
}

interface Load {
  readonly counted: { readonly id: string; readonly square: Corner; readonly count: number }[]
  readonly listed: { readonly id: string; readonly text: string }[]
}

/** Clients that ask until they are stopped; what goes wrong is thrown then. */
function startLoad({ url }: Service): { stop(): Promise<Load> } {
  const load: Load = { counted: [], listed: [] }
  let isStopped = false
  const ask = async (square: Corner, countsOnly: boolean) => {
    const body = bodyFor(square, countsOnly)
    const response = await fetch(`${url}/api/recipients`, { method: 'POST', body })
    const text = await response.text()
    if (response.status !== 200) throw new Error(`status ${response.status}`)
    return { id: response.headers.get('x-snapshot') ?? '', text }
  }
  const clients = [0, 1, 2, 3, 4, 5].map(async (client) => {
    for (let turn = client; !isStopped; turn++) {
      const square = squares[turn % squares.length]
      const { id, text } = await ask(square, true)
      load.counted.push({ id, square, count: JSON.parse(text).SourceRecords[0].Count })
      if (client === 0 && turn % 50 === 0) load.listed.push(await ask(few, false))
      await sleep(5)
    }
  })
  const ended = Promise.all(clients)
  ended.catch(() => {})
  return {
    async stop() {
      isStopped = true
      await ended
      return load
    },
  }
}

interface SlowList {
  readonly snapshotId: string
  isComplete(): boolean
  /** The whole text, the rest of which is read as fast as it comes. */
  rest(): Promise<string>
}

/** Begins to read a list of everybody, a little at a time. */
async function slowList({ url }: Service): Promise<SlowList> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    // A kept connection might be closed as idle at the moment of its use.
    const options = { method: 'POST', agent: false }
    const sent = request(`${url}/api/recipients`, options, resolve)
    sent.once('error', reject)
    sent.end(bodyFor(everybody, false))
  })
  let isHurried = false
  const read = (async () => {
    const chunks: Buffer[] = []
    for await (const chunk of response) {
      chunks.push(chunk)
      if (!isHurried) await sleep(250)
    }
    return Buffer.concat(chunks).toString()
  })()
  read.catch(() => {})
  return {
    snapshotId: String(response.headers['x-snapshot']),
    isComplete: () => response.complete,
    rest() {
      isHurried = true
      return read
    },
  }
}

interface Ready {
  readonly snapshotId: string
  readonly loading?: string
  readonly refused?: object
}

/** By a connection of its own, so that all front threads are asked in turn. */
function ready({ url }: Service): Promise<Ready> {
  return new Promise((resolve, reject) => {
    get(`${url}/readyz`, { agent: false }, async (response) => {
      let text = ''
      for await (const chunk of response) text += chunk
      resolve(JSON.parse(text))
    }).once('error', reject)
  })
}

/** Waits until several answers, and so all front threads, say so. */
async function untilReady(service: Service, isSo: (ready: Ready) => unknown): Promise<Ready> {
  const giveUpMs = performance.now() + 60_000
  for (;;) {
    const answers = await Promise.all([0, 1, 2, 3].map(() => ready(service)))
    if (answers.every(isSo)) return answers[0]
    if (performance.now() > giveUpMs) throw new Error(`still ${JSON.stringify(answers)}`)
    await sleep(20)
  }
}

async function postContext({ url }: Service): Promise<string> {
  const [west, south, degrees] = squares[1]
  const Areas = [{ Id: 'a', Geometry: squareGeometry(west, south, degrees) }]
  const body = JSON.stringify({ ContextName: 'A', Areas })
  const response = await fetch(`${url}/api/contexts`, { method: 'POST', body })
  return ((await response.json()) as { Id: string }).Id
}

/** Of its one area, once it is counted anew. */
async function contextCount({ url }: Service, contextId: string): Promise<number> {
  for (;;) {
    const response = await fetch(`${url}/api/contexts/${contextId}`)
    const { Areas } = (await response.json()) as {
      Areas: { ContactTotalCount: number; IsUpdatingContactList: boolean }[]
    }
    if (!Areas[0].IsUpdatingContactList) return Areas[0].ContactTotalCount
    await sleep(20)
  }
}
