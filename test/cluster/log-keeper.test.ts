/**
 * Machines with real journals over a log in memory: whatever they missed, and whatever becomes of the log, they have the
 * same in the end, or say why not, and nothing that is whole is given up.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import type { Link } from '../../src/chain/link.js'
import { type Entry, encodeEntry, type Member } from '../../src/cluster/entries.js'
import { type KnownFacts, NO_FACTS } from '../../src/cluster/facts.js'
import { ClusterJournal } from '../../src/cluster/journal.js'
import { Beats } from '../../src/cluster/log/beats.js'
import { partsOfSent, type Sent } from '../../src/cluster/log/messages.js'
import { copiedFrom, LogKeeper } from '../../src/cluster/log-keeper.js'
import { NodeAnswering } from '../../src/cluster/node-answering.js'
import type { AskNode, CopiedGroups } from '../../src/cluster/questions.js'
import { type NodeReport, NodeReports } from '../../src/cluster/reports.js'
import { seedLog } from '../../src/cluster/seed-log.js'
import { prepareBatch, prepareEntry, type SentBatch, sentBatch } from '../../src/journal/batch.js'
import { journalFileNumbers, journalPath, positionPath } from '../../src/journal/files.js'
import type { BatchOutcome } from '../../src/journal/outcomes.js'
import { setJournalLog } from '../../src/journal/seed.js'
import { verifyJournal } from '../../src/journal/verify.js'
import { limits } from '../../src/limits.js'
import { monotonicMs } from '../../src/monotonic.js'
import { temporaryDirectory } from '../support/service/hickory.js'
import { until } from '../support/service/until.js'
import { byTier } from '../support/tier.js'
import { MemoryLog, MemoryServers } from './log/memory-log.js'

const seed = Number(process.env.HICKORY_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))
t.comment(`seed ${seed}`)

// What the tests would wait for, and so little that files are full and the head is moved.
const small = {
  natsRetryMs: 5,
  clusterHeardMs: 20,
  clusterTickMs: 5,
  logAppendMs: 50,
  logAgainMs: 5,
  logWaitMs: 1_000,
  logLookMs: 20,
  journalRetryMs: 5,
  logMessageSpan: 6,
  journalFileBytes: 600,
  journalUnindexedCount: 4,
  groupsSentBytes: 300,
}
const before = Object.fromEntries(
  Object.keys(small).map((name) => [name, limits[name as keyof typeof small]]),
)
Object.assign(limits, small)
t.teardown(() => Object.assign(limits, before))

const batch = (id: string, content = id): SentBatch =>
  sentBatch(
    prepareBatch({ sourceId: 1, batchId: id, changes: [{ op: 'delete', identity: content }] }),
  )
const entry = (id: string, entry: Entry): SentBatch =>
  sentBatch(prepareEntry(id, encodeEntry(entry)))

type KeeperFault = NonNullable<LogKeeper['fault']>

class Machine {
  readonly name: string
  readonly directory: string
  readonly log: MemoryLog
  readonly faults: (KeeperFault | undefined)[] = []
  /** Why its journal could not be written. */
  readonly failures: (string | undefined)[] = []
  readonly #world: World
  #facts: KnownFacts = NO_FACTS
  journal!: ClusterJournal
  keeper!: LogKeeper
  beats!: Beats
  isRunning = false
  isGone = false
  /** It cannot go on, and why. */
  over: Error | undefined

  constructor(world: World, name: string, directory: string) {
    this.#world = world
    this.name = name
    this.directory = directory
    this.log = new MemoryLog(world.servers)
  }

  start(): void {
    this.over = undefined
    this.journal = new ClusterJournal({
      directory: this.directory,
      known: this.#facts,
      onFailure: (reason) => this.failures.push(reason),
      onWritten() {},
      onOver: (fault) => {
        this.over = fault
      },
    })
    this.beats = new Beats({
      name: this.name,
      nowMs: monotonicMs,
      members: () => this.journal.facts.levelMembers,
      isMember: () => true,
    })
    this.keeper = new LogKeeper({
      log: this.log,
      journal: this.journal,
      beats: this.beats,
      name: this.name,
      copied: (after, generation) => this.#world.copied(this, after, generation),
      onFault: (fault) => this.faults.push(fault),
      onGone: () => {
        this.isGone = true
      },
    })
    this.isRunning = true
  }

  async stop(): Promise<void> {
    if (!this.isRunning) return
    this.isRunning = false
    this.keeper.stop()
    this.#facts = this.journal.facts.known()
    await this.journal.close()
  }

  /** @param position  what the power has left of it; undefined where it is lost */
  async losePower(position: Buffer | undefined): Promise<void> {
    await this.stop()
    if (position === undefined) rmSync(positionPath(this.directory))
    else writeFileSync(positionPath(this.directory), position)
  }

  get position(): Buffer {
    return readFileSync(positionPath(this.directory))
  }

  /** All bytes of records. */
  get bytes(): Buffer {
    const numbers = journalFileNumbers(this.directory)
    return Buffer.concat(numbers.map((number) => readFileSync(journalPath(this.directory, number))))
  }

  async append(...batches: readonly SentBatch[]): Promise<readonly BatchOutcome[]> {
    for (;;) {
      const outcomes = await this.keeper.append(batches)
      if (outcomes !== undefined) return outcomes
      if (!this.isRunning) throw new Error(`${this.name} is not there`)
      await sleep(5)
    }
  }

  async untilFault(kind: KeeperFault['kind']): Promise<void> {
    await until(() => this.keeper.fault?.kind === kind)
  }

  get report(): NodeReport {
    const { last, kept, generation, logPlace: place } = this.journal
    const { name } = this
    // Before it has waited for long enough to say so.
    const copying = place === undefined ? { text: 'it copies', kind: 'copying' } : undefined
    const { text: fault, kind: faultKind } = this.keeper.fault ?? copying ?? {}
    return { name, log: { generation, place }, last, kept, fault, faultKind } as NodeReport
  }

  /** As an operator asks it for. */
  async seedLog(...without: string[]) {
    const { running, servers } = this.#world
    const areStuck = () => running.every(({ report }) => report.fault !== undefined)
    for (let at = 0; at < 20 && !areStuck(); at++) await sleep(10)
    return await seedLog(
      {
        me: memberOf(this.name),
        journal: this.journal,
        replaceLog: async (founding, replaced) => servers.replace(founding, replaced),
        own: { now: () => this.report },
        reports: this.#world.reportsBeside(this),
      },
      { without, generation: this.journal.generation },
    )
  }
}

