/**
 * The properties of a feature that change whom it selects.
 *
 * @module
 */

/** In lower case; they are read in any. */
export const PROPERTY_NAMES: readonly string[] = [
  'exclude',
  'radius',
  'buffer',
  'nearest',
  'sources',
]

/** Whether the unit of a radius or buffer is the only one that there is. */
export function isMetres(unit: unknown): boolean {
  return typeof unit === 'string' && METRES.includes(unit.toLowerCase())
}

const METRES: readonly string[] = ['m', 'metre', 'metres', 'meter', 'meters']
