/**
 * Machines that append to one log at the same time, lose acknowledgements and messages, send again, and start again with
 * less than they had: all decide alike, and as a reader of the log from its beginning.
 */
import { hash as digestOf } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import t from 'tap'
import { BEGINNING, type Link } from '../../../src/chain/link.js'
import { Beats } from '../../../src/cluster/log/beats.js'
import {
  type DecidedGroup,
  type DecidedJournal,
  MachineLog,
  type MachineLogFault,
} from '../../../src/cluster/log/machine-log.js'
import { partsOfSent, type Sent } from '../../../src/cluster/log/messages.js'
import type { SentBatch } from '../../../src/journal/batch.js'
import type { BatchOutcome } from '../../../src/journal/outcomes.js'
import { limits } from '../../../src/limits.js'
import { monotonicMs } from '../../../src/monotonic.js'
import { until, untilTold } from '../../support/service/until.js'
import { byTier } from '../../support/tier.js'
import { MemoryLog, MemoryServers } from './memory-log.js'

const seed = Number(process.env.HICKORY_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))
t.comment(`seed ${seed}`)

/** So few that ids are forgotten in each run. */
const KNOWN_COUNT = 5

interface ModelRecord extends Link {
  readonly place: number
  readonly batchId: string
  readonly content: string
}

/** A journal as its pages say it: what a batch becomes follows from the batches before it. */
class ModelJournal implements DecidedJournal {
  records: ModelRecord[] = []
  place = 0
  digest: string | undefined

  get last(): Link {
    return this.records.at(-1) ?? BEGINNING
  }

  async append({ place, timeMs, batches }: DecidedGroup): Promise<readonly BatchOutcome[]> {
    // As a disk, which takes its time.
    await Promise.resolve()
    const outcomes = batches.map((batch) => this.#outcomeOf(batch, place, timeMs))
    this.place = place
    this.digest = undefined
    return outcomes
  }

  pass(place: number, digest: string): void {
    this.place = place
    this.digest = digest
  }

  hashAt(sequence: number): string | undefined {
    return sequence === 0 ? BEGINNING.hash : this.records[sequence - 1]?.hash
  }

  /** After a loss of power: the last groups are gone, and so is what the log said since. */
  remainder(recordCount: number): ModelJournal {
    const place = this.records[recordCount - 1]?.place ?? 0
    const remainder = new ModelJournal()
    remainder.records = this.records.filter((record) => record.place <= place)
    remainder.place = place
    return remainder
  }

  #outcomeOf({ batchId, content }: SentBatch, place: number, timeMs: number): BatchOutcome {
    const text = Buffer.from(content).toString()
    const known = this.records.slice(-KNOWN_COUNT).findLast((record) => record.batchId === batchId)
    if (known !== undefined) {
      return { kind: known.content === text ? 'repeated' : 'conflicting', sequence: known.sequence }
    }
    const { sequence, hash } = this.last
    const next = digestOf('sha256', `${hash} ${timeMs} ${batchId} ${text}`, 'hex')
    this.records.push({ sequence: sequence + 1, hash: next, place, batchId, content: text })
    return { kind: 'written', sequence: sequence + 1 }
  }
}

class TestMachine {
  readonly name: string
  readonly log: MemoryLog
  readonly faults: (MachineLogFault | undefined)[] = []
  readonly #generation: string
  journal!: ModelJournal
  beats!: Beats
  machineLog!: MachineLog

  constructor(
    servers: MemoryServers,
    name: string,
    { messageBytes = 200, generation = servers.generation, journal = new ModelJournal() } = {},
  ) {
    this.name = name
    this.log = new MemoryLog(servers, messageBytes)
    this.#generation = generation
    this.start(journal)
  }

