/**
 * Machines in the test's own thread, each of which holds some of the shards, and asks the others for what it does not hold
 * by the bytes that would travel.
 *
 * @module
 */
import { OtherMachines } from '../../../src/regions/other-machines.js'
import { SpreadRunner } from '../../../src/regions/spread-runner.js'
import { TaskDesk } from '../../../src/regions/task-desk.js'
import type { BoundaryRule } from '../../../src/selection/boundary.js'
import { type CatalogueSource, catalogueOf } from '../../../src/selection/catalogue.js'
import type { ShardImage } from '../../../src/shard/layout.js'
import { type LocalService, serviceOf } from './local-service.js'

interface SpreadOptions {
  readonly snapshotId?: string
  readonly sources: readonly CatalogueSource[]
  readonly rule: BoundaryRule
  /** By place in the snapshot, the machines that hold the shard. */
  readonly holders: readonly (readonly string[])[]
  readonly machines: readonly string[]
  readonly imagesOf: (machine: string) => readonly ShardImage[]
  /** What becomes of a question on its way; answered unless given. */
  readonly onWay?: (machine: string) => 'answered' | 'lost' | 'refused'
}

/** Every machine answers for all. */
export function spreadMachines(options: SpreadOptions): LocalService[] {
  const { snapshotId = '000001-00000000', sources, rule, holders, machines, imagesOf } = options
  const { onWay = () => 'answered' } = options
  const desks = new Map<string, TaskDesk>()
  const levels = new Map(machines.map((machine) => [machine, true]))
  const way = {
    async ask(machine: string, question: Uint8Array, waitMs: number) {
      const fate = onWay(machine)
      if (fate === 'lost') {
        await new Promise((_, reject) => setTimeout(() => reject(new Error('lost')), waitMs))
      }
      levels.set(machine, fate !== 'refused')
      const answer = await desks.get(machine)?.answer(Uint8Array.from(question))
      if (answer === undefined) throw new Error(`${machine} is not there`)
      return answer
    },
  }
  return machines.map((machine) => {
    const images = imagesOf(machine)
    const { shards } = catalogueOf({ snapshotId, createdAt: '', sources, shards: images })
    // Every machine holds all deltas.
    const holdersOf = (index: number) => holders[shards[index].placeId] ?? [machine]
    const isHere = (index: number) => holdersOf(index).includes(machine)
    const desk = new TaskDesk(() => levels.get(machine) === true)
    desks.set(machine, desk)
    return serviceOf(snapshotId, sources, images, rule, (local) => {
      const untilMoment = async () => true
      desk.open(snapshotId, { local, shardCount: shards.length, isHere, untilMoment })
      const known = {
        isHere,
        of: (index: number) => holdersOf(index).filter((each) => each !== machine),
      }
      const indexes = [...shards.keys()]
      const others = new OtherMachines({
        way,
        snapshotId,
        holders: known,
        heldBy: (other) => indexes.filter((index) => holdersOf(index).includes(other)),
        askerId: machine,
      })
      const sourceIdOf = (index: number) => shards[index].sourceId
      return new SpreadRunner({ local, others, holders: known, sourceIdOf })
    })
  })
}
