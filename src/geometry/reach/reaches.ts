/**
 * What lies within a distance of points and lines: circles, corridors and margins, flat, so that
 * they cross threads as two typed arrays.
 *
 * @module
 */

/** The recipients within `radiiMetres[i]` of arc `i`, for any `i`. */
export interface Reaches {
  /**
   * The ends of great-circle arcs, four numbers an arc: lng, lat, lng, lat in units, the longitudes
   * anywhere modulo 360. A single point is an arc whose ends are the same.
   */
  readonly arcs: Float64Array
  readonly radiiMetres: Float64Array
}

export const NO_REACHES: Reaches = {
  arcs: new Float64Array(0),
  radiiMetres: new Float64Array(0),
}
