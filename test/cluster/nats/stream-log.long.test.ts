/**
 * The log of a cluster in real streams, on one server and on three, which are killed, lose their stores, and have bits
 * flipped.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { jetstreamManager } from '@nats-io/jetstream'
import t, { type Test } from 'tap'
import { digestOf } from '../../../src/cluster/log/log.js'
import type { Connection } from '../../../src/cluster/nats/connection.js'
import { namesOf } from '../../../src/cluster/nats/names.js'
import { StreamLog } from '../../../src/cluster/nats/stream-log.js'
import { untilTold } from '../../support/service/until.js'
import { FOUNDING, keepsTheContract, Told } from '../log/log-contract.js'
import { connectedTo, openLog, startSyncedServers } from '../log/synced-servers.js'
import { type NatsServer, untilHealthy } from '../support/nats-servers.js'
import { withEachNats } from '../support/nats-versions.js'

const names = namesOf('test')

withEachNats(t, async (t, server) => {
  for (const count of [1, 3]) {
    await t.test(`a log on ${count}`, async (t) => {
      const servers = await startSyncedServers(t, server, { count })
      const connection = await connectedTo(t, servers)
      const log = await StreamLog.open(connection, names)
      await keepsTheContract(t, {
        open: async () => await StreamLog.open(await connectedTo(t, servers), names),
        async found(founding) {
          await log.found(founding)
          t.equal((await log.info())?.copyCount, count)
        },
        replace: async (founding, replaced) => await log.replace(founding, replaced),
        remove: async () => await removed(connection),
      })
    })
  }

  await t.test('what was acknowledged stays when the server that leads is killed', async (t) => {
    const servers = await startSyncedServers(t, server, { count: 3 })
    const ways = await Promise.all(servers.map((_, at) => openLog(t, rotated(servers, at))))
    const told = ways.map(({ log }) => new Told(log))
    const acknowledged = new Map<number, string>()
    let isOver = false
    const writers = ways.map(async ({ log }, at) => {
      for (let number = 0; !isOver; number++) {
        const text = `${at} ${number}`
        await log.append(Buffer.from(text)).then(
          (place) => acknowledged.set(place, text),
          () => new Promise((resolve) => setTimeout(resolve, 50)),
        )
      }
    })
    const { log } = ways[0]
    try {
      for (let round = 0; round < 2; round++) {
        const before = acknowledged.size
        await untilTold(async () => acknowledged.size > before + 50)
        const killed = servers[Number((await leaderOf(log)).split('-')[1])]
        await killed.stop('SIGKILL')
        const atKill = acknowledged.size
        await untilTold(async () => acknowledged.size > atKill + 50)
        await killed.start()
        // Where the next one dies before this one has found the others, the two that are left may elect none.
        await untilHealthy(killed)
      }
    } finally {
      isOver = true
      await Promise.all(writers)
    }
    const last = Math.max(...acknowledged.keys())
    for (const one of told) {
      const { messages } = one
      await untilTold(async () => (messages.at(-1)?.place ?? 0) >= last)
      t.same(one.faults, [], 'a server that was just elected is not believed at once')
      const { texts } = one
      const lost = [...acknowledged].filter(([place, text]) => texts[place - 1] !== text)
      t.same(lost, [], `${acknowledged.size} acknowledged`)
      t.same(
        messages.slice(0, last).map(({ place }) => place),
        Array.from({ length: last }, (_, at) => at + 1),
      )
      one.stop()
    }
  })

  await t.test('a log is opened where nothing answers, and founded by nobody alone', async (t) => {
    const [nats] = await startSyncedServers(t, server)
    await openLog(t, [nats])
    const connection = await connectedTo(t, [nats])
    await nats.stop('SIGKILL')
    await untilTold(async () => !connection.isUp)
    const log = await StreamLog.open(connection, names)
    const told = new Told(log)
    const { generation } = FOUNDING
    const founding = { ...FOUNDING, generation: 'f'.repeat(16) }
    await t.rejects(log.found(founding))
    await t.rejects(log.replace(founding, generation))
    await t.rejects(log.append(Buffer.from('while it is away')))
    t.equal(told.fault, undefined)
    await nats.start()
    t.equal(await appended(t, nats, 'first'), 1)
    await told.until(1)
    t.same(told.texts, ['first'], 'what was refused is not sent later')
    t.equal((await log.info())?.generation, FOUNDING.generation)
    told.stop()
  })

  await t.test('a reader of some messages before begins where the log begins', async (t) => {
    const [nats] = await startSyncedServers(t, server)
    const { log, connection } = await openLog(t, [nats])
    for (let at = 0; at < 30; at++) await log.append(Buffer.from(`message ${at}`))
    const manager = await jetstreamManager(connection.nats)
    await manager.streams.update(names.stream, { max_msgs: 8 })
    const told = new Told(log, 30, { beforeCount: 1_024 })
    await told.until(8)
    t.same(told.places, [23, 24, 25, 26, 27, 28, 29, 30])
    const gone = new Told(log, 21)
    await gone.untilFault('gone')
    for (const one of [told, gone]) one.stop()
  })

  await t.test('of a log that others have made, nothing is known', async (t) => {
    const [nats] = await startSyncedServers(t, server)
    const connection = await connectedTo(t, [nats])
    const manager = await jetstreamManager(connection.nats)
    for (const [at, metadata] of [
      undefined,
      { 'hickory-generation': 'F', 'hickory-founder': 'Site A', 'hickory-base': '7 cd' },
    ].entries()) {
      const others = namesOf(`others-${at}`)
      const { stream: name, log: subject } = others
      await manager.streams.add({ name, subjects: [subject], ...(metadata && { metadata }) })
      const unknown = { generation: undefined, founder: undefined, base: undefined }
      t.match(await (await StreamLog.open(connection, others)).info(), unknown)
    }
  })

  await t.test('a log is made anew while the files of the last one go away', async (t) => {
    const [nats] = await startSyncedServers(t, server)
    const { log } = await openLog(t, [nats])
    let { generation } = FOUNDING
    // A server that is not waited for refuses one of 400.
    for (let at = 0; at < 1_000; at++) {
      const next = at.toString(16).padStart(16, '0')
      await log.replace({ ...FOUNDING, generation: next }, generation)
      generation = next
    }
    t.equal((await log.info())?.generation, generation)
  })

  await t.test('a reader that throws ends its process, and loses no message', async (t) => {
    const [nats] = await startSyncedServers(t, server)
    const { log } = await openLog(t, [nats])
    for (let at = 0; at < 3; at++) await log.append(Buffer.from(`message ${at}`))
    const path = (name: string) =>
      JSON.stringify(new URL(`../../../src/cluster/nats/${name}.js`, import.meta.url))
    const program = `
      import { Connection } from ${path('connection')}
      import { namesOf } from ${path('names')}
      import { StreamLog } from ${path('stream-log')}
      const connection = await Connection.open({ servers: ['${nats.url}'] }, 'test', { onChange() {}, onDenied() {} })
      const log = await StreamLog.open(connection, namesOf('test'))
      log.follow({ after: 1 }, {
        async onMessages([{ place }]) { throw new Error('no room for message ' + place) },
        onFault() {},
      })`
    const child = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
      encoding: 'utf8',
      timeout: 60_000,
    })
    t.equal(child.status, 1)
    t.match(child.stderr, /no room for message 2/)
  })

  await t.test('messages that a server lacks are a hole, and never passed over', async (t) => {
    const [nats] = await startSyncedServers(t, server)
    const { log } = await openLog(t, [nats])
    // More than a block of JetStream's.
    const filler = Buffer.alloc(64 * 1_024, 'x')
    for (let at = 0; at < 300; at++) await log.append(filler)
    await nats.stop('SIGKILL')
    const blocks = blocksIn(nats)
    t.ok(blocks.length > 2, `${blocks.length} blocks`)
    const [, damaged] = blocks
    const bytes = readFileSync(damaged)
    bytes[bytes.length >> 1] ^= 1
    writeFileSync(damaged, bytes)
    await nats.start()
    await untilHealthy(nats)
    const { log: after } = await openLog(t, [nats])
    const told = new Told(after)
    await untilTold(async () => told.fault !== undefined)
    t.match(told.fault, { kind: 'hole', place: told.messages.length + 1, server: /^(nats-0|N)/ })
    t.ok(told.messages.length > 0)
    t.ok(((await after.info())?.missingCount ?? 0) > 0)
    // It is there as before, behind the hole.
    await after.append(Buffer.from('more'))
    await untilTold(async () => told.fault !== undefined)
    t.equal(told.fault?.kind, 'hole')
    told.stop()
  })

  await t.test('a log that has lost its end, or is another one, is not read on', async (t) => {
    const [nats] = await startSyncedServers(t, server)
    const { log } = await openLog(t, [nats])
    const told = new Told(log)
    for (let at = 0; at < 10; at++) await log.append(Buffer.from(`message ${at}`))
    await nats.stop('SIGTERM')
    const copy = `${nats.store}-copy`
    cpSync(nats.store, copy, { recursive: true })
    await nats.start()
    await untilHealthy(nats)
    const again = await appended(t, nats, 'lost')
    t.equal(again, 11)
    await untilTold(async () => told.messages.length === 11)
    await nats.stop('SIGTERM')
    rmSync(nats.store, { recursive: true })
    cpSync(copy, nats.store, { recursive: true })
    await nats.start()
    await untilTold(async () => told.fault !== undefined)
    t.same(told.fault, { kind: 'lost', place: 11, end: 11 })
    t.equal(await appended(t, nats, 'another eleventh'), 11)
    t.equal(await appended(t, nats, 'the twelfth'), 12)
    await told.untilFault('changed')
    t.equal(told.messages.length, 11, 'nothing of it is told')
    const { log: after } = await openLog(t, [nats])
    const again11 = new Told(after, 11, { digest: digestOf(told.messages[10]) })
    await again11.untilFault('changed')
    t.equal(again11.messages.length, 0, 'nor to who begins behind what was read')
    await nats.stop('SIGTERM')
    rmSync(nats.store, { recursive: true })
    await nats.start()
    await Promise.all([told.untilFault('missing'), again11.untilFault('missing')])
    const other = { ...FOUNDING, generation: 'f'.repeat(16) }
    for (let at = 0; at < 20; at++) await appended(t, nats, `of another log ${at}`, other)
    await Promise.all([told.untilFault('other'), again11.untilFault('other')])
    t.equal(told.messages.length, 11)
    for (const one of [told, again11]) one.stop()
  })
})

/** Another machine begins with another server. */
function rotated(servers: readonly NatsServer[], at: number): readonly NatsServer[] {
  return [...servers.slice(at), ...servers.slice(0, at)]
}

/** The server that leads, as soon as there is one. */
async function leaderOf(log: StreamLog): Promise<string> {
  let leader: string | undefined
  await untilTold(async () => {
    leader = (await log.info().catch(() => undefined))?.server
    return leader !== undefined
  })
  return String(leader)
}

/** By a machine of its own, which makes the log where there is none. */
async function appended(
  t: Test,
  nats: NatsServer,
  text: string,
  founding = FOUNDING,
): Promise<number> {
  const { log, connection } = await openLog(t, [nats], founding)
  const place = await log.append(Buffer.from(text))
  await connection.nats.close()
  return place
}

async function removed({ nats }: Connection): Promise<void> {
  const manager = await jetstreamManager(nats)
  await manager.streams.delete(names.stream)
}

/** The files that JetStream has messages in, in their order. */
function blocksIn({ store }: NatsServer): readonly string[] {
  const directory = join(store, 'jetstream', '$G', 'streams', 'hickory_test_log', 'msgs')
  return readdirSync(directory)
    .filter((name) => name.endsWith('.blk'))
    .toSorted((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10))
    .map((name) => join(directory, name))
}