class World {
  readonly servers = new MemoryServers()
  readonly machines: Machine[] = []
  /** Bits of copied groups that are flipped on their way, by place, once each. */
  flips: number[] = []

  /** Machines that all are members. */
  static async of(t: Test, ...names: string[]): Promise<World> {
    const world = new World()
    const { generation } = world.servers
    for (const name of names) {
      const directory = join(temporaryDirectory(t), 'journal')
      await setJournalLog(directory, { generation, place: 0 })
      world.machines.push(new Machine(world, name, directory))
    }
    for (const machine of world.machines) machine.start()
    t.teardown(() => world.stop())
    for (const name of names) {
      await world.machines[0].append(entry(`joined ${name}`, { kind: 'joined', ...memberOf(name) }))
    }
    await world.untilSame(...world.machines)
    return world
  }

  get running(): Machine[] {
    return this.machines.filter(({ isRunning }) => isRunning)
  }

  async stop(): Promise<void> {
    await Promise.all(this.machines.map((machine) => machine.stop()))
  }

  reportsBeside(me: Machine): NodeReports {
    const reports = new NodeReports(monotonicMs)
    for (const machine of this.running) if (machine !== me) reports.note(machine.report)
    return reports
  }

  /** As nodes ask each other. */
  async copied(me: Machine, after: Link, generation: string): Promise<CopiedGroups | undefined> {
    const ask = async (name: string, question: Parameters<AskNode>[1]) => {
      const asked = this.running.find((machine) => machine.name === name)
      const found = (await new NodeAnswering({ journal: asked?.journal } as never).answer(
        question,
      )) as CopiedGroups
      const flip = found.groups && this.flips.pop()
      if (flip !== undefined && found.groups !== undefined) {
        found.groups[flip % found.groups.length] ^= 1
      }
      return found
    }
    return await copiedFrom(this.reportsBeside(me), ask as never)(after, generation)
  }

