/**
 * The journal of a machine that writes what a log says: it is killed and loses its power, reads the log again from its
 * place, copies from others, and goes on with another log. Its records are always those of a journal that never fails.
 */
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { type PreparedBatch, prepareBatch, prepareEntry } from '../../src/journal/batch.js'
import {
  headDirectory,
  journalFileNumbers,
  journalPath,
  positionPath,
} from '../../src/journal/files.js'
import { groupsBehind, recordsOfGroups } from '../../src/journal/groups.js'
import { type JournalHead, type LogPlace, NO_HEAD, openHead } from '../../src/journal/head.js'
import { copyHead } from '../../src/journal/hold.js'
import type { BatchOutcome } from '../../src/journal/outcomes.js'
import { PositionFile } from '../../src/journal/position.js'
import { isClusterJournal, JournalReader } from '../../src/journal/reader.js'
import { ENTRY_SOURCE } from '../../src/journal/record.js'
import { beginBehind, setJournalLog } from '../../src/journal/seed.js'
import { verifyJournal } from '../../src/journal/verify.js'
import { JournalWriter } from '../../src/journal/writer.js'
import { temporaryDirectory } from '../support/service/hickory.js'
import { byTier } from '../support/tier.js'

const seed = Number(process.env.HICKORY_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))
t.comment(`seed ${seed}`)

const GENERATION = '0123456789abcdef'

const CONTRADICTED = { message: /^batch 2 was another one when this machine read it/ }

/** So small that ids are forgotten, files are full, and the head is moved in each run. */
const OPTIONS = { fileBytes: 900, knownBatchCount: 7, unindexedCount: 4 }

const batch = (id: string, content = id) =>
  prepareBatch({ sourceId: 1, batchId: id, changes: [{ op: 'delete', identity: content }] })

type Options = Partial<ConstructorParameters<typeof JournalWriter>[0]>

const decided = (place: number, generation = GENERATION) => ({
  log: { generation, place },
  timeMs: 1_000 + place,
})

async function founded(t: Test, options: Options = {}) {
  const directory = join(temporaryDirectory(t), 'journal')
  await setJournalLog(directory, { generation: GENERATION })
  return opened(t, directory, options)
}

function opened(t: Test, directory: string, options: Options = {}) {
  const writer = new JournalWriter({ directory, isClustered: true, ...options })
  const reader = new JournalReader(directory)
  t.teardown(async () => {
    reader.close()
    await writer.release()
  })
  return { directory, writer, reader }
}

const idsFrom = (reader: JournalReader, since = 0) =>
  [...reader.read(since)].map(({ batchId }) => batchId)

/** The head as the next process finds it: that of the position, unless the one in LMDB is later. */
async function headOf(directory: string): Promise<JournalHead> {
  const store = openHead(directory, 'read')
  const indexed = store.read() ?? NO_HEAD
  await store.close()
  if (!existsSync(positionPath(directory))) return indexed
  const file = PositionFile.openToRead(positionPath(directory))
  const position = file.read()
  file.close()
  return position === undefined || position.sequence < indexed.sequence ? indexed : position
}

/** All bytes of records. */
function filesOf(directory: string): Buffer[] {
  return journalFileNumbers(directory).map((number) => readFileSync(journalPath(directory, number)))
}

/** Takes back the position, as if the power had failed before it was on disk. */
function withPosition<R>(directory: string, work: () => R): R {
  const before = readFileSync(positionPath(directory))
  const result = work()
  writeFileSync(positionPath(directory), before)
  return result
}

t.test('groups go to disk as the log says, with its time and place', async (t) => {
  const { directory, writer, reader } = await founded(t)
  t.same(writer.append([batch('a'), batch('b')], decided(3)), [
    { kind: 'written', sequence: 1 },
    { kind: 'written', sequence: 2 },
  ])
  t.same(writer.append([batch('b'), batch('a', 'other')], decided(5)), [
    { kind: 'repeated', sequence: 2 },
    { kind: 'conflicting', sequence: 1 },
  ])
  t.same(reader.head().log, { generation: GENERATION, place: 3 }, 'nothing was written')
  writer.syncPosition({ generation: GENERATION, place: 5 })
  t.same(reader.head().log, { generation: GENERATION, place: 5 })
  writer.append([prepareEntry('e1', Buffer.from('anything'))], decided(6))
  t.match([...reader.read(2)], [{ sourceId: ENTRY_SOURCE, timeMs: 1_006, changes: [] }])
  t.match(await verifyJournal(directory), { batchCount: 3, changeCount: 2 })
})

