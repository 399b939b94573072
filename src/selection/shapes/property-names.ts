/**
 * The properties of a feature that change whom it selects.
 *
 * @module
 */

import { metresOf } from '../../notations/units.js'

/** In lower case; they are read in any. */
export const PROPERTY_NAMES: readonly string[] = [
  'exclude',
  'radius',
  'buffer',
  'nearest',
  'sources',
]

/** Whether the unit of a radius or buffer is the one that holds where none is given. */
export function isMetres(unit: unknown): boolean {
  return typeof unit === 'string' && metresOf(1, unit) === 1
}
