/**
 * Coordinate systems by their codes of EPSG: those that files of areas come in. Most are one of a
 * family with a zone in its number. Whatever else a file names must come with its definition.
 *
 * @module
 */

/** Of all but web Mercator. @returns a definition for proj4; undefined for a code that is not in the table */
export function definitionOfEpsg(code: number): string | undefined {
  const fixed = FIXED.get(code)
  if (fixed !== undefined) return fixed
  for (const [first, last, definition] of ZONES) {
    if (code >= first && code <= last) return definition(code - first)
  }
  return undefined
}

/** For a message. */
export const KNOWN_CODES =
  'EPSG:4326, 4269, 4258, 3857, those of UTM (326xx, 327xx, 269xx, 258xx), 5070, 3338, 3347, 27700, 2154 and 3035'

const GRS80 = '+ellps=GRS80 +towgs84=0,0,0 +no_defs'
const WGS84 = '+datum=WGS84 +no_defs'
const DEGREES = `+proj=longlat ${WGS84}`
/** Degrees of systems that differ from WGS 84 by no more than metres. */
const OTHER_DEGREES = `+proj=longlat ${GRS80}`

/** Web Mercator, and what others call it. */
export const WEB_MERCATOR_CODES: ReadonlySet<number> = new Set([3857, 900913, 102100, 102113])

const FIXED: ReadonlyMap<number, string> = new Map([
  [4326, DEGREES],
  // NAD83, its revisions of Canada and of 2011, ETRS89, GDA94, GDA2020, NZGD2000, SIRGAS 2000, JGD2000 and JGD2011.
  ...[4269, 4617, 6318, 4258, 4283, 7844, 4167, 4674, 4612, 6668].map(
    (code) => [code, OTHER_DEGREES] as const,
  ),
  // Albers: the lower 48 states and Alaska.
  [5070, `+proj=aea +lat_0=23 +lon_0=-96 +lat_1=29.5 +lat_2=45.5 +x_0=0 +y_0=0 ${GRS80}`],
  [3338, `+proj=aea +lat_0=50 +lon_0=-154 +lat_1=55 +lat_2=65 +x_0=0 +y_0=0 ${GRS80}`],
  // Lambert: Canada twice, France, and Europe.
  [
    3347,
    `+proj=lcc +lat_0=63.390675 +lon_0=-91.8666666666667 +lat_1=49 +lat_2=77 +x_0=6200000 +y_0=3000000 ${GRS80}`,
  ],
  [3978, `+proj=lcc +lat_0=49 +lon_0=-95 +lat_1=49 +lat_2=77 +x_0=0 +y_0=0 ${GRS80}`],
  [2154, `+proj=lcc +lat_0=46.5 +lon_0=3 +lat_1=49 +lat_2=44 +x_0=700000 +y_0=6600000 ${GRS80}`],
  [3034, `+proj=lcc +lat_0=52 +lon_0=10 +lat_1=35 +lat_2=65 +x_0=4000000 +y_0=2800000 ${GRS80}`],
  [3035, `+proj=laea +lat_0=52 +lon_0=10 +x_0=4321000 +y_0=3210000 ${GRS80}`],
  // The grids of Britain and of New Zealand.
  [
    27700,
    '+proj=tmerc +lat_0=49 +lon_0=-2 +k=0.9996012717 +x_0=400000 +y_0=-100000 +datum=OSGB36 +no_defs',
  ],
  [2193, `+proj=tmerc +lat_0=0 +lon_0=173 +k=0.9996 +x_0=1600000 +y_0=10000000 ${GRS80}`],
])

/** First and last code, and the definition by the distance from the first. */
const ZONES: readonly (readonly [number, number, (index: number) => string])[] = [
  [32601, 32660, (index) => `+proj=utm +zone=${index + 1} ${WGS84}`],
  [32701, 32760, (index) => `+proj=utm +zone=${index + 1} +south ${WGS84}`],
  // NAD83, NAD83(2011), ETRS89, GDA94 and GDA2020.
  [26901, 26923, (index) => `+proj=utm +zone=${index + 1} ${GRS80}`],
  [6330, 6348, (index) => `+proj=utm +zone=${index + 1} ${GRS80}`],
  [25828, 25838, (index) => `+proj=utm +zone=${index + 28} ${GRS80}`],
  [28348, 28358, (index) => `+proj=utm +zone=${index + 48} +south ${GRS80}`],
  [7846, 7859, (index) => `+proj=utm +zone=${index + 46} +south ${GRS80}`],
]
