/**
 * Machines that append to one log at the same time, lose acknowledgements and messages, send again, and start again with
 * less than they had: all decide alike, and as a reader of the log from its beginning.
 */
import { hash as digestOf } from 'node:crypto'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { BEGINNING, type Link } from '../../../src/chain/link.js'
import { Beats } from '../../../src/cluster/log/beats.js'
import {
  type DecidedGroup,
  type DecidedJournal,
  MachineLog,
  type MachineLogFault,
} from '../../../src/cluster/log/machine-log.js'
import { type Beat, partsOfSent } from '../../../src/cluster/log/messages.js'
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
  journal = new ModelJournal()
  readonly faults: (MachineLogFault | undefined)[] = []
  readonly #generation: string
  beats: Beats
  machineLog!: MachineLog

  private constructor(
    servers: MemoryServers,
    name: string,
    messageBytes: number,
    generation: string,
  ) {
    this.name = name
    this.log = new MemoryLog(servers, messageBytes)
    this.#generation = generation
    this.beats = this.#newBeats()
  }

  static async start(
    servers: MemoryServers,
    name: string,
    messageBytes = 200,
    generation = servers.generation,
  ): Promise<TestMachine> {
    const machine = new TestMachine(servers, name, messageBytes, generation)
    machine.machineLog = machine.#begun()
    return machine
  }

  /** An earlier process may be in the middle of something. */
  async restart(journal: ModelJournal): Promise<void> {
    this.machineLog.stop()
    this.journal = journal
    this.beats = this.#newBeats()
    this.machineLog = this.#begun()
  }

  #newBeats(): Beats {
    return new Beats({
      name: this.name,
      nowMs: monotonicMs,
      members: () => [{ name: this.name, maxLagMs: 60_000 }],
      isMember: () => true,
    })
  }

  #begun(): MachineLog {
    const { log, journal, beats, name } = this
    const onFault = (fault: MachineLogFault | undefined) => this.faults.push(fault)
    return new MachineLog({ log, journal, beats, name, generation: this.#generation, onFault })
  }
}

const batch = (batchId: string, content: string): SentBatch => ({
  sourceId: 1,
  batchId,
  changeCount: 1,
  content: Buffer.from(content),
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
  const machines = await Promise.all(names.map((name) => TestMachine.start(servers, name)))
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
        const outcomes = await machines[at].machineLog.append(sent)
        for (const [index, outcome] of (outcomes ?? []).entries()) {
          const { batchId, content } = sent[index]
          answered.push({ id: batchId, content: Buffer.from(content).toString(), outcome })
        }
      }),
    )
    if (restarts !== undefined) {
      const { journal } = machines[restarts.at]
      const keptCount = Math.round(restarts.kept * journal.records.length)
      await machines[restarts.at].restart(journal.remainder(keptCount))
    }
  }
  // A reader from the beginning of the log.
  const reader = await TestMachine.start(servers, 'reader')
  const all = [reader, ...machines]
  await reader.machineLog.append([batch('the last one', '')])
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
  for (const { machineLog } of all) machineLog.stop()
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

t.test('the place is that of the last message, also where it changes nothing', async (t) => {
  const servers = new MemoryServers()
  const machine = await TestMachine.start(servers, 'a', 200)
  await machine.machineLog.append([batch('own', 'own')])
  const atEnd = () => machine.journal.place === servers.messages.length
  await until(atEnd)
  const recordCount = machine.journal.records.length
  const place = machine.journal.place
  await machine.machineLog.beat()
  servers.add(Buffer.from('what is this'))
  const ids = { generation: servers.generation, session: '1'.repeat(16) }
  const long = { kind: 'group', number: 1, batches: [batch('long', 'x'.repeat(300))] } as const
  servers.add(partsOfSent(long, ids, 200)[0])
  await until(atEnd)
  t.ok(machine.journal.place >= place + 3)
  t.equal(machine.journal.records.length, recordCount)
  machine.machineLog.stop()
})

t.test('a message of another generation, or that is none, is passed over by all', async (t) => {
  const servers = new MemoryServers()
  const machine = await TestMachine.start(servers, 'a', 1_000)
  const [other] = partsOfSent(
    { kind: 'group', number: 1, batches: [batch('other', 'other')] },
    { generation: 'f'.repeat(16), session: '0'.repeat(16) },
    1_000,
  )
  servers.add(other)
  servers.add(Buffer.from('what is this'))
  servers.add(Buffer.alloc(0))
  t.same(await machine.machineLog.append([batch('own', 'own')]), [{ kind: 'written', sequence: 1 }])
  t.equal(machine.journal.last.sequence, 1)
  machine.machineLog.stop()
})

