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
import { readGpx } from '../../notations/gpx.js'
import { readH3 } from '../../notations/h3.js'
import { readKml } from '../../notations/kml/read-kml.js'
import { readMgrs } from '../../notations/mgrs.js'
import { readPolyline } from '../../notations/polyline.js'
import { readTopoJson } from '../../notations/topojson/read-topojson.js'
import { readUtm } from '../../notations/utm.js'
import { readWkb } from '../../notations/wkb.js'
import { readWkt } from '../../notations/wkt.js'
import { type JsonObject, kindOf } from '../parse.js'
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

/** Notations of several features: members of a request alone. */
const FILE_READERS = {
  kml: (value: unknown, path: string) => readKml(documentOf(value, path), path),
  gpx: (value: unknown, path: string) => readGpx(documentOf(value, path), path),
  topoJSON: readTopoJson,
} as const satisfies Record<string, (value: unknown, path: string) => object>

const READERS = { ...GEOMETRY_READERS, ...FILE_READERS }

type NotationMember = keyof typeof READERS

/** Members of a request that each have one notation. */
export const NOTATION_MEMBERS = Object.keys(READERS) as readonly NotationMember[]

/** @throws ServiceError  that names the member, or what of it is at fault */
export function readNotation(name: NotationMember, value: unknown): object {
  return READERS[name](value, name)
}

/** A text, or the bytes of a whole body. */
function documentOf(value: unknown, path: string): string | Uint8Array {
  if (typeof value === 'string' || value instanceof Uint8Array) return value
  return fail('InvalidRequest', `must be a text of XML, not ${kindOf(value)}`, path)
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
  let twice: string | undefined
  let empty: typeof found
  for (const name in object) {
    const notation = NOTATIONS.get(lowerCase(name))
    if (notation !== undefined && (object[name] === null || object[name] === false)) {
      // As clients write what they do not have. By itself it is at fault.
      empty = { name, notation }
    } else if (notation === 'bbox' && found?.notation === 'bbox') twice = name
    else if (notation !== undefined && found !== undefined && found.notation !== 'bbox') {
      if (notation !== 'bbox') other ??= name
    } else if (notation !== undefined) found = { name, notation }
    else if (OTHERS.has(lowerCase(name))) other ??= name
  }
  if (other === undefined) found ??= empty
  if (found === undefined || (found.notation === 'bbox' && other !== undefined)) return undefined
  if (found.notation === 'bbox') other = twice
  if (other !== undefined) fail('InvalidGeoJson', `has both ${found.name} and ${other}`, path)
  const at = `${path}.${found.name}`
  return { geometry: GEOMETRY_READERS[found.notation](object[found.name], at), path: at }
}

/**
 * Names in lower case that mean something in a request or in the place of a geometry, and nothing elsewhere in a
 * drawing. GeoJSON has boxes of its own everywhere.
 */
export const NOTATION_NAMES: readonly string[] = [
  'areas',
  'cap',
  ...NOTATION_MEMBERS.map(lowerCase).filter((name) => name !== 'bbox'),
]

/** By names in lower case. */
const NOTATIONS: ReadonlyMap<string, GeometryNotation> = new Map(
  (Object.keys(GEOMETRY_READERS) as GeometryNotation[]).map((name) => [name, name]),
)

/** What a geometry of GeoJSON or Esri has, in lower case. */
const OTHERS: ReadonlySet<string> = new Set([
  'type',
  'coordinates',
  'geometries',
  ...ESRI_MEMBERS.map(lowerCase),
])
