/**
 * The cells of H3 of one resolution. Who is in which cell is what h3 itself says of the place.
 *
 * To ask h3 takes some microseconds, so it is asked once for each hexagon of its plan (h3-lattice.ts), and for whoever
 * is near an edge.
 *
 * @module
 */

import { h3 } from '../../geometry/h3.js'
import { GLOBE, movedRing, turnsOfRing, unwrapRing } from '../../geometry/polygon/antimeridian.js'
import { clippedToGlobe } from '../../geometry/polygon/clip-to-globe.js'
import { doubleArea } from '../../geometry/polygon/simple-loops.js'
import { UNITS_PER_DEGREE } from '../../geometry/units.js'
import { limits } from '../../limits.js'
import type { Shard } from '../layout.js'
import type { Cells, H3Grid } from './grid.js'
import { DOUBTFUL, H3Lattice } from './h3-lattice.js'

export class H3Cells implements Cells {
  readonly #resolution: number
  readonly #lattice: H3Lattice
  /** The cells of hexagons that h3 was asked for lately. */
  readonly #known: Map<number, number>

  constructor({ resolution }: H3Grid) {
    this.#resolution = resolution
    const plan = planOf(resolution)
    this.#lattice = plan.lattice
    this.#known = plan.known
  }

  count({ coords }: Pick<Shard, 'coords'>, runs: Uint32Array): Float64Array {
    const lattice = this.#lattice
    const counts = new Map<number, number>()
    // Neighbours in the order of a shard are mostly neighbours on the ground.
    let [last, lastCell, lastCount] = [DOUBTFUL, DOUBTFUL, 0]
    for (let run = 0; run < runs.length; run += 2) {
      for (let at = 2 * runs[run]; at < 2 * runs[run + 1]; at += 2) {
        const hexagon = lattice.hexagonAt(coords[at], coords[at + 1])
        if (hexagon === last && hexagon !== DOUBTFUL) {
          lastCount++
          continue
        }
        add(counts, lastCell, lastCount)
        last = hexagon
        lastCell = this.#cellOf(hexagon, coords[at], coords[at + 1])
        lastCount = 1
      }
    }
    add(counts, lastCell, lastCount)
    const pairs = new Float64Array(2 * counts.size)
    let at = 0
    for (const [cell, count] of counts) {
      pairs[at++] = cell
      pairs[at++] = count
    }
    return pairs
  }

  nameOf(cell: number): string {
    const high = (MODE_BITS + this.#resolution) * 2 ** 20 + Math.floor(cell / 2 ** 32)
    return high.toString(16) + (cell % 2 ** 32).toString(16).padStart(8, '0')
  }

  areaOf(cell: number): number[][][][] {
    const corners = h3().cellToBoundary(this.nameOf(cell), true).slice(0, -1)
    const units = corners.flatMap(([lng, lat]) => [unitsOf(lng), unitsOf(lat)])
    const ring = unwrapRing({
      units,
      lngDegreesAt: (vertex) => units[2 * vertex] / UNITS_PER_DEGREE,
    })
    // No cell is as wide as that, or round both poles.
    if (typeof ring === 'string') return [[closed(units)]]
    return turnsOfRing(ring, GLOBE)
      .map((turn) => clippedToGlobe(movedRing(ring, turn)))
      .filter((part) => part.length >= 6 && doubleArea(part) !== 0)
      .map((part) => [closed(part)])
  }

  /** @param lng  and `lat`, of somebody in the hexagon */
  #cellOf(hexagon: number, lng: number, lat: number): number {
    const known = hexagon === DOUBTFUL ? undefined : this.#known.get(hexagon)
    if (known !== undefined) return known
    const [lngDegrees, latDegrees] = [lng / UNITS_PER_DEGREE, lat / UNITS_PER_DEGREE]
    const cell = cellOf(h3().latLngToCell(latDegrees, lngDegrees, this.#resolution))
    if (hexagon === DOUBTFUL) return cell
    if (this.#known.size >= limits.hexagonsKnownCount) this.#known.clear()
    this.#known.set(hexagon, cell)
    return cell
  }
}

interface Plan {
  readonly resolution: number
  readonly lattice: H3Lattice
  readonly known: Map<number, number>
}

/** Of the resolution that was asked for last: a request is in many tasks. */
let lastPlan: Plan | undefined

function planOf(resolution: number): Plan {
  if (lastPlan?.resolution !== resolution) {
    lastPlan = { resolution, lattice: new H3Lattice(resolution), known: new Map() }
  }
  return lastPlan
}

function add(counts: Map<number, number>, cell: number, count: number): void {
  if (count > 0) counts.set(cell, (counts.get(cell) ?? 0) + count)
}

/** Of 64 bits: none, and the mode of a cell. The resolution follows, and 52 bits that say which cell it is. */
const MODE_BITS = 0x80

function cellOf(name: string): number {
  return (parseInt(name.slice(0, -8), 16) % 2 ** 20) * 2 ** 32 + parseInt(name.slice(-8), 16)
}

function unitsOf(degrees: number): number {
  return Math.round(degrees * UNITS_PER_DEGREE)
}

/** Counterclockwise, which a ring round a pole may not be. */
function closed(units: readonly number[]): number[][] {
  const ring: number[][] = []
  for (let i = 0; i < units.length; i += 2) {
    ring.push([units[i] / UNITS_PER_DEGREE, units[i + 1] / UNITS_PER_DEGREE])
  }
  if (doubleArea(units) < 0) ring.reverse()
  return [...ring, ring[0]]
}
