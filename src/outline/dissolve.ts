/**
 * One region of many shapes.
 *
 * @module
 */
import { simpleLoops } from '../geometry/polygon/simple-loops.js'
import {
  differenceOf,
  intersectionOf,
  oddOf,
  type Polygon,
  type Region,
  type Ring,
  unionOf,
} from './clipper.js'
import { tidied } from './tidy.js'

/** What lies in any of the included shapes, in none of the excluded, and within the boundary. */
interface Selection {
  readonly included: readonly Region[]
  readonly excluded: readonly Region[]
  /** Undefined where there is none. */
  readonly boundary: readonly Region[] | undefined
}

export function dissolve({ included, excluded, boundary }: Selection): Region {
  const area = included.length === 0 ? [] : reduced(included)
  if (area.length === 0) return []
  const left = tidied(
    excluded.length === 0 ? unionOf(area) : differenceOf(area, [reduced(excluded)]),
  )
  if (boundary === undefined || left.length === 0) return left
  const within = reduced(boundary)
  return within.length === 0 ? [] : tidied(intersectionOf(left, within))
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