  /** The log keeps so many messages. */
  trim(keptCount: number): void {
    const { servers } = this
    const count = Math.max(0, servers.messages.length - keptCount)
    servers.messages = servers.messages.slice(count)
    servers.first += count
    servers.changed()
  }

  /** Puts a message into the log, as another machine does. */
  add(sent: Sent): void {
    const ids = { generation: this.servers.generation, session: '1'.repeat(16) }
    for (const part of partsOfSent(sent, ids, 1_000)) this.servers.add(part)
  }

  /** Whether all have the same, and nothing is wrong with any. */
  isSame(machines: readonly Machine[]): boolean {
    const { first, messages, generation } = this.servers
    const [one] = machines
    return machines.every(({ keeper, journal }) => {
      const isAtEnd = journal.logPlace === first + messages.length - 1
      const isLog = isAtEnd && journal.generation === generation && keeper.fault === undefined
      return isLog && journal.last.hash === one.journal.last.hash
    })
  }

  async untilSame(...machines: readonly Machine[]): Promise<void> {
    await until(() => this.isSame(machines), 20_000)
  }
}

const memberOf = (name: string): Member => ({ name, incarnation: `of ${name}`, maxLagMs: 60_000 })

const range = (count: number) => Array.from({ length: count }, (_, at) => at)

t.test('a machine that was away longer than the log keeps copies from another one', async (t) => {
  const world = await World.of(t, 'a', 'b', 'c')
  const [a, b, c] = world.machines
  await Promise.all([b.stop(), c.stop()])
  for (const at of range(20)) await a.append(batch(`away ${at}`), batch(`too ${at}`))
  world.trim(8)
  await a.stop()
  world.flips = [0, 20, 60, 100, 112, 118, 200]
  // Those that lack the same do not take each other for one that has it, also when they are started again.
  for (const start of [1, 2]) {
    for (const machine of [b, c]) machine.start()
    for (const machine of [b, c]) await machine.untilFault('copying')
    await sleep(50)
    const told = b.faults.filter((fault) => fault !== undefined)
    t.equal(told.length, start, 'it is told once')
    t.equal(b.journal.logPlace, undefined)
    t.same(await b.keeper.append([batch('now')]), undefined, 'it cannot say what becomes of it')
    if (start === 1) await Promise.all([b.stop(), c.stop()])
  }
  a.start()
  t.match(await b.append(batch('too 19'), batch('now')), [
    { kind: 'repeated', sequence: 43 },
    { kind: 'written', sequence: 44 },
  ])
  await world.untilSame(a, b, c)
  for (const { bytes } of [b, c]) t.same(bytes, a.bytes)
  t.same(world.flips, [])
})

t.test('a machine that is as far behind gives no place in the log', async (t) => {
  const world = await World.of(t, 'a', 'b', 'c')
  const [a, b, c] = world.machines
  await b.stop()
  // As on a disk that takes nothing.
  c.journal.append = () => new Promise(() => {})
  for (const at of range(20)) await a.append(batch(`away ${at}`))
  world.trim(8)
  await a.stop()
  b.start()
  await b.untilFault('copying')
  t.equal(b.journal.logPlace, undefined)
  t.equal(c.report.fault, undefined)
})

t.test('a log that loses what is only read once more is gone on with', async (t) => {
  const world = await World.of(t, 'a')
  const [a] = world.machines
  await a.append(batch('1'))
  await a.stop()
  world.trim(0)
  const follow = a.log.follow.bind(a.log)
  a.log.follow = (start, reader) => {
    a.log.follow = follow
    setImmediate(() => reader.onFault({ kind: 'gone', place: 1, first: start.after + 1 }))
    return () => {}
  }
  a.start()
  t.match(await a.append(batch('2')), [{ sequence: 3 }])
  t.same(a.faults, [])
})

t.test('a machine that lacks what none keeps must begin anew', async (t) => {
  const world = await World.of(t, 'a', 'b')
  const [a, b] = world.machines
  await b.stop()
  for (const at of range(20)) await a.append(batch(`away ${at}`))
  world.trim(8)
  await a.journal.removeUpTo(15)
  const { bytes } = b
  b.start()
  await until(() => b.isGone)
  t.same(b.bytes, bytes)
})

