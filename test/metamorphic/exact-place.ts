/**
 * Where a recipient is in a ring or on a line, and how far from it, in whole numbers.
 *
 * @module
 */
import { placesOf, scaled, UNIT_PLACES } from './exact.js'
import type { Reading } from './reading.js'
import type { Path } from './shape.js'

/** `unsure` is what is nearer to an edge than the edge is known to. */
export type Place = 'interior' | 'boundary' | 'outside' | 'unsure'

/** A ring or a line as it was read. */
export interface ReadPath {
  readonly path: Path
  readonly reading: Reading
  /** What each vertex may be off by; 0 where it is whole. */
  readonly errors: Float64Array
  readonly isRing: boolean
}

export interface ExactPath {
  readonly lngs: readonly bigint[]
  readonly lats: readonly bigint[]
  readonly unit: bigint
  readonly errors: Float64Array
  readonly isRing: boolean
}

export function exactPath({ path, reading, errors, isRing }: ReadPath): ExactPath {
  const places = Math.max(UNIT_PLACES, ...path.flat().map(placesOf))
  const turn = 360n * 10n ** BigInt(places)
  const lngs = path.map(([lng], i) => scaled(lng, places) + BigInt(reading.turns[i]) * turn)
  const lats = path.map(([, lat]) => scaled(lat, places))
  if (isRing) {
    lngs.push(lngs[0] + BigInt(reading.turn) * turn)
    lats.push(lats[0])
  }
  return { lngs, lats, unit: 10n ** BigInt(places - UNIT_PLACES), errors, isRing }
}

/** By the same ray and the same ends as in doubles: of an edge the eastern end, not the western. */
export function exactPlace(
  { lngs, lats, unit, errors, isRing }: ExactPath,
  x: number,
  y: number,
): Place {
  const [px, py] = [BigInt(x) * unit, BigInt(y) * unit]
  let isOdd = false
  let isUnsure = false
  for (let a = 0, b = 1; b < lngs.length; a = b, b++) {
    const [left, right] = lngs[a] < lngs[b] ? [a, b] : [b, a]
    const error = Math.max(errors[a], errors[b])
    const edge = [lngs[left], lats[left], lngs[right], lats[right]] as const
    if (error === 0) {
      if (isWithin(edge, px, py, 0n, 1n)) return 'boundary'
    } else isUnsure ||= isNear(edge, px, py, unit, error)
    if (lngs[left] >= px || lngs[right] < px) continue
    const above =
      (lats[right] - lats[left]) * (px - lngs[left]) -
      (lngs[right] - lngs[left]) * (py - lats[left])
    if (above > 0n) isOdd = !isOdd
  }
  if (isUnsure) return 'unsure'
  return isOdd && isRing ? 'interior' : 'outside'
}

/** Whether a recipient is within so many units of an edge of the path: `slackOf` the edge's error. */
export function isNearEdge(
  { lngs, lats, unit, errors }: ExactPath,
  x: number,
  y: number,
  slackOf: (error: number) => number,
): boolean {
  const [px, py] = [BigInt(x) * unit, BigInt(y) * unit]
  for (let a = 0, b = lngs.length > 1 ? 1 : 0; b < lngs.length; a = b, b++) {
    const slack = slackOf(Math.max(errors[a], errors[b]))
    const edge = [lngs[a], lats[a], lngs[b], lats[b]] as const
    if (slack >= 0 && isNear(edge, px, py, unit, slack)) return true
    if (lngs.length === 1) break
  }
  return false
}

type ExactEdge = readonly [ax: bigint, ay: bigint, bx: bigint, by: bigint]

const SLACK_SCALE = 1e12

function isNear(
  edge: ExactEdge,
  px: bigint,
  py: bigint,
  unit: bigint,
  slackUnits: number,
): boolean {
  const slack = BigInt(Math.ceil(slackUnits * SLACK_SCALE)) * unit
  return isWithin(edge, px, py, slack, BigInt(SLACK_SCALE))
}

/** Whether the distance to the edge, times `scale`, is at most `slack`. */
function isWithin(
  [ax, ay, bx, by]: ExactEdge,
  px: bigint,
  py: bigint,
  slack: bigint,
  scale: bigint,
): boolean {
  const [dx, dy, qx, qy] = [bx - ax, by - ay, px - ax, py - ay]
  const along = dx * qx + dy * qy
  const square = dx * dx + dy * dy
  const limit = slack * slack
  if (along <= 0n) return (qx * qx + qy * qy) * scale * scale <= limit
  if (along >= square) return ((px - bx) ** 2n + (py - by) ** 2n) * scale * scale <= limit
  return (dx * qy - dy * qx) ** 2n * scale * scale <= limit * square
}
