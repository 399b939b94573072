/**
 * Where the vertices of random requests are: on recipients, between them, on a grid, or anywhere
 * near. All are whole units, and longitudes may leave ±180.
 *
 * @module
 */
import type { RecipientColumns } from '../../src/shard/columns.js'
import { GRID_UNITS, type Random } from './world.js'

/** Longitude and latitude in units of 1e-7 degree. */
export type Spot = readonly [lng: number, lat: number]

/** The part of a world that one shape is about. */
export interface Neighbourhood {
  readonly random: Random
  readonly centre: Spot
  /** How far vertices are from the centre, in units. */
  readonly reach: number
  /** Any recipient, at the turn that is nearest to the centre. */
  recipient(): Spot
  /** Anywhere within reach, or on somebody, or on the grid. */
  spot(): Spot
}

const DEGREE_UNITS = 10_000_000
const TURN_UNITS = 360 * DEGREE_UNITS
const LAT_UNITS_MAX = 90 * DEGREE_UNITS

/** @param reachMax  in units; shapes are as often small as large, down to 1 unit */
export function neighbourhood(
  { lngs, lats, recipientCount }: RecipientColumns,
  random: Random,
  reachMax: number,
): Neighbourhood {
  const anybody = (): Spot => {
    const row = random.between(0, recipientCount - 1)
    return [lngs[row], lats[row]]
  }
  const centre = anybody()
  const reach = Math.ceil(reachMax ** (0.4 + 0.6 * random.unit()))
  const cell = random.pick([1, 1, GRID_UNITS, DEGREE_UNITS])
  const somewhere = (): Spot => [
    snapped(centre[0] + random.between(-reach, reach), cell),
    clampedLat(snapped(centre[1] + random.between(-reach, reach), cell)),
  ]
  const recipient = (): Spot => {
    const [lng, lat] = anybody()
    const turns = Math.round((centre[0] - lng) / TURN_UNITS)
    return [lng + turns * TURN_UNITS, lat]
  }
  const nearRecipient = (): Spot => {
    const tries = Array.from({ length: 8 }, recipient)
    const near = tries.filter(([lng, lat]) => isWithin(reach, centre, [lng, lat]))
    return near[0] ?? centre
  }
  const spot = () => (random.unit() < 0.35 ? nearRecipient() : somewhere())
  return { random, centre, reach, recipient, spot }
}

function isWithin(reach: number, [lng, lat]: Spot, [otherLng, otherLat]: Spot): boolean {
  return Math.abs(lng - otherLng) <= 2 * reach && Math.abs(lat - otherLat) <= 2 * reach
}

export function snapped(units: number, cell: number): number {
  return Math.round(units / cell) * cell
}

export function clampedLat(units: number): number {
  return Math.max(-LAT_UNITS_MAX, Math.min(LAT_UNITS_MAX, units))
}

/**
 * Degrees as a client writes them: within ±180, or drawn on beyond, or even a turn aside. A path
 * is one or the other as a whole.
 */
export function written(path: readonly Spot[], random: Random): number[][] {
  const lngs = path.map(([lng]) => lng)
  const turns = random.pick([0, 0, 0, -1, 1]) * TURN_UNITS
  const isReadable = lngs.every((lng) => Math.abs(lng + turns) <= 540 * DEGREE_UNITS)
  const spell = random.unit() < 0.6 || !isReadable ? wrapped : (lng: number) => lng + turns
  return path.map(([lng, lat]) => [spell(lng) / 1e7, lat / 1e7])
}

/** What is on the antimeridian already stays on its side. */
export function wrapped(lng: number): number {
  const turns = Math.ceil((Math.abs(lng) - TURN_UNITS / 2) / TURN_UNITS)
  return turns <= 0 ? lng : lng - Math.sign(lng) * turns * TURN_UNITS
}
