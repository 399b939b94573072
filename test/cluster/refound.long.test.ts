/**
 * A directory that was of a cluster and is not any more: from a backup, or by `hickory cluster leave`. It is served alone,
 * and another cluster is founded with it, which knows nothing of the members and entries of the first one.
 *
 * @module
 */
import { join } from 'node:path'
import t from 'tap'
import { journalDirectory, journalFileNumbers } from '../../src/journal/files.js'
import { isClusterJournal } from '../../src/journal/reader.js'
import { createStore } from '../../src/store/store.js'
import { silentLog } from '../support/data/store.js'
import {
  askBox,
  changeList,
  EVERYWHERE,
  phoneOf,
  placesWorld,
} from '../support/data/suppressions.js'
import { hickory, type Service, serve, temporaryDirectory } from '../support/service/hickory.js'
import { untilTold } from '../support/service/until.js'
import { readinessOf, serveMachine, statusBy } from './support/machines.js'
import { startNatsServer } from './support/nats-servers.js'

const SMALL = ['--journal-file-bytes', '4096'] as const

t.test('from a cluster to one machine, and to another cluster', async (t) => {
  const nats = await startNatsServer(t)
  const reachOf = (id: string) => [...nats.reach, '--cluster-id', id]
  const start = (name: string, data: string, id: string) =>
    serveMachine(t, { name, data, reach: reachOf(id) }, ...SMALL)
  const data = await placesWorld(t)
  const restored = join(temporaryDirectory(t), 'restored')

  await t.test('a backup is made of a machine whose journal was shortened', async (t) => {
    const service = await start('site-a', data, 'first')
    t.equal((await changeList(service, 'PUT', 'all', [phoneOf(3), phoneOf(7)])).status, 200)
    for (const more of [[], ['--keep', '1']]) {
      await change(service)
      await run('compact', '--data', data, ...more)
    }
    await untilTold(async () => journalFileNumbers(journalDirectory(data))[0] > 1)
    const archive = join(temporaryDirectory(t), 'b.tar')
    await run('backup', '--data', data, archive)
    await run('restore', archive, '--data', restored)
    t.notOk(isClusterJournal(journalDirectory(restored)))
    await service.stop()
  })

  let listed: readonly string[] = []
  let sequence = 0
  await t.test('the directory from it is served alone, and takes changes', async (t) => {
    const service = await serve(t, '--data', restored)
    t.same(absent(await listedBy(service)), [phoneOf(3), phoneOf(7)])
    t.equal((await changeList(service, 'DELETE', 'all', [phoneOf(3)])).status, 200)
    sequence = await change(service)
    listed = await listedBy(service, sequence)
    t.same(absent(listed), [phoneOf(7)])
    t.equal((await service.stop()).code, 0)
  })

  await t.test('another cluster is founded with it, and has others join', async (t) => {
    const first = await start('site-x', restored, 'second')
    const second = await start('site-y', temporaryDirectory(t), 'second')
    for (const service of [first, second]) {
      await untilTold(async () => (await readinessOf(service)) === 'ready')
      t.same(await listedBy(service, sequence), listed, 'nothing is done a second time')
    }
    t.match(await statusBy(['--cluster', nats.url, '--cluster-id', 'second']), {
      isWhole: true,
      machines: [
        { name: 'site-x', isMember: true },
        { name: 'site-y', isMember: true },
      ],
    })
    t.equal((await changeList(second, 'PUT', 'all', [phoneOf(9)])).status, 200)
    for (const service of [first, second]) {
      t.same(absent(await listedBy(service)), [phoneOf(7), phoneOf(9)])
    }
    await Promise.all([first, second].map((service) => service.stop()))
  })

  await t.test('a directory that leaves is served alone', async (t) => {
    for (const [left, gone] of [
      [restored, [7, 9]],
      [data, [3, 7]],
    ] as const) {
      await run('cluster', 'leave', '--data', left)
      const service = await serve(t, '--data', left)
      t.same(absent(await listedBy(service)), gone.map(phoneOf))
      t.equal((await service.stop()).code, 0)
    }
    t.match(await hickory('cluster', 'leave', '--data', data), { code: 2 })
  })

  await t.test('one that has left halfway is not served', async (t) => {
    const store = await createStore(data, silentLog)
    store.entries.apply([], 0)
    await store.close()
    t.match(await hickory('serve', '--data', data, '--port', '0'), {
      code: 2,
      stderr: /is still that of a machine of a cluster/,
    })
  })

  // Before its directory goes.
  await nats.stop()
})

async function run(...args: readonly string[]): Promise<void> {
  const { code, stderr } = await hickory(...args)
  if (code !== 0) throw new Error(stderr)
}

let roundCount = 0

/**
 * Moves some recipients, each time to another place.
 *
 * @returns the last batch
 */
async function change({ url }: Service): Promise<number> {
  const round = ++roundCount
  let last = 0
  for (let batch = 0; batch < 8; batch++) {
    const changes = Array.from({ length: 50 }, (_, row) => {
      return {
        op: 'upsert',
        number: phoneOf(row),
        lat: (batch + round) / 100,
        lng: (row + 1) / 200,
      }
    })
    const answer = await fetch(`${url}/api/sources/1/changes`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Connection: 'close' },
      body: JSON.stringify({ batchId: `${round}/${batch}`, changes }),
    })
    if (answer.status !== 200) throw new Error(`${answer.status}: ${await answer.text()}`)
    last = ((await answer.json()) as { Sequence: number }).Sequence
  }
  return last
}

/** All recipients, as they are answered with a batch. */
async function listedBy(service: Service, minSequence = 0): Promise<readonly string[]> {
  const records = await askBox(service, EVERYWHERE, { minSequence })
  return records
    .flatMap(({ Recipients = [] }) => Recipients.map((recipient) => JSON.stringify(recipient)))
    .sort()
}

/** Of the first ten phones, those that are not listed. */
function absent(listed: readonly string[]): string[] {
  const phones = Array.from({ length: 10 }, (_, at) => phoneOf(at))
  return phones.filter((phone) => !listed.some((recipient) => recipient.includes(`"${phone}"`)))
}
