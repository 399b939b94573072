/**
 * The journal puts right what a real stream of NATS has lost: its end, messages in it, or all of it.
 */
import { cpSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { jetstreamManager } from '@nats-io/jetstream'
import t, { type Test } from 'tap'
import { ClusterNats } from '../../../src/cluster/nats/cluster-nats.js'
import { LogCarrier } from '../../../src/cluster/nats/log-carrier.js'
import { recordsOfGroups } from '../../../src/journal/groups.js'
import { seededRandom } from '../../support/random/world.js'
import { temporaryDirectory } from '../../support/service/hickory.js'
import { until, untilTold } from '../../support/service/until.js'
import { flipBit } from '../faults/flip-bit.js'
import { type NatsServer, startNatsServer } from '../support/nats-servers.js'
import { NATS_SERVER, withEachNats } from '../support/nats-versions.js'
import { WrittenJournal } from '../support/written-journal.js'

const seed = Number(process.env.HICKORY_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))
t.comment(`seed ${seed}`)

async function carrying(t: Test, server: string) {
  const nats = await startNatsServer(t, { server })
  const journal = new WrittenJournal(t)
  const cluster = await ClusterNats.open({
    settings: { servers: [nats.url] },
    clusterId: 'test',
    name: 'one',
    serves: undefined,
    onChange() {},
    onDenied() {},
  })
  t.teardown(() => cluster.close())
  const repairs: number[] = []
  const faults: unknown[] = []
  const carrier = new LogCarrier({
    stream: cluster.stream,
    reader: journal.reader,
    beginning: journal.beginning,
    linkAt: journal.linkAt,
    onRepair: (lostFrom) => repairs.push(lostFrom),
    onFault: (fault) => faults.push(fault),
  })
  t.teardown(() => carrier.stop())
  return { nats, journal, cluster, repairs, faults, carrier }
}

type Carrying = Awaited<ReturnType<typeof carrying>>

/** So many groups, each on its own way into the stream. */
async function write({ journal, carrier, cluster }: Carrying, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    journal.append(...Array.from({ length: 1 + (i % 3) }, () => 1_000))
    carrier.poke()
    await until(() => carrier.carried === journal.sequence)
  }
  await untilCarried(cluster, journal)
}

/** The stream ends as the journal does. */
async function untilCarried(cluster: ClusterNats, journal: WrittenJournal): Promise<void> {
  await untilTold(async () => {
    const end = await cluster.stream.use((stream) => stream.end()).catch(() => undefined)
    return end?.carried?.hash === journal.linkAt(journal.sequence)?.hash
  })
}

/** Whatever the stream has behind batches is what the journal has there. Returns behind which it has nothing. */
async function checkCarried(t: Test, { cluster, journal }: Carrying): Promise<number[]> {
  const lacking: number[] = []
  let differingCount = 0
  for (let since = 0; since < journal.sequence; ) {
    const found = await cluster.carried(since).catch(() => undefined)
    // As machines read it.
    if (found === undefined || recordsOfGroups(found) === undefined) {
      lacking.push(since++)
      continue
    }
    const written = journal.behind(since)?.bytes.subarray(0, found.bytes.length)
    if (!written?.equals(found.bytes)) differingCount++
    since = found.last.sequence
  }
  t.equal(differingCount, 0)
  return lacking
}

/** The stream has all of the journal. */
async function checkWhole(t: Test, all: Carrying): Promise<void> {
  t.same(await checkCarried(t, all), [])
}

/** Does something to the files of a server that is stopped. */
async function whileStopped(
  { nats, cluster }: Carrying,
  act: (nats: NatsServer) => void,
): Promise<void> {
  await nats.stop()
  act(nats)
  await nats.start()
  await until(() => cluster.isUp)
}

withEachNats(t, async (t, server) => {
  t.test('a stream that went back in time is noticed and put right', async (t) => {
    const all = await carrying(t, server)
    const { journal, carrier, cluster, repairs } = all
    journal.append(10)
    carrier.start()
    await untilCarried(cluster, journal)
    t.equal(carrier.carried, journal.sequence)
    await write(all, 20)
    const old = join(temporaryDirectory(t), 'store')
    const oldEnd = journal.sequence
    await whileStopped(all, ({ store }) => cpSync(store, old, { recursive: true }))
    await write(all, 20)
    t.same(repairs, [])
    await whileStopped(all, ({ store }) => {
      rmSync(store, { recursive: true })
      cpSync(old, store, { recursive: true })
    })
    await write(all, 1)
    t.same(repairs, [oldEnd + 1])
    await checkWhole(t, all)
    await write(all, 5)
    await checkWhole(t, all)
    t.same(repairs, [oldEnd + 1], 'once')
  })

  t.test('a stream that is there no more is made again', async (t) => {
    const all = await carrying(t, server)
    const { cluster, carrier, repairs } = all
    carrier.start()
    await write(all, 10)
    const manager = await jetstreamManager(cluster.connection.nats)
    await manager.streams.delete(cluster.names.stream)
    await write(all, 3)
    await checkWhole(t, all)
    t.same(repairs, [1])
    await whileStopped(all, ({ store }) => rmSync(store, { recursive: true }))
    await write(all, 3)
    await checkWhole(t, all)
    t.same(repairs, [1, 1])
  })

  t.test('a stream that ends with what this journal does not have is begun anew', async (t) => {
    const all = await carrying(t, server)
    const { carrier, cluster } = all
    carrier.start()
    await write(all, 5)
    carrier.stop()
    // That of a machine which has lost what it was alone to have.
    const journal = new WrittenJournal(t)
    const other = new LogCarrier({
      stream: cluster.stream,
      reader: journal.reader,
      beginning: journal.beginning,
      linkAt: journal.linkAt,
      onRepair: () => {},
      onFault: (fault) => t.fail(String(fault)),
    })
    t.teardown(() => other.stop())
    journal.append(100)
    other.start()
    await untilCarried(cluster, journal)
    journal.append(100)
    other.poke()
    await untilCarried(cluster, journal)
    const { carried } = await cluster.stream.use((stream) => stream.end())
    t.same(carried, journal.linkAt(2))
  })

  t.test('what is damaged in the files of a stream is never carried as it is', async (t) => {
    const all = await carrying(t, server)
    const { journal, carrier, repairs } = all
    const random = seededRandom(seed)
    carrier.start()
    await write(all, 40)
    await checkWhole(t, all)
    for (let round = 0; round < 5; round++) {
      await whileStopped(all, ({ store }) => {
        const files = readdirSync(store, { recursive: true, encoding: 'utf8' })
        const blocks = files.filter((path) => /hickory_test_log\/msgs\/\d+\.blk$/.test(path))
        t.ok(blocks.length > 0)
        flipBit(join(store, random.pick(blocks)), random)
      })
      await write(all, 1)
    }
    // A server cuts off what follows, which is carried again, or has a hole: the machine that writes is asked then.
    const lacking = await checkCarried(t, all)
    t.ok(lacking.length > 0 || repairs.length > 0)
    t.ok(lacking.length < journal.sequence)
  })
})

t.test('a stream that lost its end is put right although nothing is written', async (t) => {
  const all = await carrying(t, NATS_SERVER)
  const { journal, carrier, cluster, repairs } = all
  carrier.start()
  await write(all, 3)
  // What other machines do not do, and a server can.
  const manager = await jetstreamManager(cluster.connection.nats)
  await manager.streams.delete(cluster.names.stream)
  await untilCarried(cluster, journal)
  t.same(repairs, [1])
  await checkWhole(t, all)
})
