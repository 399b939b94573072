/**
 * Seeded random recipients for property tests.
 *
 * @module
 */
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'
import type { RecipientColumns } from '../../../src/shard/columns.js'

export interface Random {
  /** Uniform in [0, 1). */
  unit(): number
  /** Uniform integer in [min, max]. */
  between(min: number, max: number): number
  pick<T>(items: readonly T[]): T
}

export function seededRandom(seed: number): Random {
  const generator = xoroshiro128plus(seed)
  for (let step = 0; step < 64; step += 1) generator.next()
  const unit = () => (generator.next() >>> 0) / 2 ** 32
  const between = (min: number, max: number) => min + Math.floor(unit() * (max - min + 1))
  return { unit, between, pick: (items) => items[between(0, items.length - 1)] }
}

/** Side of the cells at whose corners the recipients of a `grid` world are: 0.01 degree. */
export const GRID_UNITS = 100_000

/**
 * - `uniform`: anywhere in one degree by one
 * - `clustered`: around 20 places of the globe, densely in the middle, poles included; no
 *   recipient is within a degree of the antimeridian
 * - `grid`: at the corners of 40 by 40 cells, many at each
 * - `equal`: all at one position
 */
export const worldKinds = ['uniform', 'clustered', 'grid', 'equal'] as const

/**
 * Worlds where longitudes and latitudes end:
 *
 * - `antimeridian`: within two degrees of it on both sides and of the equator, a third of them at
 *   the corners of cells, some at exactly -180 and some at exactly 180
 * - `poles`: around both, down to 50 degrees, half of them at whole degrees, some exactly at a pole
 *   with any longitude
 */
export const globeWorldKinds = ['antimeridian', 'poles'] as const
export type WorldKind = (typeof worldKinds)[number] | (typeof globeWorldKinds)[number]

/** Recipients with phones of 12 to 13 characters, one to three to a contact. */
export function randomWorld(
  kind: WorldKind,
  recipientCount: number,
  random: Random,
): RecipientColumns {
  const lngs = new Int32Array(recipientCount)
  const lats = new Int32Array(recipientCount)
  const contacts = new Uint32Array(recipientCount)
  const phoneOffsets = new Uint32Array(recipientCount + 1)
  const phones: string[] = []
  const nextPosition = positions(kind, random)
  let contactCount = 0
  for (let row = 0; row < recipientCount; row += 1) {
    const [lng, lat] = nextPosition()
    lngs[row] = lng
    lats[row] = lat
    if (row === 0 || random.unit() < 0.7) contactCount += 1
    contacts[row] = contactCount - 1
    phones.push(`+999${String(row).padStart(random.between(8, 9), '0')}`)
    phoneOffsets[row + 1] = phoneOffsets[row] + phones[row].length
  }
  const text = new TextEncoder().encode(phones.join(''))
  return { recipientCount, lngs, lats, contacts, contactCount, phoneOffsets, phones: text }
}

type Position = readonly [lng: number, lat: number]

const DEGREE_UNITS = 10_000_000
const CORNER: Position = [-71 * DEGREE_UNITS, 42 * DEGREE_UNITS]
const CLUSTER_COUNT = 20

function positions(kind: WorldKind, random: Random): () => Position {
  const within = (size: number) => random.between(0, size)
  switch (kind) {
    case 'uniform':
      return () => [CORNER[0] + within(DEGREE_UNITS), CORNER[1] + within(DEGREE_UNITS)]
    case 'grid':
      return () => [CORNER[0] + within(40) * GRID_UNITS, CORNER[1] + within(40) * GRID_UNITS]
    case 'equal':
      return () => CORNER
    case 'clustered':
      return clusteredPositions(random)
    case 'antimeridian':
      return () => besideAntimeridian(random)
    case 'poles':
      return () => nearPole(random)
  }
}

function clusteredPositions(random: Random): () => Position {
  const centres = Array.from({ length: CLUSTER_COUNT }, (): Position => {
    const lng = random.between(-178 * DEGREE_UNITS, 178 * DEGREE_UNITS)
    return [lng, random.between(-90 * DEGREE_UNITS, 90 * DEGREE_UNITS)]
  })
  // The product of three is mostly small, so that some are very close together.
  const scatter = () =>
    Math.round((random.unit() - 0.5) * random.unit() * random.unit() * 2 * DEGREE_UNITS)
  return () => {
    const [lng, lat] = random.pick(centres)
    const clamped = Math.max(-90 * DEGREE_UNITS, Math.min(90 * DEGREE_UNITS, lat + scatter()))
    return [lng + scatter(), clamped]
  }
}

function besideAntimeridian(random: Random): Position {
  const away = random.between(0, 2 * DEGREE_UNITS)
  const lat = random.between(-2 * DEGREE_UNITS, 2 * DEGREE_UNITS)
  const east = random.pick([-1, 1])
  const isOnGrid = random.unit() < 0.33
  const place = (units: number) => (isOnGrid ? snapped(units, GRID_UNITS) : units)
  const fromEdge = random.unit() < 0.15 ? 0 : place(away)
  return [east * (180 * DEGREE_UNITS - fromEdge), place(lat)]
}

function nearPole(random: Random): Position {
  const isOnGrid = random.unit() < 0.5
  const place = (units: number) => (isOnGrid ? snapped(units, DEGREE_UNITS) : units)
  const lng = random.between(-180 * DEGREE_UNITS, 180 * DEGREE_UNITS)
  const away = Math.floor(40 * DEGREE_UNITS * random.unit() * random.unit())
  const fromPole = random.unit() < 0.05 ? 0 : place(away)
  return [place(lng), random.pick([-1, 1]) * (90 * DEGREE_UNITS - fromPole)]
}

function snapped(units: number, cell: number): number {
  return Math.round(units / cell) * cell
}
