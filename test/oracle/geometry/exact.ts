/**
 * The oracle: which points are inside a shape, by brute force and exact arithmetic. It shares no
 * code with src/, so that what both say is not wrong for the same reason.
 *
 * Points are integers in units of 1e-7 degree, and vertices are exact decimals, compared as BigInt.
 * Doubles only decide what is further from every edge than they can be wrong.
 *
 * A polygon is its first ring, boundary included and even-odd inside, minus the open even-odd
 * interior of each other ring: what lies on a hole's own boundary is not cut out by that hole.
 * Rings need not be closed; coordinates after the second are ignored.
 *
 * @module
 */
import { type ExactPath, exactPaths, unitsOfExact } from '../decimal.js'
import { isDoubtful } from '../doubt.js'
import { anyOf, type Verdict } from '../verdict.js'

/** Positions as GeoJSON has them: longitude and latitude in degrees, and what may follow. */
export type Ring = readonly (readonly number[])[]
export type Polygon = readonly Ring[]

/** Closed bounds in units of 1e-7 degree, no tighter than the shape. */
export interface Bounds {
  readonly minLng: number
  readonly minLat: number
  readonly maxLng: number
  readonly maxLat: number
}

export interface Prepared {
  /** One per polygon. */
  readonly bounds: readonly Bounds[]
  /** Whether any of the polygons holds the point, exactly. */
  contains(lngUnits: number, latUnits: number): boolean
  /** The same for who computes in doubles: `either` beside edges of more than seven decimals. */
  verdict(lngUnits: number, latUnits: number): Verdict
}

export function insidePolygon(lngUnits: number, latUnits: number, rings: Polygon): boolean {
  return insideAny(lngUnits, latUnits, [rings])
}

export function insideAny(
  lngUnits: number,
  latUnits: number,
  polygons: readonly Polygon[],
): boolean {
  return prepare(polygons).contains(lngUnits, latUnits)
}

/** Does once what many points of the same polygons have in common. */
export function prepare(polygons: readonly Polygon[]): Prepared {
  const shapes = polygons.map(preparePolygon)
  const isHeld = (lngUnits: number, latUnits: number) => {
    if (!Number.isSafeInteger(lngUnits) || !Number.isSafeInteger(latUnits))
      throw new Error('a point is in whole units')
    return shapes.some((shape) => polygonContains(shape, lngUnits, latUnits))
  }
  return {
    bounds: shapes.map(({ bounds }) => bounds),
    contains: isHeld,
    verdict(lngUnits, latUnits) {
      const verdicts = shapes.map((shape) => polygonVerdict(shape, lngUnits, latUnits))
      return anyOf(verdicts)
    },
  }
}

export type PlaceInRing = 'interior' | 'boundary' | 'outside'

/** Where points are in one ring, even-odd; done once, what many points have in common. */
export function preparePlace(ring: Ring): (lngUnits: number, latUnits: number) => PlaceInRing {
  const [path] = exactPaths([ring])
  const exactRing = prepareRing(path)
  const bounds = boundsOf(exactRing)
  return (lngUnits, latUnits) =>
    isBeyond(bounds, lngUnits, latUnits) ? 'outside' : place(exactRing, lngUnits, latUnits)
}

/** The same, but for whom doubles cannot tell. */
export function preparePlaceInPath(
  path: ExactPath,
): (lngUnits: number, latUnits: number) => PlaceInRing | 'doubtful' {
  const exactRing = prepareRing(path)
  const bounds = boundsOf(exactRing)
  return (lngUnits, latUnits) =>
    isBeyond(bounds, lngUnits, latUnits)
      ? 'outside'
      : placeUnlessDoubtful(exactRing, lngUnits, latUnits)
}

interface ExactPolygon {
  readonly bounds: Bounds
  readonly rings: readonly ExactRing[]
}

/** A ring both ways: exactly, and in doubles with what they can be wrong by. */
interface ExactRing {
  readonly path: ExactPath
  /** In units of 1e-7 degree, each at most `error` off. */
  readonly xs: Float64Array
  readonly ys: Float64Array
  readonly error: number
  /** Edges that end in a vertex of more than seven decimals, by their ends. */
  readonly fineEdges: readonly (readonly [from: number, to: number])[]
}

