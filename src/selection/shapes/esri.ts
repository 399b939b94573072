/**
 * Geometries as the Esri map libraries write them: polygons of `rings`, polylines of `paths`,
 * multipoints of `points`, points of `x` and `y`, envelopes of `xmin` to `ymax`.
 *
 * @module
 */
import type { ServiceErrorCode } from '../../errors.js'
import { type NestingFault, nestRings } from '../../geometry/esri/esri-rings.js'
import { latOfMetres, lngOfMetres } from '../../geometry/esri/web-mercator.js'
import { drawnRing, lngOnGlobe, type UnitRing } from '../../geometry/polygon/antimeridian.js'
import type { SentPath } from '../../geometry/polygon/sent-path.js'
import { lowerCase } from '../../interface/letter-case.js'
import { numberOf } from '../../interface/quoted.js'
import { type JsonObject, member } from '../parse.js'
import { RING_FAULTS, type Ring, toRing } from './geojson.js'
import type { GeometrySink } from './layers.js'
import { arrayAt, fail, readPosition } from './positions.js'
import { readSpatialReference, type SpatialReference } from './spatial-reference.js'

/** Whether an object has a member that only Esri geometries have. */
export function isEsriGeometry(object: JsonObject): boolean {
  for (const name in object) if (Object.hasOwn(KINDS, lowerCase(name))) return true
  return false
}

/**
 * Reads one geometry. One without rings, paths or points, and a point or an envelope without its
 * first number, are empty.
 *
 * @param inherited  what the collection around it says; a reference of its own comes first
 * @throws ServiceError  that names the member at fault
 */
export function readEsriGeometry(
  object: JsonObject,
  path: string,
  inherited: SpatialReference | undefined,
  into: GeometrySink,
): void {
  const kind = kindOfGeometry(object, path)
  const own = readSpatialReference(member(object, 'spatialreference'), `${path}.spatialReference`)
  const geometry = { object, path, reference: own ?? inherited ?? 'degrees', into }
  if (kind === 'polygon') readPolygon(geometry)
  else if (kind === 'polyline') readPolyline(geometry)
  else if (kind === 'multipoint') readMultipoint(geometry)
  else if (kind === 'point') readPoint(geometry)
  else readEnvelope(geometry)
}

interface EsriGeometry {
  readonly object: JsonObject
  readonly path: string
  readonly reference: SpatialReference
  readonly into: GeometrySink
}

/** The kind of geometry that each member makes. Curves are known, so that they are refused. */
const KINDS = {
  rings: 'polygon',
  paths: 'polyline',
  points: 'multipoint',
  x: 'point',
  y: 'point',
  xmin: 'envelope',
  ymin: 'envelope',
  xmax: 'envelope',
  ymax: 'envelope',
  curverings: 'curve',
  curvepaths: 'curve',
} as const
type Kind = (typeof KINDS)[keyof typeof KINDS]

/** What the map libraries call an envelope in `type`. */
const ENVELOPE_TYPE = 'extent'

/** Members of GeoJSON: to read the one shape would drop the other. */
const GEOJSON_MEMBERS = ['coordinates', 'geometries', 'geometry', 'features', 'shapes']

/** Names of the members that make an Esri geometry, in lower case. */
export const ESRI_MEMBERS: readonly string[] = Object.keys(KINDS)

function kindOfGeometry(object: JsonObject, path: string): Exclude<Kind, 'curve'> {
  let found: string | undefined
  let kind: Kind | undefined
  for (const name of Object.keys(object)) {
    const lower = lowerCase(name)
    const isEsri = Object.hasOwn(KINDS, lower)
    if (!isEsri && !GEOJSON_MEMBERS.includes(lower)) continue
    const other = isEsri ? KINDS[lower as keyof typeof KINDS] : undefined
    if (other === 'curve')
      fail('UnknownGeometryType', 'holds curves, which are not known', `${path}.${name}`)
    if (found !== undefined && (kind === undefined || kind !== other)) {
      fail('InvalidGeoJson', `has both ${found} and ${name}`, path)
    }
    found = name
    kind = other
  }
  expectType(member(object, 'type'), kind, path)
  return kind as Exclude<Kind, 'curve'>
}

/** `type` may stand beside the members that say the same. */
function expectType(type: unknown, kind: Kind | undefined, path: string): void {
  if (type === undefined || type === null) return
  const expected = kind === 'envelope' ? ENVELOPE_TYPE : kind
  if (typeof type === 'string' && type.toLowerCase() === expected) return
  fail('InvalidGeoJson', `must be "${expected}", as its members are`, `${path}.type`)
}

