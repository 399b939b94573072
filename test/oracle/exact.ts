/**
 * The oracle: which points are inside a shape, by brute force and exact arithmetic. It shares no
 * code with src/, so that what both say is not wrong for the same reason.
 *
 * Points are integers in units of 1e-7 degree. A vertex is taken as exactly the decimal that
 * JavaScript prints for it (-71.1234567 is that decimal, not the double next to it); all vertices
 * of a polygon are brought to one power of ten and compared as BigInt. Doubles only decide what
 * is further from every edge than they can be wrong.
 *
 * A polygon is its first ring, boundary included and even-odd inside, minus the open even-odd
 * interior of each other ring: what lies on a hole's own boundary is not cut out by that hole.
 * Rings need not be closed; coordinates after the second are ignored.
 *
 * @module
 */

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
  /** Whether any of the polygons holds the point. */
  contains(lngUnits: number, latUnits: number): boolean
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
  return {
    bounds: shapes.map(({ bounds }) => bounds),
    contains(lngUnits, latUnits) {
      if (!Number.isSafeInteger(lngUnits) || !Number.isSafeInteger(latUnits))
        throw new Error('a point is in whole units')
      return shapes.some((shape) => polygonContains(shape, lngUnits, latUnits))
    },
  }
}

export type PlaceInRing = 'interior' | 'boundary' | 'outside'

/** Where points are in one ring, even-odd; done once, what many points have in common. */
export function preparePlace(ring: Ring): (lngUnits: number, latUnits: number) => PlaceInRing {
  const exactRing = prepareRing(ring)
  const { minLng, minLat, maxLng, maxLat } = boundsOf(exactRing)
  return (lngUnits, latUnits) => {
    if (lngUnits < minLng || lngUnits > maxLng || latUnits < minLat || latUnits > maxLat) {
      return 'outside'
    }
    return place(exactRing, lngUnits, latUnits)
  }
}

interface ExactPolygon {
  readonly bounds: Bounds
  readonly rings: readonly ExactRing[]
}

/** A ring both ways: exactly, and in doubles with what they can be wrong by. */
interface ExactRing {
  /** Exact coordinates are these over 10^7 * unitScale degrees. */
  readonly exactXs: readonly bigint[]
  readonly exactYs: readonly bigint[]
  readonly unitScale: bigint
  /** The same in units of 1e-7 degree, each at most `error` off. */
  readonly xs: Float64Array
  readonly ys: Float64Array
  readonly error: number
}

/** Decimals of a unit of 1e-7 degree. */
const UNIT_DECIMALS = 7

function preparePolygon(polygon: Polygon): ExactPolygon {
  const rings = polygon.map(prepareRing)
  if (rings.length === 0) return { rings, bounds: boundsOf({ xs: [], ys: [], error: 0 }) }
  return { rings, bounds: boundsOf(rings[0]) }
}

function prepareRing(ring: Ring): ExactRing {
  const decimals = ring.map(([lng, lat]) => [parseDecimal(lng), parseDecimal(lat)] as const)
  const scale = largest(UNIT_DECIMALS, decimals.flat(), ({ places }) => places)
  const exact = ({ digits, places }: Decimal) => digits * 10n ** BigInt(scale - places)
  const exactXs = decimals.map(([lng]) => exact(lng))
  const exactYs = decimals.map(([, lat]) => exact(lat))
  const size = 1e7 * largest(0, ring, ([lng, lat]) => Math.max(Math.abs(lng), Math.abs(lat)))
  const wholeUnits = scale === UNIT_DECIMALS && size < 2 ** 52
  const approximate = (degrees: number, value: bigint) =>
    wholeUnits ? Number(value) : degrees * 1e7
  return {
    exactXs,
    exactYs,
    unitScale: 10n ** BigInt(scale - UNIT_DECIMALS),
    xs: Float64Array.from(ring, ([lng], index) => approximate(lng, exactXs[index])),
    ys: Float64Array.from(ring, ([, lat], index) => approximate(lat, exactYs[index])),
    // Half a last place between decimal and double, another for the product: four times the sum.
    error: wholeUnits ? 0 : size * 2 ** -50 + 1e-300,
  }
}

function largest<T>(least: number, items: readonly T[], measure: (item: T) => number): number {
  return items.reduce((most, item) => Math.max(most, measure(item)), least)
}

/** digits / 10^places, which may be negative places for numbers that end in zeros. */
interface Decimal {
  readonly digits: bigint
  readonly places: number
}

function parseDecimal(value: number): Decimal {
  const parts = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:e([+-][0-9]+))?$/.exec(String(value))
  if (parts === null) throw new Error(`a coordinate is a finite number, not ${value}`)
  const [, sign, whole, fraction = '', exponent = '0'] = parts
  const digits = BigInt(whole + fraction)
  return { digits: sign === '' ? digits : -digits, places: fraction.length - Number(exponent) }
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

function polygonContains({ bounds, rings }: ExactPolygon, lng: number, lat: number): boolean {
  if (lng < bounds.minLng || lng > bounds.maxLng) return false
  if (lat < bounds.minLat || lat > bounds.maxLat) return false
  const [shell, ...holes] = rings
  if (place(shell, lng, lat) === 'outside') return false
  return holes.every((hole) => place(hole, lng, lat) !== 'interior')
}

/**
 * Counts the edges that a ray from the point towards growing longitude crosses. An edge has its
 * lower end and not its upper, so that the ray meets a vertex between two edges once or not.
 */
function place(ring: ExactRing, lng: number, lat: number): PlaceInRing {
  const count = ring.xs.length
  let isInterior = false
  for (let b = 0, a = count - 1; b < count; a = b, b += 1) {
    const sideA = sideOf(ring.ys[a], ring.exactYs[a], lat, ring)
    const sideB = sideOf(ring.ys[b], ring.exactYs[b], lat, ring)
    if (sideA === sideB && sideA !== 0) continue
    if (sideA === 0 && sideB === 0) {
      const fromA = sideOf(ring.xs[a], ring.exactXs[a], lng, ring)
      const fromB = sideOf(ring.xs[b], ring.exactXs[b], lng, ring)
      if (fromA * fromB <= 0) return 'boundary'
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
function sideOf(value: number, exact: bigint, point: number, ring: ExactRing): number {
  if (value - ring.error > point) return 1
  if (value + ring.error < point) return -1
  const exactPoint = BigInt(point) * ring.unitScale
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
  { exactXs, exactYs, unitScale }: ExactRing,
  a: number,
  b: number,
  lng: number,
  lat: number,
): number {
  const pointX = BigInt(lng) * unitScale
  const pointY = BigInt(lat) * unitScale
  const turn =
    (exactXs[b] - exactXs[a]) * (pointY - exactYs[a]) -
    (exactYs[b] - exactYs[a]) * (pointX - exactXs[a])
  return turn > 0n ? 1 : turn < 0n ? -1 : 0
}
