/**
 * Three machines with small files of the journal, through imports and compactions: none of them keeps what it need not, and
 * a machine that lacks what went begins anew with the same.
 *
 * @module
 */
import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import t, { type Test } from 'tap'
import { namesOf } from '../../src/cluster/nats/names.js'
import { hasOldFiles } from '../../src/journal/cut.js'
import { journalDirectory, journalFileNumbers, journalPath } from '../../src/journal/files.js'
import { JournalReader } from '../../src/journal/reader.js'
import { listSnapshots } from '../../src/snapshot/directory.js'
import { neededChanges } from '../../src/snapshot/retention/needed-changes.js'
import {
  askBox,
  COUNT,
  changeList,
  EVERYWHERE,
  importPlaces,
  phoneOf,
  places,
  placesWorld,
} from '../support/data/suppressions.js'
import { freePort } from '../support/service/free-port.js'
import { hickory, type Service, temporaryDirectory } from '../support/service/hickory.js'
import { adminUrlOf } from '../support/service/scraped.js'
import { until, untilTold } from '../support/service/until.js'
import { readinessOf, serveMachine } from './support/machines.js'
import { startNatsServer } from './support/nats-servers.js'

const FILE_BYTES = 4_096
/** Of a round: several files of the journal. */
const BATCH_COUNT = 15
const BATCH_ROWS = 50

interface Machine {
  readonly data: string
  readonly service: Service
}

t.test('snapshots and journals stay bounded on all machines', async (t) => {
  const nats = await startNatsServer(t)
  // Long enough for a busy machine: the first one writes all the time. A dead one is waited for as long.
  const reach = [...nats.reach, '--max-lag', '15']
  const small = ['--journal-file-bytes', String(FILE_BYTES)]
  const start = async (name: string, data: string): Promise<Machine> => {
    // The same ports where it begins anew.
    const ports = ['--port', `${await freePort()}`, '--admin-port', `${await freePort()}`]
    return { data, service: await serveMachine(t, { name, data, reach }, ...small, ...ports) }
  }
  const data = await placesWorld(t)
  writeFileSync(join(data, 'sources.json'), '{"keep": 2}')
  const a = await start('site-a', data)
  let b = await start('site-b', temporaryDirectory(t))

  await t.test('the machine that copies has what the one has that writes', async (t) => {
    await change(b)
    await importHere(t, a, 400)
    await untilSettled([a, b])
    await change(a)
    await compact(a)
    await untilSettled([a, b])
    t.equal(beginningOf(a), 0, 'the first import needs all')
    await change(b)
    await importHere(t, a, 450)
    await untilSettled([a, b])
    for (const machine of [a, b]) {
      t.equal((await listSnapshots(machine.data)).length, 2)
      t.ok(beginningOf(machine) >= BATCH_COUNT, 'the journal begins later')
      t.ok(bytesOf(machine) < 2 * BATCH_COUNT * BATCH_ROWS * 30)
    }
    await checkAlike(t, [a, b])
  })

  let c = await start('site-c', temporaryDirectory(t))
  await t.test('a machine that joins then has the same', async (t) => {
    await untilReady([a, b, c])
    await checkAlike(t, [a, b, c])
  })

  await t.test('a machine that is killed then goes on', async (t) => {
    await b.service.stop('SIGKILL')
    b = await start('site-b', b.data)
    await change(a)
    await untilReady([a, b, c])
    await checkAlike(t, [a, b, c])
    t.notMatch(b.service.output().stderr, 'beginning with what others have')
  })

  await t.test('a machine that was away meanwhile begins anew, and has the same', async (t) => {
    await c.service.stop('SIGKILL')
    await untilTold(async () => {
      const { status } = await changeList(a.service, 'PUT', 'all', [phoneOf(3), phoneOf(7)])
      return status === 200
    })
    await change(b)
    await compact(a)
    await change(a)
    await compact(a)
    await untilSettled([a, b])
    t.ok(beginningOf(a) < endOf(c), 'an earlier import needs what it lacks')
    await compact(a, '--keep', '1')
    await untilSettled([a, b])
    t.ok(beginningOf(a) > endOf(c), 'what it lacks is gone')
    await emptyStream(nats.url)
    c = await start('site-c', c.data)
    await until(() => c.service.output().stderr.includes('"reason":"gone"'))
    await untilReady([a, b, c])
    await change(c)
    await importHere(t, a, COUNT)
    await untilSettled([a, b, c])
    t.equal(await checkAlike(t, [a, b, c]), COUNT - 2, 'without those that were suppressed')
    for (const machine of [a, b, c]) t.ok(journalFileNumbers(journalOf(machine)).length <= 20)
  })

  await t.test('a machine that came back says that it is level', async (t) => {
    t.match(
      await (await fetch(`${adminUrlOf(c.service)}/metrics`)).text(),
      /^hickory_cluster_level 1$/m,
    )
  })

  // Before its directory goes.
  await Promise.all([a, b, c].map(({ service }) => service.stop('SIGKILL')))
  await nats.stop()
})

