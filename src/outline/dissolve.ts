/**
 * One region of many shapes.
 *
 * @module
 */
import { doubleArea, simpleLoops } from '../geometry/polygon/simple-loops.js'
import {
  differenceOf,
  intersectionOf,
  oddOf,
  type Polygon,
  type Region,
  type Ring,
  unionOf,
} from './clipper.js'

/** The places in any of the included shapes, in none of the excluded, and within every boundary. */
interface Selection {
  readonly included: readonly Region[]
  readonly excluded: readonly Region[]
  readonly boundaries: readonly (readonly Region[])[]
}

export function dissolve({ included, excluded, boundaries }: Selection): Region {
  const area = included.length === 0 ? [] : reduced(included)
  if (area.length === 0) return []
  let left = tidied(excluded.length === 0 ? unionOf(area) : differenceOf(area, [reduced(excluded)]))
  for (const boundary of boundaries) {
    if (left.length === 0) break
    const within = reduced(boundary)
    left = within.length === 0 ? [] : tidied(intersectionOf(left, within))
  }
  return left
}

/**
 * Unites regions by few, over and over: the work grows with how many lie over each other, and what
 * is united does not.
 */
function reduced(regions: readonly Region[]): Region {
  let parts = regions
  while (parts.length > UNITED_AT_ONCE) {
    const chunks: Region[] = []
    for (let i = 0; i < parts.length; i += UNITED_AT_ONCE) {
      chunks.push(tidied(unionOf(parts.slice(i, i + UNITED_AT_ONCE).flat())))
    }
    parts = chunks
  }
  return parts.flat()
}

const UNITED_AT_ONCE = 8

/**
 * The region of a polygon whose rings may cross themselves: its shell by the even-odd rule, without
 * the inside of each other ring.
 */
export function regionOf(polygon: Polygon): Region {
  const [shell, ...holes] = polygon.map(simpleLoops)
  if (shell.length <= 1 && holes.every((loops) => loops.length <= 1)) {
    return shell.length === 0 ? [] : [[shell[0], ...holes.flat()]]
  }
  return tidied(differenceOf(evenOdd(shell), holes.map(evenOdd)))
}

function evenOdd(loops: readonly Ring[]): Region {
  return oddOf(loops.map((loop) => [[loop]]))
}

/**
 * In whole units, without what rounding leaves of rings that are narrower than one. A shell that vanishes
 * takes its holes along.
 */
function tidied(region: Region): Region {
  return region.flatMap((polygon) => {
    const [shell, ...holes] = polygon.map(tidiedRing)
    return isRing(shell) ? [[shell, ...holes.filter(isRing)]] : []
  })
}

/** Rounded, and without vertices that are repeated or that an edge runs back from. */
function tidiedRing(ring: Ring): Ring {
  const kept: number[] = []
  for (let i = 0; i < ring.length; i += 2) {
    // Adding nothing makes 0 of -0.
    const [lng, lat] = [Math.round(ring[i]) + 0, Math.round(ring[i + 1]) + 0]
    if (isAt(kept, kept.length - 2, lng, lat)) continue
    if (isAt(kept, kept.length - 4, lng, lat)) kept.length -= 2
    else kept.push(lng, lat)
  }
  while (kept.length > 2 && isAt(kept, kept.length - 2, kept[0], kept[1])) kept.length -= 2
  return kept
}

function isAt(ring: readonly number[], at: number, lng: number, lat: number): boolean {
  return at >= 0 && ring[at] === lng && ring[at + 1] === lat
}

function isRing(ring: Ring): boolean {
  return ring.length >= 6 && doubleArea(ring) !== 0
}