function preparePolygon(polygon: Polygon): ExactPolygon {
  const rings = exactPaths(polygon).map(prepareRing)
  if (rings.length === 0) return { rings, bounds: boundsOf({ xs: [], ys: [], error: 0 }) }
  return { rings, bounds: boundsOf(rings[0]) }
}

function prepareRing(path: ExactPath): ExactRing {
  const { vertices, unitScale } = path
  const xs = Float64Array.from(vertices, ({ lng }) => unitsOfExact(lng, unitScale))
  const ys = Float64Array.from(vertices, ({ lat }) => unitsOfExact(lat, unitScale))
  const size = [...xs, ...ys].reduce((most, value) => Math.max(most, Math.abs(value)), 0)
  const isWhole = unitScale === 1n && size < 2 ** 52
  const isFine = ({ lngDoubt, latDoubt }: ExactPath['vertices'][number]) => lngDoubt + latDoubt > 0
  const edges = vertices.map((_, to) => [(to || vertices.length) - 1, to] as const)
  return {
    path,
    xs,
    ys,
    error: isWhole ? 0 : size * 2 ** -50 + 2 ** -19,
    fineEdges: edges.filter((edge) => edge.some((end) => isFine(vertices[end]))),
  }
}

function boundsOf(ring: {
  readonly xs: ArrayLike<number>
  readonly ys: ArrayLike<number>
  readonly error: number
}): Bounds {
  let [minLng, minLat, maxLng, maxLat] = [Infinity, Infinity, -Infinity, -Infinity]
  for (let index = 0; index < ring.xs.length; index += 1) {
    minLng = Math.min(minLng, ring.xs[index])
    minLat = Math.min(minLat, ring.ys[index])
    maxLng = Math.max(maxLng, ring.xs[index])
    maxLat = Math.max(maxLat, ring.ys[index])
  }
  return {
    minLng: Math.floor(minLng - ring.error),
    minLat: Math.floor(minLat - ring.error),
    maxLng: Math.ceil(maxLng + ring.error),
    maxLat: Math.ceil(maxLat + ring.error),
  }
}

function isBeyond({ minLng, minLat, maxLng, maxLat }: Bounds, lng: number, lat: number): boolean {
  return lng < minLng || lng > maxLng || lat < minLat || lat > maxLat
}

function polygonContains({ bounds, rings }: ExactPolygon, lng: number, lat: number): boolean {
  if (isBeyond(bounds, lng, lat)) return false
  const [shell, ...holes] = rings
  if (place(shell, lng, lat) === 'outside') return false
  return holes.every((hole) => place(hole, lng, lat) !== 'interior')
}

function polygonVerdict({ bounds, rings }: ExactPolygon, lng: number, lat: number): Verdict {
  if (isBeyond(bounds, lng, lat)) return 'outside'
  const [inShell, ...inHoles] = rings.map((ring) => placeUnlessDoubtful(ring, lng, lat))
  if (inShell === 'outside' || inHoles.includes('interior')) return 'outside'
  return inShell === 'doubtful' || inHoles.includes('doubtful') ? 'either' : 'inside'
}

/** Who is on an edge that is not fine, or on its end, is surely on the boundary. */
function placeUnlessDoubtful(ring: ExactRing, lng: number, lat: number): PlaceInRing | 'doubtful' {
  const { xs, ys } = ring
  const isNear = ring.fineEdges.some(
    ([a, b]) =>
      lng >= Math.min(xs[a], xs[b]) - 1 &&
      lng <= Math.max(xs[a], xs[b]) + 1 &&
      lat >= Math.min(ys[a], ys[b]) - 1 &&
      lat <= Math.max(ys[a], ys[b]) + 1 &&
      isDoubtful(ring.path, a, b, lng, lat),
  )
  if (!isNear) return place(ring, lng, lat)
  return isOnSureEdge(ring, lng, lat) ? 'boundary' : 'doubtful'
}

