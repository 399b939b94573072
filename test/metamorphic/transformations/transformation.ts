/**
 * A transformation writes a shape in another way that selects the same recipients.
 *
 * @module
 */
import type { Random } from '../../support/random/world.js'
import type { Leeway } from '../leeway.js'
import { asGeoJson, type JsonObject, type Shape } from '../shape.js'

export interface Pair {
  readonly geoJSON: JsonObject
  readonly leeway: Leeway
}

/** Undefined where it would change the meaning, or does not apply. */
export type Transformation = (shape: Shape, random: Random) => Pair | undefined

export function pairOf(shape: Shape, leeway: Leeway): Pair {
  return { geoJSON: asGeoJson(shape), leeway }
}
