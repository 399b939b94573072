/**
 * The recipients of a source that are nearest to a position. The search over a whole shard is that of
 * geokdbush; within an area, whose recipients are known, each is measured.
 *
 * @module
 */
import { around } from 'geokdbush'
import type KDBush from 'kdbush'
import { haversineMetres } from '../geometry/great-circle.js'
import { holdsFor, type Nearest, type Shapes } from '../geometry/shapes.js'
import { UNITS_PER_DEGREE } from '../geometry/units.js'
import { selectUnion, takeAbsentAway, takeAway } from './area.js'
import { type Budget, charge, RUN_COST } from './budget.js'
import { type Candidate, Closest } from './closest.js'
import type { Shard } from './layout.js'
import { isWithin } from './mask.js'
import { normalise, RunList, recipientCountOf } from './runs.js'
import { hasMarks, isMarked } from './suppressed.js'

/**
 * What the shapes select of a source for which any `nearest` holds; see `Shapes`.
 *
 * @param shards  all shards of the source that may matter
 * @param nearest  those that hold for the source
 * @returns the runs of each shard
 */
export function selectNearest(
  shards: readonly Shard[],
  shapes: Shapes,
  nearest: readonly Nearest[],
  budget: Budget,
): Uint32Array[] {
  const nobody = shards.map(() => NOBODY)
  const pick = (isExcluded: boolean, taken: readonly Uint32Array[]) => {
    const wanted = nearest.filter((each) => each.isExcluded === isExcluded)
    const offers = offersOf(shards, { ...shapes, nearest: wanted }, taken, budget)
    return picksOf(shards.length, wanted, offers, budget)
  }
  const taken = nearest.some(({ isExcluded }) => isExcluded) ? pick(true, nobody) : nobody
  if (nearest.some(({ isExcluded }) => !isExcluded)) return pick(false, taken)
  return areaLeft(shards, shapes, removedFrom(shards, shapes, taken, budget), budget).map((runs) =>
    runs.toPairs(),
  )
}

/** A recipient who is among the nearest of some shards, and may be among those of all. */
export interface Offer extends Candidate {
  /** Which of the positions it is near to. */
  readonly near: number
}

/**
 * The first step for shards of a source, which may be some of them: who of each comes into question.
 *
 * @param shapes  with the `nearest` of this step: all of them excluded, or none
 * @param taken  the recipients of each shard whom the excluded ones have picked; nobody in the step of these
 * @returns for each position no more than it wants, in any order
 */
export function offersOf(
  shards: readonly Shard[],
  shapes: Shapes,
  taken: readonly Uint32Array[],
  budget: Budget,
): Offer[] {
  const [{ sourceId }] = shards
  const isExcluded = shapes.nearest.every((each) => each.isExcluded)
  const isLimited = shapes.included.some((layer) => holdsFor(layer, sourceId))
  const removed = isExcluded
    ? shards.map(() => new RunList())
    : removedFrom(shards, shapes, taken, budget)
  const offer =
    isExcluded || !isLimited
      ? everyoneBut(removed)
      : only(areaLeft(shards, shapes, removed, budget))
  return shapes.nearest.flatMap((near, index) => {
    const closest = new Closest(near.count, budget)
    for (const [at, shard] of shards.entries()) {
      offer(shard, at, near, closest, budget)
      closest.cut()
    }
    return closest.sorted().map((candidate) => ({ ...candidate, near: index }))
  })
}

/**
 * The second step: who is the nearest among those who were offered.
 *
 * @param shardCount  of all shards of the source, to which `at` of each offer refers
 * @returns the runs of each shard
 */
export function picksOf(
  shardCount: number,
  nearest: readonly Pick<Nearest, 'count'>[],
  offers: readonly Offer[],
  budget: Budget,
): Uint32Array[] {
  const picked = Array.from({ length: shardCount }, () => new RunList())
  for (const [index, { count }] of nearest.entries()) {
    const closest = new Closest(count, budget)
    for (const { near, metres, at, rank, recipient } of offers) {
      if (near === index) closest.offer(metres, at, rank, recipient)
    }
    const picks = closest.sorted()
    charge(budget, RUN_COST * picks.length)
    for (const { at, recipient } of picks) picked[at].append(recipient, recipient + 1)
  }
  for (const runs of picked) if (runs.runCount > 1) normalise(runs)
  return picked.map((runs) => runs.toPairs())
}

const NOBODY = new Uint32Array(0)

/** Offers the recipients of one shard that may be picked. */
type Offering = (shard: Shard, at: number, near: Nearest, into: Closest, budget: Budget) => void

/** The costs of measuring a distance, and of taking up a recipient in the search, in edge tests. */
const DISTANCE_COST = 60
const SEARCH_COST = 500

/** Who is not selected, whatever else holds. */
function removedFrom(
  shards: readonly Shard[],
  { excluded }: Shapes,
  taken: readonly Uint32Array[],
  budget: Budget,
): RunList[] {
  return areasOf(shards, excluded, budget).map((runs, at) => {
    if (taken[at].length === 0) return runs
    runs.appendPairs(taken[at])
    normalise(runs)
    return runs
  })
}