  /** An earlier process may be in the middle of something. */
  start(journal: ModelJournal): void {
    this.machineLog?.stop()
    const { log, name } = this
    this.journal = journal
    this.beats = new Beats({
      name,
      nowMs: monotonicMs,
      members: () => [{ name, maxLagMs: 60_000 }],
      isMember: () => true,
    })
    this.machineLog = new MachineLog({
      log,
      journal,
      beats: this.beats,
      name,
      generation: this.#generation,
      onFault: (fault) => this.faults.push(fault),
    })
  }

  append(...batches: readonly SentBatch[]): Promise<readonly BatchOutcome[] | undefined> {
    return this.machineLog.append(batches)
  }

  async untilFault(): Promise<MachineLogFault | undefined> {
    await until(() => this.machineLog.fault !== undefined)
    return this.machineLog.fault
  }

  get batchIds(): string[] {
    return this.journal.records.map(({ batchId }) => batchId)
  }

  stop(): void {
    void this.machineLog.stop()
  }
}

const batch = (batchId: string, content: string): SentBatch => ({
  sourceId: 1,
  batchId,
  changeCount: 1,
  content: Buffer.from(content),
})

/** A message as another machine sends it, in parts. */
const partsFrom = (
  servers: MemoryServers,
  sent: Sent,
  session = '1',
  generation = servers.generation,
) => partsOfSent(sent, { generation, session: session.repeat(16) }, 200)

const groupOf = (number: number, ...batches: readonly SentBatch[]): Sent => ({
  kind: 'group',
  number,
  batches,
})

/** What a client asks one machine for, at the same time as others. */
interface Asked {
  readonly at: number
  /** Few ids, so that they come again, with the same content or another one. */
  readonly batches: readonly {
    readonly id: number
    readonly content: number
    readonly length: number
  }[]
}

type Round = {
  readonly asked: readonly Asked[]
  /** One for each append, in turn. */
  readonly fates: readonly ('taken' | 'takenUnheard' | 'lost')[]
  /** A machine that starts again behind it, with a part of its journal. */
  readonly restarts: { readonly at: number; readonly kept: number } | undefined
}

const MACHINE_COUNT = 3

const at = fc.nat({ max: MACHINE_COUNT - 1 })
const asked: fc.Arbitrary<Asked> = fc.record({
  at,
  batches: fc.array(
    fc.record({
      id: fc.nat({ max: 12 }),
      content: fc.nat({ max: 1 }),
      length: fc.constantFrom(0, 10, 500),
    }),
    { minLength: 1, maxLength: 3 },
  ),
})
const fate = fc.oneof(
  { weight: 8, arbitrary: fc.constant('taken' as const) },
  { weight: 1, arbitrary: fc.constantFrom('takenUnheard' as const, 'lost' as const) },
)
const round: fc.Arbitrary<Round> = fc.record({
  asked: fc.array(asked, { minLength: 1, maxLength: 6 }),
  fates: fc.array(fate, { minLength: 1, maxLength: 20 }),
  restarts: fc.option(fc.record({ at, kept: fc.double({ min: 0, max: 1, noNaN: true }) }), {
    nil: undefined,
  }),
})

