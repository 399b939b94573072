/**
 * GeoJSON geometries as sets of places, read by rules of the oracle's own.
 *
 * @module
 */
import { type ExactPath, exactPaths } from '../decimal.js'
import { anyOf, type Region, upToOrSame, type Verdict, without } from '../verdict.js'
import { preparePlaceInPath } from './exact.js'
import { nearEdges } from './margin.js'
import { arcDistanceMetres, distanceMetres, HALF_WAY_ROUND_METRES, placeOnGlobe } from './sphere.js'
import {
  globeLine,
  globeRing,
  hasThreePoints,
  preparePlaces,
  Refused,
  TURN_UNITS,
  turnsOf,
} from './unwrap.js'

/** Two formulas for the same distance agree to within this. */
const DOUBT_METRES = 1e-4

/** Between places so nearly opposite any great circle is as short. */
const OPPOSITE_METRES = 1

export type Members = Readonly<Record<string, unknown>>

/** A member by its name, which is given in lower case, in whatever case it is written. */
export function memberOf(object: unknown, ...names: string[]): unknown {
  const entries = Object.entries((object ?? {}) as Members)
  return entries.find(([name]) => names.includes(name.toLowerCase()))?.[1] ?? undefined
}

/** Longitude and latitude in degrees. */
type Vertex = readonly number[]
type Ring = readonly Vertex[]

/**
 * All of a feature. Rings without area are its points and edges beside others, but not alone.
 *
 * @param metres  the distance within which places belong to it too; undefined is none
 */
export function readGeometry(geometry: unknown, metres: number | undefined): Region {
  const rings = ringsOf(geometry)
  if (rings.some((ring) => ring.length === 0)) throw new Refused('DegenerateRing')
  if (rings.length > 0 && !exactPaths(rings).some(hasThreePoints))
    throw new Refused('DegenerateRing')
  return readPart(geometry, metres)
}

function ringsOf(geometry: unknown): Ring[] {
  const coordinates = memberOf(geometry, 'coordinates') as unknown[]
  switch (memberOf(geometry, 'type')) {
    case 'Polygon':
      return coordinates as Ring[]
    case 'MultiPolygon':
      return (coordinates as Ring[][]).flat()
    case 'GeometryCollection':
      return (memberOf(geometry, 'geometries') as unknown[]).flatMap(ringsOf)
    default:
      return []
  }
}

/** Whatever has no coordinates is nowhere. */
function readPart(geometry: unknown, metres: number | undefined): Region {
  const coordinates = (memberOf(geometry, 'coordinates') ?? []) as unknown[]
  const several = <T>(read: (item: T) => Region) => union((coordinates as T[]).map(read))
  const whole = <T>(read: (item: T) => Region) =>
    coordinates.length === 0 ? union([]) : read(coordinates as T)
  const point = (position: Vertex) => pathRegion([position], metres)
  const line = (positions: Vertex[]) => pathRegion(positions, metres)
  const polygon = (rings: Ring[]) => polygonRegion(rings, metres)
  switch (memberOf(geometry, 'type')) {
    case 'Point':
      return whole(point)
    case 'MultiPoint':
      return several(point)
    case 'LineString':
      return whole(line)
    case 'MultiLineString':
      return several(line)
    case 'Polygon':
      return whole(polygon)
    case 'MultiPolygon':
      return several(polygon)
    case 'GeometryCollection':
      return union(
        (memberOf(geometry, 'geometries') as unknown[]).map((item) => readPart(item, metres)),
      )
    default:
      throw new Error('the oracle knows no such geometry')
  }
}

/** Degrees of longitude in which seven decimals are still exact in a double. */
const LNG_MAX = 100_000_000

function readPaths(paths: readonly Ring[]): ExactPath[] {
  for (const [lng, lat] of paths.flat()) {
    if (Math.abs(lng) > LNG_MAX) throw new Refused('LongitudeOutOfRange')
    if (Math.abs(lat) > 90) throw new Refused('LatitudeOutOfRange')
  }
  return exactPaths(paths)
}

export function union(regions: readonly Region[]): Region {
  return (lngUnits, latUnits) => anyOf(regions.map((region) => region(lngUnits, latUnits)))
}

/** A point is a path that goes nowhere. */
function pathRegion(positions: readonly Vertex[], metres: number | undefined): Region {
  return metres === undefined ? onPath(positions) : nearPath(positions, metres)
}

function onPath(positions: readonly Vertex[]): Region {
  const [read] = readPaths([positions])
  const path = globeLine(read)
  // An edge is a ring of two vertices: it has a boundary and nothing inside.
  const edges = segmentsOf(path.vertices).map((vertices) =>
    preparePlaceInPath({ ...path, vertices }),
  )
  const turns = turnsOf(path)
  return (lngUnits, latUnits) => {
    const meets = (turn: number): Verdict => {
      const places = edges.map((placeOn) => placeOn(lngUnits + turn * TURN_UNITS, latUnits))
      if (places.includes('boundary')) return 'inside'
      return places.includes('doubtful') ? 'either' : 'outside'
    }
    return anyOf(turns.map(meets))
  }
}

function nearPath(positions: readonly Vertex[], metres: number): Region {
  readPaths([positions])
  const arcs = segmentsOf(positions.map(placeOnGlobe))
  const areOpposite = ([from, to]: (typeof arcs)[number]) =>
    distanceMetres(from, to) > HALF_WAY_ROUND_METRES - OPPOSITE_METRES
  if (arcs.some(areOpposite)) throw new Refused('AntipodalVertices')
  return (lngUnits, latUnits) => {
    const point = { lngUnits, latUnits }
    const distances = arcs.map(([from, to]) =>
      from === to ? distanceMetres(point, from) : arcDistanceMetres(point, from, to),
    )
    return upToOrSame(Math.min(...distances), metres, DOUBT_METRES)
  }
}

function segmentsOf<T>(path: readonly T[]): [T, T][] {
  if (path.length === 1) return [[path[0], path[0]]]
  return path.slice(1).map((to, at) => [path[at], to])
}

function polygonRegion(rings: readonly Ring[], metres: number | undefined): Region {
  const paths = readPaths(rings)
  const [shell, ...others] = paths.map(globeRing)
  // A hole without area cuts nobody out.
  const holes = others.filter((_, at) => hasThreePoints(paths[at + 1]))
  const inShell = preparePlaces(shell)
  const inHoles = holes.map(preparePlaces)
  const polygon: Region = (lngUnits, latUnits) => {
    const { holds } = inShell(lngUnits, latUnits)
    if (holds === 'outside') return holds
    return without(holds, anyOf(inHoles.map((inHole) => inHole(lngUnits, latUnits).cuts)))
  }
  if (metres === undefined) return polygon
  const margin = nearEdges(shell, holes, metres)
  return (lngUnits, latUnits) => {
    const verdict = polygon(lngUnits, latUnits)
    return verdict === 'inside' ? verdict : anyOf([verdict, margin(lngUnits, latUnits)])
  }
}
