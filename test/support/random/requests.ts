/**
 * Seeded random recipient requests over a world.
 *
 * @module
 */
import type { RecipientColumns } from '../../../src/shard/columns.js'
import { everywhere } from '../data/everywhere.js'
import { randomPen } from './fine-coordinates.js'
import { type Neighbourhood, neighbourhood, type Spot, written } from './places.js'
import {
  band,
  extremePath,
  randomLine,
  randomRing,
  ringRoundPole,
  ringWithoutArea,
  widePath,
} from './rings.js'
import type { Random } from './world.js'

/**
 * What a feature can be. Those of one request are of any kinds among those that are asked for.
 *
 * - `foldedCap`: a ring round a pole that runs back on its way, also as a hole
 * - `wide`: a ring or a line that is drawn on over several turns
 * - `extreme`: a ring or a line whose vertices are where coordinates end or change their signs
 * - `empty`: any geometry without coordinates
 * - `circle`: a Point or MultiPoint with a radius
 * - `corridor`: a line with a buffer
 * - `margin`: a polygon with a buffer
 * - `capMargin`: a ring round a pole with a buffer, also as a hole
 * - `extremeMargin`: such a ring near the equator with a buffer: elsewhere it has too many arcs
 * - `bufferedCollection`: a GeometryCollection with a radius
 */
export const featureKinds = [
  'polygon',
  'multiPolygon',
  'line',
  'point',
  'collection',
  'cap',
  'band',
  'foldedCap',
  'wide',
  'extreme',
  'empty',
  'circle',
  'corridor',
  'margin',
  'capMargin',
  'extremeMargin',
  'bufferedCollection',
  'nearest',
] as const

/**
 * What can be said of a feature or a request beside its shape; and `degenerateRing`, one with less
 * than three different points, which is refused.
 */
export const optionKinds = [
  'exclude',
  'featureSources',
  'sources',
  'contact',
  'distinct',
  'degenerateRing',
] as const
/** `clip` asks, or asks not, to be clipped to the boundary of the service, so that there must be one. */
export type RequestKind = (typeof featureKinds)[number] | (typeof optionKinds)[number] | 'clip'
export const requestKinds: readonly RequestKind[] = [...featureKinds, ...optionKinds]

/** Brute force is slow at these, so that only a tenth of the worlds are asked for them. */
export const slowKinds: readonly RequestKind[] = [
  'margin',
  'capMargin',
  'extremeMargin',
  'bufferedCollection',
]
const quickKinds = requestKinds.filter((kind) => !slowKinds.includes(kind))

/** Of worlds with a boundary. */
export function kindsOfWorld(worldNumber: number): readonly RequestKind[] {
  return [...(worldNumber % 10 === 9 ? requestKinds : quickKinds), 'clip']
}

export type JsonObject = Record<string, unknown>

/** @param sourceIds  those of the snapshot */
export function randomRequest(
  columns: RecipientColumns,
  sourceIds: readonly number[],
  kinds: readonly RequestKind[],
  random: Random,
): JsonObject {
  const has = (kind: RequestKind) => kinds.includes(kind)
  const shapes = featureKinds.filter(has)
  const idList = () => sourceIds.filter(() => random.unit() < 0.6)
  const features = Array.from({ length: random.pick([1, 1, 1, 2, 3, 4]) }, () => {
    const properties: JsonObject = {}
    const geometry = geometryOf(random.pick(shapes), columns, random, properties)
    if (has('exclude') && random.unit() < 0.25) properties.exclude = true
    if (has('featureSources') && random.unit() < 0.2) properties.sources = idList()
    return { geometry, properties }
  })
  if (has('degenerateRing') && random.unit() < 0.01) features.push(degenerate(columns, random))
  const request: JsonObject = spelled(features, random)
  if (has('sources') && random.unit() < 0.2) request.sources = idList()
  if (has('contact') && random.unit() < 0.3) {
    request.contactCountMode = random.pick(['Contact', 'ContactLocation'])
  }
  if (has('distinct') && random.unit() < 0.3) {
    request[random.pick(['distinct', 'Distinct'])] = random.pick([true, true, false])
  }
  if (has('clip') && random.unit() < 0.4) {
    request[random.pick(['clipToBoundary', 'ClipToBoundary'])] = random.pick([true, true, false])
  }
  return request
}

