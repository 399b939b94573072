/**
 * The spherical web Mercator projection of map libraries, back to degrees.
 *
 * @module
 */

/** Half the equator of a sphere of 6,378,137 m: what 180 degrees of longitude are in the plane. */
const HALF_WORLD_METRES = Math.PI * 6_378_137

/**
 * Map libraries write the end of the world as 20037508.34 or .343, and tiling schemes as 20037507.07.
 * Taken to the millimetre, a ring from one end to the other would run the short way instead, or lie
 * beyond the antimeridian, where it is taken as drawn.
 */
const SEAM_METRES = 1.5

/**
 * Ten decimals are ten micrometres. The last places of `Math.exp` and `Math.atan` may differ from
 * engine to engine, and without them a place on the grid of recipients comes back as it was.
 */
const DECIMALS = 1e10

/** The longitude of `x` metres, in degrees; beyond ±180 where `x` is beyond one world. */
export function lngOfMetres(x: number): number {
  // In half worlds from the middle of the map, its ends are odd; so are those of the maps beside it.
  const end = 2 * Math.round((x / HALF_WORLD_METRES - 1) / 2) + 1
  if (Math.abs(x - end * HALF_WORLD_METRES) <= SEAM_METRES) return 180 * end
  return rounded((180 * x) / HALF_WORLD_METRES)
}

/** The latitude of `y` metres, in degrees. A `y` without bound comes near a pole. */
export function latOfMetres(y: number): number {
  const turn = (Math.PI * y) / HALF_WORLD_METRES
  // The same for north and south; near the equator, too, exact to the last places.
  return rounded((Math.atan(Math.sinh(turn)) * 180) / Math.PI)
}

function rounded(degrees: number): number {
  return Math.round(degrees * DECIMALS) / DECIMALS
}
