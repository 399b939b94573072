/**
 * A world of machines for the agreement: a clock, a network, disks and a lease that only a seed moves. Whatever is
 * wrong makes `run` throw.
 */
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { BEGINNING, type Link } from '../../../src/chain/link.js'
import { Agreement } from '../../../src/cluster/agreement/agreement.js'
import type {
  Answers,
  LogEnd,
  Member,
  Question,
  Report,
  SentGroups,
} from '../../../src/cluster/agreement/messages.js'
import type { Ports } from '../../../src/cluster/agreement/ports.js'
import { prepareEntry } from '../../../src/journal/batch.js'
import { GroupEncoder } from '../../../src/journal/encode-group.js'
import { type Groups, recordsOfGroups } from '../../../src/journal/groups.js'
import type { JournalRecord } from '../../../src/journal/record.js'
import { seededRandom } from '../../support/random/world.js'

export interface WorldOptions {
  readonly seed: number
  readonly machineCount: number
  readonly acks: 'one' | 'majority'
  /** What else runs in the process of a machine that starts. */
  readonly companion?: (machine: Machine, later: Later) => Companion
  /** Sees the world after all that happens in it. */
  readonly check?: () => void
}

/** Does something in the process, unless that has ended by then. */
export type Later = (ms: number, work: () => void) => void

/** What else runs in the process of a machine, and tells and hears more than the agreement does. */
export interface Companion {
  tell(report: Report): Told
  hear(told: Told): void
  tick(): void
  /** The agreement has changed something. */
  changed(): void
}

export interface Told {
  readonly agreement: Report
}

interface Content {
  readonly kind: 'batch' | 'epoch' | 'members'
  readonly epoch?: number
  readonly members?: readonly Member[]
}

interface Kept {
  readonly record: JournalRecord
  /** As of this record; the sequences are those of the entries that set them, which may be cut, or 0 for the base. */
  readonly epoch: number
  readonly epochSequence: number
  readonly members: readonly Member[]
  readonly membersSequence: number
}

interface Disk {
  incarnation: string
  epoch: number
  /** The record before the first one that is kept. */
  base: LogEnd
  baseMembers: readonly Member[]
  /** Of batches that are not kept. */
  baseIds: ReadonlySet<string>
  records: Kept[]
  committed: number
}

const SILENCE_MS = 1_000
const TICK_MS = 100
const GROUP_BYTES = 2_000

export class World {
  readonly options: WorldOptions
  readonly machines: Machine[]
  readonly random: () => number
  nowMs = 0
  /** What machines agreed on, by sequence: hash and id. */
  readonly agreed = new Map<number, { readonly hash: string; readonly id: string }>()
  readonly sequences = new Map<string, number>()
  /** Batches that a client was told of. */
  readonly acknowledged = new Map<string, number>()
  readonly writers = new Map<number, string>()
  readonly blocked = new Set<string>()
  lossRate = 0
  leaseEpoch = 0
  isLeaseThere = true
  /** Groups that were carried elsewhere, by the sequence before them. */
  readonly stream = new Map<number, Groups>()
  /** The next one last; of those of the same moment, the oldest. */
  readonly #events: { readonly atMs: number; readonly run: () => void }[] = []
  #fault: { readonly thrown: unknown } | undefined

  constructor(options: WorldOptions) {
    this.options = options
    this.random = seededRandom(options.seed).unit
    this.machines = Array.from({ length: options.machineCount }, (_, at) => new Machine(this, at))
  }

  integer(below: number): number {
    return Math.floor(this.random() * below)
  }

  pick<T>(values: readonly T[]): T {
    return values[this.integer(values.length)]
  }

