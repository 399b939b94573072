/**
 * The zones of UTM and the bands of MGRS on WGS 84 (NGA.STND.0037): 60 zones of six degrees from -180
 * on, and bands of eight degrees from 80 S to 84 N, the last one of twelve. Zones 32 V and 31 X to 37 X
 * are wider or narrower than that, and 32 X, 34 X and 36 X are not there.
 *
 * @module
 */
import { createRequire } from 'node:module'

export const ZONE_COUNT = 60

/** Of the equator, for places south of it. */
export const FALSE_NORTHING_METRES = 10_000_000

/** Degrees; the northern end of band X, where UPS begins. */
export const NORTHERN_END = 84
export const SOUTHERN_END = -80

const BANDS = 'CDEFGHJKLMNPQRSTUVWX'
const BAND_DEGREES = 8
const ZONE_DEGREES = 6

/** Degrees. */
export interface ZoneBounds {
  readonly west: number
  readonly south: number
  readonly east: number
  readonly north: number
}

/** Latitudes of a band, in degrees, by its letter in upper case; undefined if there is no such band. */
export function bandBounds(band: string): { south: number; north: number } | undefined {
  const index = band.length === 1 ? BANDS.indexOf(band) : -1
  if (index < 0) return undefined
  const south = SOUTHERN_END + BAND_DEGREES * index
  return { south, north: band === 'X' ? NORTHERN_END : south + BAND_DEGREES }
}

/** @returns undefined for a zone or a band that is not there, such as 32 X */
export function zoneBounds(zone: number, band: string): ZoneBounds | undefined {
  const lats = bandBounds(band)
  if (lats === undefined || zone < 1 || zone > ZONE_COUNT) return undefined
  const uneven = UNEVEN.get(`${zone}${band}`)
  const lngs = uneven === undefined ? evenLngs(zone) : uneven
  return lngs === null ? undefined : { west: lngs[0], east: lngs[1], ...lats }
}

function evenLngs(zone: number): readonly [west: number, east: number] {
  const west = -180 + ZONE_DEGREES * (zone - 1)
  return [west, west + ZONE_DEGREES]
}

/** Norway, and Svalbard. */
const UNEVEN: ReadonlyMap<string, readonly [west: number, east: number] | null> = new Map([
  ['31V', [0, 3]],
  ['32V', [3, 12]],
  ['31X', [0, 9]],
  ['32X', null],
  ['33X', [9, 21]],
  ['34X', null],
  ['35X', [21, 33]],
  ['36X', null],
  ['37X', [33, 42]],
])

export type Unproject = (
  eastingMetres: number,
  northingMetres: number,
) => [lng: number, lat: number]

/** @param isSouthern  whether northings count from 10,000 km south of the equator */
export function unprojector(zone: number, isSouthern: boolean): Unproject {
  const key = isSouthern ? -zone : zone
  const known = unprojectors.get(key)
  if (known !== undefined) return known
  const south = isSouthern ? ' +south' : ''
  const { inverse } = library()(`+proj=utm +zone=${zone}${south} +datum=WGS84 +units=m +no_defs`)
  const made: Unproject = (easting, northing) => inverse([easting, northing]) as [number, number]
  unprojectors.set(key, made)
  return made
}

/** With the first reference: it takes some 10 MiB in each thread that loads it. */
function library(): typeof import('proj4') {
  loaded ??= createRequire(import.meta.url)('proj4') as typeof import('proj4')
  return loaded
}

let loaded: typeof import('proj4') | undefined

/** By zone, negative in the south. */
const unprojectors = new Map<number, Unproject>()