t.test('only the service of a cluster writes to its journal, until it has left', async (t) => {
  const { directory, writer } = await founded(t)
  writer.append([batch('a')], decided(1))
  const other = new JournalWriter({ directory })
  t.teardown(() => other.release())
  t.throws(() => other.append([batch('b')]), { code: 'Usage', message: /hickory cluster leave/ })
  await writer.release()
  t.equal((await setJournalLog(directory, undefined)).sequence, 1)
  t.notOk(isClusterJournal(directory))
  t.throws(() => writer.append([batch('b')], decided(2)), { code: 'Usage' })
  t.match(other.append([batch('a'), batch('b')]), [
    { kind: 'repeated', sequence: 1 },
    { kind: 'written', sequence: 2 },
  ])
  await other.release()
  const log = { generation: 'f'.repeat(16), place: 7 }
  t.equal((await setJournalLog(directory, log)).sequence, 2)
  const again = opened(t, directory)
  t.same(again.writer.prepare().log, log)
  t.match(again.writer.append([batch('b'), batch('c')], decided(8, log.generation)), [
    { kind: 'repeated', sequence: 2 },
    { kind: 'written', sequence: 3 },
  ])
})

t.test('a machine that leaves keeps what the log has not said again', async (t) => {
  const { directory, writer } = await founded(t, OPTIONS)
  writer.append([batch('a')], decided(1))
  withPosition(directory, () => {
    for (const [at, id] of [...'bcdefg'].entries()) writer.append([batch(id)], decided(at + 2))
  })
  await writer.release()
  t.equal((await setJournalLog(directory, undefined)).sequence, 7)
  const alone = new JournalWriter({ directory })
  t.teardown(() => alone.release())
  t.match(alone.append([batch('g'), batch('h')]), [
    { kind: 'repeated', sequence: 7 },
    { kind: 'written', sequence: 8 },
  ])
  t.match(await verifyJournal(directory), { batchCount: 8, behindBytes: 0 })
})

t.test('a log that says something else than before changes nothing', async (t) => {
  for (const [name, said] of [
    ['another batch', [batch('other')]],
    ['another content', [batch('b', 'other'), batch('c')]],
    ['less', [batch('b')]],
    ['more', [batch('b'), batch('c'), batch('d')]],
    ['another order', [batch('c'), batch('b')]],
  ] as const) {
    const { directory, writer, reader } = await founded(t, OPTIONS)
    writer.append([batch('a')], decided(1))
    withPosition(directory, () => {
      writer.append([batch('b'), batch('c')], decided(2))
      writer.append([batch('d')], decided(3))
    })
    await writer.release()
    const before = filesOf(directory)
    t.equal(writer.prepare().sequence, 1)
    const kept = writer.lastKept()
    t.equal(kept.sequence, 4)
    for (let at = 0; at < 2; at++) {
      t.throws(() => writer.append(said, decided(2)), CONTRADICTED, name)
      t.same(writer.lastKept(), kept)
    }
    t.equal(reader.head().sequence, 1)
    t.same(filesOf(directory), before)
    t.throws(() => writer.append([batch('b'), batch('c')], decided(9)), CONTRADICTED, 'the time')
    await writer.release()
    writer.append([batch('b'), batch('c')], decided(2))
    t.same(writer.append([batch('d')], decided(3)), [{ kind: 'written', sequence: 4 }])
    t.same(filesOf(directory), before, 'it is not written again')
    t.same(reader.head(), { ...reader.head(), ...kept })
  }
})