for (const [what, hasPosition, hasLog] of [
  ['with older positions', true, true],
  ['with all positions', false, true],
  ['with all positions and the log', false, false],
] as const) {
  t.test(`after the loss of power of all, ${what}, nothing is lost`, async (t) => {
    const world = await World.of(t, 'a', 'b', 'c')
    const { machines, servers } = world
    const [a, b] = machines
    const positions = machines.map((machine) => machine.position)
    for (const at of range(10)) await a.append(batch(`id ${at}`), batch(`too ${at}`))
    await world.untilSame(...machines)
    const { last } = a.journal
    const { bytes } = a
    for (const [at, machine] of machines.entries()) {
      await machine.losePower(hasPosition ? positions[at] : undefined)
    }
    if (!hasLog) servers.remove()
    for (const machine of machines) machine.start()
    for (const { journal } of machines) {
      t.ok(journal.last.sequence < last.sequence)
      t.same(journal.kept, last)
    }
    if (!hasLog) {
      await a.untilFault('missing')
      t.match(a.keeper.fault?.text, /there is no log.*hickory cluster seed-log/)
      t.match(await b.seedLog(), { isDone: true })
      t.same([servers.base, servers.founder], [last, 'b'])
    }
    t.match(await b.append(batch('id 9'), batch('new')), [
      { kind: 'repeated', sequence: last.sequence - 1 },
      { kind: 'written', sequence: last.sequence + 1 },
    ])
    await world.untilSame(...machines)
    t.same(a.bytes.subarray(0, bytes.length), bytes)
    for (const machine of machines) {
      t.same(machine.bytes, a.bytes)
      t.same(machine.journal.facts.members, ['a', 'b', 'c'].map(memberOf))
    }
  })
}

t.test('machines go on with a log that was made anew without those that have more', async (t) => {
  const world = await World.of(t, 'a', 'b', 'c', 'd')
  const [a, b, c, d] = world.machines
  await c.stop()
  await a.append(batch('1'))
  await a.append(batch('2'), batch('3'))
  await world.untilSame(a, b, d)
  await Promise.all([a.stop(), b.stop()])
  await d.append(batch('of d alone'))
  await d.stop()
  world.servers.remove()
  a.start()
  b.start()
  await a.untilFault('missing')
  t.match(await a.seedLog(), {
    isDone: false,
    reason: /^c, d may have more .* --without c --without d$/,
  })
  t.match(await a.seedLog('c'), { isDone: false, reason: /^d may have more .* --without d$/ })
  t.notOk(world.servers.isFounded)
  t.match(await a.seedLog('c', 'd'), { isDone: true })
  t.match(await b.append(batch('3'), batch('4')), [
    { kind: 'repeated', sequence: 7 },
    { kind: 'written', sequence: 8 },
  ])
  // One that has less copies it.
  c.start()
  await world.untilSame(a, b, c)
  t.same(c.bytes, a.bytes)
  // One that has more keeps it, and says so.
  const { bytes } = d
  for (const start of [1, 2]) {
    d.start()
    await d.untilFault('ahead')
    t.match(d.keeper.fault?.text, /has 1 batches that the log does not have/)
    await sleep(50)
    t.equal(d.faults.filter((fault) => fault?.kind === 'ahead').length, start, 'it is told once')
    t.equal(await d.keeper.append([batch('5')]), undefined)
    t.same(d.bytes, bytes)
    await d.stop()
  }
})

t.test('a log that was made anew behind another batch is not followed', async (t) => {
  const world = await World.of(t, 'a')
  const [a] = world.machines
  const { last, generation } = a.journal
  const other = { ...last, hash: 'f'.repeat(64) }
  world.servers.replace({ generation: 'f'.repeat(16), founder: 'b', base: other }, generation)
  await a.untilFault('other')
  await a.stop()
  const { bytes } = a
  a.start()
  await a.untilFault('other')
  t.same(a.bytes, bytes)
  world.servers.replace({ generation: 'e'.repeat(16), founder: 'a', base: last }, 'f'.repeat(16))
  t.same(await a.append(batch('2')), [{ kind: 'written', sequence: 2 }])
})

