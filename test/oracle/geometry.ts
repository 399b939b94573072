/**
 * GeoJSON geometries as sets of places, read by rules of the oracle's own.
 *
 * @module
 */
import { preparePlace } from './exact.js'
import { nearEdges } from './margin.js'
import { arcDistanceMetres, distanceMetres, placeAt } from './sphere.js'
import { globeRing, preparePlaces, TURN_UNITS, unwrapped, type Vertex } from './unwrap.js'
import { anyOf, type Region, upToOrSame } from './verdict.js'

/** Two formulas for the same distance agree to within this. */
const DOUBT_METRES = 1e-4

export type Members = Readonly<Record<string, unknown>>

/** A member by its name, which is given in lower case, in whatever case it is written. */
export function memberOf(object: unknown, ...names: string[]): unknown {
  const entries = Object.entries((object ?? {}) as Members)
  return entries.find(([name]) => names.includes(name.toLowerCase()))?.[1] ?? undefined
}

/** @param metres  the distance within which places belong to it too; undefined is none */
export function readGeometry(geometry: unknown, metres: number | undefined): Region {
  const coordinates = memberOf(geometry, 'coordinates')
  const several = <T>(read: (item: T) => Region) => union((coordinates as T[]).map(read))
  const point = (position: Vertex) => pathRegion([position], metres)
  const line = (positions: Vertex[]) => pathRegion(positions, metres)
  const polygon = (rings: Vertex[][]) => polygonRegion(rings, metres)
  switch (memberOf(geometry, 'type')) {
    case 'Point':
      return point(coordinates as Vertex)
    case 'MultiPoint':
      return several(point)
    case 'LineString':
      return line(coordinates as Vertex[])
    case 'MultiLineString':
      return several(line)
    case 'Polygon':
      return polygon(coordinates as Vertex[][])
    case 'MultiPolygon':
      return several(polygon)
    case 'GeometryCollection':
      return union(
        (memberOf(geometry, 'geometries') as unknown[]).map((item) => readGeometry(item, metres)),
      )
    default:
      throw new Error('the oracle knows no such geometry')
  }
}

export function union(regions: readonly Region[]): Region {
  return (lngUnits, latUnits) => anyOf(regions.map((region) => region(lngUnits, latUnits)))
}

/** A point is a path that goes nowhere. */
function pathRegion(positions: readonly Vertex[], metres: number | undefined): Region {
  return metres === undefined ? onPath(positions) : nearPath(positions, metres)
}

function onPath(positions: readonly Vertex[]): Region {
  // An edge is a ring of two vertices: it has a boundary and nothing inside.
  const edges = segmentsOf(unwrapped(positions)).map(preparePlace)
  const turns = [-4, -3, -2, -1, 0, 1, 2, 3, 4]
  return (lngUnits, latUnits) => {
    const meets = (turn: number) =>
      edges.some((placeOn) => placeOn(lngUnits + turn * TURN_UNITS, latUnits) === 'boundary')
    return turns.some(meets) ? 'inside' : 'outside'
  }
}

function nearPath(positions: readonly Vertex[], metres: number): Region {
  const arcs = segmentsOf(positions.map(placeAt))
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

function polygonRegion(rings: readonly Vertex[][], metres: number | undefined): Region {
  const [shell, ...holes] = rings.map(globeRing)
  const inShell = preparePlaces(shell)
  const inHoles = holes.map(preparePlaces)
  const polygon: Region = (lngUnits, latUnits) => {
    if (!inShell(lngUnits, latUnits).holds) return 'outside'
    return inHoles.some((inHole) => inHole(lngUnits, latUnits).cuts) ? 'outside' : 'inside'
  }
  if (metres === undefined) return polygon
  const margin = nearEdges(shell, holes, metres)
  return (lngUnits, latUnits) =>
    polygon(lngUnits, latUnits) === 'inside' ? 'inside' : margin(lngUnits, latUnits)
}
