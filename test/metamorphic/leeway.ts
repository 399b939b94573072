/**
 * What the selections of a shape and of its transformation may differ by: recipients that a rounding
 * or a perturbation passes over, and nobody else.
 *
 * @module
 */
import { type ExactPath, exactPath, isNearEdge } from './exact-place.js'
import { type PlacedPath, TURN_UNITS, turnsOnto } from './place.js'

export interface Leeway {
  /** By so many units all edges may have moved; undefined if none but fine ones have. */
  readonly allUnits?: number
  /** By so many units edges with more than seven decimals may have moved, beside their rounding. */
  readonly fineUnits: number
  /** By so much the limit of a circle, a corridor or a margin may have moved. */
  readonly metres: number
}

/** Whole coordinates are the same before and after, others are rounded anew. */
export const ROUNDED: Leeway = { fineUnits: 0, metres: 0.0001 }
/** New vertices are on their edges but for the rounding of a double. */
export const REDRAWN: Leeway = { allUnits: 2 ** -18, fineUnits: 0, metres: 0.0001 }
/** Each coordinate has moved by half a unit at most. */
export const MOVED: Leeway = { allUnits: Math.SQRT1_2, fineUnits: 0, metres: 0.02 }
/** Degrees of ten decimals are what metres are read as. */
export const PROJECTED: Leeway = { fineUnits: 0.001, metres: 0.001 }

/** Whether an edge of any of the paths may have moved over a recipient. */
export function isPassedOver(
  paths: readonly PlacedPath[],
  lng: number,
  lat: number,
  { allUnits, fineUnits }: Leeway,
): boolean {
  const slackOf = (error: number) => {
    if (allUnits !== undefined) return allUnits + error
    return error > 0 ? error + fineUnits : -1
  }
  return paths.some((placed) => {
    placed.exact ??= exactPath(placed)
    const exact: ExactPath = placed.exact
    const [first, last] = turnsOnto(placed, lng)
    for (let k = first; k <= last; k++) {
      if (isNearEdge(exact, lng + k * TURN_UNITS, lat, slackOf)) return true
    }
    return false
  })
}
