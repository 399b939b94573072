/**
 * Which recipients of one shard the layers of a request cover, nearest recipients left aside.
 *
 * @module
 */
import { meets } from '../geometry/bounds.js'
import type { LayerPart } from '../geometry/layer-parts.js'
import { fillEdgeTable, RINGS_PER_TABLE, SHELL_BIT } from '../geometry/polygon/edges.js'
import type { Polygons } from '../geometry/polygon/polygons.js'
import { createReachTable, fillReachTable, type ReachTable } from '../geometry/reach/reach-table.js'
import type { Reaches } from '../geometry/reach/reaches.js'
import { holdsFor, type Layer, type Shapes } from '../geometry/shapes.js'
import { type Budget, BudgetSpent, charge, RUN_COST } from './budget.js'
import { countInPacks, selectInPacks } from './delta/packs.js'
import { type Kernel, kernelFor } from './descent/kernel.js'
import type { Pack, Shard } from './layout.js'
import { countWithin, takeWithin } from './mask.js'
import { descendReach } from './reach/reach-descend.js'
import { normalise, RunList, subtract } from './runs.js'
import { countMarked, hasMarks, takeUnmarked } from './suppressed.js'
import { type Shared, tiesOf } from './ties/each-once.js'
import { appendTied, type Ties } from './ties/ties.js'

/**
 * Counts the recipients of each shard without listing all runs, where one polygon, or the arcs of one
 * layer, are all that was drawn; undefined when it takes more than that.
 *
 * @param tied  of each shard, an empty list for those of them that share something, as runs of ranks
 */
export function countDirectly(
  shards: readonly Shard[],
  { included, excluded }: Shapes,
  budget: Budget,
  shared: Shared | null,
  tied: readonly RunList[],
): Uint32Array | undefined {
  if (included.length !== 1 || included[0].sourceIds !== null || excluded.length > 0) {
    return undefined
  }
  const [layer] = included
  let drawn: AreaPart | undefined
  for (const part of areaParts) {
    if (part.isEmpty(layer)) continue
    if (drawn !== undefined) return undefined
    drawn = part
  }
  return drawn?.count(shards, layer, budget, shared, tied)
}

/** How recipients are found in one part of a layer. */
interface AreaPart {
  isEmpty(layer: Layer): boolean
  /** Counts them as `countDirectly` does; undefined when that takes runs. */
  count(
    shards: readonly Shard[],
    layer: Layer,
    budget: Budget,
    shared: Shared | null,
    tied: readonly RunList[],
  ): Uint32Array | undefined
  /** Adds lists of runs to `into`, which has `listCount` of them; returns how many it has then. */
  select(shard: Shard, layer: Layer, into: RunList, listCount: number, budget: Budget): number
}

const areaParts = Object.values<AreaPart>({
  polygons: {
    isEmpty: ({ polygons }) => polygons.polygonStarts.length === 1,
    count: (shards, layer, budget, shared, tied) =>
      countInPolygons(shards, layer, budget, shared, tied),
    select: (shard, { polygons }, into, listCount, budget) =>
      selectPolygons(shard, polygons, into, listCount, budget),
  },
  reaches: {
    isEmpty: ({ reaches }) => reaches.radiiMetres.length === 0,
    count: (shards, layer, budget, shared, tied) =>
      countReached(shards, layer, budget, shared, tied),
    select: (shard, { reaches }, into, listCount, budget) =>
      selectReached(shard, reaches, into, listCount, budget),
  },
} satisfies Record<LayerPart, AreaPart>)

function countReached(
  shards: readonly Shard[],
  layer: Layer,
  budget: Budget,
  shared: Shared | null,
  tied: readonly RunList[],
): Uint32Array {
  const counts = new Uint32Array(shards.length)
  const table = reachTableOf(layer.reaches, budget)
  for (const [at, shard] of shards.entries()) {
    if (shard.packs !== null) {
      const findIn = (pack: Shard, runs: RunList | null) =>
        within(budget, descendReach(pack, table, budget, runs))
      counts[at] = countInDelta(shard, shard.packs, findIn, shared, tied[at], budget)
      continue
    }
    const ties = tiesOf(shard, shared)
    const isListed = shard.mask !== null || hasMarks(shard.marks) || ties.ids.length > 0
    if (isListed) countedRuns.clear()
    const runs = isListed ? countedRuns : null
    const count = within(budget, descendReach(shard, table, budget, runs))
    counts[at] = runs === null ? count : countPresent(shard, count, runs, ties, tied[at], budget)
  }
  return counts
}