function readPolygon(geometry: EsriGeometry): void {
  const path = `${geometry.path}.rings`
  const rings = listAt(geometry, 'rings').map((ring, i) =>
    readRing(ring, `${path}[${i}]`, geometry),
  )
  // By itself, whatever it lies in: on it somebody is inside of it or of what it is a hole of.
  for (const { ring, hasThreePoints } of rings) if (!hasThreePoints) geometry.into.polygon(ring, [])
  const open = rings.flatMap(({ ring, hasThreePoints }) => (hasThreePoints ? [ring] : []))
  const polygons = nestRings(open, geometry.into.budget)
  if (typeof polygons === 'string') {
    const [code, problem] = NESTING_FAULTS[polygons]
    fail(code, problem, path)
  }
  const isPlaced = new Set<UnitRing>()
  for (const { shell, holes } of polygons) {
    for (const hole of holes) {
      // A hole of several shells that cross is sent with each of them.
      if (isPlaced.has(hole)) geometry.into.count(hole.length / 2, path)
      isPlaced.add(hole)
    }
    geometry.into.polygon(shell, holes)
  }
}

function readRing(value: unknown, path: string, geometry: EsriGeometry): Ring {
  const positions = arrayAt(value, path)
  geometry.into.count(positions.length, path)
  return toRing(readPlanePath(positions, path, geometry.reference), path, geometry.into)
}

function readPolyline(geometry: EsriGeometry): void {
  listAt(geometry, 'paths').forEach((value, i) => {
    const path = `${geometry.path}.paths[${i}]`
    const positions = arrayAt(value, path)
    // A line is sent there and back.
    geometry.into.count(2 * positions.length, path)
    const line = readPlanePath(positions, path, geometry.reference)
    if (positions.length < 2) fail('InvalidGeoJson', 'must have at least two positions', path)
    geometry.into.line(line, path)
  })
}

function readMultipoint(geometry: EsriGeometry): void {
  listAt(geometry, 'points').forEach((position, i) => {
    const path = `${geometry.path}.points[${i}]`
    geometry.into.count(1, path)
    const point: number[] = []
    readPlanePosition(position, path, geometry.reference, point)
    geometry.into.point([lngOnGlobe(point[0]), point[1]])
  })
}

function readPoint({ object, path, reference, into }: EsriGeometry): void {
  const x = member(object, 'x')
  if (isEmptyNumber(x)) return
  into.count(1, path)
  const point: number[] = []
  readPlanePosition([x, member(object, 'y')], path, reference, point)
  into.point([lngOnGlobe(point[0]), point[1]])
}

/** An envelope is as wide as it is written: none of its edges runs the short way round. */
function readEnvelope({ object, path, reference, into }: EsriGeometry): void {
  const xmin = member(object, 'xmin')
  if (isEmptyNumber(xmin)) return
  into.count(4, path)
  const corners: number[] = []
  readPlanePosition([xmin, member(object, 'ymin')], path, reference, corners)
  readPlanePosition([member(object, 'xmax'), member(object, 'ymax')], path, reference, corners)
  const [west, south, east, north] = corners
  if (west > east || south > north) {
    fail('InvalidGeoJson', 'must have xmin and ymin no greater than xmax and ymax', path)
  }
  const ring = drawnRing([west, south, west, north, east, north, east, south])
  if (ring === 'TooWide') fail('AmbiguousRing', RING_FAULTS[ring], path)
  if (west < east && south < north) into.ring(true, path)
  into.polygon(ring, [])
}

function listAt({ object, path }: EsriGeometry, name: string): readonly unknown[] {
  return arrayAt(member(object, name), `${path}.${name}`)
}

function readPlanePath(
  positions: readonly unknown[],
  path: string,
  reference: SpatialReference,
): SentPath {
  const units: number[] = []
  positions.forEach((position, i) => {
    readPosition(inDegrees(position, reference), `${path}[${i}]`, units)
  })
  const lngDegreesAt = (vertex: number) =>
    numberOf((inDegrees(positions[vertex], reference) as unknown[])[0]) as number
  return { units, lngDegreesAt }
}

/** Appends one position to `into`. */
function readPlanePosition(
  position: unknown,
  path: string,
  reference: SpatialReference,
  into: number[],
): void {
  readPosition(inDegrees(position, reference), path, into)
}

/** A position brought to degrees; as it is where it cannot be, so that it is refused by its path. */
function inDegrees(position: unknown, reference: SpatialReference): unknown {
  const isProjected = reference === 'webMercator' && Array.isArray(position)
  const [x = Number.NaN, y = Number.NaN] = isProjected ? position.map(numberOf) : []
  // Infinite metres would be a pole; as they are, they are refused.
  const isPlace = Number.isFinite(x) && Number.isFinite(y)
  return isPlace ? [lngOfMetres(x), latOfMetres(y)] : position
}

/** As an empty point and an empty envelope are written. */
function isEmptyNumber(value: unknown): boolean {
  return value === null || value === 'NaN'
}

const NESTING_FAULTS: Readonly<Record<NestingFault, [code: ServiceErrorCode, problem: string]>> = {
  CrossingRings: ['CrossingRings', 'has rings that cross, of which either could be a hole'],
  TooManyComparisons: ['TooComplex', 'has rings that lie too densely to tell holes from shells'],
}
