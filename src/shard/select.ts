/**
 * Which recipients of a shard the shapes of a request select.
 *
 * @module
 */
import {
  createEdgeTable,
  type EdgeTable,
  fillEdgeTable,
  RINGS_PER_TABLE,
  SHELL_BIT,
} from '../geometry/edges.js'
import { type Polygons, type Shapes, vertexBounds } from '../geometry/polygons.js'
import { type Budget, descend } from './descend.js'
import { meets, type Shard } from './layout.js'
import { normalise, RunList, subtract } from './runs.js'

/** Thrown when a selection would cost more than its budget allows. */
export class BudgetSpent extends Error {}

/**
 * Counts the recipients of each shard that the shapes select.
 *
 * @returns one count a shard, in the order of `shards`
 */
export function countInside(shards: readonly Shard[], shapes: Shapes, budget: Budget): Uint32Array {
  const counts = new Uint32Array(shards.length)
  if (!isOnePass(shapes)) {
    for (const [at, runs] of eachSelection(shards, shapes, budget)) {
      counts[at] = runs.recipientCount()
    }
    return counts
  }
  fillTable(shapes.included, 0, shapes.included.polygonStarts[1], SHELL_BIT, budget)
  for (let at = 0; at < shards.length; at++) {
    counts[at] = within(budget, descend(shards[at], table, true, budget, null))
  }
  return counts
}

/**
 * Selects the recipients of each shard that are inside any included polygon and no excluded one.
 *
 * @returns the runs of each shard as [start, end) pairs, in the order of `shards`
 */
export function selectInside(
  shards: readonly Shard[],
  shapes: Shapes,
  budget: Budget,
): Uint32Array[] {
  return Array.from(eachSelection(shards, shapes, budget), ([, runs]) => runs.toPairs())
}

const table: EdgeTable = createEdgeTable()
const includedRuns = new RunList()
const excludedRuns = new RunList()
const selectedRuns = new RunList()
let polygonRuns = new RunList()
let spareRuns = new RunList()
const holeRuns = new RunList()

/** What it costs to prepare an edge, and to carry a run along, in edge tests. */
const EDGE_COST = 8
const RUN_COST = 64

function isOnePass({ included: { polygonStarts }, excluded }: Shapes): boolean {
  const isOne = polygonStarts.length === 2 && excluded.polygonStarts.length === 1
  return isOne && polygonStarts[1] <= RINGS_PER_TABLE
}

/** The runs of each shard in turn; the list is reused, so it holds until the next step. */
function* eachSelection(
  shards: readonly Shard[],
  { included, excluded }: Shapes,
  budget: Budget,
): Generator<[number, RunList]> {
  const includedShells = shellBounds(included)
  const excludedShells = shellBounds(excluded)
  for (let at = 0; at < shards.length; at++) {
    selectUnion(shards[at], included, includedShells, includedRuns, budget)
    if (includedRuns.runCount > 0 && excludedShells.length > 0) {
      selectUnion(shards[at], excluded, excludedShells, excludedRuns, budget)
      charge(budget, RUN_COST * (includedRuns.runCount + excludedRuns.runCount))
      subtract(includedRuns, excludedRuns, selectedRuns)
      yield [at, selectedRuns]
    } else yield [at, includedRuns]
  }
}

/** Leaves the runs of all polygons in `into`, each recipient once. */
function selectUnion(
  shard: Shard,
  polygons: Polygons,
  shells: readonly Float64Array[],
  into: RunList,
  budget: Budget,
): void {
  into.clear()
  for (let polygon = 0; polygon < shells.length; polygon++) {
    if (!meets(shard.box, shells[polygon])) continue
    selectPolygon(shard, polygons, polygon, budget)
    charge(budget, RUN_COST * polygonRuns.runCount)
    const { pairs, runCount } = polygonRuns
    for (let i = 0; i < 2 * runCount; i += 2) into.append(pairs[i], pairs[i + 1])
  }
  if (shells.length > 1) normalise(into)
}

/** Bounds of the first ring of each polygon, as `vertexBounds` gives them. */
function shellBounds({ vertices, ringStarts, polygonStarts }: Polygons): Float64Array[] {
  return Array.from({ length: polygonStarts.length - 1 }, (_, polygon) => {
    const bounds = new Float64Array(4)
    const shell = polygonStarts[polygon]
    vertexBounds(vertices, ringStarts[shell], ringStarts[shell + 1], bounds)
    return bounds
  })
}

/** Leaves the runs of one polygon in `polygonRuns`. */
function selectPolygon(shard: Shard, polygons: Polygons, polygon: number, budget: Budget): void {
  const ringEnd = polygons.polygonStarts[polygon + 1]
  let ring = polygons.polygonStarts[polygon]
  let next = Math.min(ringEnd, ring + RINGS_PER_TABLE)
  polygonRuns.clear()
  fillTable(polygons, ring, next, SHELL_BIT, budget)
  if (within(budget, descend(shard, table, true, budget, polygonRuns)) === 0) return
  // Holes that found no bit beside the shell are taken away in further passes.
  for (ring = next; ring < ringEnd; ring = next) {
    next = Math.min(ringEnd, ring + RINGS_PER_TABLE - 1)
    holeRuns.clear()
    fillTable(polygons, ring, next, 2 * SHELL_BIT, budget)
    if (within(budget, descend(shard, table, false, budget, holeRuns)) === 0) continue
    charge(budget, RUN_COST * (polygonRuns.runCount + holeRuns.runCount))
    subtract(polygonRuns, holeRuns, spareRuns)
    ;[polygonRuns, spareRuns] = [spareRuns, polygonRuns]
  }
}

function fillTable(
  polygons: Polygons,
  ringStart: number,
  ringEnd: number,
  firstBit: number,
  budget: Budget,
): void {
  charge(budget, EDGE_COST * (polygons.ringStarts[ringEnd] - polygons.ringStarts[ringStart]))
  fillEdgeTable(table, polygons, ringStart, ringEnd, firstBit)
}

function charge(budget: Budget, edgeTestCount: number): void {
  budget.edgeTestCount -= edgeTestCount
  if (budget.edgeTestCount < 0) throw new BudgetSpent()
}

function within(budget: Budget, count: number): number {
  if (count < 0 || budget.edgeTestCount < 0) throw new BudgetSpent()
  return count
}
