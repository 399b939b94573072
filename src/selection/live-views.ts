/**
 * A snapshot at all its moments: what a request is answered from. A *view* is a service at one moment; the
 * newest one takes the place of the one before it with each increment.
 *
 * @module
 */
import { OVERLOADED } from '../errors.js'
import { limits } from '../limits.js'
import type { QueryRunner } from '../pool/tasks.js'
import { countUpTo } from '../shard/delta/gone-log.js'
import { growingWords } from '../shard/delta/growing.js'
import type { Increment } from '../shard/delta/increment.js'
import type { Box } from '../shard/layout.js'
import type { SelectionService } from './answer.js'
import { type CatalogueSource, catalogueOf } from './catalogue.js'
import { createMasks, type LiveMasks } from './masks.js'
import { NamedCounts } from './named-runs.js'
import type { Views } from './view-for.js'

interface ViewOptions
  extends Pick<
    SelectionService,
    'areas' | 'boundaryRule' | 'countMode' | 'queryThreadCount' | 'unknownMembers' | 'freshness'
  > {
  readonly snapshotId: string
  readonly createdAt: string
  readonly sources: readonly CatalogueSource[]
  /** Of the snapshot. */
  readonly shards: readonly { readonly sourceId: number; readonly box: Box }[]
  /** Up to which batch of the journal all changes are in the snapshot; 0 unless given. */
  readonly baseSequence?: number
  readonly runner: QueryRunner
  /** Up to which change to the suppression lists all recipients are marked; undefined where nobody can say. */
  readonly suppressionVersion?: (() => number) | undefined
}

interface Waiting {
  readonly moment: number
  readonly settle: (isThere: boolean) => void
}

export class LiveViews implements Views<SelectionService> {
  /** Of the batch at moment 0, in the journal. */
  readonly baseSequence: number
  readonly #options: ViewOptions
  readonly #masks: LiveMasks
  /** Of named areas. */
  readonly #namedMasks: LiveMasks
  readonly #namedCounts: NamedCounts | undefined
  /** Of the batches since the snapshot. */
  readonly #seals = growingWords()
  /** Of whoever came to each source. */
  readonly #comeMoments: readonly ReturnType<typeof growingWords>[]
  readonly #boxes: (Box | undefined)[]
  readonly #waiting = new Set<Waiting>()
  #newest: SelectionService

  constructor(options: ViewOptions) {
    const { baseSequence = 0, sources, runner, queryThreadCount, suppressionVersion } = options
    this.baseSequence = baseSequence
    this.#options = options
    this.#comeMoments = sources.map(() => growingWords())
    this.#boxes = sources.map(() => undefined)
    const catalogue = catalogueOf(options)
    this.#masks = createMasks({ catalogue, runner, queryThreadCount })
    this.#namedMasks = createMasks({
      catalogue,
      runner,
      queryThreadCount,
      bounds: NAMED_BOUNDS,
      isLetIn: false,
    })
    this.#namedCounts = suppressionVersion && new NamedCounts(suppressionVersion)
    this.#newest = this.#viewAt(0, catalogue)
  }

  get newest(): SelectionService {
    return this.#newest
  }

  /** Takes an increment that the workers have been told before. */
  add(increment: Increment): void {
    this.#seals.append(increment.seals)
    for (const { sourceIndex, come } of increment.deltas) {
      this.#comeMoments[sourceIndex].append(come.moments)
      this.#boxes[sourceIndex] = around(this.#boxes[sourceIndex], come.coords)
    }
    const hasNewBoxes = increment.deltas.some(({ come }) => come.moments.length > 0)
    const catalogue = hasNewBoxes ? catalogueOf(this.#options, this.#boxes) : this.#newest.catalogue
    this.#newest = this.#viewAt(increment.moment, catalogue)
    for (const each of this.#waiting) {
      if (each.moment <= increment.moment) each.settle(true)
    }
  }

  /** The view at a moment that is not later than the newest one. */
  at(moment: number): SelectionService {
    const newest = this.#newest
    return moment === newest.moment ? newest : this.#viewAt(moment, newest.catalogue)
  }

  /**
   * Waits until there is a moment.
   *
   * @returns false where it does not come in time
   * @throws ServiceError  Overloaded where too many wait
   */
  async until(moment: number, deadlineMs: number): Promise<boolean> {
    if (moment <= this.#newest.moment) return true
    if (this.#waiting.size >= limits.sequenceWaitingCount) throw OVERLOADED
    return new Promise((resolve) => {
      const waiting = {
        moment,
        settle: (isThere: boolean) => {
          clearTimeout(timer)
          this.#waiting.delete(waiting)
          resolve(isThere)
        },
      }
      const waitMs = Math.max(0, deadlineMs - performance.now())
      const timer = setTimeout(() => waiting.settle(false), waitMs)
      this.#waiting.add(waiting)
    })
  }

  /** The memory of masks that are kept. */
  keptMaskBytes(): number {
    return this.#masks.keptBytes() + this.#namedMasks.keptBytes()
  }

  #viewAt(moment: number, catalogue: SelectionService['catalogue']): SelectionService {
    const { runner, queryThreadCount, countMode, boundaryRule, unknownMembers, freshness, areas } =
      this.#options
    const comeCounts = () => this.#comeMoments.map((moments) => countUpTo(moments.view(), moment))
    const sequence = this.baseSequence + moment
    const at = { moment, catalogue, comeCounts }
    return {
      catalogue: { ...catalogue, sequence },
      moment,
      seal: moment === 0 ? 0 : this.#seals.view()[moment - 1],
      views: this,
      runner,
      queryThreadCount,
      countMode,
      boundaryRule,
      unknownMembers,
      freshness,
      masks: this.#masks.at(at),
      areas,
      named: { masks: this.#namedMasks.at(at), counts: this.#namedCounts, moment },
    }
  }
}

const NAMED_BOUNDS = {
  maskBytes: limits.namedMaskBytes,
  masksKeptBytes: limits.namedMasksKeptBytes,
  masksKeptCount: limits.namedMasksKeptCount,
  masksSoughtCount: limits.namedMasksSoughtCount,
  maskMomentsCount: limits.maskMomentsCount,
}

function around(box: Box | undefined, coords: Int32Array): Box | undefined {
  if (coords.length === 0) return box
  let { minLng, minLat, maxLng, maxLat } = box ?? {
    minLng: coords[0],
    minLat: coords[1],
    maxLng: coords[0],
    maxLat: coords[1],
  }
  for (let at = 0; at < coords.length; at += 2) {
    minLng = Math.min(minLng, coords[at])
    maxLng = Math.max(maxLng, coords[at])
    minLat = Math.min(minLat, coords[at + 1])
    maxLat = Math.max(maxLat, coords[at + 1])
  }
  return { minLng, minLat, maxLng, maxLat }
}
