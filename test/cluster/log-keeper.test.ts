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
import { partsOfSent } from '../../src/cluster/log/messages.js'
import { copiedFrom, LogKeeper } from '../../src/cluster/log-keeper.js'
import { NodeAnswering } from '../../src/cluster/node-answering.js'
import type { NodeReport } from '../../src/cluster/node-report.js'
import { NodeReports } from '../../src/cluster/node-reports.js'
import type { CopiedGroups } from '../../src/cluster/questions.js'
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
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
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
    const { running } = this.#world
    const areStuck = () => running.every(({ report }) => report.fault !== undefined)
    for (let at = 0; at < 20 && !areStuck(); at++) await sleep(10)
    const reports = new NodeReports(monotonicMs)
    for (const machine of running) {
      if (machine !== this) reports.note(machine.report)
    }
    return await seedLog(
      {
        me: memberOf(this.name),
        journal: this.journal,
        replaceLog: async (founding, replaced) => this.#world.servers.replace(founding, replaced),
        own: { now: () => this.report },
        reports,
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
    return world
  }

  get running(): Machine[] {
    return this.machines.filter(({ isRunning }) => isRunning)
  }

  async stop(): Promise<void> {
    await Promise.all(this.machines.map((machine) => machine.stop()))
  }

  /** As nodes ask each other. */
  async copied(me: Machine, after: Link, generation: string): Promise<CopiedGroups | undefined> {
    let isGone = false
    const place = (machine: Machine) => machine.report.log.place ?? 0
    for (const machine of this.running.sort((a, b) => place(b) - place(a))) {
      if (machine === me) continue
      const { log, last } = machine.report
      const isAble = log.generation === generation && log.place !== undefined
      if (!isAble || last.sequence < after.sequence) continue
      const answering = new NodeAnswering({ journal: machine.journal } as never)
      const found = (await answering
        .answer({ kind: 'groups', after, generation })
        .catch(() => undefined)) as CopiedGroups | undefined
      const flip = found?.groups === undefined ? undefined : this.flips.pop()
      if (flip !== undefined && found?.groups !== undefined) found.groups[flip] ^= 1
      if (found !== undefined && !found.isGone) return found
      isGone ||= found?.isGone === true
    }
    return isGone ? { isGone } : undefined
  }

  /** The log keeps so many messages. */
  trim(keptCount: number): void {
    const { servers } = this
    const count = Math.max(0, servers.messages.length - keptCount)
    servers.messages = servers.messages.slice(count)
    servers.first += count
    servers.changed()
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

const untilFault = (machine: Machine, kind: KeeperFault['kind']) =>
  until(() => machine.keeper.fault?.kind === kind)

t.test('all machines have the same records and facts, whatever comes twice', async (t) => {
  const world = await World.of(t, 'a', 'b', 'c')
  const [a, b, c] = world.machines
  a.log.fate = () => 'takenUnheard'
  const [first] = await a.append(batch('1'))
  a.log.fate = () => 'taken'
  t.same(first, { kind: 'written', sequence: 1 })
  for (const { name } of [a, b, c]) {
    await b.append(entry(`joined ${name}`, { kind: 'joined', ...memberOf(name) }))
  }
  const outcomes = await Promise.all([
    a.append(batch('2'), batch('3')),
    b.append(batch('3'), batch('2', 'other')),
    c.append(batch('2'), batch('1')),
  ])
  await world.untilSame(a, b, c)
  t.equal(a.journal.last.sequence, 6)
  const kinds = outcomes.flat().map(({ kind }) => kind)
  t.equal(kinds.filter((kind) => kind === 'written').length, 2)
  t.same(b.bytes, a.bytes)
  t.same(c.bytes, a.bytes)
  for (const { journal } of [a, b, c]) {
    t.same(journal.facts.known(), a.journal.facts.known())
    t.same(journal.facts.members, ['a', 'b', 'c'].map(memberOf))
  }
})

t.test('a machine that was away longer than the log keeps copies from another one', async (t) => {
  const world = await World.of(t, 'a', 'b')
  const [a, b] = world.machines
  await a.append(batch('1'))
  await world.untilSame(a, b)
  await b.stop()
  for (const at of range(20)) await a.append(batch(`away ${at}`), batch(`too ${at}`))
  world.trim(8)
  await a.stop()
  world.flips = [0, 20, 60, 100, 112, 118, 200]
  b.start()
  await untilFault(b, 'copying')
  t.equal(b.journal.logPlace, undefined)
  t.same(await b.keeper.append([batch('now')]), undefined, 'it cannot say what becomes of it')
  // Also when it is started again.
  await b.stop()
  b.start()
  await untilFault(b, 'copying')
  a.start()
  t.match(await b.append(batch('too 19'), batch('now')), [
    { kind: 'repeated', sequence: 41 },
    { kind: 'written', sequence: 42 },
  ])
  await world.untilSame(a, b)
  t.same(b.bytes, a.bytes)
  t.same(world.flips, [])
})

t.test('machines that lack the same do not take each other for those that have it', async (t) => {
  const world = await World.of(t, 'a', 'b', 'c')
  const [a, b, c] = world.machines
  await a.append(batch('1'))
  await world.untilSame(a, b, c)
  await Promise.all([b.stop(), c.stop()])
  for (const at of range(10)) await a.append(batch(`away ${at}`))
  await a.stop()
  world.trim(3)
  b.start()
  c.start()
  for (const machine of [b, c]) await untilFault(machine, 'copying')
  const counts = [b, c].map(({ faults }) => faults.length)
  await new Promise((resolve) => setTimeout(resolve, 100))
  t.same(
    [b, c].map(({ faults }) => faults.length),
    counts,
    'it is told once',
  )
  a.start()
  await world.untilSame(a, b, c)
})

t.test('a machine that lacks what none keeps must begin anew', async (t) => {
  const world = await World.of(t, 'a', 'b')
  const [a, b] = world.machines
  await a.append(batch('1'))
  await world.untilSame(a, b)
  await b.stop()
  for (const at of range(20)) await a.append(batch(`away ${at}`))
  world.trim(8)
  await a.journal.removeUpTo(15)
  const bytes = b.bytes
  b.start()
  await until(() => b.isGone)
  t.same(b.bytes, bytes)
})

t.test('after the loss of power of all, with all positions, nothing is lost', async (t) => {
  for (const position of ['older', 'lost'] as const) {
    const world = await World.of(t, 'a', 'b', 'c')
    const { machines } = world
    const [a] = machines
    await a.append(batch('1'))
    await world.untilSame(...machines)
    const positions = machines.map((machine) => machine.position)
    for (const at of range(10)) await a.append(batch(`id ${at}`), batch(`too ${at}`))
    await world.untilSame(...machines)
    const { last } = a.journal
    const bytes = a.bytes
    for (const [at, machine] of machines.entries()) {
      await machine.losePower(position === 'older' ? positions[at] : undefined)
    }
    for (const machine of machines) machine.start()
    for (const { journal } of machines) {
      t.ok(journal.last.sequence < last.sequence)
      t.same(journal.kept, last)
    }
    await world.untilSame(...machines)
    t.same(a.journal.last, last)
    t.match(await machines[1].append(batch('id 9'), batch('new')), [
      { kind: 'repeated', sequence: last.sequence - 1 },
      { kind: 'written', sequence: last.sequence + 1 },
    ])
    await world.untilSame(...machines)
    for (const machine of machines) {
      t.same(machine.bytes.subarray(0, bytes.length), bytes)
      t.same(machine.bytes, a.bytes)
    }
  }
})

t.test('a log that was lost with all positions is made anew from what is on disk', async (t) => {
  const world = await World.of(t, 'a', 'b')
  const [a, b] = world.machines
  for (const name of 'ab') {
    await a.append(entry(`joined ${name}`, { kind: 'joined', ...memberOf(name) }))
  }
  for (const at of range(9)) await a.append(batch(`id ${at}`))
  await world.untilSame(a, b)
  const { last } = a.journal
  for (const machine of [a, b]) await machine.losePower(undefined)
  world.servers.remove()
  for (const machine of [a, b]) machine.start()
  await untilFault(a, 'missing')
  t.match(a.keeper.fault?.text, /there is no log.*hickory cluster seed-log/)
  t.same(a.journal.kept, last)
  t.match(await b.seedLog(), { isDone: true })
  t.same(world.servers.base, last)
  t.equal(world.servers.founder, 'b')
  t.match(await a.append(batch('id 8'), batch('new')), [
    { kind: 'repeated', sequence: last.sequence },
    { kind: 'written', sequence: last.sequence + 1 },
  ])
  await world.untilSame(a, b)
  t.same(b.bytes, a.bytes)
  t.same(a.journal.facts.members, ['a', 'b'].map(memberOf))
})

t.test(
  'a machine goes on with a log that was made anew from what it has, or from more',
  async (t) => {
    const world = await World.of(t, 'a', 'b', 'c', 'd')
    const [a, b, c, d] = world.machines
    for (const name of 'abcd') {
      await a.append(entry(`joined ${name}`, { kind: 'joined', ...memberOf(name) }))
    }
    await world.untilSame(a, b, c, d)
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
    await untilFault(a, 'missing')
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
    const bytes = d.bytes
    for (let at = 0; at < 2; at++) {
      d.start()
      await untilFault(d, 'ahead')
      t.match(d.keeper.fault?.text, /has 1 batches that the log does not have/)
      await new Promise((resolve) => setTimeout(resolve, 50))
      t.equal(d.faults.filter((fault) => fault?.kind === 'ahead').length, at + 1, 'it is told once')
      t.equal(await d.keeper.append([batch('5')]), undefined)
      t.same(d.bytes, bytes)
      t.equal(d.journal.last.sequence, 8)
      await d.stop()
    }
  },
)

t.test('a log that was made anew behind another batch is not followed', async (t) => {
  const world = await World.of(t, 'a')
  const [a] = world.machines
  await a.append(batch('1'))
  const { last } = a.journal
  const bytes = a.bytes
  const other = { sequence: 1, hash: 'f'.repeat(64) }
  world.servers.replace(
    { generation: 'f'.repeat(16), founder: 'b', base: other },
    a.journal.generation,
  )
  await untilFault(a, 'other')
  await a.stop()
  a.start()
  await untilFault(a, 'other')
  t.same(a.bytes, bytes)
  world.servers.replace({ generation: 'e'.repeat(16), founder: 'a', base: last }, 'f'.repeat(16))
  t.same(await a.append(batch('2')), [{ kind: 'written', sequence: 2 }])
})

t.test('what is to be copied and is another batch here says so', async (t) => {
  const world = await World.of(t, 'a', 'b')
  const [a, b] = world.machines
  await b.stop()
  await a.append(batch('1'))
  await a.append(batch('2'))
  const { messages } = world.servers
  world.servers.messages = []
  world.servers.generation = 'f'.repeat(16)
  await a.stop()
  // Other batches by another log.
  await setJournalLog(b.directory, { generation: 'f'.repeat(16), place: 0 })
  b.start()
  await b.append(batch('other'))
  await b.stop()
  world.servers.generation = '0123456789abcdef'
  world.servers.messages = messages
  await setJournalLog(b.directory, { generation: world.servers.generation })
  const bytes = b.bytes
  a.start()
  b.start()
  await untilFault(b, 'diverged')
  t.same(b.bytes, bytes)
})

t.test('machines that hear of other batches than theirs go on with a log made anew', async (t) => {
  const world = await World.of(t, 'a', 'b')
  const [a, b] = world.machines
  await a.append(batch('1'))
  await world.untilSame(a, b)
  const { generation } = world.servers
  const ids = { generation, session: '1'.repeat(16) }
  const beat = { kind: 'beat', name: 'x', number: 1, sequence: 1, hash: 'f'.repeat(64) } as const
  for (const part of partsOfSent(beat, ids, 1_000)) world.servers.add(part)
  for (const machine of [a, b]) await untilFault(machine, 'diverged')
  const place = a.journal.logPlace
  t.equal(await a.keeper.append([batch('2')]), undefined)
  t.equal(a.journal.logPlace, place, 'nothing is taken')
  t.match(await b.seedLog(), { isDone: true })
  t.same(await a.append(batch('3')), [{ kind: 'written', sequence: 2 }])
  await world.untilSame(a, b)
})

t.test('a log that lost its end while all were off is not gone on with', async (t) => {
  const world = await World.of(t, 'a', 'b')
  const [a, b] = world.machines
  for (const at of range(20)) await a.append(batch(`${at}`))
  await world.untilSame(a, b)
  await Promise.all([a.stop(), b.stop()])
  const { messages } = world.servers
  world.servers.messages = messages.slice(0, -3)
  for (const machine of [a, b]) machine.start()
  for (const machine of [a, b]) await untilFault(machine, 'lost')
  t.equal(await a.keeper.append([batch('later')]), undefined)
  await Promise.all([a.stop(), b.stop()])
  // It grows again by what others say.
  for (const { bytes } of messages.slice(0, 5)) world.servers.add(bytes)
  for (const machine of [a, b]) machine.start()
  for (const machine of [a, b]) await untilFault(machine, 'changed')
  t.equal(a.journal.last.sequence, 20)
  t.match(await a.seedLog(), { isDone: true })
  t.same(await b.append(batch('last')), [{ kind: 'written', sequence: 21 }])
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
  await new Promise((resolve) => setTimeout(resolve, 1.2 * maxLagMs))
  b.beats.answersBy(b.journal.last.sequence)
  await b.keeper.beat()
  await until(() => b.beats.levelUntilMs > monotonicMs())
  isOpen = true
  await world.untilSame(a, c)
  b.keeper.stop()
  const [{ sequence }] = await a.append(batch('opt-out'))
  a.beats.answersBy(sequence)
  const everywhere = a.beats.until(sequence, 50)
  await new Promise((resolve) => setTimeout(resolve, 60))
  a.beats.look()
  const isLevelWithout = b.beats.levelUntilMs > monotonicMs()
  t.ok(isLevelWithout, 'otherwise this shows nothing')
  t.same(await everywhere, { isEverywhere: false, waitingFor: ['b'] })
})

t.test(
  'a machine with other batches hears of it from those that stand still for that',
  async (t) => {
    const world = await World.of(t, 'a', 'b', 'c')
    const [a, b, c] = world.machines
    await a.append(batch('1'))
    await world.untilSame(a, b, c)
    const append = c.journal.append.bind(c.journal)
    let isPassedOver = true
    c.journal.append = async (group) => {
      if (!isPassedOver) return await append(group)
      isPassedOver = false
      return []
    }
    await a.append(batch('2'))
    await a.append(batch('3'))
    await until(() => c.journal.last.sequence === 2)
    await c.keeper.beat()
    for (const machine of [a, b]) await untilFault(machine, 'diverged')
    await a.keeper.beat()
    await untilFault(c, 'diverged')
  },
)

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

t.test('a log is made anew by the machine that has the most', async (t) => {
  const world = await World.of(t, 'a', 'b')
  const [a, b] = world.machines
  for (const name of 'ab') {
    await a.append(entry(`joined ${name}`, { kind: 'joined', ...memberOf(name) }))
  }
  for (const at of range(5)) await a.append(batch(`id ${at}`))
  await world.untilSame(a, b)
  b.keeper.stop()
  await a.append(batch('more'))
  const { generation } = world.servers
  const lost = { fault: 'there is no log' }
  const refusal = async (me: Machine, other: NodeReport, kept = other.kept) => {
    const reports = new NodeReports(monotonicMs)
    reports.note({ ...other, ...lost, kept })
    const replaceLog = async () => Number(t.fail('it is not made'))
    const own = { now: () => ({ ...me.report, ...lost }) }
    const options = { me: memberOf(me.name), journal: me.journal, replaceLog, reports, own }
    return (await seedLog(options, { without: [], generation })).reason
  }
  t.equal(await refusal(b, a.report), 'a has batches up to 8, and this one up to 7')
  t.equal(generation, '0123456789abcdef')
  // Another batch of the same sequence, which the log has not said again since the power failed.
  const { position, report } = a
  const hash = 'f'.repeat(64)
  for (const sequence of [7, 5]) {
    const differ = new RegExp(`^b and a have different batches ${sequence}, .*: say --without`)
    t.match(await refusal(b, report, { sequence, hash }), differ)
  }
  await a.losePower(undefined)
  world.servers.remove()
  a.start()
  const { report: others } = b
  t.match(await refusal(a, others, { sequence: 8, hash }), /^a and b have different batches 8/)
  t.ok(position.length > 0)
  t.match(await a.seedLog('b'), { isDone: true })
})

t.test('a log is made anew where all have lost it, and once', async (t) => {
  const world = await World.of(t, 'a', 'b')
  const [a, b] = world.machines
  await a.append(batch('1'))
  await world.untilSame(a, b)
  const { journal } = a
  const { report } = b
  let { generation } = journal
  const replaced: string[] = []
  const asked = async (
    own: Partial<NodeReport>,
    other: Partial<NodeReport>,
    ...without: string[]
  ) => {
    const reports = new NodeReports(monotonicMs)
    reports.note({ ...report, ...other })
    const replaceLog = async (_: unknown, generation: string) => replaced.push(generation)
    const me = memberOf('a')
    const options = {
      me,
      journal,
      replaceLog,
      reports,
      own: { now: () => ({ ...a.report, ...own }) },
    }
    return await seedLog(options, { without, generation })
  }
  const missing = { fault: 'there is no log', faultKind: 'missing' }
  const hole = { fault: 'it lacks message 7', faultKind: 'hole' }
  t.match(await asked({}, missing), { isDone: false, reason: /a goes on with it/ })
  t.match(await asked(missing, {}), { isDone: false, reason: /b goes on with it/ })
  t.match(await asked(hole, hole), { isDone: false, reason: /lacks messages.*remove its store/ })
  t.match(await asked({}, missing, 'b'), { isDone: false })
  generation = 'f'.repeat(16)
  t.match(await asked(missing, missing), { isDone: false, reason: /made anew meanwhile/ })
  t.same(replaced, [])
  generation = journal.generation
  t.match(await asked(missing, hole), { isDone: true, base: journal.kept })
  t.match(await asked(missing, {}, 'b'), { isDone: true, base: journal.kept })
  t.same(replaced, [journal.generation, journal.generation])

  // Two operators at the same time.
  world.servers.remove()
  for (const machine of [a, b]) await untilFault(machine, 'missing')
  const results = await Promise.allSettled([a.seedLog(), b.seedLog()])
  const doneCount = results.filter((one) => one.status === 'fulfilled' && one.value.isDone).length
  t.equal(doneCount, 1, 'the other one is told')
  t.match(await b.append(batch('2')), [{ kind: 'written', sequence: 2 }])
  await world.untilSame(a, b)
})

t.test('a machine whose disk takes nothing goes on where it was', async (t) => {
  const world = await World.of(t, 'a', 'b')
  const [a, b] = world.machines
  await a.append(batch('1'))
  await world.untilSame(a, b)
  const directory = `${a.directory}.away`
  renameSync(a.directory, directory)
  writeFileSync(a.directory, 'no directory')
  for (const at of range(5)) await b.append(batch(`id ${at}`), batch(`too ${at}`))
  await until(() => a.failures.length > 0)
  const waits = a.append(batch('2'))
  // The log was made anew meanwhile: what was read from the one before comes first.
  const kept = b.journal.last
  world.servers.replace(
    { generation: 'f'.repeat(16), founder: 'b', base: kept },
    world.servers.generation,
  )
  await b.append(batch('3'))
  t.equal(a.journal.last.sequence, 1)
  rmSync(a.directory)
  renameSync(directory, a.directory)
  t.match(await waits, [{ kind: 'written' }])
  await world.untilSame(a, b)
  t.same(a.bytes, b.bytes)
  t.equal(a.failures.indexOf(undefined), a.failures.length - 1, 'its end is told once')
  t.equal(a.journal.failure, undefined)
})

t.test('what no journal can hold is passed over by all', async (t) => {
  const world = await World.of(t, 'a', 'b')
  const [a, b] = world.machines
  const { generation } = world.servers
  const bad: SentBatch[] = [
    { ...batch('x'), batchId: '' },
    { ...batch('x'), batchId: 'x'.repeat(200) },
    { ...batch('x'), sourceId: -1 },
    { ...batch('x'), sourceId: 2 ** 40 },
    { ...batch('x'), changeCount: -1 },
  ]
  for (const [at, one] of bad.entries()) {
    const ids = { generation, session: '1'.repeat(16) }
    const sent = { kind: 'group', number: at, batches: [batch('good'), one] } as const
    for (const part of partsOfSent(sent, ids, 1_000)) world.servers.add(part)
  }
  t.same(await a.append(batch('1')), [{ kind: 'written', sequence: 1 }])
  await world.untilSame(a, b)
  t.same([a.journal.failure, a.over, b.over], [undefined, undefined, undefined])
})

t.test('a log that says something else than it said stops a machine for good', async (t) => {
  const world = await World.of(t, 'a')
  const [a] = world.machines
  await a.append(batch('1'))
  const { position } = a
  for (const id of ['2', '3', '4']) await a.append(batch(id))
  await a.losePower(position)
  const bytes = a.bytes
  const { messages } = world.servers
  ;[messages[1], messages[2]] = [
    { ...messages[2], place: 2 },
    { ...messages[1], place: 3 },
  ]
  a.start()
  await until(() => a.over !== undefined)
  t.match(a.over?.message, /^batch 2 was another one/)
  await new Promise((resolve) => setTimeout(resolve, 30))
  t.same(a.bytes, bytes)
  t.equal(a.journal.last.sequence, 1)
  t.equal(a.journal.kept.sequence, 4)
})

type Act =
  | { readonly kind: 'append'; readonly at: number; readonly ids: readonly number[] }
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
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constantFrom('stop', 'start', 'start', 'power', 'seed'), at }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('remember', 'remove') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('trim' as const), kept: fc.nat(12) }) },
) as fc.Arbitrary<Act>

async function run(t: Test, acts: readonly Act[]): Promise<void> {
  const world = await World.of(t, ...NAMES)
  const { machines, servers } = world
  for (const name of NAMES) {
    await machines[0].append(entry(`joined ${name}`, { kind: 'joined', ...memberOf(name) }))
  }
  await world.untilSame(...machines)
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
      if (one.kind === 'append') pending.push(appended(machine, one.ids))
      if (one.kind === 'seed' && !servers.isFounded) await machine.seedLog()
    }
    if (one.kind !== 'append') await new Promise((resolve) => setTimeout(resolve, 10))
  }
  await new Promise((resolve) => setTimeout(resolve, 20))
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
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
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
    async (acts) => await run(t, acts),
  )
  const result = await fc.check(property, {
    seed,
    numRuns: byTier({ ci: 12, soak: 400 }),
    endOnFailure: true,
  })
  t.notOk(result.failed, JSON.stringify([result.counterexample, String(result.errorInstance)]))
})
