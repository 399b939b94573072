/**
 * The properties of a feature that change whom it selects, in lower case; they are read in any.
 *
 * @module
 */
export const PROPERTY_NAMES: readonly string[] = [
  'exclude',
  'radius',
  'buffer',
  'nearest',
  'sources',
]