/** @returns how many batches were answered */
async function run(rounds: readonly Round[]): Promise<number> {
  const servers = new MemoryServers()
  const names = ['a', 'b', 'c']
  const machines = names.map((name) => new TestMachine(servers, name))
  const answered: {
    readonly id: string
    readonly content: string
    readonly outcome: BatchOutcome
  }[] = []
  for (const { asked, fates, restarts } of rounds) {
    let appendCount = 0
    for (const { log } of machines) {
      log.fate = () => fates[appendCount++] ?? 'taken'
    }
    await Promise.all(
      asked.map(async ({ at, batches }) => {
        const sent = batches.map(({ id, content, length }) =>
          batch(`id ${id}`, `${content} ${'x'.repeat(length)}`),
        )
        const outcomes = await machines[at].append(...sent)
        for (const [index, outcome] of (outcomes ?? []).entries()) {
          const { batchId, content } = sent[index]
          answered.push({ id: batchId, content: Buffer.from(content).toString(), outcome })
        }
      }),
    )
    if (restarts !== undefined) {
      const { journal } = machines[restarts.at]
      const keptCount = Math.round(restarts.kept * journal.records.length)
      machines[restarts.at].start(journal.remainder(keptCount))
    }
  }
  // A reader from the beginning of the log.
  const reader = new TestMachine(servers, 'reader')
  const all = [reader, ...machines]
  await reader.append(batch('the last one', ''))
  const { sequence } = reader.journal.last
  const hasAll = async () => all.every(({ journal }) => journal.last.sequence === sequence)
  await untilTold(hasAll, 20_000)
  const expected = reader.journal.records
  for (const { journal, faults, name } of all) {
    const { records } = journal
    if (JSON.stringify(records) !== JSON.stringify(expected)) throw new Error(`${name} has others`)
    const found = faults.find((fault) => fault !== undefined)
    if (found !== undefined) throw new Error(`${name}: ${JSON.stringify(found)}`)
  }
  for (const { id, content, outcome } of answered) {
    const record = expected[outcome.sequence - 1]
    const isSame = record?.batchId === id && record.content === content
    const isOther = record?.batchId === id && record.content !== content
    if (outcome.kind === 'conflicting' ? !isOther : !isSame) {
      throw new Error(
        `${id} was answered ${JSON.stringify(outcome)}, and is ${JSON.stringify(record)}`,
      )
    }
  }
  const written = answered.filter(({ outcome }) => outcome.kind === 'written')
  const sequences = new Set(written.map(({ outcome }) => outcome.sequence))
  if (sequences.size !== written.length) throw new Error('one record was written for two')
  for (const machine of all) machine.stop()
  return answered.length
}

t.test('machines decide alike, as who reads the log from its beginning', async (t) => {
  const rounds = fc.array(round, { minLength: 1, maxLength: 6 })
  const worlds = fc.sample(rounds, { seed, numRuns: byTier({ ci: 300, soak: 20_000 }) })
  let answers = 0
  let faultCount = 0
  // At the same time: they wait more than they work.
  for (let start = 0; start < worlds.length; start += 500) {
    const some = worlds.slice(start, start + 500)
    await Promise.all(
      some.map(async (world, index) => {
        try {
          const answerCount = await run(world)
          answers += answerCount
        } catch (fault) {
          faultCount++
          t.fail(`world ${start + index}: ${(fault as Error).message}: ${JSON.stringify(world)}`)
        }
      }),
    )
  }
  t.equal(faultCount, 0)
  t.ok(answers > worlds.length, `${answers} answers`)
})

t.test('what changes nothing is passed over by all, and is behind the place', async (t) => {
  const servers = new MemoryServers()
  const machine = new TestMachine(servers, 'a')
  const atEnd = () => machine.journal.place === servers.messages.length
  await machine.machineLog.beat()
  const others = partsFrom(servers, groupOf(1, batch('other', '')), '0', 'f'.repeat(16))
  const unfinished = partsFrom(servers, groupOf(1, batch('long', 'x'.repeat(300))))
  for (const bytes of [...others, unfinished[0], Buffer.from('what is this'), Buffer.alloc(0)]) {
    servers.add(bytes)
  }
  await until(atEnd)
  t.equal(machine.journal.records.length, 0)
  t.same(await machine.append(batch('own', 'own')), [{ kind: 'written', sequence: 1 }])
  await until(atEnd)
  machine.stop()
})