  later(ms: number, run: () => void): void {
    const atMs = this.nowMs + ms
    let [start, end] = [0, this.#events.length]
    while (start < end) {
      const middle = (start + end) >> 1
      if (this.#events[middle].atMs > atMs) start = middle + 1
      else end = middle
    }
    this.#events.splice(start, 0, { atMs, run })
  }

  async run(ms: number): Promise<void> {
    const untilMs = this.nowMs + ms
    for (;;) {
      const event = this.#events.at(-1)
      if (event === undefined || event.atMs > untilMs) break
      this.#events.pop()
      this.nowMs = Math.max(this.nowMs, event.atMs)
      event.run()
      await microtasksRan()
      if (this.#fault !== undefined) throw this.#fault.thrown
      this.options.check?.()
    }
    this.nowMs = untilMs
    // Otherwise nothing else is heard before all worlds are over: no promise that nobody awaits, and no signal.
    await new Promise((resolve) => setImmediate(resolve))
  }

  /** Where something wrong is found on a way that nobody awaits. */
  fail(thrown: unknown): void {
    this.#fault ??= { thrown }
  }

  /** Whether a message arrives; after how long. */
  send(from: number, to: number, deliver: () => void): void {
    if (this.blocked.has(`${from}>${to}`) || this.random() < this.lossRate) return
    this.later(0.2 + 20 * this.random() ** 4, deliver)
    if (this.random() < 0.01) this.later(50 * this.random(), deliver)
  }

  checkCommitted(machine: Machine, record: JournalRecord): void {
    const { sequence, hash, batchId: id } = record
    const known = this.agreed.get(sequence)
    if (known === undefined) {
      assert(!this.sequences.has(id), `batch ${id} is committed twice`)
      this.agreed.set(sequence, { hash, id })
      this.sequences.set(id, sequence)
    } else assert.equal(hash, known.hash, `${machine.name} has another batch ${sequence}`)
  }

  checkWriter(name: string, epoch: number): void {
    const known = this.writers.get(epoch)
    assert(known === undefined || known === name, `${known} and ${name} write in epoch ${epoch}`)
    this.writers.set(epoch, name)
  }
}

export class Machine {
  readonly world: World
  readonly at: number
  readonly name: string
  disk: Disk
  agreement: Agreement | undefined
  #companion: Companion | undefined
  /** Until then, nothing happens in the process. */
  stoppedUntilMs = 0
  diskMs = 1
  lost: string | undefined
  #run = 0
  #mayWrite = false
  #writing = 0
  #isReportDue = false
  readonly #encoder = new GroupEncoder()

  constructor(world: World, at: number) {
    this.world = world
    this.at = at
    this.name = `m${at}`
    this.disk = emptyDisk(`${this.name}-0`)
  }

  get me(): Member {
    return { name: this.name, incarnation: this.disk.incarnation }
  }

  get isUp(): boolean {
    return this.agreement !== undefined
  }

  start(isFounder: boolean): void {
    const run = ++this.#run
    this.#mayWrite = false
    this.#writing = 0
    this.lost = undefined
    const { acks } = this.world.options
    const options = { acks, takesOver: acks === 'majority', isFounder, silenceMs: SILENCE_MS }
    this.agreement = new Agreement(this.me, options, this.#ports(run))
    const later: Later = (ms, work) => this.#later(run, ms, work)
    this.#companion = this.world.options.companion?.(this, later)
    if (isFounder && this.end().epoch === 0) void this.agreement.campaign('silence')
    const tick = () => {
      if (this.#run !== run) return
      this.agreement?.tick()
      this.#companion?.tick()
      this.#report(run)
      this.#join()
      this.#later(run, TICK_MS, tick)
    }
    tick()
  }

  /** Ends the process; what was not on disk is there or not. */
  crash(): void {
    this.#run++
    void this.agreement?.stop()
    this.agreement = undefined
    this.#companion = undefined
    // The position is not synced.
    if (this.world.random() < 0.3) {
      const { base, committed } = this.disk
      this.disk.committed = base.sequence + this.world.integer(committed - base.sequence + 1)
    }
  }

  /** Loses its directory, and begins with what another machine has. */
  wipe(from: Machine): void {
    if (this.isUp) this.crash()
    this.#begin(from, emptyDisk(`${this.name}-${++this.#run}`))
  }

  /** Begins anew with what another machine has, of which this one lacks what is gone there. */
  seed(from: Machine): void {
    if (this.isUp) this.crash()
    const { incarnation, epoch } = this.disk
    this.#begin(from, { ...emptyDisk(incarnation), epoch })
  }

  #begin(from: Machine, disk: Disk): void {
    const { base, baseMembers, records } = from.disk
    const count = this.world.integer(from.disk.committed - base.sequence + 1)
    const kept = records.slice(0, count)
    const last = kept.at(-1)?.record
    this.disk = disk
    this.disk.base = {
      ...(last === undefined ? base : { sequence: last.sequence, hash: last.hash }),
      epoch: kept.at(-1)?.epoch ?? base.epoch,
    }
    this.disk.baseMembers = kept.at(-1)?.members ?? baseMembers
    this.disk.baseIds = new Set([...from.disk.baseIds, ...kept.map(({ record }) => record.batchId)])
    this.disk.committed = this.disk.base.sequence
  }

  /** Removes what it has committed long ago. */
  cut(): void {
    const { base, records, committed } = this.disk
    const count = this.world.integer(committed - base.sequence + 1)
    const cut = records.slice(0, count)
    const last = cut.at(-1)
    if (last === undefined || last.record.groupIndex + 1 !== last.record.groupCount) return
    this.disk.base = {
      sequence: last.record.sequence,
      hash: last.record.hash,
      epoch: last.epoch,
    }
    this.disk.baseMembers = last.members
    this.disk.baseIds = new Set([...this.disk.baseIds, ...cut.map(({ record }) => record.batchId)])
    this.disk.records = records.slice(count)
  }

  /** Takes a batch as a writer; false where it is none. */
  write(ids: readonly string[], onCommitted: (sequence: number) => void): boolean {
    const { agreement } = this
    if (agreement === undefined || !agreement.isWriter || !this.#mayWrite) return false
    const run = this.#run
    const batches = ids.map((id) => [id, { kind: 'batch' }] as const)
    const appended = this.#append(run, batches).then(() => {
      for (const id of ids) this.#whenCommitted(run, id, onCommitted)
    })
    void appended.catch((fault: unknown) => this.world.fail(fault))
    return true
  }

  end(): LogEnd {
    const { base, records } = this.disk
    const last = records.at(-1)
    if (last === undefined) return base
    return { sequence: last.record.sequence, hash: last.record.hash, epoch: last.epoch }
  }

  /** Of the last entry of a kind that is kept; 0 where there is none. */
  lastSequence(kind: 'epoch' | 'members'): number {
    const { base, records } = this.disk
    const sequence = records.at(-1)?.[`${kind}Sequence`] ?? 0
    return sequence > base.sequence ? sequence : 0
  }

  #whenCommitted(run: number, id: string, onCommitted: (sequence: number) => void): void {
    if (this.#run !== run || this.agreement === undefined) return
    const known = this.world.sequences.get(id)
    if (known !== undefined && this.disk.baseIds.has(id)) {
      onCommitted(known)
      return
    }
    const found = this.disk.records.find(({ record }) => record.batchId === id)?.record
    if (found === undefined) return
    if (found.sequence <= this.disk.committed) onCommitted(found.sequence)
    else this.#later(run, 20, () => this.#whenCommitted(run, id, onCommitted))
  }

  /** Runs something in the process: later where that is stopped, and not where it has ended. */
  #later(run: number, ms: number, work: () => void): void {
    this.world.later(ms, () => {
      if (this.#run !== run) return
      const waitMs = this.stoppedUntilMs - this.world.nowMs
      if (waitMs > 0) this.#later(run, waitMs, work)
      else work()
    })
  }

  /** Resolves after the disk, unless the process ends before. */
  #onDisk(run: number, write: () => void): Promise<void> {
    return new Promise((resolve) => {
      const isKept = this.world.random() < 0.5
      let isDone = false
      // A process that ends meanwhile may have written it.
      this.world.later(this.diskMs * this.world.random(), () => {
        if (this.#run === run) {
          write()
          isDone = true
        } else if (isKept && this.#run === run + 1 && !this.isUp) write()
        if (isDone) this.#later(run, 0.1, resolve)
      })
    })
  }

  async #append(run: number, ids: readonly (readonly [string, Content])[]): Promise<Link> {
    this.#writing++
    try {
      let last: Link = BEGINNING
      await this.#onDisk(run, () => {
        const previous = this.end()
        const batches = ids
          .filter(([id]) => !this.#isKnown(id))
          .map(([id, content]) => prepareEntry(id, Buffer.from(JSON.stringify(content))))
        if (batches.length === 0) return
        const { bytes } = this.#encoder.encode(previous, batches, 1)
        last = this.#write({ previous, bytes: Buffer.from(bytes), last: previous })
      })
      this.agreement?.wrote()
      return last
    } finally {
      this.#writing--
    }
  }

  #isKnown(id: string): boolean {
    const { baseIds, records } = this.disk
    return baseIds.has(id) || records.some(({ record }) => record.batchId === id)
  }