t.test('a long message counts where its last part is, wherever reading begins', async (t) => {
  const servers = new MemoryServers()
  const parts = (number: number, length: number, session: string, content = 'x') =>
    partsOfSent(
      { kind: 'group', number, batches: [batch(`${session} ${number}`, content.repeat(length))] },
      { generation: servers.generation, session: session.repeat(16) },
      200,
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
  servers.add(long[0])
  servers.add(between[0])
  for (const part of long.slice(1)) servers.add(part)
  const ids = async (after: number) => {
    const machine = await TestMachine.start(servers, 'a')
    const journal = new ModelJournal()
    journal.place = after
    await machine.restart(journal)
    await machine.machineLog.append([batch('end', '')])
    machine.machineLog.stop()
    return machine.journal.records.map(({ batchId }) => batchId)
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
    const [first, second] = partsOfSent(
      { kind: 'group', number: 1, batches: [batch('far', 'x'.repeat(100))] },
      { generation: servers.generation, session: '1'.repeat(16) },
      180,
    )
    servers.add(first)
    for (let at = 1; at < distance; at++) servers.add(Buffer.from('between'))
    servers.add(second)
    const machine = await TestMachine.start(servers, 'a')
    await machine.machineLog.append([batch('end', '')])
    t.equal(machine.journal.records.length, count + 1)
    machine.machineLog.stop()
  }
  const machine = await TestMachine.start(new MemoryServers(), 'a')
  const long = batch('long', 'x'.repeat(200 * limits.logMessageParts))
  await t.rejects(machine.machineLog.append([long]), /may have 128 parts, and this has \d+/)
  machine.machineLog.stop()
})

t.test('parts of two messages are none, whatever was lost of them', async (t) => {
  const servers = new MemoryServers()
  const [a, b] = ['a', 'b'].map((text, at) =>
    partsOfSent(
      { kind: 'group', number: at + 1, batches: [batch(text, text.repeat(250))] },
      { generation: servers.generation, session: '1'.repeat(16) },
      200,
    ),
  )
  t.equal(a.length, b.length)
  servers.add(a[0])
  for (const part of b.slice(1)) servers.add(part)
  const machine = await TestMachine.start(servers, 'a')
  await machine.machineLog.append([batch('end', '')])
  t.same(
    machine.journal.records.map(({ batchId }) => batchId),
    ['end'],
  )
  machine.machineLog.stop()
})

t.test(
  'a machine that has everything goes on although the log has lost its beginning',
  async (t) => {
    const servers = new MemoryServers()
    const machine = await TestMachine.start(servers, 'a')
    for (let at = 0; at < 5; at++) await machine.machineLog.append([batch(`id ${at}`, '')])
    servers.messages = []
    servers.first = 6
    await machine.restart(machine.journal.remainder(5))
    t.same(await machine.machineLog.append([batch('next', '')]), [{ kind: 'written', sequence: 6 }])
    t.equal(machine.machineLog.fault, undefined)
    // One that lacks the last one cannot.
    await machine.restart(machine.journal.remainder(4))
    await until(() => machine.machineLog.fault !== undefined)
    t.same(machine.machineLog.fault, { kind: 'gone', place: 5, first: 6 })
    machine.machineLog.stop()
  },
)

t.test('a message that may have begun before what is kept is not passed over', async (t) => {
  const servers = new MemoryServers()
  const machine = await TestMachine.start(servers, 'a')
  await machine.machineLog.append([batch('one', '')])
  const long = partsOfSent(
    { kind: 'group', number: 1, batches: [batch('long', 'x'.repeat(500))] },
    { generation: servers.generation, session: '2'.repeat(16) },
    200,
  )
  for (const part of long) servers.add(part)
  await until(() => machine.journal.last.sequence === 2)
  for (const keptCount of [1, 2]) {
    const trimmed = new MemoryServers()
    trimmed.first = 3
    trimmed.messages = servers.messages.slice(2)
    const other = await TestMachine.start(trimmed, 'a')
    const journal = machine.journal.remainder(keptCount)
    if (keptCount === 1) journal.place = 2
    await other.restart(journal)
    if (keptCount === 1) {
      await until(() => other.machineLog.fault?.kind === 'cut')
      t.equal(other.journal.last.sequence, 1)
    } else {
      await other.machineLog.append([batch('next', '')])
      t.equal(other.machineLog.fault, undefined, 'it is in the journal')
    }
    other.machineLog.stop()
  }
  machine.machineLog.stop()
})

t.test('a machine of another generation than the log decides nothing', async (t) => {
  const servers = new MemoryServers()
  const machine = await TestMachine.start(servers, 'a', 200, 'f'.repeat(16))
  await until(() => machine.machineLog.fault !== undefined)
  const { generation, base } = servers
  t.same(machine.machineLog.fault, { kind: 'other', generation, base })
  machine.machineLog.stop()
})

t.test('a machine that has other batches than another one decides nothing more', async (t) => {
  const servers = new MemoryServers()
  const a = await TestMachine.start(servers, 'a', 1_000)
  const b = await TestMachine.start(servers, 'b', 1_000)
  await a.machineLog.append([batch('one', '1')])
  await until(() => b.journal.last.sequence === 1)
  a.beats.answersBy(1)
  await a.machineLog.beat()
  await until(() => a.beats.levelUntilMs > 0)
  t.same([a.machineLog.fault, b.machineLog.fault], [undefined, undefined])
  const [{ sequence }] = b.journal.records
  b.journal.records = [{ ...b.journal.records[0], hash: 'f'.repeat(64) }]
  await a.machineLog.beat()
  await until(() => b.machineLog.fault !== undefined)
  t.same(b.machineLog.fault, { kind: 'diverged', name: 'a', sequence })
  await a.machineLog.append([batch('two', '2')])
  servers.changed()
  t.equal(b.journal.last.sequence, 1)
  t.equal(b.machineLog.fault?.kind, 'diverged', 'for good')
  a.machineLog.stop()
  b.machineLog.stop()
})

t.test('a machine that knows more than its log is another one', async (t) => {
  const servers = new MemoryServers()
  const a = await TestMachine.start(servers, 'a', 1_000)
  const beat: Beat = { kind: 'beat', name: 'b', number: 1, sequence: 9, hash: '0'.repeat(64) }
  const ids = { generation: servers.generation, session: '1'.repeat(16) }
  for (const part of partsOfSent(beat, ids, 1_000)) servers.add(part)
  await until(() => a.machineLog.fault !== undefined)
  t.same(a.machineLog.fault, { kind: 'diverged', name: 'b', sequence: 9 })
  a.machineLog.stop()
})

t.test(
  'nothing is sent while the log is not as it was read, and goes on behind that',
  async (t) => {
    const servers = new MemoryServers()
    const a = await TestMachine.start(servers, 'a', 1_000)
    await a.machineLog.append([batch('one', '1')])
    await a.machineLog.append([batch('two', '2')])
    const [, lost] = servers.messages
    servers.messages = servers.messages.slice(0, 1)
    servers.changed()
    await until(() => a.machineLog.fault !== undefined)
    t.same(a.machineLog.fault, { kind: 'lost', place: 2, end: 2 })
    const waits = a.machineLog.append([batch('three', '3')])
    const levelUntilMs = a.beats.levelUntilMs
    await a.machineLog.beat()
    await new Promise((resolve) => setTimeout(resolve, 2 * limits.logAgainMs))
    t.equal(servers.messages.length, 1)
    t.equal(a.beats.levelUntilMs, levelUntilMs)
    servers.messages = [...servers.messages, lost]
    servers.changed()
    t.same(await waits, [{ kind: 'written', sequence: 3 }])
    t.equal(a.machineLog.fault, undefined)
    a.machineLog.stop()
  },
)

t.test('a hole is told, and read when another server has it', async (t: Test) => {
  const servers = new MemoryServers()
  const a = await TestMachine.start(servers, 'a', 1_000)
  await a.machineLog.append([batch('one', '1')])
  await a.machineLog.append([batch('two', '2')])
  servers.missing.add(2)
  const b = await TestMachine.start(servers, 'b', 1_000)
  await until(() => b.machineLog.fault !== undefined)
  t.same(b.machineLog.fault, { kind: 'hole', place: 2, server: 'memory' })
  t.equal(b.journal.last.sequence, 1)
  servers.missing.clear()
  servers.changed()
  await until(() => b.journal.last.sequence === 2)
  await until(() => b.machineLog.fault === undefined)
  a.machineLog.stop()
  b.machineLog.stop()
})

t.test('an append that is cut off by a stop says that nothing is known', async (t) => {
  const servers = new MemoryServers()
  const a = await TestMachine.start(servers, 'a', 1_000)
  a.log.fate = () => 'lost'
  const waits = a.machineLog.append([batch('one', '1')])
  a.machineLog.stop()
  t.equal(await waits, undefined)
})