/** Where there is one polygon, of as many rings as a table has bits. */
function countInPolygons(
  shards: readonly Shard[],
  layer: Layer,
  budget: Budget,
  shared: Shared | null,
  tied: readonly RunList[],
): Uint32Array | undefined {
  const { polygons } = layer
  const { polygonStarts } = polygons
  if (polygonStarts.length > 2 || polygonStarts[1] > RINGS_PER_TABLE) return undefined
  const counts = new Uint32Array(shards.length)
  // Almost always one kernel for all shards and one for all packs, whose tables serve them all.
  const filled: Kernel[] = []
  const filledFor = (shard: Shard): Kernel => {
    const kernel = kernelFor(shard, polygons.vertices.length / 2)
    if (filled.includes(kernel)) return kernel
    fillTable(kernel, polygons, 0, polygons.polygonStarts[1], SHELL_BIT, budget)
    filled.push(kernel)
    return kernel
  }
  const findIn = (pack: Shard, runs: RunList | null) =>
    meets(pack.box, polygons.bounds)
      ? within(budget, filledFor(pack).descend(pack, true, budget, runs))
      : 0
  for (let at = 0; at < shards.length; at++) {
    const shard = shards[at]
    if (!meets(shard.box, polygons.bounds)) continue
    if (shard.packs !== null) {
      counts[at] = countInDelta(shard, shard.packs, findIn, shared, tied[at], budget)
      continue
    }
    const kernel = filledFor(shard)
    const ties = tiesOf(shard, shared)
    if (shard.mask !== null || hasMarks(shard.marks)) {
      countedRuns.clear()
      const count = within(budget, kernel.descend(shard, true, budget, countedRuns))
      counts[at] = countPresent(shard, count, countedRuns, ties, tied[at], budget)
    } else if (ties.ids.length > 0) {
      counts[at] = within(budget, kernel.descend(shard, true, budget, tied[at], ties))
    } else {
      counts[at] = within(budget, kernel.descend(shard, true, budget, null))
    }
  }
  return counts
}

/**
 * Counts the recipients of a delta as `countDirectly` does.
 *
 * @param findIn  counts those in a pack, and appends them to runs unless these are null
 */
function countInDelta(
  shard: Shard,
  packs: readonly Pack[],
  findIn: (pack: Shard, runs: RunList | null) => number,
  shared: Shared | null,
  tied: RunList,
  budget: Budget,
): number {
  const ties = tiesOf(shard, shared)
  if (ties.ids.length === 0) return countInPacks(packs, shard, findIn, packRuns, budget)
  const selectIn = (pack: Shard) => {
    packRuns.clear()
    findIn(pack, packRuns)
  }
  selectInPacks(packs, countedRuns, budget, selectIn, packRuns)
  const count = countedRuns.recipientCount()
  return countPresent(shard, count, countedRuns, ties, tied, budget)
}

/**
 * How many of the recipients in runs, which it may change, are neither beyond the mask nor marked; appends
 * those of them that share something.
 *
 * @param foundCount  how many are in the runs
 */
function countPresent(
  shard: Shard,
  foundCount: number,
  runs: RunList,
  ties: Ties,
  tied: RunList,
  budget: Budget,
): number {
  const { mask, marks } = shard
  if (ties.ids.length === 0 && !hasMarks(marks)) {
    if (mask === null) return foundCount
    charge(budget, SUBTRACT_COST * runs.runCount)
    return countWithin(mask, runs)
  }
  if (mask !== null) takeMaskedAway(mask, runs, budget)
  if (ties.ids.length === 0 && hasMarks(marks)) {
    const count = mask === null ? foundCount : runs.recipientCount()
    chargeMarks(runs, count, budget)
    return count - countMarked(marks, runs)
  }
  takeMarkedAway(marks, runs, budget)
  appendTied(ties, runs.inUse(), tied, budget)
  return runs.recipientCount()
}

/** Leaves in `into` who is there, in any included layer and in no excluded one. */
export function selectArea(shard: Shard, shapes: Shapes, into: RunList, budget: Budget): void {
  selectUnion(shard, shapes.included, into, budget)
  if (into.runCount > 0 && shapes.excluded.length > 0) {
    selectUnion(shard, shapes.excluded, excludedRuns, budget)
    takeAway(into, excludedRuns, budget)
  }
  takeAbsentAway(shard, into, budget)
}

/** Takes from `runs` who is as if not there: beyond the mask, or marked. */
export function takeAbsentAway({ mask, marks }: Shard, runs: RunList, budget: Budget): void {
  if (mask !== null) takeMaskedAway(mask, runs, budget)
  takeMarkedAway(marks, runs, budget)
}

function takeMaskedAway(mask: Uint32Array, runs: RunList, budget: Budget): void {
  if (runs.runCount === 0) return
  charge(budget, SUBTRACT_COST * runs.runCount)
  takeWithin(mask, runs, spareRuns)
  runs.exchange(spareRuns)
  charge(budget, RUN_COST * runs.runCount)
}

function takeMarkedAway(marks: Shard['marks'], runs: RunList, budget: Budget): void {
  if (!hasMarks(marks) || runs.runCount === 0) return
  chargeMarks(runs, runs.recipientCount(), budget)
  takeUnmarked(marks, runs, spareRuns)
  runs.exchange(spareRuns)
  charge(budget, RUN_COST * runs.runCount)
}

