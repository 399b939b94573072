/**
 * What WKT and WKB have in common: the one reference that is read, and geometries that are not.
 *
 * @module
 */
import { ServiceError } from '../errors.js'

/** Longitude and latitude on WGS 84, in this order in EWKT and EWKB, as PostGIS has it. */
const WGS84_SRID = 4326

/** @throws ServiceError  UnknownSpatialReference, also for 0, which says that nobody knows */
export function expectWgs84(srid: number, path: string): void {
  if (srid === WGS84_SRID) return
  const problem = `has an SRID other than ${WGS84_SRID}: transform it, or leave the SRID out`
  throw new ServiceError('UnknownSpatialReference', `${path} ${problem}`, path)
}

/** @throws ServiceError  UnknownGeometryType, if it is the name of such a geometry in WKT */
export function refuseSurface(name: string, path: string): void {
  if (![...SURFACES.values()].includes(name)) return
  const problem = `has a ${name}, which is not read: write it as polygons or lines`
  throw new ServiceError('UnknownGeometryType', `${path} ${problem}`, path)
}

/** Curves and surfaces by their numbers in WKB, with their names in WKT (OGC 06-103r4, table 7). */
export const SURFACES: ReadonlyMap<number, string> = new Map([
  [8, 'CIRCULARSTRING'],
  [9, 'COMPOUNDCURVE'],
  [10, 'CURVEPOLYGON'],
  [11, 'MULTICURVE'],
  [12, 'MULTISURFACE'],
  [13, 'CURVE'],
  [14, 'SURFACE'],
  [15, 'POLYHEDRALSURFACE'],
  [16, 'TIN'],
  [17, 'TRIANGLE'],
])