t.test('what the log says no more is taken as it is', async (t) => {
  const { directory, writer, reader } = await founded(t, { fileBytes: 300 })
  writer.append([batch('a')], decided(1))
  withPosition(directory, () => {
    for (const [at, id] of [...'bcdefg'].entries()) writer.append([batch(id)], decided(at + 2))
  })
  appendFileSync(journalPath(directory, journalFileNumbers(directory).length), 'torn')
  await writer.release()
  t.equal(writer.prepare().sequence, 1)
  t.equal(writer.takeKept().sequence, 7)
  const log = { generation: 'f'.repeat(16), place: 0 }
  writer.setLog(log)
  t.same(reader.head().log, log)
  t.same(idsFrom(reader), [...'abcdefg'])
  t.same(writer.append([batch('g'), batch('h')], decided(1, log.generation)), [
    { kind: 'repeated', sequence: 7 },
    { kind: 'written', sequence: 8 },
  ])
  t.same(writer.takeKept().sequence, 8, 'there is nothing to take')
  await verifyJournal(directory)
})

t.test('a journal that lost what its position says is damaged', async (t) => {
  const { directory, writer } = await founded(t)
  writer.append([batch('a')], decided(1))
  writer.append([batch('b')], decided(2))
  await writer.release()
  const path = journalPath(directory, 1)
  const whole = readFileSync(path)
  for (let at = 0; at < whole.length; at++) {
    const flipped = Buffer.from(whole)
    flipped[at] ^= 1
    writeFileSync(path, flipped)
    try {
      writer.prepare()
      t.fail(`byte ${at}`)
    } catch (fault) {
      if ((fault as { code?: string }).code !== 'JournalDamaged') throw fault
    }
    await writer.release()
    if (!readFileSync(path).equals(flipped)) t.fail(`byte ${at} was written`)
  }
  writeFileSync(path, whole.subarray(0, -1))
  t.throws(() => writer.prepare(), { code: 'JournalDamaged' })
  await writer.release()
  rmSync(path)
  t.throws(() => writer.prepare(), { code: 'JournalDamaged' })
  await writer.release()
  writeFileSync(path, whole)
  t.equal(writer.prepare().sequence, 2)
})

t.test('groups are copied as they are, with the ids of their batches', async (t) => {
  const from = await founded(t)
  const to = await founded(t)
  for (const [at, ids] of ['ab', 'c', 'def'].entries()) {
    from.writer.append([...ids].map(batchOf), decided(at + 1))
  }
  const small = groupsBehind(from.reader, 0, 1)
  t.equal(small?.last.sequence, 2, 'a group is whole, however large')
  const all = groupsBehind(from.reader, 0, 1 << 20)
  if (all === undefined) throw new Error('there are groups')
  t.equal(recordsOfGroups(all)?.length, 6)
  const log = { generation: GENERATION, place: 3 }
  t.same(to.writer.copy(all.bytes, log), all.last)
  t.same(to.reader.head().log, log)
  t.same(idsFrom(to.reader), [...'abcdef'])
  t.match(to.writer.append([batch('e'), batch('g')], decided(4)), [
    { kind: 'repeated', sequence: 5 },
    { kind: 'written', sequence: 7 },
  ])
  t.throws(() => to.writer.copy(all.bytes, log), /do not go on with batch 7/)
  t.equal(groupsBehind(from.reader, 6, 1 << 20), undefined)
  for (let at = 0; at < all.bytes.length; at++) {
    const flipped = Buffer.from(all.bytes)
    flipped[at] ^= 1
    if (recordsOfGroups({ ...all, bytes: flipped }) !== undefined) t.fail(`byte ${at}`)
  }
})

