/**
 * Points of the Earth as vectors of length 1, for what longitudes and latitudes make hard.
 *
 * @module
 */
import { RADIANS_PER_UNIT } from '../units.js'

export type Vector = readonly [x: number, y: number, z: number]

export function vectorAt(lng: number, lat: number): Vector {
  const [a, b] = [lng * RADIANS_PER_UNIT, lat * RADIANS_PER_UNIT]
  return [Math.cos(b) * Math.cos(a), Math.cos(b) * Math.sin(a), Math.sin(b)]
}

/** Longitude within ±180 degrees and latitude, in units. */
export function positionOf([x, y, z]: Vector): readonly [lng: number, lat: number] {
  return [Math.atan2(y, x) / RADIANS_PER_UNIT, Math.atan2(z, Math.hypot(x, y)) / RADIANS_PER_UNIT]
}

/** `a` times `s` plus `b` times `t`. */
export function sumOf(a: Vector, s: number, b: Vector, t: number): Vector {
  return [a[0] * s + b[0] * t, a[1] * s + b[1] * t, a[2] * s + b[2] * t]
}

export function dot(a: Vector, b: Vector): number {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

export function cross(a: Vector, b: Vector): Vector {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

export function lengthOf(a: Vector): number {
  return Math.hypot(a[0], a[1], a[2])
}

/** The angle between two vectors of length 1, in radians; exact for small and for large ones. */
export function angleBetween(a: Vector, b: Vector): number {
  return 2 * Math.atan2(lengthOf(sumOf(a, 1, b, -1)), lengthOf(sumOf(a, 1, b, 1)))
}
