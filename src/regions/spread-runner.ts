/**
 * Runs the tasks of requests where the shards are that they touch: on the query workers of this machine, and on
 * machines of the cluster that hold the others.
 *
 * A task of shards that do not depend on one another is cut by machine. Where they do (`needsWholeSources`, or each phone
 * counts once), it takes steps: each machine says whom its shards select, or who may be among the nearest, and what
 * depends on all of them is decided here, by the same functions that decide it within one worker. So an answer is the
 * same, byte for byte, wherever the shards are.
 *
 * @module
 */
import { holdsFor, type Nearest } from '../geometry/shapes.js'
import type {
  Caller,
  QueryRunner,
  SelectionKind,
  SelectionTask,
  Task,
  TaskResults,
} from '../pool/tasks.js'
import { picksOf } from '../shard/nearest.js'
import { readOffers } from '../shard/offer-words.js'
import { RunList, recipientCountOf, subtract } from '../shard/runs.js'
import { needsWholeSources } from '../shard/select.js'
import type { Holders } from './holders.js'

/** Runs tasks on other machines. */
export interface Others {
  /**
   * @param task  of shards that this machine does not hold
   * @throws ServiceError
   */
  run<Kind extends Task['kind']>(
    task: Extract<Task, { kind: Kind }>,
    caller: Caller,
  ): Promise<TaskResults[Kind]>
}

interface SpreadOptions {
  readonly local: QueryRunner
  readonly others: Others
  readonly holders: Holders
  /** The name of each shard in tasks. */
  readonly sourceIdOf: (shardIndex: number) => number
}

export class SpreadRunner implements QueryRunner {
  readonly #options: SpreadOptions

  constructor(options: SpreadOptions) {
    this.#options = options
  }

  run<Kind extends Task['kind']>(
    task: Extract<Task, { kind: Kind }>,
    caller: Caller,
  ): Promise<TaskResults[Kind]> {
    const { local, others, holders } = this.#options
    if ('shardIndex' in task) {
      return (holders.isHere(task.shardIndex) ? local : others).run<Kind>(task, caller)
    }
    if (task.shardIndexes.every((index) => holders.isHere(index))) {
      return local.run<Kind>(task, caller)
    }
    const selection = task as SelectionTask<SelectionKind>
    const isWhole = selection.isDistinct || needsWholeSources(selection.shapes, selection.countMode)
    const result =
      isWhole && selection.kind !== 'cover'
        ? this.#inSteps(selection, caller)
        : this.#inParts(selection, caller)
    return result as Promise<TaskResults[Kind]>
  }

  /** A task of shards that are independent, by who holds them. */
  async #inParts<Kind extends SelectionKind>(
    task: SelectionTask<Kind>,
    caller: Caller,
  ): Promise<TaskResults[Kind]> {
    const { local, others, holders } = this.#options
    const places = [...task.shardIndexes.keys()]
    const isHere = (at: number) => holders.isHere(task.shardIndexes[at])
    const results: unknown[] = []
    const run = async (runner: Pick<QueryRunner, 'run'>, own: readonly number[]) => {
      if (own.length === 0) return
      const part = partOf(task, own)
      const found = await runner.run<Kind>(part as Extract<Task, { kind: Kind }>, caller)
      for (const [i, at] of own.entries()) results[at] = (found as readonly unknown[])[i]
    }
    await Promise.all([
      run(local, places.filter(isHere)),
      run(
        others,
        places.filter((at) => !isHere(at)),
      ),
    ])
    return results as unknown as TaskResults[Kind]
  }

  async #inSteps(
    task: SelectionTask<SelectionKind>,
    caller: Caller,
  ): Promise<readonly number[] | readonly Uint32Array[]> {
    const { local, sourceIdOf } = this.#options
    const { shardIndexes, shapes, countMode, isDistinct } = task
    const runs: Uint32Array[] = []
    const place = (found: readonly Uint32Array[], own: readonly number[]) => {
      for (const [i, at] of own.entries()) runs[at] = found[i]
    }
    const each: number[] = []
    const ofNearest = new Map<number, number[]>()
    for (const [at, index] of shardIndexes.entries()) {
      const sourceId = sourceIdOf(index)
      if (!shapes.nearest.some((near) => holdsFor(near, sourceId))) each.push(at)
      else ofNearest.set(sourceId, [...(ofNearest.get(sourceId) ?? []), at])
    }
    await Promise.all([
      this.#eachOf(partOf(task, each), caller).then((found) => place(found, each)),
      ...[...ofNearest].map(async ([sourceId, own]) => {
        const nearest = shapes.nearest.filter((near) => holdsFor(near, sourceId))
        place(await this.#nearestOf(partOf(task, own), nearest, caller), own)
      }),
    ])
    const counting =
      countMode === 'Contact' || isDistinct
        ? await local.run<'firsts'>({ ...task, kind: 'firsts', given: runs }, caller)
        : runs
    return task.kind === 'count' ? counting.map(recipientCountOf) : counting
  }

  /** Whom the layers select, each of them. */
  async #eachOf(
    { shapes, ...task }: SelectionTask<SelectionKind>,
    caller: Caller,
  ): Promise<readonly Uint32Array[]> {
    const plain = { countMode: 'ContactLocation', isDistinct: false } as const
    const layers = { ...shapes, nearest: [] }
    return await this.#inParts({ ...task, ...plain, shapes: layers, kind: 'select' }, caller)
  }

  /** See `selectNearest`, which has the same steps. */
  async #nearestOf(
    task: SelectionTask<SelectionKind>,
    nearest: readonly Nearest[],
    caller: Caller,
  ): Promise<readonly Uint32Array[]> {
    const nobody = task.shardIndexes.map(() => NOBODY)
    const pick = async (isExcluded: boolean, taken: readonly Uint32Array[]) => {
      const wanted = nearest.filter((each) => each.isExcluded === isExcluded)
      const shapes = { ...task.shapes, nearest: wanted }
      const offering = { ...task, kind: 'offer', shapes, given: taken, isDistinct: false } as const
      const words = await this.#inParts<'offer'>(offering, caller)
      // Each machine had a budget of its own for what it offers, and no more than the sum of the counts comes here.
      return picksOf(words.length, wanted, readOffers(words), { edgeTestCount: Infinity })
    }
    const taken = nearest.some(({ isExcluded }) => isExcluded) ? await pick(true, nobody) : nobody
    if (nearest.some(({ isExcluded }) => !isExcluded)) return await pick(false, taken)
    const area = await this.#eachOf(task, caller)
    return area.map((runs, at) => without(runs, taken[at]))
  }
}

/** @param places  of some of its shards */
function partOf<Kind extends SelectionKind>(
  task: SelectionTask<Kind>,
  places: readonly number[],
): SelectionTask<Kind> {
  const { shardIndexes, given } = task
  return {
    ...task,
    shardIndexes: places.map((at) => shardIndexes[at]),
    ...(given && { given: places.map((at) => given[at]) }),
  }
}

function without(runs: Uint32Array, taken: Uint32Array): Uint32Array {
  if (taken.length === 0) return runs
  const [from, minus, left] = [new RunList(), new RunList(), new RunList()]
  from.appendPairs(runs)
  minus.appendPairs(taken)
  subtract(from, minus, left)
  return left.toPairs()
}

const NOBODY = new Uint32Array(0)
