/**
 * The notations of shapes beside GeoJSON and Esri JSON: which member has which, and what reads it into
 * GeoJSON, for the one reader of drawings.
 *
 * @module
 */
import { lowerCase } from '../../interface/letter-case.js'
import { readBbox } from '../../notations/bbox.js'
import type { DrawnGeometry } from '../../notations/drawn.js'
import { readGeohash } from '../../notations/geohash.js'
import { readH3 } from '../../notations/h3.js'
import { readMgrs } from '../../notations/mgrs.js'
import { readPolyline } from '../../notations/polyline.js'
import { readUtm } from '../../notations/utm.js'
import { readWkb } from '../../notations/wkb.js'
import { readWkt } from '../../notations/wkt.js'
import type { JsonObject } from '../parse.js'
import { ESRI_MEMBERS } from './esri.js'
import { fail } from './positions.js'

/** Notations of one geometry: members of a request, or of what stands in the place of a geometry. */
const GEOMETRY_READERS = {
  wkt: readWkt,
  wkb: readWkb,
  bbox: readBbox,
  h3: readH3,
  geohash: readGeohash,
  polyline: readPolyline,
  mgrs: readMgrs,
  utm: readUtm,
} as const satisfies Record<string, (value: unknown, path: string) => DrawnGeometry>

type GeometryNotation = keyof typeof GEOMETRY_READERS

/** Members of a request that each have one notation. */
export const NOTATION_MEMBERS = Object.keys(GEOMETRY_READERS) as readonly GeometryNotation[]

/** @throws ServiceError  that names the member, or what of it is at fault */
export function readNotation(name: GeometryNotation, value: unknown): DrawnGeometry {
  return GEOMETRY_READERS[name](value, name)
}

/**
 * Reads an object in the place of a geometry that has one in another notation; undefined where it has none.
 * Beside a geometry, `bbox` is that of GeoJSON, and is not looked at.
 *
 * @throws ServiceError
 */
export function readNotationIn(
  object: JsonObject,
  path: string,
): { readonly geometry: DrawnGeometry; readonly path: string } | undefined {
  let found: { name: string; notation: GeometryNotation } | undefined
  let other: string | undefined
  for (const name in object) {
    const notation = NOTATIONS.get(lowerCase(name))
    if (notation !== undefined && found !== undefined && found.notation !== 'bbox') {
      if (notation !== 'bbox') other ??= name
    } else if (notation !== undefined) found = { name, notation }
    else if (OTHERS.has(lowerCase(name))) other ??= name
  }
  if (found === undefined || (found.notation === 'bbox' && other !== undefined)) return undefined
  if (other !== undefined) fail('InvalidGeoJson', `has both ${found.name} and ${other}`, path)
  const at = `${path}.${found.name}`
  return { geometry: GEOMETRY_READERS[found.notation](object[found.name], at), path: at }
}

/** Whether a name, in lower case, means something in a request or for a geometry, and nothing elsewhere. */
export function isNotation(lower: string): boolean {
  // GeoJSON has boxes of its own everywhere.
  return lower !== 'bbox' && (NOTATIONS.has(lower) || lower === 'areas')
}

/** By names in lower case. */
const NOTATIONS: ReadonlyMap<string, GeometryNotation> = new Map(
  NOTATION_MEMBERS.map((name) => [name, name]),
)

/** What a geometry of GeoJSON or Esri has, in lower case. */
const OTHERS: ReadonlySet<string> = new Set([
  'type',
  'coordinates',
  'geometries',
  ...ESRI_MEMBERS.map(lowerCase),
])
