/**
 * The masks of a snapshot: who is within a boundary. The query workers find each once, when it is first
 * asked for; it is kept by what the boundary is, so that another one never stands for it.
 *
 * @module
 */

import { beforeDeadline } from '../deadline.js'
import { OVERLOADED, ServiceError } from '../errors.js'
import { limits } from '../limits.js'
import { type Caller, callerUntil, type QueryRunner } from '../pool/messages.js'
import { commonRuns, createMask, type Mask, maskBytes } from '../shard/mask.js'
import type { Boundary } from './boundary.js'
import type { Catalogue } from './catalogue.js'
import { dispatch } from './dispatch.js'
import { planTasks } from './plan.js'

export interface Masks {
  /**
   * The mask of a boundary, at once where it is known.
   *
   * @throws ServiceError  TooComplex, Overloaded or Unavailable, at once or as a rejection
   */
  of(boundary: Boundary, caller: Caller): Mask | Promise<Mask>
  /** The memory of those that are kept. */
  keptBytes(): number
}

type MaskBounds = {
  readonly [name in 'maskBytes' | 'masksKeptBytes' | 'masksKeptCount' | 'masksSoughtCount']: number
}

interface MasksOptions {
  readonly catalogue: Pick<Catalogue, 'shards'>
  readonly runner: QueryRunner
  readonly queryThreadCount: number
  /** Those of limits.ts unless given. */
  readonly bounds?: MaskBounds
}

export function createMasks(options: MasksOptions): Masks {
  const { catalogue, runner, queryThreadCount, bounds = limits } = options
  /** By key of the boundary; those that were asked for least lately come first. */
  const kept = new Map<string, Mask | ServiceError>()
  const sought = new Map<string, Promise<Mask>>()

  async function find({ key, areas }: Boundary): Promise<Mask> {
    try {
      const [first, ...others] = await Promise.all(areas.map(cover))
      const runs = others.reduce(
        (left, right) => left.map((each, shard) => commonRuns(each, right[shard])),
        first,
      )
      const mask = createMask(nextId++, runs)
      if (maskBytes(mask) > bounds.maskBytes) throw TOO_COMPLEX
      keep(key, mask)
      return mask
    } catch (fault) {
      // Of another task it is the fault of the client's shapes, but here the boundary's.
      if (!(fault instanceof ServiceError) || fault.code !== 'TooComplex') throw fault
      keep(key, TOO_COMPLEX)
      throw TOO_COMPLEX
    } finally {
      sought.delete(key)
    }
  }

  /** Who is within an area, as runs of each shard. */
  async function cover(layers: Boundary['areas'][number]): Promise<readonly Uint32Array[]> {
    const query = {
      shapes: { included: layers, excluded: [], nearest: [] },
      sourceIds: null,
      isDistinct: false,
    }
    const plan = { countMode: 'ContactLocation', mask: null } as const
    const tasks = planTasks('cover', query, plan, catalogue, queryThreadCount)
    const caller = callerUntil(performance.now() + limits.maskSearchMs)
    // Under load, too: until there is a mask, nobody who needs it is answered.
    caller.isLetIn = true
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

  function keep(key: string, mask: Mask | ServiceError): void {
    kept.set(key, mask)
    let bytes = keptBytes()
    for (const [oldest, each] of kept) {
      if (kept.size <= bounds.masksKeptCount && bytes <= bounds.masksKeptBytes) break
      kept.delete(oldest)
      bytes -= bytesOf(each)
    }
  }

  return {
    keptBytes,
    of(boundary, caller) {
      const { key } = boundary
      const known = kept.get(key)
      if (known !== undefined) {
        kept.delete(key)
        kept.set(key, known)
        if (known instanceof ServiceError) throw known
        return known
      }
      let coming = sought.get(key)
      if (coming === undefined) {
        if (sought.size >= bounds.masksSoughtCount) throw OVERLOADED
        coming = find(boundary)
        sought.set(key, coming)
      }
      return beforeDeadline(coming, caller.deadlineMs)
    },
  }
}

/** 0 is no mask. */
let nextId = 1

const NOBODY = new Uint32Array(0)

const TOO_COMPLEX = new ServiceError(
  'TooComplex',
  'the boundary of this answer costs more work than the service may take; it must be simplified',
  'clipToBoundary',
)

function bytesOf(mask: Mask | ServiceError): number {
  return mask instanceof ServiceError ? 0 : maskBytes(mask)
}
