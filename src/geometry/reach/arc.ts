/**
 * One great-circle arc on the unit sphere, with its directions.
 *
 * @module
 */
import { RADIANS_PER_UNIT } from '../units.js'
import { angleBetween, cross, dot, lengthOf, sumOf, type Vector, vectorAt } from './vectors.js'

/** Longitude and latitude in units. */
export type Position = readonly [lng: number, lat: number]

export interface Arc {
  readonly from: Position
  readonly to: Position
  /** Its ends as vectors. */
  readonly a: Vector
  readonly b: Vector
  /** To the left of the way from its first end to its last; undefined where they are one place. */
  readonly left: Vector | undefined
}

export function arcBetween(from: Position, to: Position): Arc {
  const [a, b] = [vectorAt(...from), vectorAt(...to)]
  const normal = cross(a, b)
  const length = lengthOf(normal)
  const left = length < SHORTEST ? undefined : sumOf(normal, 1 / length, normal, 0)
  return { from, to, a, b, left }
}

/** A tenth of a millimetre: of what is shorter, the direction is not known. */
const SHORTEST = 2e-11

/** Radians from a place to the nearest point of an arc. */
export function distanceToArc({ a, b, left }: Arc, place: Vector): number {
  if (left !== undefined) {
    const ahead = dot(place, cross(left, a))
    const behind = dot(place, cross(b, left))
    if (ahead > 0 && behind > 0) {
      const across = dot(place, left)
      return Math.atan2(Math.abs(across), Math.sqrt(Math.max(0, 1 - across * across)))
    }
  }
  return Math.min(angleBetween(place, a), angleBetween(place, b))
}

/** East and north at a position. */
export function directionsAt([lng, lat]: Position): { east: Vector; north: Vector } {
  const [x, y] = [lng * RADIANS_PER_UNIT, lat * RADIANS_PER_UNIT]
  return {
    east: [-Math.sin(x), Math.cos(x), 0],
    north: [-Math.sin(y) * Math.cos(x), -Math.sin(y) * Math.sin(x), Math.cos(y)],
  }
}