t.test('a long message counts where its last part is, wherever reading begins', async (t) => {
  const servers = new MemoryServers()
  const parts = (number: number, length: number, session: string, content = 'x') =>
    partsFrom(
      servers,
      groupOf(number, batch(`${session} ${number}`, content.repeat(length))),
      session,
    )
  const long = parts(1, 1_000, '1')
  const between = parts(1, 10, '2')
  // One whose sender has gone, one that is begun anew, and one of which a part is twice.
  for (const part of parts(1, 1_000, '3').slice(0, 3)) servers.add(part)
  for (const part of parts(1, 1_000, '4').slice(0, 3)) servers.add(part)
  for (const part of parts(2, 1_000, '4')) servers.add(part)
  for (const part of parts(1, 500, '5')) {
    servers.add(part)
    servers.add(part)
  }
  // As long as it should be, and with another content.
  const different = parts(1, 200, '6', 'abc')
  for (const part of [0, 1, 1, 3]) servers.add(different[part])
  // The first part of one message, and the others of the next one of its session.
  servers.add(parts(1, 250, '7', 'a')[0])
  for (const part of parts(2, 250, '7', 'b').slice(1)) servers.add(part)
  servers.add(long[0])
  servers.add(between[0])
  for (const part of long.slice(1)) servers.add(part)
  const ids = async (after: number) => {
    const journal = new ModelJournal()
    journal.place = after
    const machine = new TestMachine(servers, 'a', { journal })
    await machine.append(batch('end', ''))
    machine.stop()
    return machine.batchIds
  }
  t.same(await ids(0), ['4 2', '2 1', '1 1', 'end'])
  const whole = servers.messages.length
  t.same(await ids(whole - 2), ['1 1', 'end'], 'it began before')
  t.same(await ids(whole + 1), ['end'])
})

t.test('parts further from each other than is allowed are no message', async (t) => {
  for (const [distance, count] of [
    [limits.logMessageSpan - 1, 1],
    [limits.logMessageSpan, 0],
  ] as const) {
    const servers = new MemoryServers()
    const [first, second] = partsFrom(servers, groupOf(1, batch('far', 'x'.repeat(120))))
    servers.add(first)
    for (let at = 1; at < distance; at++) servers.add(Buffer.from('between'))
    servers.add(second)
    const machine = new TestMachine(servers, 'a')
    await machine.append(batch('end', ''))
    t.equal(machine.journal.records.length, count + 1)
    machine.stop()
  }
  const machine = new TestMachine(new MemoryServers(), 'a')
  const long = batch('long', 'x'.repeat(200 * limits.logMessageParts))
  await t.rejects(machine.append(long), /may have 128 parts, and this has \d+/)
  machine.stop()
})

t.test('a machine goes on where it has everything that the log has lost', async (t) => {
  const servers = new MemoryServers()
  const machine = new TestMachine(servers, 'a')
  for (let at = 0; at < 5; at++) await machine.append(batch(`id ${at}`, ''))
  servers.messages = []
  servers.first = 6
  machine.start(machine.journal.remainder(5))
  t.same(await machine.append(batch('next', '')), [{ kind: 'written', sequence: 6 }])
  t.equal(machine.machineLog.fault, undefined)
  // One that lacks the last one cannot.
  machine.start(machine.journal.remainder(4))
  t.same(await machine.untilFault(), { kind: 'gone', place: 5, first: 6 })
  machine.stop()
})

t.test('a message that may have begun before what is kept is not passed over', async (t) => {
  const servers = new MemoryServers()
  const machine = new TestMachine(servers, 'a')
  await machine.append(batch('one', ''))
  const long = partsFrom(servers, groupOf(1, batch('long', 'x'.repeat(500))), '2')
  for (const part of long) servers.add(part)
  await until(() => machine.journal.last.sequence === 2)
  machine.stop()
  servers.messages = servers.messages.slice(2)
  servers.first = 3
  const has = new TestMachine(servers, 'a', { journal: machine.journal.remainder(2) })
  await has.append(batch('next', ''))
  t.equal(has.machineLog.fault, undefined, 'it is in the journal')
  has.stop()
  const journal = machine.journal.remainder(1)
  journal.place = 2
  const lacks = new TestMachine(servers, 'a', { journal })
  t.match(await lacks.untilFault(), { kind: 'cut' })
  t.equal(lacks.journal.last.sequence, 1)
  lacks.stop()
})

