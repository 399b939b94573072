/**
 * Which recipients of one shard are inside any polygon of a request.
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
import { type Polygons, vertexBounds } from '../geometry/polygons.js'
import { type Budget, descend } from './descend.js'
import { meets, type Shard } from './layout.js'
import { normalise, RunList, subtract } from './runs.js'

/** Thrown when a selection would cost more than its budget allows. */
export class BudgetSpent extends Error {}

/**
 * Counts the recipients of each shard that are inside any of the polygons.
 *
 * @returns one count a shard, in the order of `shards`
 */
export function countInside(
  shards: readonly Shard[],
  polygons: Polygons,
  budget: Budget,
): Uint32Array {
  const counts = new Uint32Array(shards.length)
  if (!isOnePass(polygons)) {
    for (const [at, runs] of eachSelection(shards, polygons, budget))
      counts[at] = runs.recipientCount()
    return counts
  }
  fillTable(polygons, 0, polygons.polygonStarts[1], SHELL_BIT, budget)
  for (let at = 0; at < shards.length; at++) {
    counts[at] = within(budget, descend(shards[at], table, true, budget, null))
  }
  return counts
}

/**
 * Selects the recipients of each shard that are inside any of the polygons.
 *
 * @returns the runs of each shard as [start, end) pairs, in the order of `shards`
 */
export function selectInside(
  shards: readonly Shard[],
  polygons: Polygons,
  budget: Budget,
): Uint32Array[] {
  return Array.from(eachSelection(shards, polygons, budget), ([, runs]) => runs.toPairs())
}

const table: EdgeTable = createEdgeTable()
let selected = new RunList()
let polygonRuns = new RunList()
let spare = new RunList()
const holeRuns = new RunList()

/** What it costs to prepare an edge, and to carry a run along, in edge tests. */
const EDGE_COST = 8
const RUN_COST = 64

function isOnePass({ polygonStarts }: Polygons): boolean {
  return polygonStarts.length === 2 && polygonStarts[1] <= RINGS_PER_TABLE
}

/** The runs of each shard in turn; the list is reused, so it holds until the next step. */
function* eachSelection(
  shards: readonly Shard[],
  polygons: Polygons,
  budget: Budget,
): Generator<[number, RunList]> {
  const shells = shellBounds(polygons)
  for (let at = 0; at < shards.length; at++) {
    selected.clear()
    for (let polygon = 0; polygon < shells.length; polygon++) {
      if (!meets(shards[at].box, shells[polygon])) continue
      selectPolygon(shards[at], polygons, polygon, budget)
      addRuns(polygonRuns, budget)
    }
    if (shells.length > 1) normalise(selected)
    yield [at, selected]
  }
}

/** Puts the runs of one more polygon behind those selected so far. */
function addRuns(runs: RunList, budget: Budget): void {
  charge(budget, RUN_COST * runs.runCount)
  if (selected.runCount === 0) {
    const empty = selected
    selected = runs
    polygonRuns = empty
    return
  }
  const { pairs, runCount } = runs
  for (let i = 0; i < 2 * runCount; i += 2) selected.append(pairs[i], pairs[i + 1])
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
    subtract(polygonRuns, holeRuns, spare)
    ;[polygonRuns, spare] = [spare, polygonRuns]
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