function isOnSureEdge(ring: ExactRing, lng: number, lat: number): boolean {
  const { path, fineEdges } = ring
  return path.vertices.some((_, to) => {
    const from = (to || path.vertices.length) - 1
    const isFine = fineEdges.some(([a, b]) => a === from && b === to)
    return (!isFine || !isDoubtful(path, from, to, lng, lat)) && isOn(ring, from, to, lng, lat)
  })
}

function isOn(ring: ExactRing, a: number, b: number, lng: number, lat: number): boolean {
  const [fromA, fromB] = [a, b].map((end) => sideOf(ring, 'lng', end, lng))
  const [sideA, sideB] = [a, b].map((end) => sideOf(ring, 'lat', end, lat))
  if (fromA * fromB > 0 || sideA * sideB > 0) return false
  return orientation(ring, a, b, lng, lat) === 0
}

/**
 * Counts the edges that a ray from the point towards growing longitude crosses. An edge has its
 * lower end and not its upper, so that the ray meets a vertex between two edges once or not.
 */
function place(ring: ExactRing, lng: number, lat: number): PlaceInRing {
  const count = ring.xs.length
  let isInterior = false
  for (let b = 0, a = count - 1; b < count; a = b, b += 1) {
    const sideA = sideOf(ring, 'lat', a, lat)
    const sideB = sideOf(ring, 'lat', b, lat)
    if (sideA === sideB && sideA !== 0) continue
    if (sideA === 0 && sideB === 0) {
      if (sideOf(ring, 'lng', a, lng) * sideOf(ring, 'lng', b, lng) <= 0) return 'boundary'
      continue
    }
    const turn = orientation(ring, a, b, lng, lat)
    if (turn === 0) return 'boundary'
    const rises = sideA <= 0 && sideB > 0
    const falls = sideB <= 0 && sideA > 0
    // The point is left of what rises before it: to the west.
    if ((rises && turn > 0) || (falls && turn < 0)) isInterior = !isInterior
  }
  return isInterior ? 'interior' : 'outside'
}

/** Sign of a vertex's coordinate minus the point's. */
function sideOf(ring: ExactRing, axis: 'lng' | 'lat', index: number, point: number): number {
  const value = (axis === 'lng' ? ring.xs : ring.ys)[index]
  if (value - ring.error > point) return 1
  if (value + ring.error < point) return -1
  const exact = ring.path.vertices[index][axis]
  const exactPoint = BigInt(point) * ring.path.unitScale
  return exact > exactPoint ? 1 : exact < exactPoint ? -1 : 0
}

/** Positive if the point is left of the way from vertex a to vertex b, 0 if on their line. */
function orientation(ring: ExactRing, a: number, b: number, lng: number, lat: number): number {
  const { xs, ys, error } = ring
  const dx = xs[b] - xs[a]
  const dy = ys[b] - ys[a]
  const px = lng - xs[a]
  const py = lat - ys[a]
  const doubtful = dx * py - dy * px
  // Each difference is off by twice `error` and half a last place; so are, in turn, the products.
  const size = Math.max(Math.abs(dx), Math.abs(dy)) + Math.max(Math.abs(px), Math.abs(py))
  const differenceError = 2 * error + size * 2 ** -52
  const bound = 4 * (2 * size * differenceError + differenceError ** 2 + size * size * 2 ** -51)
  if (Math.abs(doubtful) > bound) return Math.sign(doubtful)
  return exactOrientation(ring, a, b, lng, lat)
}

function exactOrientation(
  { path: { vertices, unitScale } }: ExactRing,
  a: number,
  b: number,
  lng: number,
  lat: number,
): number {
  const [from, to] = [vertices[a], vertices[b]]
  const pointX = BigInt(lng) * unitScale
  const pointY = BigInt(lat) * unitScale
  const turn = (to.lng - from.lng) * (pointY - from.lat) - (to.lat - from.lat) * (pointX - from.lng)
  return turn > 0n ? 1 : turn < 0n ? -1 : 0
}
