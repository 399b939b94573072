import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join as joined } from 'node:path'
import t, { type Test } from 'tap'
import { clusterDirectory, processSession } from '../../src/cluster/directory.js'
import { Facts, type KnownFacts, NO_FACTS } from '../../src/cluster/facts.js'
import { join } from '../../src/cluster/join.js'
import { ClusterJournal } from '../../src/cluster/journal.js'
import type { LogFounding } from '../../src/cluster/log/log.js'
import type { ClusterSettings } from '../../src/cluster/messages.js'
import type { ClusterNats } from '../../src/cluster/nats/cluster-nats.js'
import {
  FactsKeeper,
  noteConnection,
  readConnection,
  readFacts,
  readState,
  writeFacts,
  writeState,
} from '../../src/cluster/state-file.js'
import { journalDirectory } from '../../src/journal/files.js'
import { isClusterJournal } from '../../src/journal/reader.js'
import { setJournalLog } from '../../src/journal/seed.js'
import { limits } from '../../src/limits.js'
import { createLog } from '../../src/log.js'
import { createStore } from '../../src/store/store.js'
import { appendEach, GENERATION, makeClustered, writerOfFiles } from '../support/data/clustered.js'
import { temporaryDirectory } from '../support/service/hickory.js'
import { until } from '../support/service/until.js'

const log = createLog('silent')

// What the tests would wait for.
const { clusterHeardMs, natsRetryMs } = limits
Object.assign(limits, { clusterHeardMs: 50, natsRetryMs: 10 })
t.teardown(() => Object.assign(limits, { clusterHeardMs, natsRetryMs }))

const STATE = { clusterId: 'main', name: 'a', incarnation: 'of a', isFounder: true }
const MEMBERS = ['a', 'b', 'c'].map((name) => {
  return { name, incarnation: `of ${name}`, maxLagMs: 60_000 }
})
const factsAt = (sequence: number): KnownFacts => ({ sequence, members: MEMBERS, leaving: [] })

/** A directory of a founder whose journal begins behind batch 3. */
async function cutDirectory(t: Test): Promise<string> {
  const data = temporaryDirectory(t)
  const writer = await writerOfFiles(data)
  appendEach(writer, 'batch', 'batch', 'batch', 'batch')
  t.equal(writer.truncate(3), 3)
  await writer.release()
  const store = await createStore(data, log)
  store.entries.apply([], 3)
  await store.close()
  await writeState(data, STATE)
  return data
}

/** The log of NATS: who founded it, after some attempts of which nothing was heard. */
const logs: { founding: LogFounding | undefined; lateCount: number } = {
  founding: undefined,
  lateCount: 0,
}
function answered() {
  if (logs.lateCount-- > 0) throw new Error('timeout')
}
const stream = {
  async info() {
    answered()
    return logs.founding
  },
  async found(founding: LogFounding) {
    answered()
    logs.founding ??= founding
    if (logs.founding.generation !== founding.generation) throw new Error('there is another log')
  },
}
t.beforeEach(() => Object.assign(logs, { founding: undefined, lateCount: 0 }))