/** A boundary with somebody on both sides, often, or with everybody or nobody within. */
export function randomBoundary(columns: RecipientColumns, random: Random): JsonObject {
  if (random.unit() < 0.1) return everywhere
  const near = neighbourhood(columns, random, random.pick([1, 1e6, 1e7, 3e7, 3e8, 8e8]))
  if (random.unit() < 0.3)
    return { ...everywhere, coordinates: [...everywhere.coordinates, ...rings(near)] }
  const shape = random.pick([polygon, polygon, multiPolygon, multiPolygon, foldedCap])
  return shape(near)
}

/** In the spellings that mean the same; a bare geometry has no properties. */
function spelled(
  features: readonly { geometry: JsonObject; properties: JsonObject }[],
  random: Random,
): JsonObject {
  const [{ geometry, properties }] = features
  if (features.length === 1 && random.unit() < 0.4) {
    if (Object.keys(properties).length === 0) return { geoJSON: geometry }
    return { geojson: { type: 'Feature', geometry, properties } }
  }
  return random.unit() < 0.7
    ? { geoJSON: { type: 'FeatureCollection', features: features.map(asFeature) } }
    : {
        GeoJson: {
          Shapes: features.map((feature) => ({
            Geometry: feature.geometry,
            Properties: feature.properties,
          })),
        },
      }
}

function asFeature(feature: object): JsonObject {
  return { type: 'Feature', ...feature }
}

function degenerate(columns: RecipientColumns, random: Random) {
  const near = neighbourhood(columns, random, 1e6)
  const [from, to] = random.pick([[near.centre, near.centre], randomLine(near)])
  const ring = asDegrees([from, to, from, to], random)
  return { geometry: { type: 'Polygon', coordinates: [ring] }, properties: {} }
}

const METRES_PER_UNIT = 0.0111

function geometryOf(
  kind: (typeof featureKinds)[number],
  columns: RecipientColumns,
  random: Random,
  properties: JsonObject,
): JsonObject {
  const reachMax = random.pick([1e4, 1e6, 3e7, 3e8, 8e8])
  const near = neighbourhood(columns, random, reachMax)
  const write = (path: readonly Spot[]) => written(path, random)
  const withMetres = (geometry: JsonObject) => {
    properties[random.pick(['radius', 'buffer', 'Radius'])] = randomMetres(near)
    return geometry
  }
  switch (kind) {
    case 'polygon':
      return polygon(near)
    case 'multiPolygon':
      return multiPolygon(near)
    case 'line':
      return line(near)
    case 'point':
      return point(near)
    case 'collection':
      return collection(near, 0)
    case 'cap':
      return {
        type: 'Polygon',
        coordinates: closed([asDegrees(ringRoundPole(near, false), random)]),
      }
    case 'band':
      return { type: 'Polygon', coordinates: closed([asDegrees(band(near), random)]) }
    case 'foldedCap':
      return foldedCap(near)
    case 'wide':
      return wide(near)
    case 'extreme':
      return extreme(random)
    case 'empty':
      return emptyGeometry(random.pick(EMPTY_TYPES))
    case 'circle':
      return withMetres(point(near))
    case 'corridor':
      return withMetres(line(near))
    case 'margin':
      return withMetres(random.unit() < 0.7 ? polygon(near) : multiPolygon(near))
    case 'capMargin':
      return withMetres(foldedCap(near))
    case 'extremeMargin':
      // As far as to people on other parallels than the few that the shape is about.
      properties.radius = random.between(1, random.pick([1e4, 1e6, 3e6]))
      return {
        type: 'Polygon',
        coordinates: closed([asDegrees(extremePath(random, [-1, 0, 0, 0, 0, 1]), random)]),
      }
    case 'bufferedCollection':
      return withMetres(collection(near, 0))
    case 'nearest':
      properties[random.pick(['nearest', 'Nearest'])] = random.pick([1, 2, 5, 30, 10_000])
      return { type: 'Point', coordinates: write([near.spot()])[0] }
  }
}

