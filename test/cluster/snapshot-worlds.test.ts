/**
 * Commands make snapshots on several machines at once, while some of these are killed, started again, or cut off: all end
 * with the same snapshot, and each command is told truly what became of its own.
 */
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { type Entry, encodeEntry } from '../../src/cluster/entries.js'
import { type Announcement, Facts, type KnownFacts, NO_FACTS } from '../../src/cluster/facts.js'
import type { Published } from '../../src/cluster/questions.js'
import { SnapshotDesk } from '../../src/cluster/snapshot-desk.js'
import {
  announcedSnapshot,
  areSame,
  filesHere,
  filesOfSnapshot,
  SnapshotFiles,
} from '../../src/cluster/snapshot-files.js'
import type { FileDigest } from '../../src/cluster/verified-file.js'
import { limits } from '../../src/limits.js'
import { monotonicMs } from '../../src/monotonic.js'
import { listSnapshots, readCurrent, writeCurrent } from '../../src/snapshot/directory.js'
import { beginSnapshot } from '../../src/snapshot/publish/begin.js'
import { withDataLock } from '../../src/snapshot/publish/lock.js'
import { readLineage } from '../../src/snapshot/retention/history.js'
import { manyColumns } from '../support/data/columns.js'
import { publishTest, silentLog } from '../support/data/snapshots.js'
import { testSeed, testWorlds } from '../support/random/properties.js'
import { type Random, seededRandom } from '../support/random/world.js'
import { temporaryDirectory } from '../support/service/hickory.js'
import { untilTold } from '../support/service/until.js'
import { byTier } from '../support/tier.js'

const TICK_MS = 10

/** What all machines have in common. */
class World {
  readonly random: Random
  readonly machines: Machine[] = []
  readonly entries: Uint8Array[] = []
  /** Of the object store, by digest. */
  readonly files = new Map<string, Buffer>()
  /** What all of the log says. */
  readonly facts = new Facts(NO_FACTS, monotonicMs)
  readonly counted: Announcement[] = []
  readonly commands: Command[] = []
  readonly story: string[] = []

  constructor(seed: number) {
    this.random = seededRandom(seed)
  }

  add(entry: Entry): number {
    const content = encodeEntry(entry)
    const sequence = this.entries.push(content)
    const before = this.facts.announced
    this.facts.note(sequence, content)
    const { announced } = this.facts
    if (announced !== undefined && announced !== before) this.counted.push(announced)
    if (entry.kind === 'snapshot' || entry.kind === 'switch') {
      const counts = announced !== before
      const about = entry.kind === 'snapshot' ? `by ${entry.by} behind ${entry.base} ${counts}` : ''
      this.story.push(`${sequence}: ${entry.kind} ${entry.id} ${about}`)
    }
    return sequence
  }
}

interface Command {
  readonly machine: string
  readonly id: string
  readonly isImport: boolean
  readonly documents: Announcement['documents']
  /** What it was made from, the last first, and itself. */
  readonly lineage: readonly string[]
  /** Entries that were there before it. */
  readonly since: number
  told: Published | undefined
}

class Machine {
  readonly name: string
  readonly data: string
  readonly #world: World
  isUp = false
  isCutOff = false
  /** What is kept beside its journal. */
  #known: KnownFacts = NO_FACTS
  #facts = new Facts(NO_FACTS, monotonicMs)
  #desk: SnapshotDesk | undefined
  #timer: NodeJS.Timeout | undefined
  #served: { servedId: string; preparedId: string | undefined } | undefined
  #isOther = false
  /** Its entries come one after the other. */
  #sent: Promise<unknown> = Promise.resolve()

  constructor(world: World, name: string, data: string) {
    this.#world = world
    this.name = name
    this.data = data
  }

  get report() {
    const { servedId: snapshotId, preparedId } = this.#served ?? {}
    return { name: this.name, snapshotId, preparedId }
  }

  get servedId(): string | undefined {
    return this.#served?.servedId
  }