/** Who of the included layers is there, and not removed. */
function areaLeft(
  shards: readonly Shard[],
  { included }: Shapes,
  removed: readonly RunList[],
  budget: Budget,
): RunList[] {
  const area = areasOf(shards, included, budget)
  for (const [at, runs] of area.entries()) {
    takeAway(runs, removed[at], budget)
    takeAbsentAway(shards[at], runs, budget)
  }
  return area
}

function areasOf(shards: readonly Shard[], layers: Shapes['included'], budget: Budget): RunList[] {
  return shards.map((shard) => {
    const runs = new RunList()
    selectUnion(shard, layers, runs, budget)
    return runs
  })
}

/** Measures everyone in the area. */
function only(area: readonly RunList[]): Offering {
  return (shard, at, near, into, budget) => measure(shard, area[at], at, near, into, budget)
}

function measure(
  shard: Shard,
  { pairs, runCount }: RunList,
  ...[at, near, into, budget]: [at: number, near: Nearest, into: Closest, budget: Budget]
): void {
  for (let i = 0; i < 2 * runCount; i += 2) {
    charge(budget, DISTANCE_COST * (pairs[i + 1] - pairs[i]))
    for (let recipient = pairs[i]; recipient < pairs[i + 1]; recipient++) {
      into.offer(metresFrom(near, shard, recipient), at, shard.ids[recipient], recipient)
    }
  }
}

/**
 * Passes over those who are removed or as if not there. It searches outwards; in a shard with a mask for
 * as long as it would take to measure everyone within, and then it measures them: a place may be far from
 * all of them, and close to crowds beyond.
 */
function everyoneBut(removed: readonly RunList[]): Offering {
  return (shard, at, near, into, budget) => {
    try {
      // A delta is no index, and small.
      if (shard.packs !== null) throw new SearchedTooLong()
      searchOutwards(shard, removed[at], at, near, into, budget)
    } catch (error) {
      if (!(error instanceof SearchedTooLong)) throw error
      const left = new RunList()
      left.appendPairs(Uint32Array.of(0, shard.recipientCount))
      takeAway(left, removed[at], budget)
      takeAbsentAway(shard, left, budget)
      measure(shard, left, at, near, into, budget)
    }
  }
}

class SearchedTooLong extends Error {}

/** @throws SearchedTooLong  before it has offered anybody */
function searchOutwards(
  shard: Shard,
  removed: RunList,
  ...[at, near, into, budget]: [at: number, near: Nearest, into: Closest, budget: Budget]
): void {
  const { mask } = shard
  const marks = hasMarks(shard.marks) ? shard.marks : null
  let looksLeft =
    mask === null
      ? Number.POSITIVE_INFINITY
      : (recipientCountOf(mask) * DISTANCE_COST) / SEARCH_COST
  const isAllowed = (recipient: number) => {
    charge(budget, SEARCH_COST)
    if (--looksLeft < 0) throw new SearchedTooLong()
    if (mask !== null && !isWithin(mask, recipient)) return false
    if (marks !== null && isMarked(marks, recipient)) return false
    return !removed.has(recipient)
  }
  const search = (count: number, metres: number) => {
    const index = { ...degreeIndex(shard), nodeSize: shard.nodeSize } as unknown as KDBush
    const lng = near.lng / UNITS_PER_DEGREE
    const kilometres = roundedUp(metres) / 1000
    return around(index, lng, near.lat / UNITS_PER_DEGREE, count, kilometres, isAllowed)
  }
  // One more than wanted: if it is no farther away than the last, a tie has to be broken.
  let found = search(near.count + 1, into.farthestMetres)
  if (found.length > near.count) {
    const [last, next] = found.slice(-2).map((recipient) => metresFrom(near, shard, recipient))
    if (next <= roundedUp(last)) found = search(Number.POSITIVE_INFINITY, last)
  }
  for (const recipient of found) {
    into.offer(metresFrom(near, shard, recipient), at, shard.ids[recipient], recipient)
  }
}

/** Beyond what rounding does to a distance: degrees are off by nanometres, long ways by more. */
function roundedUp(metres: number): number {
  return metres * (1 + 1e-9) + 1e-6
}

function metresFrom({ lng, lat }: Nearest, { coords }: Shard, recipient: number): number {
  return haversineMetres(lng, lat, coords[2 * recipient], coords[2 * recipient + 1])
}

/** The parts of an index that geokdbush reads, in degrees; it gives back indexes of recipients. */
function degreeIndex({ coords, recipientCount }: Shard) {
  if (recipientCount > identity.length)
    identity = Uint32Array.from({ length: recipientCount }, (_, i) => i)
  const degrees = new Proxy(coords, {
    get: (units, key) =>
      (units as unknown as Record<string | symbol, number>)[key] / UNITS_PER_DEGREE,
  })
  return { coords: degrees, ids: identity.subarray(0, recipientCount) }
}

let identity = new Uint32Array(0)
