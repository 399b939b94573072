/**
 * What of an area counts.
 *
 * @module
 */
import type { Area } from '../interface/context.js'

/** GeoJSON or Esri JSON, as a recipient request takes it; undefined where the area is nowhere. */
export function shapeOf({ Drawing, Geometry }: Area): object | undefined {
  return (Drawing as object | undefined) ?? Geometry
}