/** NATS with machines that tell of themselves, and have nothing to give but what they know of the cluster. */
function natsWith(names: readonly string[], facts?: KnownFacts, session?: string) {
  const asked: string[] = []
  const nats = {
    openLog: async () => ({ stream }),
    hear(listener: (report: object) => void) {
      for (const name of names) listener({ name, snapshotId: 'any', levelMs: 1_000 })
      return () => {}
    },
    calls: {
      async ask(name: string, { kind }: { readonly kind: string }) {
        asked.push(`${kind} ${name}`)
        if (kind === 'hello' && name === 'a' && session !== undefined) return { session }
        if (kind === 'hello' && facts !== undefined && names.includes(name)) return { facts }
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
  await writeFacts(data, factsAt(3))
  t.same(await joining(data, natsWith([]).nats), STATE)
})

t.test('a machine does not start beside another process with its name', async (t) => {
  const data = await cutDirectory(t)
  await writeFacts(data, factsAt(3))
  const twin = { code: 'Usage', message: /there is a machine a in the cluster already/ }
  await t.rejects(joining(data, natsWith([], undefined, 'other').nats), twin)
  t.same(await joining(data, natsWith([], undefined, processSession).nats), STATE)
  // While NATS is away, it cannot know.
  const { clusterCallMs } = limits
  t.teardown(() => Object.assign(limits, { clusterCallMs }))
  Object.assign(limits, { clusterCallMs: 20 })
  const settings = { clusterId: 'main', name: 'a' } as ClusterSettings
  const { signal } = new AbortController()
  const connected = () => new Promise<never>(() => {})
  t.same(await join({ dataDirectory: data, settings, connected, log, signal }), STATE)
})

t.test('a machine that cannot know the members does not go on alone', async (t) => {
  for (const lost of [() => {}, (data: string) => writeFacts(data, factsAt(2))]) {
    const data = await cutDirectory(t)
    await lost(data)
    await t.rejects(joining(data, natsWith([]).nats), {
      code: 'Failed',
      message: /facts\.json of .* is lost.*hickory cluster leave/,
    })
    t.same(readState(data), STATE)
    t.ok(existsSync(journalDirectory(data)), 'nothing is set aside')
  }
})

t.test('it asks another one who they are, and keeps what it has', async (t) => {
  for (const beginsAnew of [undefined, 'suspect'] as const) {
    const data = await cutDirectory(t)
    await writeState(data, { ...STATE, beginsAnew })
    t.same(await joining(data, natsWith(['b'], factsAt(7)).nats), STATE)
    t.same(readFacts(data), factsAt(7))
    t.same(readState(data), STATE, 'its journal is whole')
  }
})

t.test('one that is damaged begins anew with others, as another member', async (t) => {
  const data = await cutDirectory(t)
  await writeFacts(data, factsAt(3))
  await writeState(data, { ...STATE, beginsAnew: 'damaged' })
  const { nats, asked } = natsWith(['b'])
  const over = new AbortController()
  const ended = joining(data, nats, over.signal)
  ended.catch(() => {})
  await until(() => asked.includes('seed b'))
  over.abort()
  await t.rejects(ended)
  t.match(readState(data), { name: 'a', isFounder: false, beginsAnew: 'damaged' })
  t.not(readState(data)?.incarnation, STATE.incarnation)
  const aside = readdirSync(clusterDirectory(data)).filter((name) => name.startsWith('set-aside-'))
  t.same(aside, [], 'no machine has given anything')
  t.ok(existsSync(journalDirectory(data)))
})

t.test('where a machine gives nothing, the next one is asked', async (t) => {
  const { natsRetryMs, fetchRetryMs, clusterHeardMs } = limits
  t.teardown(() => Object.assign(limits, { natsRetryMs, fetchRetryMs, clusterHeardMs }))
  Object.assign(limits, { natsRetryMs: 1, fetchRetryMs: 1, clusterHeardMs: 1 })
  const { nats, asked } = natsWith(['b', 'c'])
  const over = new AbortController()
  const ended = joining(temporaryDirectory(t), nats, over.signal)
  ended.catch(() => {})
  await until(() => asked.filter((one) => one.startsWith('seed')).length >= 4)
  over.abort()
  await t.rejects(ended)
  const seeds = asked.filter((one) => one.startsWith('seed')).slice(0, 4)
  t.same(seeds, ['seed b', 'seed c', 'seed b', 'seed c'])
})

t.test('a founder that was killed goes on, and nobody takes another one for it', async (t) => {
  const ready = (t: Test) => {
    const data = temporaryDirectory(t)
    writeFileSync(joined(data, 'CURRENT'), '000001-0123abcd\n')
    return data
  }
  const killed = ready(t)
  // As it is from when NATS may know of it on.
  mkdirSync(clusterDirectory(killed))
  writeFileSync(joined(clusterDirectory(killed), 'founding'), GENERATION)
  const base = { sequence: 0, hash: '0'.repeat(64) }
  logs.founding = { generation: GENERATION, founder: 'a', base }
  t.match(await joining(killed, natsWith([]).nats), { name: 'a', isFounder: true })
  t.match(readState(killed), { name: 'a', isFounder: true })
  t.notOk(existsSync(joined(clusterDirectory(killed), 'founding')))
  t.ok(isClusterJournal(journalDirectory(killed)))

  const other = ready(t)
  const hasOwn = { code: 'Usage', message: /has data of its own/ }
  await t.rejects(joining(other, natsWith([]).nats), hasOwn)
  mkdirSync(clusterDirectory(other))
  for (const text of ['', 'f'.repeat(16)]) {
    writeFileSync(joined(clusterDirectory(other), 'founding'), text)
    await t.rejects(joining(other, natsWith([]).nats), hasOwn)
  }
  logs.founding = undefined
  await t.rejects(joining(other, natsWith(['b']).nats), hasOwn, 'a machine is heard')
  t.equal(readState(other), undefined)
  t.notOk(existsSync(journalDirectory(other)))
})

t.test('JetStream that does not answer is waited for', async (t) => {
  const data = temporaryDirectory(t)
  writeFileSync(joined(data, 'CURRENT'), '000001-0123abcd\n')
  logs.lateCount = 2
  t.match(await joining(data, natsWith([]).nats), { isFounder: true })
  t.match(logs.founding, { founder: 'a', base: { sequence: 0 } })
})

t.test('who founds a cluster forgets the members of an earlier one', async (t) => {
  const data = temporaryDirectory(t)
  writeFileSync(joined(data, 'CURRENT'), '000001-0123abcd\n')
  await makeClustered(data, [
    { kind: 'joined', ...MEMBERS[1] },
    { kind: 'snapshot', id: '000001-0123abcd', by: 'b', documents: [] },
    { kind: 'switch', id: '000001-0123abcd', importCount: 1, unneededSequence: 0 },
  ])
  await setJournalLog(journalDirectory(data), undefined)
  rmSync(clusterDirectory(data), { recursive: true })

  const state = await joining(data, natsWith([]).nats)
  t.match(state, { name: 'a', isFounder: true, foundedSequence: 3 })
  t.same(readState(data), state)
  // Also when what was kept is lost.
  for (const factsLost of [() => {}, () => rmSync(joined(clusterDirectory(data), 'facts.json'))]) {
    factsLost()
    const journal = new ClusterJournal({
      directory: journalDirectory(data),
      known: readFacts(data),
      onFailure() {},
      onWritten() {},
      onOver() {},
    })
    t.same(journal.facts.members, [])
    t.same([journal.facts.announced, journal.facts.switchedId], [undefined, undefined])
    t.equal(journal.last.sequence, 3)
    t.same(logs.founding?.base, journal.last)
    t.equal(journal.generation, logs.founding?.generation)
    await journal.close()
  }
})

t.test('a directory of an earlier kind of cluster is refused', async (t) => {
  const data = await cutDirectory(t)
  const path = joined(clusterDirectory(data), 'state.json')
  const { sha256: _, ...state } = JSON.parse(readFileSync(path, 'utf8'))
  await writeState(data, { ...state, formatVersion: 1 })
  await t.rejects(joining(data, natsWith([]).nats), {
    code: 'Usage',
    message: /earlier version.*hickory cluster leave/,
  })
})

t.test('what a machine remembers is as it was written, or counts for nothing', async (t) => {
  const data = await cutDirectory(t)
  await writeFacts(data, factsAt(3))
  const connection = { clusterId: 'main', name: 'a', nats: { servers: ['any'] }, natsMonitors: [] }
  await noteConnection(data, connection)
  t.same([readState(data), readFacts(data)], [STATE, factsAt(3)])
  t.same(readConnection(data), connection)
  for (const name of ['state', 'facts', 'connection']) {
    const path = joined(clusterDirectory(data), `${name}.json`)
    writeFileSync(path, readFileSync(path, 'utf8').replace('"a"', '"b"'))
  }
  t.throws(() => readState(data), { message: /state.json is not as it was written$/ })
  t.same(readFacts(data), NO_FACTS)
  t.throws(() => readConnection(data), { message: /is not as it was written: start the service/ })
})

t.test('what is known of the journal is kept in order', async (t) => {
  const data = temporaryDirectory(t)
  mkdirSync(clusterDirectory(data))
  const facts = new Facts(factsAt(0), () => 0)
  const keeper = new FactsKeeper({
    dataDirectory: data,
    facts,
    onFault: (fault) => t.fail(String(fault)),
  })
  await Promise.all(
    Array.from({ length: 20 }, (_, at) => {
      facts.pass(at + 1)
      return keeper.keep()
    }),
  )
  t.same(readFacts(data), factsAt(20))
})

t.test('what a killed process was making for another machine goes, and nothing else', async (t) => {
  const data = await cutDirectory(t)
  await writeFacts(data, factsAt(3))
  mkdirSync(joined(clusterDirectory(data), 'seeds', 'of-a'), { recursive: true })
  await joining(data, natsWith([]).nats)
  t.same(readdirSync(clusterDirectory(data)), ['facts.json', 'state.json'])
})
