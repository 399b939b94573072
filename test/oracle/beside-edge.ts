/**
 * Which edges run so closely beside each other, and how far, that doubles cannot tell where they
 * cross. It is told with doubles, of a tolerance that is wide for those.
 *
 * @module
 */
import { type ExactVertex, unitsOfExact } from './decimal.js'
import type { Place } from './geometry/sphere.js'

export interface Edge {
  readonly from: ExactVertex
  readonly to: ExactVertex
  readonly unitScale: bigint
}

/** Far more than vertices are off, and far less than the doubt there is about distances. */
const BESIDE_UNITS = 2 ** -8
/** Who crosses at a wider angle does so within a tolerance of distances. */
const CROSSING_UNITS = 0.5

/** Whether a place on an edge is beside another edge, unless both edges are known exactly. */
export function isBesideEdge(place: Place, edge: Edge, placeIsOn: Edge): boolean {
  const besideUnits = besideUnitsOf(edge, placeIsOn)
  if (besideUnits === 0) return false
  const { x, y, dx, dy } = inUnits(edge)
  const [px, py] = [place.lngUnits - x, place.latUnits - y]
  const length = dx * dx + dy * dy
  const along = length === 0 ? 0 : Math.max(0, Math.min(1, (px * dx + py * dy) / length))
  return Math.hypot(px - along * dx, py - along * dy) <= besideUnits
}

interface Share {
  readonly over: bigint
  readonly under: bigint
}

/** The shares of the way along an edge from which on another runs beside it, or does no more. */
export function sharesWhereBeside(edge: Edge, other: Edge): Share[] {
  const besideUnits = besideUnitsOf(edge, other)
  if (besideUnits === 0) return []
  const [mine, its] = [inUnits(edge), inUnits(other)]
  const length = Math.hypot(mine.dx, mine.dy)
  const otherLength = Math.hypot(its.dx, its.dy)
  if (length === 0 || otherLength === 0) return []
  const across = (x: number, y: number) =>
    ((x - its.x) * its.dy - (y - its.y) * its.dx) / otherLength
  const start = across(mine.x, mine.y)
  const change = across(mine.x + mine.dx, mine.y + mine.dy) - start
  if (Math.abs(change) * CROSSING_UNITS > besideUnits * length) return []
  const shareOf = (x: number, y: number) =>
    ((x - mine.x) * mine.dx + (y - mine.y) * mine.dy) / length ** 2
  const bounds = change === 0 ? [] : [-1, 1].map((side) => (side * besideUnits - start) / change)
  const ends = [shareOf(its.x, its.y), shareOf(its.x + its.dx, its.y + its.dy)]
  return [...bounds, ...ends].filter((share) => share > 0 && share < 1).map(asShare)
}

/** 0 if both are known exactly, or are the same: the same decimals are the same doubles. */
function besideUnitsOf(a: Edge, b: Edge): number {
  const doubts = [a.from, a.to, b.from, b.to].map(({ lngDoubt, latDoubt }) => lngDoubt + latDoubt)
  const doubt = Math.max(...doubts)
  if (doubt === 0 || isSame(a, b) || isSame(a, { ...b, from: b.to, to: b.from })) return 0
  return Math.max(BESIDE_UNITS, 4 * doubt)
}

function isSame(a: Edge, b: Edge): boolean {
  return isAt(a.from, b.from) && isAt(a.to, b.to)
}

function isAt(a: ExactVertex, b: ExactVertex): boolean {
  return a.lng === b.lng && a.lat === b.lat
}

function inUnits({ from, to, unitScale }: Edge) {
  const [x, y] = [unitsOfExact(from.lng, unitScale), unitsOfExact(from.lat, unitScale)]
  const [dx, dy] = [to.lng - from.lng, to.lat - from.lat].map((each) =>
    unitsOfExact(each, unitScale),
  )
  return { x, y, dx, dy }
}

const SHARE_FRACTIONS = 2 ** 52

function asShare(share: number): Share {
  return { over: BigInt(Math.round(share * SHARE_FRACTIONS)), under: BigInt(SHARE_FRACTIONS) }
}
