/**
 * The two ways to descend, with the same answers: the kernel in wasm/ for shards that lie in an
 * arena, and descend.ts for all others and wherever the kernel cannot work.
 *
 * @module
 */
import { meets } from '../../geometry/bounds.js'
import { createEdgeTable, type EdgeTable } from '../../geometry/polygon/edges.js'
import { limits } from '../../limits.js'
import type { Budget } from '../budget.js'
import { inZones } from '../in-zones.js'
import type { Shard } from '../layout.js'
import { RunList } from '../runs.js'
import { appendTied, type Ties } from '../ties/ties.js'
import { descend } from './descend.js'
import { emptySubtree, enclose } from './enclose.js'
import { holdsExactly } from './leaf.js'
import { LEAF_RECIPIENT_COUNT, layOutZone, ZONE_NODE_COUNT, type Zone } from './zone.js'
import * as at from './zone-header.js'

export interface Kernel {
  /** To be filled before a descent, with no more edges than the kernel was asked for. */
  readonly table: EdgeTable
  /**
   * `descend` of descend.ts for this table.
   *
   * @param ties  appends only the recipients that these tie, as runs of ranks, but counts all of them
   */
  descend(
    shard: Shard,
    hasShell: boolean,
    budget: Budget,
    runs: RunList | null,
    ties?: Ties | null,
  ): number
}

/** The kernel to descend a shard with, for a table of up to `edgeCount` edges. */
export function kernelFor(shard: Shard, edgeCount: number): Kernel {
  const { arena } = shard
  const fits =
    edgeCount <= limits.scratchEdgeCount &&
    shard.recipientCount <= ZONE_NODE_COUNT * shard.nodeSize &&
    shard.nodeSize <= NODE_SIZE_MAX
  if (arena === null || !fits) return plainKernel
  return zoneKernelIn(arena) ?? plainKernel
}

/** A leaf has to fit in the buffer of runs several times. */
const NODE_SIZE_MAX = 4_096

const plainTable = createEdgeTable()
const plainKernel: Kernel = {
  table: plainTable,
  descend(shard, hasShell, budget, runs, ties = null) {
    if (runs === null || ties === null) return descend(shard, plainTable, hasShell, budget, runs)
    untiedRuns.clear()
    const count = descend(shard, plainTable, hasShell, budget, untiedRuns)
    if (count > 0) appendTied(ties, untiedRuns.inUse(), runs, budget)
    return count
  },
}
/** Runs of recipients, of which those that are tied are wanted. */
const untiedRuns = new RunList()

const zoneKernelIn = inZones(
  new URL('./descend.wasm', import.meta.url),
  (module, memory, start) => new ZoneKernel(module, memory, start),
)

/** One descent at a time. */
const root = emptySubtree()

interface KernelExports {
  start(zone: number): number
  resume(zone: number): number
}

class ZoneKernel implements Kernel {
  readonly table: EdgeTable
  readonly #start: number
  readonly #zone: Zone
  readonly #exports: KernelExports
  /** The case for which the kernel asks for an exact decision. */
  #shard: Shard | undefined
  #hasShell = true

  constructor(module: WebAssembly.Module, memory: WebAssembly.Memory, start: number) {
    this.#start = start
    this.#zone = layOutZone(memory.buffer, start)
    this.table = this.#zone.table
    const imports = { env: { memory }, kernel: { holdsExactly: this.#holdsExactly } }
    const { exports } = new WebAssembly.Instance(module, imports)
    this.#exports = exports as unknown as KernelExports
  }

  descend(
    shard: Shard,
    hasShell: boolean,
    budget: Budget,
    runs: RunList | null,
    ties: Ties | null = null,
  ): number {
    if (shard.recipientCount === 0 || !meets(shard.box, this.table.bounds)) return 0
    if (runs !== null && ties !== null && ties.set !== null && !ties.isInArena) {
      untiedRuns.clear()
      const count = this.descend(shard, hasShell, budget, untiedRuns)
      if (count > 0) appendTied(ties, untiedRuns.inUse(), runs, budget)
      return count
    }
    this.#shard = shard
    this.#hasShell = hasShell
    this.#ask(shard, hasShell, budget, runs !== null, ties?.set?.byteOffset ?? 0)
    let status = this.#exports.start(this.#start)
    this.#collect(runs)
    while (status === at.FULL) {
      status = this.#exports.resume(this.#start)
      this.#collect(runs)
    }
    const { header } = this.#zone
    budget.edgeTestCount = header.getFloat64(at.BUDGET, true)
    return status === at.SPENT ? -1 : header.getInt32(at.FOUND_COUNT, true)
  }

  #ask(
    shard: Shard,
    hasShell: boolean,
    budget: Budget,
    wantsRuns: boolean,
    tiedSetAt: number,
  ): void {
    const { header } = this.#zone
    const { coords, nodeSize } = shard
    enclose(shard, this.table.bounds, root)
    header.setUint32(at.COORDS_AT, coords.byteOffset, true)
    header.setInt32(at.LEFT_RECIPIENT, root.left, true)
    header.setInt32(at.RIGHT_RECIPIENT, root.right, true)
    header.setInt32(at.ROOT_AXIS, Number(root.isByLat), true)
    header.setInt32(at.NODE_SIZE, nodeSize, true)
    header.setInt32(at.LEAF_SIZE, Math.max(nodeSize, LEAF_RECIPIENT_COUNT), true)
    header.setInt32(at.HAS_SHELL, Number(hasShell), true)
    header.setInt32(at.WANTS_RUNS, Number(wantsRuns), true)
    header.setUint32(at.TIED_SET_AT, tiedSetAt, true)
    header.setInt32(at.EDGE_COUNT, this.table.edgeCount, true)
    header.setInt32(at.FOUND_COUNT, 0, true)
    header.setFloat64(at.BUDGET, budget.edgeTestCount, true)
    header.setInt32(at.BOX, root.minLng, true)
    header.setInt32(at.BOX + 4, root.minLat, true)
    header.setInt32(at.BOX + 8, root.maxLng, true)
    header.setInt32(at.BOX + 12, root.maxLat, true)
  }

  #collect(runs: RunList | null): void {
    const { bounds, header } = this.#zone
    runs?.appendPairs(bounds.subarray(0, header.getInt32(at.BOUND_COUNT, true)))
  }

  #holdsExactly = (point: number, listAt: number, count: number, crossedBits: number): boolean => {
    const { coords } = this.#shard as Shard
    const { entries, entriesAt } = this.#zone
    const active = { entries, start: ((listAt >>> 0) - entriesAt) / 4, count, crossedBits }
    const lng = coords[2 * point]
    return holdsExactly(lng, coords[2 * point + 1], this.table, active, this.#hasShell)
  }
}
