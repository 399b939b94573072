import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join as joined } from 'node:path'
import { MessageChannel } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { ClusterLog } from '../../src/cluster/cluster-log.js'
import { join } from '../../src/cluster/join.js'
import type { ClusterSettings } from '../../src/cluster/messages.js'
import type { ClusterNats } from '../../src/cluster/nats/cluster-nats.js'
import { Opened } from '../../src/cluster/nats/opened.js'
import {
  clusterDirectory,
  readState,
  readTail,
  writeState,
  writeTail,
} from '../../src/cluster/state-file.js'
import { TailKeeper } from '../../src/cluster/tail-keeper.js'
import { endAgreedPart } from '../../src/journal/agreed-part.js'
import { prepareBatch } from '../../src/journal/batch.js'
import { journalDirectory } from '../../src/journal/files.js'
import { foundJournal } from '../../src/journal/seed.js'
import { JournalWriter } from '../../src/journal/writer.js'
import { limits } from '../../src/limits.js'
import { createLog } from '../../src/log.js'
import { createStore } from '../../src/store/create.js'
import { makeClustered } from '../support/data/clustered.js'
import { temporaryDirectory } from '../support/service/hickory.js'
import { until } from '../support/service/until.js'

const log = createLog('silent')

// What the tests would wait for.
const { clusterHeardMs, natsRetryMs } = limits
Object.assign(limits, { clusterHeardMs: 50, natsRetryMs: 10 })
t.teardown(() => Object.assign(limits, { clusterHeardMs, natsRetryMs }))

const STATE = { clusterId: 'main', name: 'a', incarnation: 'of a', epoch: 4, isFounder: true }
const MEMBERS = ['a', 'b', 'c'].map((name) => ({ name, incarnation: `of ${name}` }))
const tailAt = (sequence: number) => {
  return { sequence, epochs: [], members: MEMBERS, membersSequence: 1 }
}

/** A directory of a founder whose journal begins behind batch 3. */
async function cutDirectory(t: Test): Promise<string> {
  const data = temporaryDirectory(t)
  const directory = journalDirectory(data)
  await foundJournal(directory)
  const writer = new JournalWriter({
    directory,
    isClustered: true,
    fileBytes: 1,
    unindexedCount: 1,
  })
  for (const batchId of ['1', '2', '3', '4']) {
    const changes = [{ op: 'delete', identity: batchId } as const]
    writer.append([prepareBatch({ sourceId: 1, batchId, changes })])
  }
  writer.commit(4)
  t.equal(writer.truncate(3), 3)
  await writer.release()
  const store = await createStore(data, log)
  store.entries.apply([], 3)
  await store.close()
  await writeState(data, STATE)
  return data
}

/** NATS with machines that tell of themselves, and have nothing to give. */
function natsWith(names: readonly string[]) {
  const asked: string[] = []
  const nats = {
    bucket: new Opened(async () => ({ get: async () => null, create: async () => 1 })),
    hear(listener: (report: object) => void) {
      for (const name of names) {
        listener({ agreement: { name, isWriter: true }, snapshotId: 'any', levelMs: 1_000 })
      }
      return () => {}
    },
    calls: {
      async ask(name: string, { kind }: { readonly kind: string }) {
        asked.push(`${kind} ${name}`)
        throw new Error('no answer')
      },
    },
  }
  return { nats: nats as unknown as ClusterNats, asked }
}

function joining(dataDirectory: string, nats: ClusterNats, signal = new AbortController().signal) {
  const settings = { clusterId: 'main', name: 'a' } as ClusterSettings
  return join({ dataDirectory, settings, connected: async () => nats, log, signal })
}

t.test('a machine that knows the members goes on, whoever is there', async (t) => {
  const data = await cutDirectory(t)
  await writeTail(data, tailAt(3))
  t.same(await joining(data, natsWith([]).nats), STATE)
})

t.test('a machine that cannot know the members does not go on alone', async (t) => {
  for (const lost of [() => {}, (data: string) => writeTail(data, tailAt(2))]) {
    const data = await cutDirectory(t)
    await lost(data)
    await t.rejects(joining(data, natsWith([]).nats), {
      code: 'Failed',
      message: /tail\.json of .* is lost.*hickory cluster leave/,
    })
    t.same(readState(data), STATE)
    t.ok(existsSync(journalDirectory(data)), 'nothing is set aside')
  }
})

