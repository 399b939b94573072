/**
 * Where the vertices of random requests are: on recipients, between them, on a grid, where longitudes
 * and latitudes end, or anywhere near. All are whole units, and longitudes may leave ±180, until they
 * are written.
 *
 * @module
 */
import type { RecipientColumns } from '../../../src/shard/columns.js'
import { type Pen, randomPen } from './fine-coordinates.js'
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

/** A small shape that does not even meet anybody shows that it has not become a large one. */
const OVER_ANTIMERIDIAN_SHARE = 0.15

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
  const reach = Math.ceil(reachMax ** (0.4 + 0.6 * random.unit()))
  const isOverAntimeridian = random.unit() < OVER_ANTIMERIDIAN_SHARE
  const centre = isOverAntimeridian ? overAntimeridian(anybody(), reach, random) : anybody()
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
  const spot = () => {
    const share = random.unit()
    if (share < 0.35) return nearRecipient()
    return share < 0.45 ? onSpecial(somewhere(), reach) : somewhere()
  }
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

function overAntimeridian([, lat]: Spot, reach: number, random: Random): Spot {
  return [random.pick([-1, 1]) * (TURN_UNITS / 2) + random.between(-reach, reach), lat]
}

/** On the meridian of 0 or 180 or on the equator or a pole, if one of them is near. */
function onSpecial([lng, lat]: Spot, reach: number): Spot {
  const [lngSpecial, latSpecial] = [snapped(lng, TURN_UNITS / 2), snapped(lat, LAT_UNITS_MAX)]
  return [
    Math.abs(lngSpecial - lng) <= reach ? lngSpecial : lng,
    Math.abs(latSpecial - lat) <= reach ? latSpecial : lat,
  ]
}

/**
 * Degrees as a client writes them: within ±180, or drawn on beyond, or any number of turns aside. A
 * path is one or the other as a whole.
 */
export function written(
  path: readonly Spot[],
  random: Random,
  pen: Pen = randomPen(random),
): number[][] {
  if (random.unit() < 0.5) return path.map(([lng, lat]) => pen([wrapped(lng), lat]))
  const turns = random.unit() < 0.6 ? random.pick([0, 0, -1, 1]) : farTurns(random)
  return path.map(([lng, lat]) => pen([lng + turns * TURN_UNITS, lat]))
}

/** Now and then just further than longitudes are taken. */
function farTurns(random: Random): number {
  const most = random.pick([2, 3, 10, 3_000, 100_000, 277_777])
  return random.between(-most, most)
}

/** What is on the antimeridian already stays on its side. */
export function wrapped(lng: number): number {
  const turns = Math.ceil((Math.abs(lng) - TURN_UNITS / 2) / TURN_UNITS)
  return turns <= 0 ? lng : lng - Math.sign(lng) * turns * TURN_UNITS
}