const EMPTY_TYPES = [
  ...['Point', 'MultiPoint', 'LineString', 'MultiLineString', 'Polygon', 'MultiPolygon'],
  'GeometryCollection',
]

/** A new one: fuzzers change requests, and files of a lane share this module. */
function emptyGeometry(type: string): JsonObject {
  return type === 'GeometryCollection' ? { type, geometries: [] } : { type, coordinates: [] }
}

/** From a metre to more than the shape is wide, and now and then all that there is. */
function randomMetres({ random, reach }: Neighbourhood): number {
  const most = Math.min(5_000_000, Math.max(10, 3 * METRES_PER_UNIT * reach))
  const metres = random.pick([most, 1_000_000]) ** random.unit()
  if (random.unit() < 0.02) return 20_015_000
  return random.unit() < 0.5 ? metres : Math.ceil(metres)
}

function polygon(near: Neighbourhood): JsonObject {
  return { type: 'Polygon', coordinates: rings(near) }
}

function multiPolygon(near: Neighbourhood): JsonObject {
  const memberCount = near.random.between(1, 3)
  return {
    type: 'MultiPolygon',
    coordinates: Array.from({ length: memberCount }, () => rings(near)),
  }
}

function foldedCap(near: Neighbourhood): JsonObject {
  const { random } = near
  const around = random.unit() < 0.4 ? [band(near)] : []
  const rings = [...around, ringRoundPole(near, random.unit() < 0.7)]
  return { type: 'Polygon', coordinates: closed(rings.map((ring) => asDegrees(ring, random))) }
}

function wide(near: Neighbourhood): JsonObject {
  const { random } = near
  const pen = randomPen(random)
  const path = widePath(near).map(pen)
  return random.unit() < 0.5
    ? { type: 'LineString', coordinates: path }
    : { type: 'Polygon', coordinates: closed([path]) }
}

function extreme(random: Random): JsonObject {
  const path = asDegrees(extremePath(random), random)
  return random.unit() < 0.2
    ? { type: 'LineString', coordinates: path }
    : { type: 'Polygon', coordinates: closed([path]) }
}

/** Holes are anywhere: inside, across one another, out of the shell, like the shell. */
function rings(near: Neighbourhood): number[][][] {
  const { random } = near
  const anyRing = (reach: number) =>
    random.unit() < 0.03 ? ringWithoutArea(near) : randomRing({ ...near, reach })
  const shell = random.unit() < 0.02 ? ringWithoutArea(near) : randomRing(near)
  const holes = Array.from({ length: random.pick([0, 0, 0, 1, 2, 3]) }, () =>
    random.unit() < 0.1 ? shell : anyRing(Math.ceil(near.reach / 2)),
  )
  const pen = random.pick([randomPen(random), undefined])
  return closed(
    [shell, ...holes].map((ring) => written(ring, random, pen)),
    random.unit() < 0.8,
  )
}

function closed(rings: number[][][], isClosed = true): number[][][] {
  return isClosed ? rings.map((ring) => [...ring, ring[0]]) : rings
}

function asDegrees(path: readonly Spot[], random: Random): number[][] {
  return path.map(randomPen(random))
}

function line(near: Neighbourhood): JsonObject {
  const { random } = near
  const path = () => written(randomLine(near), random)
  if (random.unit() < 0.7) return { type: 'LineString', coordinates: path() }
  return {
    type: 'MultiLineString',
    coordinates: Array.from({ length: random.between(1, 3) }, path),
  }
}

function point(near: Neighbourhood): JsonObject {
  const { random } = near
  const position = () => written([near.spot()], random)[0]
  if (random.unit() < 0.7) return { type: 'Point', coordinates: position() }
  return { type: 'MultiPoint', coordinates: Array.from({ length: random.between(1, 5) }, position) }
}

function collection(near: Neighbourhood, depth: number): JsonObject {
  const { random } = near
  const member = () => {
    if (depth < 3 && random.unit() < 0.2) return collection(near, depth + 1)
    return random.pick([polygon, multiPolygon, line, point])(near)
  }
  return {
    type: 'GeometryCollection',
    geometries: Array.from({ length: random.between(1, 4) }, member),
  }
}
