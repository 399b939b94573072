/**
 * All transformations, by the names under which the totals are printed.
 *
 * @module
 */
import { cut } from './cut.js'
import { inDegrees, inMetres } from './esri.js'
import { addCollapsedHole, addCollinear, addHole, repeatPart, split } from './insert.js'
import { perturb, reverse, rotate, round, shiftBy, swapSeam } from './rewrite.js'
import type { Transformation } from './transformation.js'

/** Longitudes go to 100,000,000 degrees, and shapes are drawn up to 5,000 turns away. */
const TURNS_MAX = 270_000

export const transformations = {
  shift: shiftBy((random) => random.between(-3, 3)),
  shiftFar: shiftBy(
    (random) => random.pick([-1, 1]) * random.between(4, random.pick([9, 5_000, TURNS_MAX])),
  ),
  rotate,
  reverse,
  swapSeam,
  addCollinear,
  split,
  addHole,
  addCollapsedHole,
  repeatPart,
  perturb,
  round,
  cut,
  esriDegrees: inDegrees,
  esriMetres: inMetres,
} as const satisfies Readonly<Record<string, Transformation>>

export type TransformationName = keyof typeof transformations
export const transformationNames = Object.keys(transformations) as readonly TransformationName[]