t.test('a machine of another generation than the log decides nothing', async (t) => {
  const servers = new MemoryServers()
  const machine = new TestMachine(servers, 'a', { generation: 'f'.repeat(16) })
  const { generation, base } = servers
  t.same(await machine.untilFault(), { kind: 'other', generation, base })
  machine.stop()
})

t.test(
  'a machine that has other batches than another one, or less than it had, decides nothing more',
  async (t) => {
    const servers = new MemoryServers()
    const [a, b] = ['a', 'b'].map((name) => new TestMachine(servers, name, { messageBytes: 1_000 }))
    await a.append(batch('one', '1'))
    await until(() => b.journal.last.sequence === 1)
    a.beats.answersBy(1)
    await a.machineLog.beat()
    await until(() => a.beats.levelUntilMs > 0)
    t.same([a.machineLog.fault, b.machineLog.fault], [undefined, undefined])
    const [record] = b.journal.records
    b.journal.records = [{ ...record, hash: 'f'.repeat(64) }]
    await a.machineLog.beat()
    t.same(await b.untilFault(), { kind: 'diverged', name: 'a', sequence: 1 })
    await a.append(batch('two', '2'))
    servers.changed()
    t.equal(b.journal.last.sequence, 1)
    t.equal(b.machineLog.fault?.kind, 'diverged', 'for good')
    const beat: Sent = { kind: 'beat', name: 'b', number: 1, sequence: 9, hash: '0'.repeat(64) }
    for (const part of partsFrom(servers, beat)) servers.add(part)
    t.same(await a.untilFault(), { kind: 'diverged', name: 'b', sequence: 9 })
    for (const machine of [a, b]) machine.stop()
  },
)

t.test('nothing is sent while the log is not as it was read', async (t) => {
  const servers = new MemoryServers()
  const a = new TestMachine(servers, 'a', { messageBytes: 1_000 })
  await a.append(batch('one', '1'))
  await a.append(batch('two', '2'))
  const [, lost] = servers.messages
  servers.messages = servers.messages.slice(0, 1)
  servers.changed()
  t.same(await a.untilFault(), { kind: 'lost', place: 2, end: 2 })
  const waits = a.append(batch('three', '3'))
  const { levelUntilMs } = a.beats
  await a.machineLog.beat()
  await sleep(2 * limits.logAgainMs)
  t.equal(servers.messages.length, 1)
  t.equal(a.beats.levelUntilMs, levelUntilMs)
  servers.messages = [...servers.messages, lost]
  servers.changed()
  t.same(await waits, [{ kind: 'written', sequence: 3 }])
  t.equal(a.machineLog.fault, undefined)
  a.stop()
})

t.test('a hole is told, and read when another server has it', async (t) => {
  const servers = new MemoryServers()
  const a = new TestMachine(servers, 'a', { messageBytes: 1_000 })
  for (const id of ['one', 'two']) await a.append(batch(id, id))
  a.stop()
  servers.missing.add(2)
  for (const keptCount of [0, 2]) {
    const b = new TestMachine(servers, 'b', { journal: a.journal.remainder(keptCount) })
    t.same(await b.untilFault(), { kind: 'hole', place: 2, server: 'memory' })
    t.equal(b.journal.last.sequence, keptCount || 1)
    servers.missing.clear()
    servers.changed()
    await until(() => b.machineLog.fault === undefined && b.journal.last.sequence === 2)
    b.stop()
    servers.missing.add(2)
  }
})

t.test('an append that is cut off by a stop says that nothing is known', async (t) => {
  const a = new TestMachine(new MemoryServers(), 'a')
  a.log.fate = () => 'lost'
  const waits = a.append(batch('one', '1'))
  a.stop()
  t.equal(await waits, undefined)
})
