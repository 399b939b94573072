/**
 * Machines in the test's own thread, each of which holds some of the shards and asks the others for what it does not hold.
 *
 * @module
 */
import type { Caller, QueryRunner, Task } from '../../../src/pool/messages.js'
import { SpreadRunner } from '../../../src/regions/spread-runner.js'
import type { BoundaryRule } from '../../../src/selection/boundary.js'
import type { CatalogueSource } from '../../../src/selection/catalogue.js'
import { catalogueOf } from '../../../src/selection/catalogue.js'
import type { ShardImage } from '../../../src/shard/layout.js'
import { type LocalService, serviceOf } from './local-service.js'

interface SpreadOptions {
  readonly snapshotId?: string
  readonly sources: readonly CatalogueSource[]
  readonly rule: BoundaryRule
  /** By place in the snapshot, the index of the machine that holds the shard. */
  readonly holderOf: readonly number[]
  readonly imagesOf: (machine: number) => readonly ShardImage[]
}

/** Every machine answers for all. */
export function spreadMachines(options: SpreadOptions): LocalService[] {
  const { snapshotId = '000001-00000000', sources, rule, holderOf, imagesOf } = options
  const locals: QueryRunner[] = []
  const machineCount = Math.max(...holderOf, 1) + 1
  return Array.from({ length: machineCount }, (_, machine) => {
    const images = imagesOf(machine)
    const { shards } = catalogueOf({ snapshotId, createdAt: '', sources, shards: images })
    // Every machine holds all deltas.
    const machineOf = (index: number) => holderOf[shards[index].placeId] ?? machine
    return serviceOf(snapshotId, sources, images, rule, (local) => {
      locals[machine] = local
      const others: QueryRunner = {
        run: (task, caller) => askOthers(locals, task, caller, machineOf) as never,
      }
      const holders = { isHere: (index: number) => machineOf(index) === machine, of: () => [] }
      const sourceIdOf = (index: number) => shards[index].sourceId
      return new SpreadRunner({ local, others, holders, sourceIdOf })
    })
  })
}

async function askOthers(
  locals: readonly QueryRunner[],
  task: Task,
  caller: Caller,
  machineOf: (shardIndex: number) => number,
): Promise<unknown> {
  if ('shardIndex' in task) {
    return await locals[machineOf(task.shardIndex)].run(task as never, caller)
  }
  const results: unknown[] = []
  for (const [at, shardIndex] of task.shardIndexes.entries()) {
    const given = task.given && [task.given[at]]
    const part = { ...task, shardIndexes: [shardIndex], ...(given && { given }) }
    const found = await locals[machineOf(shardIndex)].run(part as never, caller)
    results.push((found as readonly unknown[])[0])
  }
  return results
}
