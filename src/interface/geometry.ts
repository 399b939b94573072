/**
 * Shapes as the Esri map libraries write them.
 *
 * @module
 */
import { type Static, Type } from 'typebox'
import { members } from './members.js'

export const SpatialReferenceSchema = members({
  /** 4326: degrees; 102100: metres of the web Mercator projection. */
  wkid: Type.Integer(),
  latestWkid: Type.Integer(),
})

export const GeometrySchema = members({
  type: Type.String(),
  /** Each ring is a list of [x, y]. */
  rings: Type.Array(Type.Array(Type.Array(Type.Number()))),
  spatialReference: SpatialReferenceSchema,
})

export type SpatialReference = Static<typeof SpatialReferenceSchema>
export type Geometry = Static<typeof GeometrySchema>
