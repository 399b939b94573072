/**
 * One run of the world: clients write, machines fail in every way, and in the end all have the same journal.
 */
import assert from 'node:assert/strict'
import type { Machine, World } from './world.js'

/** A batch that a client sends until it is told that it is committed. */
interface Sent {
  readonly ids: readonly string[]
  isSettled: boolean
}

export async function runWorld(world: World, rounds: number): Promise<string> {
  const { machines } = world
  const founder = machines[0]
  for (const machine of machines) machine.start(machine === founder)
  await world.run(3_000)
  assert(founder.agreement?.isWriter, 'the founder writes')
  const isLost = () => world.options.acks === 'one'
  const sent: Sent[] = []
  let made = 0
  let faults = ''
  for (let round = 0; round < rounds; round++) {
    for (let batch = world.integer(4); batch > 0; batch--) {
      const ids = Array.from({ length: 1 + world.integer(3) }, () => `b${made++}`)
      sent.push({ ids, isSettled: false })
    }
    for (const each of sent.filter(({ isSettled }) => !isSettled)) send(world, each)
    // Sometimes at once, sometimes when somebody else has become the writer.
    await world.run(world.random() < 0.5 ? 30 * world.random() : 2_500 * world.random() ** 2)
    if (world.random() < 0.6) faults += fail(world)
    seedLost(world)
    await world.run(30 * world.random() ** 2)
  }
  heal(world)
  for (let wait = 0; ; wait++) {
    for (const each of sent.filter(({ isSettled }) => !isSettled)) send(world, each)
    await world.run(500)
    seedLost(world)
    if (sent.every(({ isSettled }) => isSettled) && isLevel(world)) break
    if (wait > 60 && !isLost()) {
      const states = machines.map((machine) =>
        JSON.stringify({
          ...machine.agreement?.report(),
          lost: machine.lost,
          members: machine.agreement?.members(),
          writer: machine.agreement?.writer,
        }),
      )
      throw new Error(`the machines do not become level after ${faults}:\n${states.join('\n')}`)
    }
  }
  for (const [id, sequence] of world.acknowledged) {
    assert.equal(world.agreed.get(sequence)?.id, id, `batch ${id} is lost`)
  }
  for (const { ids } of sent) {
    for (const id of ids) assert(world.sequences.has(id), `batch ${id} was told to be written`)
  }
  return faults
}

/** To a machine that may be the writer; nobody says what became of it otherwise. */
function send(world: World, sent: Sent): void {
  const machine = world.pick(world.machines)
  let count = 0
  machine.write(sent.ids, (sequence) => {
    const id = world.agreed.get(sequence)?.id as string
    const before = world.acknowledged.get(id)
    assert(before === undefined || before === sequence, `batch ${id} is there twice`)
    world.acknowledged.set(id, sequence)
    if (++count >= sent.ids.length) sent.isSettled = true
  })
}

function fail(world: World): string {
  const { machines } = world
  const up = machines.filter(({ isUp }) => isUp)
  const writers = up.filter(({ agreement }) => agreement?.isWriter)
  // What befalls the writer tells most.
  const machine = world.pick(writers.length > 0 && world.random() < 0.5 ? writers : machines)
  switch (world.integer(15)) {
    case 0:
    case 1:
    case 11:
      if (!machine.isUp) {
        machine.start(false)
        return `+${machine.at}`
      }
      machine.crash()
      return `-${machine.at}`
    case 2:
      if (!machine.isUp || machine.stoppedUntilMs > world.nowMs) return ''
      machine.stoppedUntilMs = world.nowMs + 5_000 * world.random() ** 2
      return `z${machine.at}`
    case 3: {
      // Cut off, both ways or one way.
      const ways = world.integer(3)
      for (const other of machines) {
        if (ways !== 1) world.blocked.add(`${machine.at}>${other.at}`)
        if (ways !== 2) world.blocked.add(`${other.at}>${machine.at}`)
      }
      return `x${machine.at}`
    }
    case 4: {
      const other = world.pick(machines)
      world.blocked.add(`${machine.at}>${other.at}`)
      return `x${machine.at}${other.at}`
    }
    case 5:
    case 12:
    case 13:
    case 14:
      for (const down of machines) if (!down.isUp && world.random() < 0.7) down.start(false)
      world.blocked.clear()
      world.lossRate = 0
      return 'o'
    case 6:
      world.lossRate = world.random() < 0.5 ? 0 : 0.3 * world.random()
      return 'l'
    case 7:
      machine.diskMs = world.random() < 0.5 ? 1 : 1_000 * world.random()
      return 'd'
    case 8:
      // What a lease was taken for is forgotten, as after a loss of its last changes; or it is not there.
      if (world.random() < 0.5) world.leaseEpoch = Math.max(0, world.leaseEpoch - world.integer(3))
      else world.isLeaseThere = !world.isLeaseThere
      return 'e'
    case 9:
      // Of one machine at a time: what a majority has lost is lost.
      if (isWhole(world) && world.random() < 0.5) {
        machine.wipe(world.pick(machines.filter((other) => other !== machine)))
        machine.start(false)
        return `w${machine.at}`
      }
      if (up.length > 0) world.pick(up).cut()
      return 'c'
    default:
      return handOver(world, machine)
  }
}

function handOver(world: World, machine: Machine): string {
  const to = world.pick(world.machines).name
  void machine.agreement?.answer<'handOver'>({ kind: 'handOver', to }).catch(() => {})
  return 'h'
}

/** Whether all machines are there and have nearly all. */
function isWhole({ machines, agreed }: World): boolean {
  return machines.every(
    ({ isUp, agreement, disk }) => isUp && agreement?.isMember() && disk.committed === agreed.size,
  )
}

function heal(world: World): void {
  world.blocked.clear()
  world.lossRate = 0
  world.isLeaseThere = true
  for (const machine of world.machines) {
    machine.diskMs = 1
    machine.stoppedUntilMs = 0
    if (!machine.isUp) machine.start(false)
  }
}

/** As their processes would: those that lack what is gone begin anew. */
function seedLost({ machines }: World): void {
  for (const machine of machines) {
    const writer = machines.find(({ name }) => name === machine.agreement?.writer)
    if (machine.lost !== 'gone' || writer === undefined || !writer.agreement?.isWriter) continue
    machine.seed(writer)
    machine.start(false)
  }
}

function isLevel({ machines, agreed }: World): boolean {
  return machines.every(
    ({ disk, agreement }) => agreement?.isMember() && disk.committed === agreed.size,
  )
}
