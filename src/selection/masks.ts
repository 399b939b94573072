/**
 * The masks of a snapshot: who is within a boundary. The query workers find each once, when it is first
 * asked for; it is kept by what the boundary is, so that another one never stands for it.
 *
 * Who came since the snapshot is found as they come: of a boundary that is known, only those are looked at
 * who came behind the last ones. The mask of an earlier moment is without whoever came later.
 *
 * @module
 */

import { beforeDeadline } from '../deadline.js'
import { OVERLOADED, ServiceError } from '../errors.js'
import { limits } from '../limits.js'
import { type Caller, callerUntil, type QueryRunner } from '../pool/tasks.js'
import { commonRuns, createMask, drawMaskId, type Mask, maskBytes } from '../shard/mask.js'
import type { Boundary } from './boundary.js'
import { type Catalogue, isDelta } from './catalogue.js'
import { dispatch } from './dispatch.js'
import { planTasks } from './plan.js'

export interface Masks {
  /**
   * The mask of a boundary, at once where it is known.
   *
   * @throws ServiceError  TooComplex, Overloaded or Unavailable, at once or as a rejection
   */
  of(boundary: Boundary, caller: Caller): Mask | Promise<Mask>
}

/** Those of all moments. */
export interface LiveMasks {
  at(moment: Moment): Masks
  /** The memory of those that are kept. */
  keptBytes(): number
}

/** What there is at a moment. */
interface Moment {
  readonly moment: number
  /** Of the moment, or a later one. */
  readonly catalogue: Pick<Catalogue, 'shards'>
  /** How many came to each source; not asked for where no boundary holds. */
  readonly comeCounts: () => readonly number[]
}

type MaskBounds = {
  readonly [name in
    | 'maskBytes'
    | 'masksKeptBytes'
    | 'masksKeptCount'
    | 'masksSoughtCount'
    | 'maskMomentsCount']: number
}

interface MasksOptions {
  /** At moment 0. */
  readonly catalogue: Pick<Catalogue, 'shards'>
  readonly runner: QueryRunner
  readonly queryThreadCount: number
  /** Those of limits.ts unless given. */
  readonly bounds?: MaskBounds
  /** Whether they are looked for under load, too, as where nobody is answered without one. True unless given. */
  readonly isLetIn?: boolean
}

export function createMasks(options: MasksOptions): LiveMasks {
  const { catalogue: atFirst, runner, queryThreadCount, bounds = limits, isLetIn = true } = options
  /** By key of the boundary; those that were asked for least lately come first. */
  const kept = new Map<string, FoundMask | ServiceError>()
  const sought = new Map<string, Promise<FoundMask>>()
  const deltas = atFirst.shards.map(isDelta)

  /** Who is within a boundary of those who are known at a moment. */
  async function find({ key, areas }: Boundary, at: Moment): Promise<FoundMask> {
    try {
      const known = kept.get(key)
      if (known instanceof ServiceError) throw known
      const found =
        known ?? new FoundMask(await within(areas, { ...START, catalogue: atFirst }, 0), deltas)
      if (found.moment < at.moment) {
        found.add(await within(areas, at, found.moment), at.moment, at.comeCounts())
      }
      if (found.byteCount > bounds.maskBytes) throw TOO_COMPLEX
      keep(key, found)
      return found
    } catch (fault) {
      // Of another task it is the fault of the client's shapes, but here the boundary's.
      if (!(fault instanceof ServiceError) || fault.code !== 'TooComplex') throw fault
      keep(key, TOO_COMPLEX)
      throw TOO_COMPLEX
    } finally {
      sought.delete(key)
    }
  }

  /** Who is within all of some areas, as runs of each shard. */
  async function within(
    areas: Boundary['areas'],
    at: Moment,
    since: number,
  ): Promise<readonly Uint32Array[]> {
    const [first, ...others] = await Promise.all(areas.map((area) => cover(area, at, since)))
    return others.reduce(
      (left, right) => left.map((each, shard) => commonRuns(each, right[shard])),
      first,
    )
  }

  /** @param since  behind moment 0, only the deltas are looked at */
  async function cover(
    layers: Boundary['areas'][number],
    { catalogue, moment }: Moment,
    since: number,
  ): Promise<readonly Uint32Array[]> {
    const query = {
      shapes: { included: layers, excluded: [], nearest: [] },
      sourceIds: null,
      isDistinct: false,
    }
    const plan = { countMode: 'ContactLocation', mask: null, moment } as const
    const isWanted = moment === 0 ? () => true : isDelta
    const planned = planTasks('cover', query, plan, catalogue, queryThreadCount)
    const tasks = planned
      .map((task) => {
        const shardIndexes = task.shardIndexes.filter((index) => isWanted(catalogue.shards[index]))
        return { ...task, since, shardIndexes }
      })
      .filter(({ shardIndexes }) => shardIndexes.length > 0)
    const caller = callerUntil(performance.now() + limits.maskSearchMs)
    caller.isLetIn = isLetIn
    return dispatch(runner, tasks, caller, (covered) => {
      const runs: Uint32Array[] = catalogue.shards.map(() => NOBODY)
      for (const [task, { shardIndexes }] of tasks.entries()) {
        for (const [i, shardIndex] of shardIndexes.entries()) runs[shardIndex] = covered[task][i]
      }
      return runs
    })
  }

  function keptBytes(): number {
    let bytes = 0
    for (const each of kept.values()) bytes += bytesOf(each)
    return bytes
  }

  function keep(key: string, mask: FoundMask | ServiceError): void {
    kept.delete(key)
    kept.set(key, mask)
    let bytes = keptBytes()
    for (const [oldest, each] of kept) {
      if (kept.size <= bounds.masksKeptCount && bytes <= bounds.masksKeptBytes) break
      kept.delete(oldest)
      bytes -= bytesOf(each)
    }
  }

  function soughtMask(boundary: Boundary, at: Moment): Promise<FoundMask> {
    const { key } = boundary
    const coming = sought.get(key)
    if (coming !== undefined) return coming
    if (sought.size >= bounds.masksSoughtCount) throw OVERLOADED
    const finding = find(boundary, at)
    sought.set(key, finding)
    return finding
  }

  async function maskAt(boundary: Boundary, at: Moment, first: Promise<FoundMask>): Promise<Mask> {
    let found = await first
    // Another one may have looked for those of an earlier moment.
    while (found.moment < at.moment) found = await soughtMask(boundary, at)
    return found.at(at.comeCounts(), bounds.maskMomentsCount)
  }

  return {
    keptBytes,
    at: (at) => ({
      of(boundary, caller) {
        const { key } = boundary
        const known = kept.get(key)
        if (known !== undefined) {
          kept.delete(key)
          kept.set(key, known)
          if (known instanceof ServiceError) throw known
          if (known.moment >= at.moment) return known.at(at.comeCounts(), bounds.maskMomentsCount)
        }
        return beforeDeadline(maskAt(boundary, at, soughtMask(boundary, at)), caller.deadlineMs)
      },
    }),
  }
}

