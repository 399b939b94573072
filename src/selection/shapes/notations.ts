/**
 * The notations of shapes beside GeoJSON and Esri JSON, each under its member, and what reads them into
 * GeoJSON.
 *
 * @module
 */
import type { DrawnCollection, DrawnGeometry } from '../../notations/drawn.js'
import type { Remarks } from '../remarks.js'

/** Members of a request that each have one notation. */
export const NOTATION_MEMBERS = [] as const satisfies readonly string[]

export type NotationMember = (typeof NOTATION_MEMBERS)[number]

export function readNotation(
  name: never,
  value: unknown,
  path: string,
  remarks: Remarks,
): DrawnGeometry | DrawnCollection {
  throw new Error(`${name} ${value} ${path} ${remarks}`)
}