  #write(groups: Groups): Link {
    const records = recordsOfGroups(groups)
    assert(records !== undefined, 'groups go on with the journal')
    for (const record of records) {
      const content = JSON.parse(Buffer.from(record.content).toString()) as Content
      this.disk.records.push(keptBehind(this.disk, record, content))
    }
    return this.end()
  }

  #report(run: number): void {
    this.#isReportDue = false
    const report = this.agreement?.report()
    if (report === undefined) return
    if (report.isWriter) this.world.checkWriter(this.name, report.epoch)
    const told = frozen(this.#companion?.tell(report) ?? { agreement: report })
    this.#tellAll(run, (other) => other.#hear(told))
  }

  #hear(told: Told): void {
    this.agreement?.heard(told.agreement)
    this.#companion?.hear(told)
  }

  #tellAll(_run: number, tell: (machine: Machine) => void): void {
    for (const other of this.world.machines) {
      if (other === this) continue
      this.world.send(this.at, other.at, () => other.#deliver(() => tell(other)))
    }
  }

  #deliver(work: () => void): void {
    if (!this.isUp) return
    this.#later(this.#run, 0, work)
  }

  /** As a machine that is level asks to be counted. */
  #join(): void {
    const { agreement } = this
    if (agreement === undefined || agreement.isMember() || agreement.writer === undefined) return
    void this.#ask(this.#run, agreement.writer, { kind: 'join', member: this.me }).catch(() => {})
  }

  #ask<K extends Question['kind']>(
    run: number,
    name: string,
    question: Extract<Question, { kind: K }>,
  ): Promise<Answers[K]> {
    const other = this.world.machines.find((machine) => machine.name === name) as Machine
    return new Promise((resolve, reject) => {
      this.#later(run, 300, () => reject(new Error('no answer in time')))
      this.world.send(this.at, other.at, () =>
        other.#deliver(() => {
          const answering = other.agreement?.answer(structuredClone(question)) as
            | Promise<Answers[K]>
            | undefined
          void answering?.then(
            (answer) =>
              this.world.send(other.at, this.at, () => this.#later(run, 0, () => resolve(answer))),
            () => {},
          )
        }),
      )
    })
  }

  #ports(run: number): Ports {
    const { world } = this
    const machine = this
    const { disk } = this
    const linkAt = (sequence: number): Link | undefined => {
      if (sequence === disk.base.sequence) return disk.base
      const record = disk.records[sequence - disk.base.sequence - 1]?.record
      return record && { sequence, hash: record.hash }
    }
    return {
      log: {
        end: () => this.end(),
        committed: () => disk.committed,
        members: () => disk.records.at(-1)?.members ?? disk.baseMembers,
        membersSequence: () => this.lastSequence('members'),
        beginning: () => ({ sequence: disk.base.sequence, hash: disk.base.hash }),
        linkAt,
        behind(sequence) {
          assert(sequence >= disk.base.sequence)
          const records: JournalRecord[] = []
          let bytes = 0
          let takenCount = 0
          for (const { record } of disk.records.slice(sequence - disk.base.sequence)) {
            bytes += record.length
            if (takenCount > 0 && bytes > GROUP_BYTES) break
            records.push(record)
            if (record.groupIndex + 1 === record.groupCount) takenCount = records.length
          }
          const taken = records.slice(0, takenCount)
          const last = taken.at(-1)
          const previous = linkAt(sequence)
          if (last === undefined || previous === undefined) return undefined
          return {
            previous: { sequence: previous.sequence, hash: previous.hash },
            last: { sequence: last.sequence, hash: last.hash },
            bytes: Buffer.concat(taken.map((record) => record.bytes)),
          }
        },
        copy: (bytes) =>
          this.#onDisk(run, () => {
            const previous = this.end()
            this.#write({ previous, bytes, last: previous })
          }),
        cutBack: (sequence) =>
          this.#onDisk(run, () => {
            assert(sequence >= disk.committed, 'what is committed is taken back')
            disk.records = disk.records.slice(0, sequence - disk.base.sequence)
          }),
        commit(sequence) {
          assert(sequence >= disk.committed && sequence <= machine.end().sequence)
          for (const { record } of disk.records) {
            if (record.sequence > disk.committed && record.sequence <= sequence) {
              world.checkCommitted(machine, record)
            }
          }
          disk.committed = sequence
        },
        begin: async (epoch) => {
          world.checkWriter(this.name, epoch)
          const { sequence } = await this.#append(run, [
            [`epoch ${epoch}`, { kind: 'epoch', epoch }],
          ])
          this.#mayWrite = true
          return sequence
        },
        stop: async () => {
          this.#mayWrite = false
          while (this.#writing > 0) await this.#sleep(run, 1)
        },
        goOn: () => {
          this.#mayWrite = true
        },
        nameMembers: async (members) => {
          const id = `members ${this.end().sequence} ${hash('md5', JSON.stringify(members))}`
          await this.#append(run, [[id, { kind: 'members', members }]])
        },
      },
      memory: {
        epoch: disk.epoch,
        promise: (epoch) =>
          this.#onDisk(run, () => {
            assert(epoch > disk.epoch, 'a promise is broken')
            disk.epoch = epoch
          }),
      },
      lease: {
        take: async (epoch) => {
          await this.#sleep(run, 5)
          if (!world.isLeaseThere || epoch <= world.leaseEpoch) {
            return { isTaken: false, epoch: world.leaseEpoch }
          }
          world.leaseEpoch = epoch
          await this.#sleep(run, 5)
          return { isTaken: true, epoch }
        },
      },
      send: (sent: SentGroups) => {
        if (world.random() < 0.9) world.stream.set(sent.groups.previous.sequence, sent.groups)
        this.#tellAll(run, (other) => other.agreement?.received(sent))
      },
      carried: async (since) => {
        await this.#sleep(run, 3)
        return world.stream.get(since)
      },
      ask: (name, question) => this.#ask(run, name, question),
      nowMs: () => world.nowMs,
      sleep: (ms) => this.#sleep(run, ms),
      random: world.random,
      onChange: () => {
        this.#companion?.changed()
        if (this.#isReportDue) return
        this.#isReportDue = true
        this.#later(run, 2, () => this.#report(run))
      },
      onFault: (fault) => {
        // What a simulated machine may meet is no fault of the journal.
        if ((fault as Error).message !== 'no answer in time') world.fail(fault)
      },
      onLost: (reason) => {
        this.lost = reason
      },
    }
  }

  #sleep(run: number, ms: number): Promise<void> {
    return new Promise((resolve) => this.#later(run, ms, resolve))
  }
}

function keptBehind(
  { base, baseMembers, records }: Disk,
  record: JournalRecord,
  content: Content,
): Kept {
  const { epoch, members } = content
  const before = records.at(-1)
  const { sequence } = record
  return {
    record,
    epoch: epoch ?? before?.epoch ?? base.epoch,
    epochSequence: epoch === undefined ? (before?.epochSequence ?? 0) : sequence,
    members: members ?? before?.members ?? baseMembers,
    membersSequence: members === undefined ? (before?.membersSequence ?? 0) : sequence,
  }
}

/** Nothing in the world waits for anything else, and a turn of the event loop would take far longer. */
function microtasksRan(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve))
}

/** Neither side can change what is on the way. Clones would take a third of the time of a run. */
function frozen<T extends object>(value: T): T {
  for (const part of Object.values(value)) {
    if (typeof part === 'object' && part !== null) frozen(part)
  }
  return Object.freeze(value)
}

function emptyDisk(incarnation: string): Disk {
  return {
    incarnation,
    epoch: 0,
    base: { ...BEGINNING, epoch: 0 },
    baseMembers: [],
    baseIds: new Set(),
    records: [],
    committed: 0,
  }
}

export type { Report }