  async start(): Promise<void> {
    const { announced } = this.#facts
    // As the service does, which looks what is current.
    if (this.#isOther && announced && announced.id === (await readCurrent(this.data))) {
      await this.#newFiles().repair(announced)
    }
    this.#isOther = false
    this.#facts = new Facts(this.#known, monotonicMs)
    const current = await readCurrent(this.data)
    this.#served = current === undefined ? undefined : { servedId: current, preparedId: undefined }
    this.isUp = true
    const desk = this.#newDesk()
    this.#desk = desk
    this.#timer = setInterval(() => {
      this.#read()
      desk.look()
      if (this.#isOther) void this.kill().then(() => this.start())
    }, TICK_MS)
  }

  async kill(): Promise<void> {
    if (!this.isUp) return
    this.isUp = false
    clearInterval(this.#timer)
    await this.#desk?.stop()
    this.#served = undefined
  }

  async published(id: string): Promise<Published | undefined> {
    return this.isUp ? await this.#desk?.published(id) : undefined
  }

  async isSettled(): Promise<boolean> {
    const { announced, switchedId } = this.#world.facts
    const current = await readCurrent(this.data)
    return announced?.id === switchedId && current === switchedId && this.servedId === switchedId
  }

  #newDesk(): SnapshotDesk {
    const { machines } = this.#world
    const facts = this.#facts
    const last = () => ({ sequence: facts.sequence, hash: '' })
    const journal = {
      facts,
      get last() {
        return last()
      },
      hasOldFiles: () => false,
      removeUpTo: async () => {},
    }
    return new SnapshotDesk({
      dataDirectory: this.data,
      name: this.name,
      journal,
      snapshots: this.#newFiles(),
      reports: () =>
        machines.flatMap((machine) => {
          const isThere = machine === this || (machine.isUp && !machine.isCutOff && !this.isCutOff)
          return isThere ? [machine.report] : []
        }),
      placement: () => undefined,
      enter: (entry) => this.#enter(entry),
      served: () => this.#served,
      stored: async () => 0,
      keepFacts: async () => {},
      onWanted: ({ wantedId, switchedId }) => {
        if (!this.isUp) return
        const isServed = switchedId === wantedId || this.#served === undefined
        const servedId = isServed ? wantedId : (this.#served?.servedId ?? wantedId)
        this.#served = { servedId, preparedId: isServed ? undefined : wantedId }
      },
      onOtherServed: () => {
        this.#isOther = true
      },
      log: silentLog,
    })
  }

  #newFiles(): SnapshotFiles {
    const put = async (path: string, { sha256 }: FileDigest) => {
      this.#assertUp()
      if (this.#world.random.unit() < 0.2) throw new Error('timeout')
      this.#world.files.set(sha256, readFileSync(path))
      await this.#pause()
      this.#assertUp()
    }
    const files = { put, get: (file: FileDigest, path: string) => this.#get(file, path) }
    return new SnapshotFiles({ dataDirectory: this.data, files, log: silentLog })
  }

  #read(): void {
    if (this.isCutOff || !this.isUp) return
    for (const content of this.#world.entries.slice(this.#facts.sequence)) {
      this.#facts.note(this.#facts.sequence + 1, content)
    }
    this.#known = this.#facts.known()
  }

  async #enter(entry: Entry): Promise<number | undefined> {
    this.#assertUp()
    const { random } = this.#world
    const isLost = random.unit() < 0.1
    const isUnknown = isLost || random.unit() < 0.2
    const added = this.#sent.then(async () => {
      await this.#pause()
      while (this.isCutOff) await sleep(TICK_MS)
      return isLost ? undefined : this.#world.add(entry)
    })
    this.#sent = added
    if (isUnknown) return undefined
    const sequence = await Promise.race([added, sleep(30 * TICK_MS, undefined, { ref: false })])
    this.#assertUp()
    if (sequence === undefined) return undefined
    this.#read()
    return this.#facts.sequence >= sequence ? sequence : undefined
  }

  async #get({ sha256 }: FileDigest, path: string): Promise<void> {
    await this.#pause()
    const bytes = this.#world.files.get(sha256) ?? (await this.#ofOthers(sha256))
    if (bytes === undefined) throw new Error('no machine has it')
    writeFileSync(path, bytes)
  }

  async #ofOthers(sha256: string): Promise<Buffer | undefined> {
    for (const { isUp, isCutOff, data } of this.#world.machines) {
      if (!isUp || isCutOff || data === this.data) continue
      const found = (await filesHere(data)).get(sha256)
      if (found !== undefined) return readFileSync(found)
    }
    return undefined
  }

  #assertUp(): void {
    if (!this.isUp) throw new Error('killed')
  }

  async #pause(): Promise<void> {
    await sleep(this.#world.random.between(0, 3))
  }
}

