/**
 * Who is so near to an edge that its vertices, which a program has as the doubles next to them, decide
 * on which side they are.
 *
 * @module
 */
import type { ExactPath, ExactVertex } from './decimal.js'

/** Tolerances are whole numbers of these fractions. */
const FRACTIONS = 2 ** 30

/**
 * Whether a point is nearer to an edge than the edge is known. A vertex of seven decimals is known
 * exactly, and so is the line of an edge along a parallel or a meridian of seven decimals.
 */
export function isDoubtful(
  { vertices, unitScale }: ExactPath,
  a: number,
  b: number,
  lngUnits: number,
  latUnits: number,
): boolean {
  const [from, to] = [vertices[a], vertices[b]]
  const point = { lng: BigInt(lngUnits) * unitScale, lat: BigInt(latUnits) * unitScale }
  if ([from, to].some((end) => isAt(end, point) && doubtOf(end) === 0)) return false
  const isNearEnd = [from, to].some(
    (end) => doubtOf(end) > 0 && isWithin(distanceSquared(end, point), doubtOf(end), unitScale),
  )
  if (isNearEnd) return true
  const isAlongParallel = from.lat === to.lat && from.latDoubt === 0
  const isAlongMeridian = from.lng === to.lng && from.lngDoubt === 0
  if (isAlongParallel || isAlongMeridian) return false
  const [dx, dy] = [to.lng - from.lng, to.lat - from.lat]
  const [px, py] = [point.lng - from.lng, point.lat - from.lat]
  const length = dx * dx + dy * dy
  const along = px * dx + py * dy
  if (along < 0n || along > length || length === 0n) return false
  const across = dx * py - dy * px
  const doubt = Math.max(doubtOf(from), doubtOf(to))
  return isWithin(across * across, doubt, unitScale, length)
}

interface Position {
  readonly lng: bigint
  readonly lat: bigint
}

function doubtOf({ lngDoubt, latDoubt }: ExactVertex): number {
  return Math.max(lngDoubt, latDoubt)
}

function isAt(vertex: Position, point: Position): boolean {
  return vertex.lng === point.lng && vertex.lat === point.lat
}

function distanceSquared(a: Position, b: Position): bigint {
  return (a.lng - b.lng) ** 2n + (a.lat - b.lat) ** 2n
}

/** Whether the root of `squared / over`, in fractions of a unit, is at most so many units. */
function isWithin(squared: bigint, units: number, unitScale: bigint, over = 1n): boolean {
  const fractions = BigInt(Math.ceil(units * FRACTIONS)) * unitScale
  return squared * BigInt(FRACTIONS) ** 2n <= fractions * fractions * over
}