t.test('what is to be copied and is another batch here says so', async (t) => {
  const world = await World.of(t, 'a', 'b')
  const [a, b] = world.machines
  await b.stop()
  await a.append(batch('1'))
  const { messages, generation } = world.servers
  await a.stop()
  // Other batches by another log.
  Object.assign(world.servers, { messages: [], generation: 'f'.repeat(16) })
  await setJournalLog(b.directory, { generation: 'f'.repeat(16), place: 0 })
  b.start()
  await b.append(batch('other'))
  await b.stop()
  Object.assign(world.servers, { messages, generation })
  await setJournalLog(b.directory, { generation })
  const { bytes } = b
  for (const machine of [a, b]) machine.start()
  await b.untilFault('diverged')
  t.same(b.bytes, bytes)
})

t.test('machines that hear of other batches than theirs go on with a log made anew', async (t) => {
  const world = await World.of(t, 'a', 'b')
  const [a, b] = world.machines
  world.add({ kind: 'beat', name: 'x', number: 1, sequence: 1, hash: 'f'.repeat(64) })
  for (const machine of [a, b]) await machine.untilFault('diverged')
  const place = a.journal.logPlace
  t.equal(await a.keeper.append([batch('2')]), undefined)
  t.equal(a.journal.logPlace, place, 'nothing is taken')
  t.match(await b.seedLog(), { isDone: true })
  t.same(await a.append(batch('3')), [{ kind: 'written', sequence: 3 }])
  await world.untilSame(a, b)
})

t.test('a log that lost its end while all were off is not gone on with', async (t) => {
  const world = await World.of(t, 'a', 'b')
  const [a, b] = world.machines
  for (const at of range(20)) await a.append(batch(`${at}`))
  await world.untilSame(a, b)
  const { messages } = world.servers
  const restarted = async (kind: KeeperFault['kind']) => {
    for (const machine of [a, b]) machine.start()
    for (const machine of [a, b]) await machine.untilFault(kind)
  }
  await world.stop()
  world.servers.messages = messages.slice(0, -3)
  await restarted('lost')
  t.equal(await a.keeper.append([batch('later')]), undefined)
  await world.stop()
  // It grows again by what others say.
  for (const { bytes } of messages.slice(0, 5)) world.servers.add(bytes)
  await restarted('changed')
  t.equal(a.journal.last.sequence, 22)
  t.match(await a.seedLog(), { isDone: true })
  t.same(await b.append(batch('last')), [{ kind: 'written', sequence: 23 }])
  await world.untilSame(a, b)
})

t.test('beats that were passed over count for those who may be level by them', async (t) => {
  const world = await World.of(t, 'a', 'b', 'c')
  const [a, b, c] = world.machines
  const maxLagMs = 1_000
  await b.append(entry('b', { kind: 'joined', ...memberOf('b'), maxLagMs }))
  await world.untilSame(a, b, c)
  await a.stop()
  for (const at of range(12)) await b.append(batch(`${at}`))
  world.trim(4)
  let isOpen = false
  const copied = world.copied.bind(world)
  world.copied = async (...asked) => (isOpen ? await copied(...asked) : undefined)
  a.start()
  // For longer than a beat before its start would count.
  await sleep(1.2 * maxLagMs)
  b.beats.answersBy(b.journal.last.sequence)
  await b.keeper.beat()
  await until(() => b.beats.levelUntilMs > monotonicMs())
  isOpen = true
  await world.untilSame(a, c)
  b.keeper.stop()
  const [{ sequence }] = await a.append(batch('opt-out'))
  a.beats.answersBy(sequence)
  const everywhere = a.beats.until(sequence, 50)
  await sleep(60)
  a.beats.look()
  const isLevelWithout = b.beats.levelUntilMs > monotonicMs()
  t.ok(isLevelWithout, 'otherwise this shows nothing')
  t.ok((await everywhere).waitingFor.includes('b'))
})

t.test('a machine with other batches hears of it from those that stand still', async (t) => {
  const world = await World.of(t, 'a', 'b', 'c')
  const [a, b, c] = world.machines
  const append = c.journal.append.bind(c.journal)
  let isPassedOver = true
  c.journal.append = async (group) => {
    if (!isPassedOver) return await append(group)
    isPassedOver = false
    return []
  }
  await a.append(batch('1'))
  await a.append(batch('2'))
  await until(() => c.journal.last.sequence === 4)
  await c.keeper.beat()
  for (const machine of [a, b]) await machine.untilFault('diverged')
  await a.keeper.beat()
  await c.untilFault('diverged')
})

