/**
 * Geometries in WKB, as GeoPackages and GeoParquet files have them.
 *
 * @module
 */
import { ServiceError } from '../../errors.js'
import type { DrawnGeometry } from '../../notations/drawn.js'
import { readWkbBytes } from '../../notations/wkb.js'
import { refuse } from './area-file.js'

/** @param position  of the feature in the file */
export function geometryOfWkb(bytes: Uint8Array, file: string, position: number): DrawnGeometry {
  try {
    return readWkbBytes(bytes, `the geometry of feature ${position}`)
  } catch (error) {
    if (error instanceof ServiceError) return refuse(file, error.message)
    throw error
  }
}
