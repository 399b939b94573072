/**
 * UTM by Krüger's series to the sixth order (Karney 2011), which is right to nanometres within a zone and
 * its neighbours: for readers of UTM and MGRS to be compared with.
 *
 * @module
 */

/** WGS 84. */
const SEMI_MAJOR_METRES = 6_378_137
const FLATTENING = 1 / 298.257223563

const N = FLATTENING / (2 - FLATTENING)
const ECCENTRICITY = Math.sqrt(FLATTENING * (2 - FLATTENING))
const RADIUS_METRES = (SEMI_MAJOR_METRES / (1 + N)) * (1 + N ** 2 / 4 + N ** 4 / 64 + N ** 6 / 256)

const ALPHA = [
  N / 2 -
    (2 / 3) * N ** 2 +
    (5 / 16) * N ** 3 +
    (41 / 180) * N ** 4 -
    (127 / 288) * N ** 5 +
    (7891 / 37800) * N ** 6,
  (13 / 48) * N ** 2 -
    (3 / 5) * N ** 3 +
    (557 / 1440) * N ** 4 +
    (281 / 630) * N ** 5 -
    (1983433 / 1935360) * N ** 6,
  (61 / 240) * N ** 3 -
    (103 / 140) * N ** 4 +
    (15061 / 26880) * N ** 5 +
    (167603 / 181440) * N ** 6,
  (49561 / 161280) * N ** 4 - (179 / 168) * N ** 5 + (6601661 / 7257600) * N ** 6,
  (34729 / 80640) * N ** 5 - (3418889 / 1995840) * N ** 6,
  (212378941 / 319334400) * N ** 6,
]

const SCALE = 0.9996
const FALSE_EASTING_METRES = 500_000
const FALSE_NORTHING_METRES = 10_000_000

/** @returns metres; northings of the south count from 10,000 km south of the equator */
export function toUtm(
  lng: number,
  lat: number,
  zone: number,
  isSouthern: boolean,
): [easting: number, northing: number] {
  const radians = Math.PI / 180
  const middle = 6 * zone - 183
  const east = (((lng - middle + 540) % 360) - 180) * radians
  const sine = Math.sin(lat * radians)
  const conformal = Math.sinh(Math.atanh(sine) - ECCENTRICITY * Math.atanh(ECCENTRICITY * sine))
  const xi = Math.atan2(conformal, Math.cos(east))
  const eta = Math.asinh(Math.sin(east) / Math.hypot(conformal, Math.cos(east)))
  let x = eta
  let y = xi
  for (const [index, alpha] of ALPHA.entries()) {
    const order = 2 * (index + 1)
    x += alpha * Math.cos(order * xi) * Math.sinh(order * eta)
    y += alpha * Math.sin(order * xi) * Math.cosh(order * eta)
  }
  return [
    FALSE_EASTING_METRES + SCALE * RADIUS_METRES * x,
    SCALE * RADIUS_METRES * y + (isSouthern ? FALSE_NORTHING_METRES : 0),
  ]
}
