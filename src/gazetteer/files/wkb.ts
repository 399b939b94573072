/**
 * Geometries in WKB, as GeoPackages and GeoParquet files have them.
 *
 * @module
 */
import type { DrawnGeometry } from '../../notations/drawn.js'
import { readWkbBytes } from '../../notations/wkb.js'
import { refusingNow } from './area-file.js'

/** @param position  of the feature in the file */
export function geometryOfWkb(bytes: Uint8Array, file: string, position: number): DrawnGeometry {
  return refusingNow(() => readWkbBytes(bytes, `${file}: the geometry of feature ${position}`))
}
