/**
 * Who is selected by a recipient request, by brute force: every recipient is held against every
 * shape, and nothing of src/ is used. A request is taken to be well formed, but for what `Refused`
 * is thrown for.
 *
 * @module
 */
import { type Members, memberOf, readGeometry, union } from './geometry/geometry.js'
import { distanceMetres, placeOnGlobe } from './geometry/sphere.js'
import { both, type Region, type Verdict, without } from './verdict.js'

export interface OraclePoint {
  readonly lngUnits: number
  readonly latUnits: number
  readonly contact: number
  /** Of two that are equally far from a place, the one with the smaller rank is the nearer. */
  readonly tieRank: number
  /** As if not there. */
  readonly isSuppressed?: boolean
  /** Whoever is outside of a boundary is as if not there, too; inside unless given. */
  readonly boundary?: Verdict
}

export interface OracleSource {
  readonly id: number
  /** In the order of the list. */
  readonly points: readonly OraclePoint[]
}

export interface Expected {
  /** Whether each contact is listed and counted once. */
  readonly byContact: boolean
  /** Whether each phone is, over all records. */
  readonly isDistinct: boolean
  /** One a record, in the order of records, with a verdict for each point. */
  readonly records: readonly { readonly id: number; readonly verdicts: readonly Verdict[] }[]
}

/** Beyond which nobody is, for requests that ask for it or for all. */
export interface OracleBoundary {
  /** Polygons of GeoJSON. */
  readonly geometry: unknown
  readonly isAlways: boolean
}

/** @throws Refused  when the request must be answered 400 */
export function expectedOf(
  request: Members,
  everybody: readonly OracleSource[],
  boundaries: readonly OracleBoundary[] = [],
): Expected {
  const sources = boundaries.reduce((left, boundary) => clipped(request, left, boundary), everybody)
  const features = featuresOf(memberOf(request, 'geojson')).map(readFeature)
  const asked = memberOf(request, 'sources') as number[] | undefined
  const searched = sources.filter(({ id }) => asked === undefined || asked.includes(id))
  return {
    byContact: String(memberOf(request, 'contactcountmode')).toLowerCase() === 'contact',
    isDistinct: memberOf(request, 'distinct') === true,
    records: searched
      .map((source) => ({ id: source.id, verdicts: selectionOf(source, features) }))
      .sort((a, b) => a.id - b.id),
  }
}

function clipped(
  request: Members,
  sources: readonly OracleSource[],
  { geometry, isAlways }: OracleBoundary,
): readonly OracleSource[] {
  if (!isAlways && memberOf(request, 'cliptoboundary') !== true) return sources
  const isWithin = readGeometry(geometry, undefined)
  return sources.map(({ id, points }) => ({
    id,
    points: points.map((point) => ({
      ...point,
      boundary: both(point.boundary ?? 'inside', isWithin(point.lngUnits, point.latUnits)),
    })),
  }))
}

/** What is left of a feature: an area or a search for the nearest, for some sources or for all. */
interface Feature {
  readonly excludes: boolean
  readonly sourceIds: readonly number[] | undefined
  readonly area: Region | undefined
  readonly nearest: { readonly position: readonly number[]; readonly count: number } | undefined
}

/** The features of a collection, a feature by itself, or a geometry as if it were in one. */
function featuresOf(geoJSON: unknown): readonly unknown[] {
  const features = memberOf(geoJSON, 'features', 'shapes')
  if (Array.isArray(features)) return features
  if (memberOf(geoJSON, 'geometry') !== undefined) return [geoJSON]
  return memberOf(geoJSON, 'type') === undefined ? [] : [{ geometry: geoJSON }]
}

function readFeature(feature: unknown): Feature {
  const geometry = memberOf(feature, 'geometry')
  const properties = memberOf(feature, 'properties')
  const metres = memberOf(properties, 'radius', 'buffer') as number | undefined
  const count = memberOf(properties, 'nearest') as number | undefined
  const position = memberOf(geometry, 'coordinates') as readonly number[]
  const isArea = geometry !== undefined && count === undefined
  return {
    excludes: memberOf(properties, 'exclude') === true,
    sourceIds: memberOf(properties, 'sources') as number[] | undefined,
    area: isArea ? readGeometry(geometry, metres) : undefined,
    nearest: geometry === undefined || count === undefined ? undefined : { position, count },
  }
}