t.test('with others it begins anew, as another member', async (t) => {
  const data = await cutDirectory(t)
  const { nats, asked } = natsWith(['b'])
  const over = new AbortController()
  const ended = joining(data, nats, over.signal)
  ended.catch(() => {})
  await until(() => asked.includes('seed b'))
  over.abort()
  await t.rejects(ended)
  t.match(readState(data), { name: 'a', epoch: 0, isFounder: false, beginsAnew: 'damaged' })
  t.not(readState(data)?.incarnation, STATE.incarnation)
  const aside = readdirSync(clusterDirectory(data)).filter((name) => name.startsWith('set-aside-'))
  t.same(aside.length, 1)
  t.ok(existsSync(joined(clusterDirectory(data), aside[0], 'journal')))
})

/** A bucket that says who founded the cluster, after some attempts of which nothing was heard. */
function bucketOf(founder: string | undefined, lateCount = 0) {
  const known = { founder, lateCount }
  const answered = () => {
    if (known.lateCount-- > 0) throw new Error('timeout')
  }
  const bucket = {
    async get() {
      answered()
      return known.founder === undefined ? null : { string: () => known.founder }
    },
    async create(_: string, name: string) {
      answered()
      if (known.founder !== undefined) throw new Error('wrong last sequence')
      known.founder = name
    },
  }
  const { nats } = natsWith([])
  return Object.assign(nats, { bucket: new Opened(async () => bucket) }) as unknown as ClusterNats
}

t.test('a founder that was killed goes on, and nobody takes another one for it', async (t) => {
  const ready = (t: Test) => {
    const data = temporaryDirectory(t)
    writeFileSync(joined(data, 'CURRENT'), '000001-0123abcd\n')
    return data
  }
  const killed = ready(t)
  // As it is from when NATS may know of it on.
  mkdirSync(clusterDirectory(killed))
  writeFileSync(joined(clusterDirectory(killed), 'founding'), '')
  t.match(await joining(killed, bucketOf('a')), { name: 'a', isFounder: true })
  t.match(readState(killed), { name: 'a', isFounder: true })
  t.notOk(existsSync(joined(clusterDirectory(killed), 'founding')))

  const other = ready(t)
  await t.rejects(joining(other, bucketOf('a')), { code: 'Usage', message: /has data of its own/ })
  mkdirSync(clusterDirectory(other))
  writeFileSync(joined(clusterDirectory(other), 'founding'), '')
  await t.rejects(joining(other, bucketOf('b')), { code: 'Usage', message: /has data of its own/ })
  t.equal(readState(other), undefined)
})

t.test('JetStream that does not answer is waited for', async (t) => {
  const data = temporaryDirectory(t)
  writeFileSync(joined(data, 'CURRENT'), '000001-0123abcd\n')
  t.match(await joining(data, bucketOf(undefined, 2)), { isFounder: true })
})

t.test('who founds a cluster forgets the members of an earlier one', async (t) => {
  const data = temporaryDirectory(t)
  writeFileSync(joined(data, 'CURRENT'), '000001-0123abcd\n')
  const members = [...MEMBERS, { name: 'd', incarnation: 'of d' }]
  await makeClustered(data, [
    { kind: 'epoch', epoch: 3, name: 'b' },
    { kind: 'members', members },
    { kind: 'switch', id: '000001-0123abcd', importCount: 1, unneededSequence: 0 },
  ])
  endAgreedPart(journalDirectory(data))
  rmSync(clusterDirectory(data), { recursive: true })

  const state = await joining(data, natsWith([]).nats)
  t.match(state, { name: 'a', isFounder: true, epoch: 3, foundedSequence: 3 })
  t.same(readState(data), state)
  const { port1, port2 } = new MessageChannel()
  t.teardown(() => {
    port1.close()
    port2.close()
  })
  const journal = new ClusterLog({
    directory: journalDirectory(data),
    port: port1,
    tail: readTail(data),
    name: 'a',
  })
  t.teardown(() => journal.close())
  t.same(journal.members(), [])
  t.equal(journal.switchedId(), undefined)
  t.match(journal.end(), { sequence: 3, epoch: 3 })
  t.equal(journal.committed(), 3)
})

t.test('what is known of the journal is kept in order', async (t) => {
  const data = temporaryDirectory(t)
  mkdirSync(clusterDirectory(data))
  let sequence = 0
  const keeper = new TailKeeper({
    dataDirectory: data,
    tail: () => tailAt(++sequence),
    membersSequence: () => 1,
    onFault: (fault) => t.fail(String(fault)),
  })
  await Promise.all(Array.from({ length: 20 }, () => keeper.keep()))

  t.equal(readTail(data).sequence, 20)
})
