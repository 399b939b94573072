/**
 * Tells what coordinates are: of Esri geometries degrees, or metres of the web Mercator projection; of
 * GeoJSON degrees alone.
 *
 * @module
 */
import { isWgs84Name } from '../../geometry/degrees.js'
import { lowerCase } from '../../interface/letter-case.js'
import { nearestName } from '../../interface/near-miss.js'
import { numberOf } from '../../interface/quoted.js'
import { unknownName } from '../../interface/unknown-members.js'
import { isObject, type JsonObject, kindOf, member } from '../parse.js'
import { fail, objectAt } from './positions.js'

export type SpatialReference = 'degrees' | 'webMercator'

const REFERENCES: ReadonlyMap<number, SpatialReference> = new Map([
  [4326, 'degrees'],
  [3857, 'webMercator'],
  [102100, 'webMercator'],
  [102113, 'webMercator'],
  [900913, 'webMercator'],
])

/**
 * Reads a member `spatialReference`. Absent, null and an object without members say nothing.
 *
 * @throws ServiceError  UnknownSpatialReference or InvalidGeoJson
 */
export function readSpatialReference(value: unknown, path: string): SpatialReference | undefined {
  if (value === undefined || value === null) return undefined
  const object = objectAt(value, path)
  refuseMisspelt(object, path)
  const wkid = readWkid(member(object, 'wkid'), `${path}.wkid`)
  const latestWkid = readWkid(member(object, 'latestwkid'), `${path}.latestWkid`)
  if (wkid === undefined && latestWkid === undefined) {
    if (Object.keys(object).length === 0) return undefined
    fail('UnknownSpatialReference', 'has no wkid', path)
  }
  const first = REFERENCES.get(wkid ?? Number.NaN)
  const latest = REFERENCES.get(latestWkid ?? Number.NaN)
  if (first === undefined && latest === undefined) {
    const [number, field] = wkid === undefined ? [latestWkid, 'latestWkid'] : [wkid, 'wkid']
    fail('UnknownSpatialReference', `is ${number}, which is not known`, `${path}.${field}`)
  }
  if (first !== undefined && latest !== undefined && first !== latest) {
    fail('UnknownSpatialReference', `is both ${wkid} and ${latestWkid}`, path)
  }
  return first ?? latest
}

/** What is nearly a member would say where everything is. */
function refuseMisspelt(object: JsonObject, path: string): void {
  for (const name in object) {
    const meant = nearestName(name, MEMBERS)
    if (meant === undefined || OWN.has(lowerCase(name))) continue
    if (member(object, lowerCase(meant)) !== undefined) continue
    throw unknownName(path, name, `do you mean ${meant}?`)
  }
}

const MEMBERS = ['wkid', 'latestWkid']
/** Texts of the same reference may stand beside its numbers. */
const OWN: ReadonlySet<string> = new Set(['wkid', 'latestwkid', 'wkt', 'wkt2'])

/**
 * A member `crs`, as GeoJSON had it before RFC 7946, may only name what is meant without it:
 * longitude and latitude on WGS 84.
 */
export function refuseForeignCrs(object: JsonObject, path: string): void {
  const crs = member(object, 'crs')
  if (crs === undefined || crs === null) return
  const properties = isObject(crs) ? member(crs, 'properties') : undefined
  const name = isObject(properties) ? member(properties, 'name') : undefined
  if (typeof name === 'string' && isWgs84Name(name)) return
  fail('UnknownSpatialReference', 'must be left out, or name CRS84 or EPSG:4326', `${path}.crs`)
}

function readWkid(value: unknown, path: string): number | undefined {
  if (value === undefined || value === null) return undefined
  const wkid = numberOf(value)
  if (wkid !== undefined) return wkid
  return fail('InvalidGeoJson', `must be a number, not ${kindOf(value)}`, path)
}