const START: Omit<Moment, 'catalogue'> = { moment: 0, comeCounts: () => [] }

/** Who is within a boundary, of a snapshot and of those who came up to a moment. */
class FoundMask {
  moment = 0
  readonly #ofShards: Mask
  /** Of the runs; thousands of masks may be kept, of as many shards. */
  byteCount: number
  /** Of each shard, whether it is a delta. */
  readonly #deltas: readonly boolean[]
  /** Of each delta. */
  readonly #ofDeltas: Uint32Array[] = []
  #comeCounts: readonly number[] = []
  /** By how many came. */
  readonly #masks = new Map<string, Mask>()

  /** @param runs  of each shard, with deltas to which nobody came */
  constructor(runs: readonly Uint32Array[], deltas: readonly boolean[]) {
    this.#ofShards = createMask(drawMaskId(), runs)
    this.#deltas = deltas
    this.byteCount = maskBytes(this.#ofShards)
  }

  /**
   * @param runs  of each shard: of deltas those who came since, and perhaps others
   * @param comeCounts  how many came up to the moment
   */
  add(runs: readonly Uint32Array[], moment: number, comeCounts: readonly number[]): void {
    const ofDeltas = runs.filter((_, at) => this.#deltas[at])
    for (const [at, came] of ofDeltas.entries()) {
      const start = this.#comeCounts[at] ?? 0
      const before = this.#ofDeltas[at] ?? NOBODY
      const all = joined(before, cut(came, start, comeCounts[at]))
      this.#ofDeltas[at] = all
      this.byteCount += all.byteLength - before.byteLength
    }
    this.#comeCounts = comeCounts
    this.moment = moment
  }

  at(comeCounts: readonly number[], mostCount: number): Mask {
    if (comeCounts.every((count) => count === 0)) return this.#ofShards
    const key = comeCounts.join(' ')
    const known = this.#masks.get(key)
    if (known !== undefined) return known
    const runs = this.#ofDeltas.map((came, at) => cut(came, 0, comeCounts[at]))
    const ofDeltas = createMask(drawMaskId(), runs)
    let delta = 0
    const mask = {
      id: ofDeltas.id,
      baseId: this.#ofShards.id,
      runs: this.#ofShards.runs.map((each, at) =>
        this.#deltas[at] ? ofDeltas.runs[delta++] : each,
      ),
    }
    this.#masks.set(key, mask)
    const [oldest] = this.#masks.keys()
    if (this.#masks.size > mostCount) this.#masks.delete(oldest)
    return mask
  }
}

/** The part of some runs from one recipient to another. */
function cut(runs: Uint32Array, start: number, end: number): Uint32Array {
  return start >= end ? NOBODY : commonRuns(Uint32Array.of(start, end), runs)
}

/** @param right  behind all of the others */
function joined(left: Uint32Array, right: Uint32Array): Uint32Array {
  const touches = left.length > 0 && right.length > 0 && left[left.length - 1] === right[0]
  const before = touches ? left.subarray(0, -1) : left
  const behind = touches ? right.subarray(1) : right
  const all = new Uint32Array(before.length + behind.length)
  all.set(before)
  all.set(behind, before.length)
  return all
}

const NOBODY = new Uint32Array(0)

const TOO_COMPLEX = new ServiceError(
  'TooComplex',
  'the boundary of this answer costs more work than the service may take; it must be simplified',
  'clipToBoundary',
)

function bytesOf(mask: FoundMask | ServiceError): number {
  return mask instanceof ServiceError ? 0 : mask.byteCount
}
