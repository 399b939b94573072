/**
 * Stored coordinates are whole units of 1e-7 degree (1.1 cm), as OpenStreetMap keeps them.
 *
 * @module
 */

/** Units in one degree. */
export const UNITS_PER_DEGREE = 1e7

/**
 * A coordinate of a shape in units. One with at most seven decimals becomes the whole number that
 * it is written as, up to 100,000,000 degrees; a finer one becomes the double nearest to its product,
 * off within ±180 by no more than 2 ** -22 units (three nanometres).
 */
export function toUnits(degrees: number): number {
  const whole = Math.round(degrees * UNITS_PER_DEGREE)
  // Dividing is correctly rounded, so this holds exactly when `degrees` is the double that the
  // decimal number whole/1e7 is read as. Multiplying alone is not: 1.1 * 1e7 is not 11000000.
  return whole / UNITS_PER_DEGREE === degrees ? whole : degrees * UNITS_PER_DEGREE
}

export const RADIANS_PER_UNIT = Math.PI / 180 / UNITS_PER_DEGREE

/** Latitude of the north pole. */
export const POLE_UNITS = 90 * UNITS_PER_DEGREE

/** Once round the globe, in longitude. */
export const UNITS_PER_TURN = 360 * UNITS_PER_DEGREE
export const HALF_TURN = UNITS_PER_TURN / 2