/** As `hickory import` and `hickory rollback`: with the lock, and asking what became of it without. */
async function command(world: World, machine: Machine, isImport: boolean): Promise<void> {
  const { random, entries, story } = world
  const { data, name } = machine
  const size = random.between(1, 3)
  const pauseMs = random.between(0, 60)
  const since = entries.length
  const snapshot = await withDataLock(data, async (lock) => {
    if (!isImport) {
      const ids = await listSnapshots(data)
      const current = await readCurrent(data)
      const [other] = ids.filter((one) => one !== current)
      if (other === undefined) return undefined
      await writeCurrent(data, other)
      return await announcedSnapshot(data, other)
    }
    const begun = await readCurrent(data)
    const draft = await beginSnapshot(lock, { log: silentLog })
    await draft.put({ id: 1, label: 'x' }, manyColumns(size))
    await sleep(pauseMs)
    const before = await readCurrent(data)
    if (before !== begun) throw new Error('CURRENT has changed beneath an import')
    return await announcedSnapshot(data, (await draft.publish()).snapshotId)
  }).catch((fault: Error) => {
    // One of the same id came first.
    if (/CURRENT has changed/.test(fault.message)) throw fault
    return undefined
  })
  if (snapshot === undefined) return
  const { id, documents } = snapshot
  story.push(`${name} ${isImport ? 'imports' : 'goes back to'} ${id}`)
  const lineage = await readLineage(data, id, await listSnapshots(data))
  const made: Command = { machine: name, id, isImport, documents, lineage, since, told: undefined }
  world.commands.push(made)
  if (!machine.isUp) return
  const endMs = monotonicMs() + 20_000
  while (monotonicMs() < endMs) {
    const told = await machine.published(id)
    if (told === undefined) return
    if (told.kind !== 'waiting') {
      made.told = told
      story.push(`${name} says of ${id}: ${told.kind}`)
      return
    }
    await sleep(TICK_MS)
  }
}

async function act(world: World, commands: Promise<void>[]): Promise<void> {
  const { random, machines, story } = world
  const machine = random.pick(machines)
  const chance = random.unit()
  if (chance < 0.55) commands.push(command(world, machine, true))
  else if (chance < 0.7) commands.push(command(world, machine, false))
  else if (chance < 0.85 && machine.isUp) {
    story.push(`${machine.name} is killed`)
    await machine.kill()
    if (random.unit() < 0.5) await machine.start()
  } else if (!machine.isUp) {
    story.push(`${machine.name} starts`)
    await machine.start()
  } else {
    machine.isCutOff = !machine.isCutOff
    story.push(`${machine.name} is ${machine.isCutOff ? 'cut off' : 'back'}`)
  }
  await sleep(random.between(0, 120))
}

async function begin(t: Test, seed: number): Promise<World> {
  const world = new World(seed)
  const { machines } = world
  const founder = new Machine(world, 'a', temporaryDirectory(t))
  await publishTest(founder.data, 1, manyColumns(1))
  machines.push(founder)
  await founder.start()
  await untilTold(() => founder.isSettled())
  for (const name of ['b', 'c']) {
    const data = temporaryDirectory(t)
    cpSync(founder.data, data, { recursive: true, filter: (path) => !/\.lock/.test(path) })
    const machine = new Machine(world, name, data)
    machines.push(machine)
    await machine.start()
  }
  return world
}