t.test('copied groups that are there in part reach the place with the last one', async (t) => {
  const from = await founded(t)
  const to = await founded(t)
  for (const [at, id] of [...'abcd'].entries()) {
    from.writer.append([batch(id)], decided(at + 1))
    if (at < 2) to.writer.append([batch(id)], decided(at + 1))
  }
  await to.writer.release()
  // Both are behind the position, and have its log alone.
  rmSync(positionPath(to.directory))
  t.equal(to.writer.prepare().sequence, 0)
  const groups = groupsBehind(from.reader, 0, 1 << 20)
  const places: (LogPlace | undefined)[] = []
  const write = PositionFile.prototype.write
  t.teardown(() => {
    PositionFile.prototype.write = write
  })
  PositionFile.prototype.write = function (this: PositionFile, head: JournalHead) {
    places.push(head.log)
    write.call(this, head)
  }
  to.writer.copy(groups?.bytes ?? Buffer.alloc(0), { generation: GENERATION, place: 4 })
  PositionFile.prototype.write = write
  t.same(
    places.slice(-4).map((log) => log?.place),
    [undefined, undefined, undefined, 4],
  )
  t.same(idsFrom(to.reader), [...'abcd'])
  t.same(filesOf(to.directory), filesOf(from.directory))
  await to.writer.release()
  t.same(to.writer.prepare().log, { generation: GENERATION, place: 4 })
})

t.test(
  'what is left of a group that was torn is nothing when it comes in another file',
  async (t) => {
    const from = await founded(t)
    const to = await founded(t, { fileBytes: 600 })
    for (const [at, ids] of ['a', 'bc', 'def'].entries()) {
      from.writer.append([...ids].map(batchOf), decided(at + 1))
    }
    to.writer.append([batch('a')], decided(1))
    const rest = groupsBehind(from.reader, 1, 1 << 20)
    if (rest === undefined) throw new Error('there are groups')
    // The first record of its group is whole.
    appendFileSync(journalPath(to.directory, 1), rest.bytes.subarray(0, rest.bytes.length / 3))
    await to.writer.release()
    t.equal(to.writer.lastKept().sequence, 1)
    to.writer.copy(rest.bytes, { generation: GENERATION, place: 3 })
    t.same(journalFileNumbers(to.directory), [1, 2])
    t.same(idsFrom(to.reader), [...'abcdef'])
    t.match(await verifyJournal(to.directory), { batchCount: 6, behindBytes: 0 })
  },
)

t.test('another machine begins behind a head that is copied', async (t) => {
  const from = await founded(t, { fileBytes: 300, unindexedCount: 2 })
  for (const [at, id] of [...'abcdefg'].entries()) from.writer.append([batch(id)], decided(at + 1))
  const directory = join(temporaryDirectory(t), 'journal')
  mkdirSync(directory)
  const { sequence: last } = await copyHead(from.directory, directory)
  t.ok(last > 3 && last < 7, `the head is somewhat older: ${last}`)
  // The snapshot of the other machine goes on from an earlier batch.
  const sequence = last - 1
  const [record] = from.reader.records(sequence - 1)
  await beginBehind(directory, { sequence, hash: record.hash }, { generation: GENERATION })
  t.ok(isClusterJournal(directory))
  const to = opened(t, directory)
  t.equal(to.reader.head().sequence, sequence)
  t.throws(() => idsFrom(to.reader), { message: new RegExp(`begins with ${sequence + 1}$`) })
  const groups = groupsBehind(from.reader, sequence, 1 << 20)
  to.writer.copy(groups?.bytes ?? Buffer.alloc(0), { generation: GENERATION, place: 7 })
  t.same(idsFrom(to.reader, sequence), [...'abcdefg'].slice(sequence))
  t.match(to.writer.append([batch('a'), batch('g'), batch('h')], decided(8)), [
    { kind: 'repeated', sequence: 1 },
    { kind: 'repeated', sequence: 7 },
    { kind: 'written', sequence: 8 },
  ])
  await verifyJournal(directory)
})

function batchOf(id: string): PreparedBatch {
  return batch(id)
}

/** A group of the log. */
interface Said {
  readonly log: Required<Omit<LogPlace, 'digest'>>
  readonly timeMs: number
  readonly batches: readonly PreparedBatch[]
  /** What became of each. */
  readonly outcomes: readonly BatchOutcome[]
  /** The last batch then. */
  readonly sequence: number
}

