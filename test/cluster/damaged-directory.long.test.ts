/**
 * A machine that was stopped finds what became of its disk meanwhile when it starts, and has the same as the others then.
 */
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { startCluster } from '../../src/cluster/start.js'
import { readFacts, writeFacts } from '../../src/cluster/state-file.js'
import { digestOfFile } from '../../src/cluster/verified-file.js'
import { journalDirectory } from '../../src/journal/files.js'
import { JournalReader } from '../../src/journal/reader.js'
import { limits } from '../../src/limits.js'
import { readCurrent } from '../../src/snapshot/directory.js'
import { seededRandom } from '../support/random/world.js'
import { call } from './faults/calls.js'
import { CHANGED_SOURCE, OPTING_SOURCE, phoneOf, polygonOf, randomChange } from './faults/crowd.js'
import { flipBit } from './faults/flip-bit.js'
import { type Machine, startThree } from './support/three-machines.js'

const seed = Number(process.env.HICKORY_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))
t.comment(`seed ${seed}`)
const random = seededRandom(seed)

const PEOPLE_COUNT = 1_000
const SUPPRESSED_COUNT = 10

async function ask({ url }: Machine, method: string, path: string, body: object) {
  const answer = await call(url + path, { method, body, waitMs: 20_000 })
  if (answer?.status !== 200) throw new Error(`${method} ${path} is answered ${answer?.status}`)
  return answer.json
}

async function change(machine: Machine, number: number): Promise<number> {
  const changes = Array.from({ length: 20 }, () => randomChange(random, PEOPLE_COUNT))
  const body = { batchId: `batch ${number}`, allowShrink: true, changes }
  const path = `/api/sources/${CHANGED_SOURCE}/changes`
  return Number((await ask(machine, 'POST', path, body)).Sequence)
}

/** Whoever is in a list of all, by numbers. */
async function listed(machine: Machine, minSequence: number): Promise<string[]> {
  const geoJSON = polygonOf({ west: 0, south: 0, east: 400, north: 400 })
  const body = { geoJSON, sources: [CHANGED_SOURCE, OPTING_SOURCE], minSequence }
  const { SourceRecords } = await ask(machine, 'POST', '/api/recipients', body)
  const records = SourceRecords as { Recipients: { Number: string }[] }[]
  return records.flatMap(({ Recipients }) => Recipients.map((one) => one.Number)).sort()
}

/** Files below a data directory. */
function filesOf({ data }: Pick<Machine, 'data'>, isIt: RegExp): string[] {
  const all = readdirSync(data, { recursive: true, encoding: 'utf8' })
  return all
    .filter((path) => isIt.test(path) && statSync(join(data, path)).size > 0)
    .map((path) => join(data, path))
    .sort()
}

/** Of the one that is served, but for what is of the machine alone. */
async function snapshotDigests(machine: Machine): Promise<string[]> {
  const id = await readCurrent(machine.data)
  const paths = filesOf(machine, new RegExp(`^snapshots/${id}/(?!origin)[^/]+$`))
  return await Promise.all(
    paths.map(
      async (path) => `${path.slice(machine.data.length)} ${(await digestOfFile(path)).sha256}`,
    ),
  )
}

const flipIn = (isIt: RegExp) => (machine: Machine) => {
  flipBit(random.pick(filesOf(machine, isIt)), random)
}

interface Damage {
  readonly name: string
  readonly act: (machine: Machine) => void
  /** What its log says of it; undefined where the bit may be one that nobody reads. */
  readonly says: RegExp | undefined
}

const damages: readonly Damage[] = [
  {
    name: 'a bit of the journal is flipped',
    act: flipIn(/^journal\/.*\.journal$/),
    says: /beginning with what others have/,
  },
  { name: 'a bit of the store is flipped', act: flipIn(/^store\/data/), says: undefined },
  {
    name: 'a bit of a shard is flipped',
    act: flipIn(/^snapshots\/.*\.shard$/),
    says: /fetched what was damaged of a snapshot/,
  },
  {
    name: 'a bit of what it remembers is flipped',
    act: flipIn(/^cluster\/state\.json$/),
    says: /beginning with what other machines have/,
  },
  {
    name: 'all is gone',
    act({ data }) {
      for (const name of readdirSync(data)) rmSync(join(data, name), { recursive: true })
    },
    says: /begins with the cluster/,
  },
]

t.test('a machine whose disk was damaged has the same as the others', async (t) => {
  const three = await startThree(t, { seed, peopleCount: PEOPLE_COUNT, optingCount: 100 })
  const [a, b, c] = three.machines
  let number = 0
  for (; number < 10; number++) await change(a, number)
  const phones = Array.from({ length: SUPPRESSED_COUNT }, (_, at) => phoneOf(OPTING_SOURCE, at))
  await ask(b, 'PUT', '/api/suppressions', { Numbers: phones })
  for (const { name, act, says } of damages) {
    await t.test(name, async (t) => {
      t.equal(await c.stop(), 0)
      act(c)
      // What it lacks besides.
      await change(b, number++)
      await c.start()
      const { stderr } = c.service.output()
      if (says !== undefined) t.match(stderr, says)
      t.notMatch(stderr, /from a backup/, 'others have what is damaged')
      const sequence = await change(c, number++)
      const lists = await Promise.all([a, c].map((machine) => listed(machine, sequence)))
      t.ok(lists[0].length > 500)
      t.equal(lists[0].includes(phones[0]), false)
      t.same(lists[1], lists[0])
      t.same(await snapshotDigests(c), await snapshotDigests(a))
    })
  }
  await t.test('a bit of what the service reads no more is flipped', async (t) => {
    // As one that is killed before it notes how far it has come.
    const known = readFacts(c.data)
    for (let i = 0; i < 5; i++) await change(a, number++)
    await c.stop('SIGKILL')
    await writeFacts(c.data, known)
    flipInRecord(c, known.sequence)
    const thread = await startCluster({
      dataDirectory: c.data,
      settings: {
        nats: { servers: [three.nats.url] },
        clusterId: 'main',
        name: c.name,
        natsMonitors: [three.nats.monitor],
        maxLagMs: 15_000,
      },
      version: 'test',
      journalFileBytes: limits.journalFileBytes,
      logLevel: 'fatal',
      signal: new AbortController().signal,
    })
    t.equal(await Promise.race([thread.beginAnew, thread.failure]), 'suspect')
    await thread.stop()
    await c.start()
    t.match(c.service.output().stderr, /set the journal and the store of this machine aside/)
    const sequence = await change(c, number++)
    const [expected, found] = await Promise.all([a, c].map((one) => listed(one, sequence)))
    t.same(found, expected)
  })
  t.same(await three.check(three.clients()), [])
})

function flipInRecord({ data }: Pick<Machine, 'data'>, sequence: number): void {
  const directory = journalDirectory(data)
  const [record] = new JournalReader(directory).records(sequence - 1)
  for (const path of filesOf({ data }, /^journal\/.*\.journal$/)) {
    const bytes = readFileSync(path)
    const at = bytes.indexOf(record.bytes)
    if (at < 0) continue
    bytes[at + record.length - 1] ^= 1
    writeFileSync(path, bytes)
    return
  }
  throw new Error(`no file of ${directory} has the batch ${sequence}`)
}