function selectionOf({ id, points }: OracleSource, all: readonly Feature[]): Verdict[] {
  const features = all.filter(({ sourceIds }) => sourceIds === undefined || sourceIds.includes(id))
  const included = features.filter(({ excludes }) => !excludes)
  const excluded = features.filter(({ excludes }) => excludes)
  const everyone = points.map(
    ({ isSuppressed = false, boundary = 'inside' }): Verdict =>
      isSuppressed ? 'outside' : boundary,
  )
  const excludedHere = either(areaOf(points, excluded), nearestOf(points, everyone, excluded))
  const searchesNearest = included.some(({ nearest }) => nearest !== undefined)
  const hasArea = included.some(({ area }) => area !== undefined)
  const from = searchesNearest && !hasArea ? everyone : areaOf(points, included)
  const left = from.map((verdict, at) => both(without(verdict, excludedHere[at]), everyone[at]))
  return searchesNearest ? nearestOf(points, left, included) : left
}

function areaOf(points: readonly OraclePoint[], features: readonly Feature[]): Verdict[] {
  const area = union(features.flatMap((feature) => feature.area ?? []))
  return points.map(({ lngUnits, latUnits }) => area(lngUnits, latUnits))
}

/** What the searches of these features find, together, among the candidates. */
function nearestOf(
  points: readonly OraclePoint[],
  candidates: readonly Verdict[],
  features: readonly Feature[],
): Verdict[] {
  const nobody = points.map((): Verdict => 'outside')
  return features
    .flatMap(({ nearest }) => nearest ?? [])
    .map(({ position, count }) => closest(points, candidates, position, count))
    .reduce(either, nobody)
}

function either(a: readonly Verdict[], b: readonly Verdict[]): Verdict[] {
  return a.map((verdict, at) => {
    if (verdict === 'inside' || b[at] === 'inside') return 'inside'
    return verdict === 'either' || b[at] === 'either' ? 'either' : 'outside'
  })
}

const NEAR_TIE_METRES = 1e-6

/**
 * The closest of the candidates. One is among them for sure if fewer than `count` could come
 * before it, and surely not if `count` do.
 */
function closest(
  points: readonly OraclePoint[],
  candidates: readonly Verdict[],
  position: readonly number[],
  count: number,
): Verdict[] {
  const place = placeOnGlobe(position)
  const metres = points.map((point) => distanceMetres(point, place))
  const isSamePlace = (a: OraclePoint, b: OraclePoint) =>
    a.lngUnits === b.lngUnits && a.latUnits === b.latUnits
  /** Whether `a` comes before `b`, which is not known of different places almost equally far. */
  const comesBefore = (a: number, b: number): boolean | undefined => {
    if (isSamePlace(points[a], points[b])) return points[a].tieRank < points[b].tieRank
    if (Math.abs(metres[a] - metres[b]) > NEAR_TIE_METRES) return metres[a] < metres[b]
    return undefined
  }
  const possible = [...points.keys()]
    .filter((at) => candidates[at] !== 'outside')
    .sort((a, b) => metres[a] - metres[b])
  const verdicts = points.map((): Verdict => 'outside')
  for (const at of possible) {
    let surelyBefore = 0
    let maybeBefore = 0
    for (const other of possible) {
      if (metres[other] > metres[at] + NEAR_TIE_METRES) break
      const before = other === at ? false : comesBefore(other, at)
      if (before === false) continue
      maybeBefore++
      if (before === true && candidates[other] === 'inside') surelyBefore++
      if (surelyBefore >= count) break
    }
    if (surelyBefore >= count) continue
    const isSure = maybeBefore < count && candidates[at] === 'inside'
    verdicts[at] = isSure ? 'inside' : 'either'
  }
  return verdicts
}