t.test('who copies asks others where one has other batches, or has a fault', async (t) => {
  const reports = new NodeReports(monotonicMs)
  const generation = '1'.repeat(16)
  const last = { sequence: 9, hash: '' }
  const log = { generation, place: 9 }
  for (const name of ['a', 'b', 'c']) {
    const fault = name === 'a' ? 'it is behind' : undefined
    reports.note({ name, log, last, fault } as NodeReport)
  }
  const asked: string[] = []
  const groups = new Uint8Array(3)
  const ask = async (name: string) => {
    asked.push(name)
    return name === 'b' ? { isOther: true } : { groups }
  }
  t.same(await copiedFrom(reports, ask as never)({ sequence: 3, hash: '' }, generation), { groups })
  t.same(asked, ['b', 'c'])
})

t.test('a log is made anew where all have lost it, by the machine that has the most', async (t) => {
  const world = await World.of(t, 'a', 'b')
  const [a, b] = world.machines
  for (const at of range(5)) await a.append(batch(`id ${at}`))
  await world.untilSame(a, b)
  const { journal } = a
  const { kept, generation } = journal
  const missing = { fault: 'there is no log', faultKind: 'missing' }
  const hole = { fault: 'it lacks message 7', faultKind: 'hole' }
  const hash = 'f'.repeat(64)
  const more = { sequence: kept.sequence + 1, hash }
  const replaced: string[] = []
  for (const [own, other, refused, ...without] of [
    [{}, missing, /a goes on with it/],
    [{}, missing, /a goes on with it/, 'b'],
    [missing, {}, /b goes on with it/],
    [missing, {}, undefined, 'b'],
    [hole, hole, /lacks messages.*remove its store/],
    [missing, hole, undefined],
    [missing, { ...missing, kept: more }, /^b has batches up to 8, and this one up to 7$/],
    [missing, { ...missing, kept: more }, undefined, 'b'],
    [
      missing,
      { ...missing, kept: { ...kept, hash } },
      /^a and b have different batches 7, .*: say --without/,
    ],
    [
      missing,
      { ...missing, kept: { sequence: 5, hash } },
      /^a and b have different batches 5, .*: say --without/,
    ],
  ] as const) {
    const reports = new NodeReports(monotonicMs)
    reports.note({ ...b.report, ...other } as NodeReport)
    const replaceLog = async (_: unknown, generation: string) => replaced.push(generation)
    const options = { me: memberOf('a'), journal, replaceLog, reports }
    const now = () => ({ ...a.report, ...own })
    const asked = (generation: string) =>
      seedLog({ ...options, own: { now } }, { without, generation })
    t.match(await asked('f'.repeat(16)), { isDone: false, reason: /made anew meanwhile/ })
    t.match(
      await asked(generation),
      refused === undefined ? { isDone: true, base: kept } : { isDone: false, reason: refused },
    )
  }
  t.same(replaced, [generation, generation, generation])

  // What is on disk counts, although the log has not said it again since the power failed.
  await a.losePower(undefined)
  a.start()
  const reports = new NodeReports(monotonicMs)
  reports.note({ ...b.report, ...missing, kept: { ...kept, hash } } as NodeReport)
  const own = { now: () => ({ ...a.report, ...missing }) }
  const replaceLog = async () => Number(t.fail('it is not made'))
  const options = { me: memberOf('a'), journal: a.journal, replaceLog, reports, own }
  t.match(await seedLog(options, { without: [], generation }), { reason: /different batches 7/ })

  // Two operators at the same time.
  world.servers.remove()
  for (const machine of [a, b]) await machine.untilFault('missing')
  const results = await Promise.allSettled([a.seedLog(), b.seedLog()])
  const doneCount = results.filter((one) => one.status === 'fulfilled' && one.value.isDone).length
  t.equal(doneCount, 1, 'the other one is told')
  t.match(await b.append(batch('2')), [{ kind: 'written', sequence: 8 }])
  await world.untilSame(a, b)
})

t.test('a journal whose directory is gone knows no hashes', async (t) => {
  const world = await World.of(t, 'a')
  const [a] = world.machines
  for (const at of range(3)) await a.append(batch(`id ${at}`))
  await a.stop()
  a.start()
  const { sequence } = a.journal.last
  t.type(a.journal.hashAt(sequence - 1), 'string')
  rmSync(a.directory, { recursive: true })
  for (const at of range(sequence - 1)) t.equal(a.journal.hashAt(at + 1), undefined)
})