/** Leaves in `into` who is in any of the layers, there or not. */
export function selectUnion(
  shard: Shard,
  layers: readonly Layer[],
  into: RunList,
  budget: Budget,
): void {
  if (shard.packs !== null) {
    const selectIn = (pack: Shard) => selectUnion(pack, layers, packRuns, budget)
    selectInPacks(shard.packs, into, budget, selectIn, packRuns)
    return
  }
  into.clear()
  let listCount = 0
  for (const layer of layers) {
    if (!holdsFor(layer, shard.sourceId)) continue
    for (const part of areaParts) {
      if (!part.isEmpty(layer)) listCount = part.select(shard, layer, into, listCount, budget)
    }
  }
  if (listCount > 1) normalise(into)
}

/** Takes from `runs` what is in `removed` as well. */
export function takeAway(runs: RunList, removed: RunList, budget: Budget): void {
  if (runs.runCount === 0 || removed.runCount === 0) return
  charge(budget, SUBTRACT_COST * (runs.runCount + removed.runCount))
  subtract(runs, removed, spareRuns)
  runs.exchange(spareRuns)
}

const reachTables: readonly ReachTable[] = Array.from({ length: 4 }, createReachTable)
let nextReachTable = 0
const excludedRuns = new RunList()
const polygonRuns = new RunList()
const reachRuns = new RunList()
const holeRuns = new RunList()
const countedRuns = new RunList()
const spareRuns = new RunList()
const packRuns = new RunList()

/** The cost of taking a run from others, in edge tests. */
const SUBTRACT_COST = 8

/** The cost of preparing an edge or an arc. */
const EDGE_COST = 8
const ARC_COST = 2_000

/** The cost of looking at the marks of a run, in edge tests, beside that of each word of marks. */
const MARKED_RUN_COST = 8

function chargeMarks({ runCount }: RunList, recipientCount: number, budget: Budget): void {
  charge(budget, MARKED_RUN_COST * runCount + recipientCount / 32)
}

function selectPolygons(
  shard: Shard,
  polygons: Polygons,
  into: RunList,
  listCount: number,
  budget: Budget,
): number {
  let count = listCount
  for (let polygon = 0; polygon < polygons.polygonStarts.length - 1; polygon++) {
    if (!meets(shard.box, polygons.bounds, 4 * polygon)) continue
    selectPolygon(shard, polygons, polygon, budget)
    addList(into, count++, polygonRuns, budget)
  }
  return count
}

function selectReached(
  shard: Shard,
  reaches: Reaches,
  into: RunList,
  listCount: number,
  budget: Budget,
): number {
  reachRuns.clear()
  within(budget, descendReach(shard, reachTableOf(reaches, budget), budget, reachRuns))
  addList(into, listCount, reachRuns, budget)
  return listCount + 1
}

function addList(into: RunList, listCount: number, runs: RunList, budget: Budget): void {
  charge(budget, RUN_COST * runs.runCount)
  if (listCount === 0) {
    into.exchange(runs)
    return
  }
  into.appendPairs(runs.pairs.subarray(0, 2 * runs.runCount))
}

/** Leaves the runs of one polygon in `polygonRuns`. */
function selectPolygon(shard: Shard, polygons: Polygons, polygon: number, budget: Budget): void {
  const ringEnd = polygons.polygonStarts[polygon + 1]
  let ring = polygons.polygonStarts[polygon]
  let next = Math.min(ringEnd, ring + RINGS_PER_TABLE)
  const { ringStarts } = polygons
  const kernel = kernelFor(shard, ringStarts[ringEnd] - ringStarts[ring])
  polygonRuns.clear()
  fillTable(kernel, polygons, ring, next, SHELL_BIT, budget)
  if (within(budget, kernel.descend(shard, true, budget, polygonRuns)) === 0) return
  // Holes that found no bit beside the shell are taken away in further passes.
  for (ring = next; ring < ringEnd; ring = next) {
    next = Math.min(ringEnd, ring + RINGS_PER_TABLE - 1)
    holeRuns.clear()
    fillTable(kernel, polygons, ring, next, 2 * SHELL_BIT, budget)
    if (within(budget, kernel.descend(shard, false, budget, holeRuns)) === 0) continue
    takeAway(polygonRuns, holeRuns, budget)
  }
}

function fillTable(
  { table }: Kernel,
  polygons: Polygons,
  ringStart: number,
  ringEnd: number,
  firstBit: number,
  budget: Budget,
): void {
  charge(budget, EDGE_COST * (polygons.ringStarts[ringEnd] - polygons.ringStarts[ringStart]))
  fillEdgeTable(table, polygons, ringStart, ringEnd, firstBit)
}

/**
 * The arcs of a layer, prepared. A few tables are kept, for a task has the same layers for shard
 * after shard.
 */
function reachTableOf(reaches: Reaches, budget: Budget): ReachTable {
  const filled = reachTables.find((table) => table.reaches === reaches)
  if (filled !== undefined) return filled
  charge(budget, ARC_COST * reaches.radiiMetres.length)
  const table = reachTables[nextReachTable]
  nextReachTable = (nextReachTable + 1) % reachTables.length
  fillReachTable(table, reaches)
  return table
}

function within(budget: Budget, count: number): number {
  if (count < 0 || budget.edgeTestCount < 0) throw new BudgetSpent()
  return count
}