const share = fc.nat(999_999).map((part) => part / 1_000_000)
const given = fc.array(fc.record({ id: fc.nat(14), content: fc.nat(1), length: fc.nat(120) }), {
  minLength: 1,
  maxLength: 4,
})
const step = fc.oneof(
  { weight: 12, arbitrary: fc.record({ kind: fc.constant('say' as const), given }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('read' as const), count: fc.nat(6) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('sync' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('kill' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('copy' as const), bytes: fc.nat(900) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('renew' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('truncate' as const), share }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('power' as const),
      /** Which of the positions since one was synced is on disk; the next one may be torn. */
      position: share,
      slots: fc.constantFrom('whole' as const, 'torn' as const, 'lost' as const),
      isHeadOlder: fc.boolean(),
      tail: fc.constantFrom(
        'whole' as const,
        'torn' as const,
        'flipped' as const,
        'begun' as const,
      ),
      tailAt: share,
      /** How much of it is read before the next step. */
      read: fc.nat(8),
    }),
  },
)
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

/** The log, the journal of a machine that never fails, and one of a machine that does. */
class World {
  readonly said: Said[] = []
  readonly #model: { readonly id: string; readonly content: string }[] = []
  readonly #reference: ReturnType<typeof opened>
  readonly #directory: string
  #writer: JournalWriter
  #reader: JournalReader
  /** Where the log was made anew: a place of it is behind so many of all groups. */
  readonly #starts = new Map([[GENERATION, 0]])
  #generation = GENERATION
  /** How many groups this machine has read; undefined while it copies. */
  #readCount: number | undefined = 0
  /** What may be on disk of the position, and the head before the last move. */
  #positions: Buffer[] = []
  #olderHead: Buffer | undefined
  truncated = 0

  constructor(reference: ReturnType<typeof opened>, directory: string) {
    this.#reference = reference
    this.#directory = directory
    this.#writer = this.#newWriter()
    this.#reader = new JournalReader(directory)
  }

  async take(step: Step): Promise<void> {
    switch (step.kind) {
      case 'say':
        this.#say(step.given)
        return this.#read(1)
      case 'read':
        return this.#read(step.count)
      case 'sync':
        if (this.#readCount === undefined) return
        this.#writer.syncPosition(this.#logAt(this.#readCount))
        return this.#synced()
      case 'kill':
        return await this.#restart()
      case 'copy':
        return this.#copy(step.bytes)
      case 'renew':
        return this.#renew()
      case 'truncate':
        return this.#truncate(step.share)
      case 'power':
        await this.#losePower(step)
        return this.#read(step.read)
    }
  }

  /** All that the log says is here, and as in the journal that never failed. */
  async check(): Promise<void> {
    if (this.#readCount === undefined) this.#copyRest(500)
    this.#read(this.said.length)
    this.compare()
    if (this.#reader.head().sequence !== this.#model.length) throw new Error('it has less')
    await this.#writer.release()
    await verifyJournal(this.#directory)
  }

  async close(): Promise<void> {
    this.#reader.close()
    this.#reference.reader.close()
    await this.#writer.release()
    await this.#reference.writer.release()
  }

  /** What readers see is a part of what the other journal has, with the same bytes. */
  compare(): void {
    const { sequence, first } = this.#reader.head()
    const since = first.after.sequence
    const own = [...this.#reader.records(since)]
    const all = [...this.#reference.reader.records(since)].slice(0, sequence - since)
    const isSame =
      own.length === all.length &&
      own.every(({ bytes, hash }, at) => bytes.equals(all[at].bytes) && hash === all[at].hash)
    if (!isSame) throw new Error(`other records: ${own.length} of ${all.length}`)
    if (since > this.truncated) throw new Error('files are missing')
  }

  #newWriter(): JournalWriter {
    return new JournalWriter({ directory: this.#directory, isClustered: true, ...OPTIONS })
  }

  #say(given: readonly { id: number; content: number; length: number }[]): void {
    const log = { generation: this.#generation, place: this.#placeOf(this.said.length + 1) }
    const timeMs = 1_000_000 + this.said.length
    const texts = given.map(({ id, content, length }) => ({
      id: `id ${id}`,
      content: 'ab'[content].repeat(length),
    }))
    const batches = texts.map(({ id, content }) => batch(id, content))
    const known = this.#model.length
    const outcomes = texts.map(({ id, content }): BatchOutcome => {
      const from = Math.max(0, known - OPTIONS.knownBatchCount)
      const at = this.#model.findLastIndex((one, index) => one.id === id && index >= from)
      if (at < 0) return { kind: 'written', sequence: this.#model.push({ id, content }) }
      const isSame = this.#model[at].content === content
      return { kind: isSame ? 'repeated' : 'conflicting', sequence: at + 1 }
    })
    this.said.push({ log, timeMs, batches, outcomes, sequence: this.#model.length })
    const found = this.#reference.writer.append(batches, { log, timeMs })
    if (JSON.stringify(found) !== JSON.stringify(outcomes)) {
      throw new Error(`other outcomes: ${JSON.stringify([found, outcomes])}`)
    }
  }

  /** Groups of the log, if this machine has a place in it. */
  #read(count: number): void {
    if (this.#readCount === undefined) return
    for (const { batches, log, timeMs, outcomes } of this.said.slice(
      this.#readCount,
      this.#readCount + count,
    )) {
      const found = this.#noting(() => this.#writer.append(batches, { log, timeMs }))
      if (JSON.stringify(found) !== JSON.stringify(outcomes)) {
        throw new Error(`${log.place}: other outcomes: ${JSON.stringify([found, outcomes])}`)
      }
      this.#readCount++
    }
    this.compare()
  }

  /** As where the log keeps no more what comes next; some groups of the other machine come. */
  #copy(bytes: number): void {
    const log = { generation: this.#generation }
    this.#writer.takeKept()
    this.#writer.setLog(log)
    this.#synced()
    this.#readCount = undefined
    if (bytes % 2 === 0) this.#copyRest(bytes)
    else this.#copyOnce(bytes)
    this.compare()
  }

  #copyRest(bytes: number): void {
    while (this.#readCount === undefined) this.#copyOnce(bytes)
  }

  #copyOnce(bytes: number): void {
    const groups = groupsBehind(this.#reference.reader, this.#reader.head().sequence, bytes)
    const { sequence } = this.#reference.reader.head()
    const end = this.#logAt(this.said.length)
    if (groups === undefined) this.#writer.setLog(end)
    else if (groups.last.sequence < sequence) {
      this.#noting(() => this.#writer.copy(groups.bytes, { generation: this.#generation }))
      return
    } else this.#noting(() => this.#writer.copy(groups.bytes, end))
    if (groups === undefined) this.#synced()
    this.#readCount = this.said.length
  }

  /** The log is made anew from what the other machine has, when this one has read or copied all. */
  #renew(): void {
    if (this.#readCount !== this.said.length) return
    this.#generation = this.#starts.size.toString(16).padStart(16, '0')
    this.#starts.set(this.#generation, this.said.length)
    this.#writer.takeKept()
    this.#writer.setLog({ generation: this.#generation, place: 0 })
    this.#synced()
  }

  #truncate(share: number): void {
    const upTo = Math.floor(share * this.#reader.head().sequence)
    this.#writer.truncate(upTo)
    this.truncated = Math.max(this.truncated, upTo)
    this.#synced()
    this.compare()
  }

  async #restart(): Promise<void> {
    await this.#writer.release()
    this.#writer = this.#newWriter()
    const { log } = this.#writer.prepare()
    this.#readCount = this.#countAt(log)
    this.compare()
  }

  async #losePower(step: Extract<Step, { kind: 'power' }>): Promise<void> {
    const { position, slots, isHeadOlder, tail, tailAt } = step
    await this.#writer.release()
    this.#reader.close()
    const at = Math.floor(position * this.#positions.length)
    const bytes = this.#positions[at]
    const next = this.#positions[at + 1]
    if (slots === 'torn' && next !== undefined && !next.equals(bytes)) tearSlot(bytes, next)
    if (bytes !== undefined) writeFileSync(positionPath(this.#directory), bytes)
    if (slots === 'lost') rmSync(positionPath(this.#directory))
    const data = join(headDirectory(this.#directory), 'data.mdb')
    if (isHeadOlder && this.#olderHead !== undefined) writeFileSync(data, this.#olderHead)
    this.#olderHead = undefined
    const head = await headOf(this.#directory)
    const all = this.#model.length
    if (tail === 'begun') this.#beginGroup(head, tailAt)
    else if (tail !== 'whole') damageBehind(this.#directory, head, tail, tailAt)
    const keptBefore = tail === 'whole' && this.#readCount === this.said.length ? all : undefined
    this.#writer = this.#newWriter()
    const before = filesOf(this.#directory)
    this.#readCount = this.#countAt(this.#writer.prepare().log)
    const kept = this.#writer.lastKept().sequence
    if (keptBefore !== undefined && kept !== keptBefore) throw new Error(`it keeps ${kept}`)
    if (JSON.stringify(before) !== JSON.stringify(filesOf(this.#directory))) {
      throw new Error('what is behind the head was changed')
    }
    this.#positions = []
    this.#note()
    this.compare()
  }

  /** The power fails while the next group is written: some of it is there. */
  #beginGroup(head: JournalHead, share: number): void {
    const next = groupsBehind(this.#reference.reader, head.sequence, 1)
    const last = journalFileNumbers(this.#directory).at(-1)
    if (next === undefined || last === undefined || last !== head.file) return
    const path = journalPath(this.#directory, last)
    if (statSync(path).size > head.bytes) return
    appendFileSync(path, next.bytes.subarray(0, Math.floor(share * next.bytes.length)))
  }

  /** What may be on disk after a loss of power that comes next. */
  #noting<R>(work: () => R): R {
    const data = join(headDirectory(this.#directory), 'data.mdb')
    const before = readFileSync(data)
    const result = work()
    if (!readFileSync(data).equals(before)) this.#olderHead = before
    this.#note()
    return result
  }

  #note(): void {
    this.#positions.push(readFileSync(positionPath(this.#directory)))
  }

  #synced(): void {
    this.#positions = []
    this.#olderHead = undefined
    this.#note()
  }

  #placeOf(count: number): number {
    return count - (this.#starts.get(this.#generation) as number)
  }

  #logAt(count: number): LogPlace {
    return { generation: this.#generation, place: this.#placeOf(count) }
  }

  #countAt(log: LogPlace | undefined): number | undefined {
    const start = this.#starts.get(log?.generation as string)
    if (start === undefined || log?.generation !== this.#generation) {
      throw new Error(`it is of another log: ${JSON.stringify(log)}`)
    }
    return log.place === undefined ? undefined : start + log.place
  }
}

/** Of a slot that was to be written, a part is there. */
function tearSlot(bytes: Buffer, next: Buffer): void {
  const end = bytes.subarray(0, 512).equals(next.subarray(0, 512)) ? 768 : 256
  next.copy(bytes, end - 256, end - 256, end)
  bytes[end - 246] ^= 1
}

/** Behind the head anything may be lost: the log says it again. */
function damageBehind(
  directory: string,
  head: JournalHead,
  how: 'torn' | 'flipped',
  share: number,
): void {
  const numbers = journalFileNumbers(directory).filter((number) => number >= head.file)
  const number = numbers[Math.floor(share * 1_000) % numbers.length]
  if (number === undefined) return
  const path = journalPath(directory, number)
  const start = number === head.file ? head.bytes : 0
  const { size } = statSync(path)
  if (size <= start) return
  const at = start + Math.floor(share * (size - start))
  if (how === 'torn') {
    truncateSync(path, at)
    return
  }
  const bytes = readFileSync(path)
  bytes[at] ^= 0x10
  writeFileSync(path, bytes)
}

t.test('a machine that fails has what one has that never does', async (t) => {
  const property = fc.asyncProperty(
    fc.array(step, { minLength: 5, maxLength: 60 }),
    async (steps) => {
      const reference = await founded(t, OPTIONS)
      const directory = join(temporaryDirectory(t), 'journal')
      await setJournalLog(directory, { generation: GENERATION, place: 0 })
      const world = new World(reference, directory)
      try {
        for (const step of steps) await world.take(step)
        await world.check()
      } finally {
        await world.close()
      }
    },
  )
  const result = await fc.check(property, { seed, numRuns: byTier({ ci: 60, soak: 3_000 }) })
  t.notOk(result.failed, JSON.stringify([result.counterexample, String(result.errorInstance)]))
})