t.test('a machine whose disk takes nothing goes on where it was', async (t) => {
  const world = await World.of(t, 'a', 'b')
  const [a, b] = world.machines
  const directory = `${a.directory}.away`
  renameSync(a.directory, directory)
  writeFileSync(a.directory, 'no directory')
  for (const at of range(5)) await b.append(batch(`id ${at}`), batch(`too ${at}`))
  await until(() => a.failures.length > 0)
  const waits = a.append(batch('2'))
  // The log was made anew meanwhile: what was read from the one before comes first.
  const founding = { generation: 'f'.repeat(16), founder: 'b', base: b.journal.last }
  world.servers.replace(founding, world.servers.generation)
  await b.append(batch('3'))
  t.equal(a.journal.last.sequence, 2)
  rmSync(a.directory)
  renameSync(directory, a.directory)
  t.match(await waits, [{ kind: 'written' }])
  await world.untilSame(a, b)
  t.same(a.bytes, b.bytes)
  t.equal(a.failures.indexOf(undefined), a.failures.length - 1, 'its end is told once')
  t.equal(a.journal.failure, undefined)
})

t.test('what no journal can hold is passed over by all, and nothing else', async (t) => {
  const world = await World.of(t, 'a', 'b')
  const [a, b] = world.machines
  const bad: Partial<SentBatch>[] = [
    { batchId: '' },
    { batchId: 'x'.repeat(limits.journalBatchIdBytes + 1) },
    { sourceId: -1 },
    { sourceId: 2 ** 40 },
    { changeCount: -1 },
  ]
  for (const [at, one] of bad.entries()) {
    world.add({ kind: 'group', number: at, batches: [batch('good'), { ...batch('x'), ...one }] })
  }
  t.same(await a.append(batch('1')), [{ kind: 'written', sequence: 3 }])
  await world.untilSame(a, b)
  t.same([a.journal.failure, a.over, b.over], [undefined, undefined, undefined])
  // A machine that passed over this would have other batches than all others.
  const unreadable: SentBatch = {
    ...batch('unreadable'),
    get content(): Uint8Array {
      throw new RangeError('Array buffer allocation failed')
    },
  }
  const { place } = a.journal
  const appended = a.journal.append({ place: place + 1, timeMs: 1, batches: [unreadable] })
  await t.rejects(appended, { message: 'Array buffer allocation failed' })
  t.equal(a.journal.place, place, 'it is read again by the next process')
})

t.test('a log that says something else than it said stops a machine for good', async (t) => {
  const world = await World.of(t, 'a')
  const [a] = world.machines
  await a.append(batch('1'))
  const { position } = a
  for (const id of ['2', '3']) await a.append(batch(id))
  await a.losePower(position)
  const bytes = a.bytes
  const { messages } = world.servers
  ;[messages[2], messages[3]] = [
    { ...messages[3], place: 3 },
    { ...messages[2], place: 4 },
  ]
  a.start()
  await until(() => a.over !== undefined)
  t.match(a.over?.message, /^batch 3 was another one/)
  await sleep(30)
  t.same(a.bytes, bytes)
  t.equal(a.journal.last.sequence, 2)
  t.equal(a.journal.kept.sequence, 4)
})

type Act =
  | {
      readonly kind: 'append'
      readonly at: number
      readonly ids: readonly number[]
      /** Its first acknowledgement is lost. */
      readonly isUnheard: boolean
    }
  | { readonly kind: 'stop' | 'start' | 'power' | 'seed'; readonly at: number }
  | { readonly kind: 'remember' | 'remove' }
  | { readonly kind: 'trim'; readonly kept: number }

const NAMES = ['a', 'b', 'c']
const at = fc.nat(NAMES.length - 1)
const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('append' as const),
      at,
      ids: fc.array(fc.nat(30), { minLength: 1, maxLength: 3 }),
      isUnheard: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constantFrom('stop', 'start', 'start', 'power', 'seed'), at }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('remember', 'remove') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('trim' as const), kept: fc.nat(12) }) },
) as fc.Arbitrary<Act>