const journalOf = ({ data }: Machine) => journalDirectory(data)

let roundCount = 0
/** The last batch of all. */
let lastSequence = 0

/** Takes several files of the journal, and has the same recipients elsewhere each time. */
async function change({ service }: Machine): Promise<void> {
  const round = ++roundCount
  for (let batch = 0; batch < BATCH_COUNT; batch++) {
    const changes = Array.from({ length: BATCH_ROWS }, (_, row) => ({
      op: 'upsert',
      number: phoneOf(row),
      lat: (batch + round) / 100,
      lng: (row + 1) / 200,
    }))
    const body = JSON.stringify({ batchId: `${round}/${batch}`, changes })
    await untilTold(async () => {
      const answer = await fetch(`${service.url}/api/sources/1/changes`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Connection: 'close' },
        body,
      })
      const text = await answer.text()
      // Sent again, it is taken once.
      if (answer.status === 503) return false
      if (answer.status !== 200) throw new Error(`${answer.status}: ${text}`)
      lastSequence = (JSON.parse(text) as { Sequence: number }).Sequence
      return true
    })
  }
}

async function importHere(t: Test, { data }: Machine, count: number): Promise<void> {
  await importPlaces(t, data, 1, places(count))
}

async function compact({ data }: Machine, ...more: readonly string[]): Promise<void> {
  const { code, stderr } = await hickory('compact', '--data', data, ...more)
  if (code !== 0) throw new Error(stderr)
}

/** All serve what is current on the first one, which writes, and keep what that keeps, and no more of the journal. */
async function untilSettled(machines: readonly Machine[]): Promise<void> {
  const [{ data }] = machines
  const ids = await listSnapshots(data)
  for (const machine of machines) {
    await untilTold(async () => {
      const answer = await fetch(`${machine.service.url}/readyz`, {
        headers: { Connection: 'close' },
      })
      const { snapshotId } = (await answer.json()) as { snapshotId?: string }
      return snapshotId === ids.at(-1)
    }, 60_000)
    await untilTold(async () => (await listSnapshots(machine.data)).join() === ids.join())
    await untilTold(async () => {
      const needed = await neededChanges(machine.data)
      return needed !== undefined && !hasOldFiles(journalOf(machine), needed.appliedSequence)
    })
  }
}

async function untilReady(machines: readonly Machine[]): Promise<void> {
  for (const { service } of machines) {
    await untilTold(async () => (await readinessOf(service).catch(() => '')) === 'ready')
  }
}

/** @returns how many recipients each of them lists */
async function checkAlike(t: Test, machines: readonly Machine[]): Promise<number> {
  const [first, ...others] = machines
  const listed = await listedBy(first)
  for (const other of others) t.same(await listedBy(other), listed)
  return listed.length
}

async function listedBy({ service }: Machine): Promise<string[]> {
  const records = await askBox(service, EVERYWHERE, { minSequence: lastSequence })
  const recipients = records.flatMap(({ Recipients = [] }) => Recipients)
  return recipients.map((recipient) => JSON.stringify(recipient)).sort()
}

/** Up to here the journal of a machine is kept no more. */
function beginningOf(machine: Machine): number {
  return headOf(machine).first.after.sequence
}

const endOf = (machine: Machine) => headOf(machine).sequence

function headOf(machine: Machine): ReturnType<JournalReader['head']> {
  const reader = new JournalReader(journalOf(machine))
  try {
    return reader.head()
  } finally {
    reader.close()
  }
}

function bytesOf(machine: Machine): number {
  const directory = journalOf(machine)
  return journalFileNumbers(directory)
    .map((number) => statSync(journalPath(directory, number)).size)
    .reduce((sum, size) => sum + size, 0)
}

/** So that nobody gets from NATS what machines keep no more. */
async function emptyStream(url: string): Promise<void> {
  const client = await connect({ servers: url })
  const manager = await jetstreamManager(client)
  const { stream } = namesOf('main')
  // It may not be purged, and lets go of the oldest ones.
  await manager.streams.update(stream, { max_msgs: 1 })
  await manager.streams.update(stream, { max_msgs: -1 })
  await client.close()
}