/** Whether a command was told what is so. */
function isTrue(world: World, command: Command): boolean {
  const { machine: by, id, isImport, documents, since, told } = command
  const own = world.counted.filter((one) => one.by === by && one.sequence > since)
  // Made in the same millisecond.
  const isSame = (one: Announcement) => one.id === id && areSame(one.documents, documents)
  if (told?.kind === 'refused') return isImport ? !own.some(isSame) : true
  if (told?.kind !== 'announced') return true
  if (world.counted.some(isSame)) return true
  const isBehind = ({ machine, id: later, lineage }: Command) =>
    machine === by && own.some((one) => one.id === later) && lineage.includes(id)
  return world.commands.some(isBehind)
}

async function play(t: Test, seed: number, number: number): Promise<void> {
  const world = await begin(t, seed + number)
  const { machines, random, facts, story } = world
  story.push(`world ${number}`)
  const commands: Promise<void>[] = []
  try {
    const count = random.between(4, 12)
    for (let step = 0; step < count; step++) await act(world, commands)
    for (const machine of machines) {
      machine.isCutOff = false
      if (!machine.isUp) await machine.start()
    }
    await Promise.all(commands)
    const areSettled = async () => {
      for (const machine of machines) if (!(await machine.isSettled())) return false
      return true
    }
    await untilTold(areSettled, 20_000)
    // What nobody waits for may come all the same.
    await sleep(10 * TICK_MS)
    await untilTold(areSettled, 20_000)
    const { announced } = facts
    for (const { name, data } of machines) {
      for (const id of await listSnapshots(data)) {
        const { documents } = await announcedSnapshot(data, id)
        const all = world.counted.filter((one) => one.id === id)
        const isIt = (one: Pick<Announcement, 'documents'>) => areSame(one.documents, documents)
        const isKnown = all.length === 0 || all.some(isIt)
        // A command without its service leaves what may be gone back to, of the same recipients as the other one.
        const isOwn = world.commands.some(
          (one) => one.machine === name && one.id === id && isIt(one),
        )
        t.ok(
          isKnown || (isOwn && story.includes(`${name} is killed`)),
          `${name} has ${id} as it was announced`,
          { story },
        )
      }
      const { documents } = await announcedSnapshot(data, announced?.id ?? '')
      t.ok(areSame(documents, announced?.documents ?? []), `${name} has what was announced last`, {
        story,
      })
      const files = await filesOfSnapshot(data, announced?.id ?? '')
      const names = readdirSync(join(data, 'snapshots', announced?.id ?? '')).sort()
      t.same(names, files.map(({ file }) => file).sort())
    }
    for (const command of world.commands) {
      const { machine, id, told } = command
      t.ok(isTrue(world, command), `${machine} says of ${id}: ${told?.kind}`, { story })
      if (told?.kind !== 'refused' || !command.isImport) continue
      const { data } = machines.find(({ name }) => name === machine) as Machine
      const isCounted = world.counted.some((one) => one.id === id)
      const isThere = (await listSnapshots(data)).includes(id)
      const wasKilled = story.includes(`${machine} is killed`)
      t.ok(isCounted || wasKilled || !isThere, `${machine} has removed ${id}`, { story })
    }
  } catch (fault) {
    t.fail(`${fault}`, { story })
  } finally {
    for (const machine of machines) await machine.kill()
    for (const { data } of machines) rmSync(data, { recursive: true, force: true })
  }
}

t.test('machines agree on one snapshot, and tell the truth of the others', async (t) => {
  const { clusterSwitchMs, fetchRetryMs } = limits
  Object.assign(limits, { clusterSwitchMs: 300, fetchRetryMs: 20 })
  t.teardown(() => Object.assign(limits, { clusterSwitchMs, fetchRetryMs }))
  const seed = testSeed(t)
  const worlds = testWorlds(byTier({ ci: 3, soak: 400 }))
  // They wait most of the time.
  for (let at = 0; at < worlds.length; at += 8) {
    await Promise.all(worlds.slice(at, at + 8).map((world) => play(t, seed, world)))
  }
})