async function run(t: Test, acts: readonly Act[], flips: readonly number[]): Promise<void> {
  const world = await World.of(t, ...NAMES)
  const { machines, servers } = world
  world.flips = [...flips]
  const acknowledged = new Map<string, number>()
  const remembered = () =>
    machines.map(({ position, journal }) => ({ position, generation: journal.generation }))
  let positions = remembered()
  const appended = async (machine: Machine, ids: readonly number[]) => {
    const texts = ids.map((id) => `id ${id}`)
    const outcomes = await machine.keeper.append(texts.map((id) => batch(id)))
    for (const [index, { kind, sequence }] of (outcomes ?? []).entries()) {
      const known = acknowledged.get(texts[index]) ?? sequence
      if (kind === 'conflicting' || known !== sequence) throw new Error(`${texts[index]} is twice`)
      acknowledged.set(texts[index], sequence)
    }
  }
  const pending: Promise<void>[] = []
  for (const one of acts) {
    if (one.kind === 'trim') world.trim(one.kept)
    else if (one.kind === 'remove') servers.remove()
    else if (one.kind === 'remember') positions = remembered()
    else if ('at' in one) {
      const machine = machines[one.at]
      if (one.kind === 'start' && !machine.isRunning) machine.start()
      if (one.kind === 'stop') await machine.stop()
      if (one.kind === 'power') {
        const { position, generation } = positions[one.at]
        // That of another log is on disk.
        const isOfLog = generation === machine.journal.generation
        await machine.losePower(isOfLog ? position : machine.position)
      }
      if (!machine.isRunning) continue
      if (one.kind === 'append') {
        const fates = one.isUnheard ? (['takenUnheard'] as const).values() : undefined
        machine.log.fate = () => fates?.next().value ?? 'taken'
        pending.push(appended(machine, one.ids))
      }
      if (one.kind === 'seed' && !servers.isFounded) await machine.seedLog()
    }
    if (one.kind !== 'append') await sleep(10)
  }
  await sleep(20)
  for (const machine of machines) if (!machine.isRunning) machine.start()
  // An operator looks after a while, where there is no log, or it has lost what no machine has read.
  const isStuck = () =>
    !servers.isFounded || machines.every(({ journal }) => journal.logPlace === undefined)
  for (let at = 0; at < 100 && !world.isSame(machines); at++) {
    if (at > 5 && isStuck()) {
      const results = []
      for (const machine of machines) {
        results.push(await machine.seedLog())
        if (results.at(-1)?.isDone) break
      }
      if (!results.some(({ isDone }) => isDone)) throw new Error(JSON.stringify(results))
      await sleep(100)
    }
    await sleep(50)
  }
  if (!world.isSame(machines)) {
    const states = machines.map(({ name, report, keeper, over }) => [
      name,
      report,
      keeper.fault,
      over?.message,
    ])
    throw new Error(JSON.stringify(states))
  }
  const [facts, ...others] = machines.map(({ journal }) => JSON.stringify(journal.facts.known()))
  if (others.some((one) => one !== facts)) throw new Error(`${others} are not ${facts}`)
  await world.stop()
  await Promise.all(pending)
  for (const { directory } of machines) await verifyJournal(directory)
  const [{ bytes }] = machines
  for (const machine of machines) if (!machine.bytes.equals(bytes)) throw new Error('other bytes')
  // One in memory is found by its id.
  machines[0].start()
  for (const [id, sequence] of acknowledged) {
    const [outcome] = await machines[0].append(batch(id))
    if (outcome.kind !== 'repeated' || outcome.sequence !== sequence) {
      throw new Error(`${id} was ${sequence}, and is ${JSON.stringify(outcome)}`)
    }
  }
  await world.stop()
}

t.test('whatever happens to machines and log, all have what was acknowledged', async (t) => {
  const property = fc.asyncProperty(
    fc.array(act, { minLength: 5, maxLength: 30 }),
    fc.array(fc.nat(300), { maxLength: 4 }),
    async (acts, flips) => await run(t, acts, flips),
  )
  const result = await fc.check(property, {
    seed,
    numRuns: byTier({ ci: 12, soak: 400 }),
    endOnFailure: true,
  })
  t.notOk(result.failed, JSON.stringify([result.counterexample, String(result.errorInstance)]))
})
