/**
 * Random rings and lines for requests, with all that can be awkward about them: vertices and edges
 * on recipients, spikes, repeated vertices, collinear edges, slivers, no area, crossings.
 *
 * @module
 */
import { clampedLat, type Neighbourhood, type Spot, snapped } from './places.js'
import type { Random } from './world.js'

const DEGREE_UNITS = 10_000_000

/** At least three different vertices, not closed. */
export function randomRing(near: Neighbourhood): Spot[] {
  const { random } = near
  const build = random.pick([star, star, scribble, scribble, box, sliver, flat, through])
  const ring = random.unit() < 0.3 ? disturbed(build(near), random) : build(near)
  const wound = random.unit() < 0.5 ? ring : ring.reverse()
  return isRing(wound) ? wound : triangleAt(near.centre)
}

export function randomLine(near: Neighbourhood): Spot[] {
  const { random } = near
  const line =
    random.unit() < 0.3
      ? acrossRecipient(near)
      : Array.from({ length: random.between(2, 6) }, () => near.spot())
  return random.unit() < 0.2 ? disturbed(line, random) : line
}

function isRing(ring: readonly Spot[]): boolean {
  return new Set(ring.map(String)).size >= 3
}

function triangleAt([lng, lat]: Spot): Spot[] {
  const beside = lat > 0 ? lat - 1 : lat + 1
  return [
    [lng, lat],
    [lng + 1, lat],
    [lng, beside],
  ]
}

/** Once round the centre, so it does not cross itself. */
function star({ random, centre, reach }: Neighbourhood): Spot[] {
  const vertexCount = random.between(3, 10)
  const width = random.pick([1, 1, 2])
  return Array.from({ length: vertexCount }, (_, at): Spot => {
    const angle = (2 * Math.PI * (at + 0.8 * random.unit())) / vertexCount
    const distance = reach * (0.3 + 0.7 * random.unit())
    return [
      Math.round(centre[0] + width * distance * Math.cos(angle)),
      clampedLat(Math.round(centre[1] + distance * Math.sin(angle))),
    ]
  })
}

function scribble(near: Neighbourhood): Spot[] {
  return Array.from({ length: near.random.between(3, 8) }, () => near.spot())
}

function box(near: Neighbourhood): Spot[] {
  const [[west, south], [east, north]] = [near.spot(), near.spot()]
  return [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
  ]
}

/** One unit wide. */
function sliver(near: Neighbourhood): Spot[] {
  const [from, to] = acrossRecipient(near)
  const isMeridian = from[0] === to[0]
  const beside = ([lng, lat]: Spot): Spot =>
    isMeridian ? [lng + 1, lat] : [lng, lat > 0 ? lat - 1 : lat + 1]
  return [from, to, beside(to), beside(from)]
}

/** No area, but three different vertices or more. */
function flat(near: Neighbourhood): Spot[] {
  const [from, to] = acrossRecipient(near)
  return near.random.pick([
    [from, near.centre, to],
    [from, to, near.centre, to],
    [from, near.centre, to, near.centre],
  ])
}

/** With an edge that runs exactly through somebody. */
function through(near: Neighbourhood): Spot[] {
  return [...acrossRecipient(near), ...Array.from({ length: 3 }, () => near.spot())]
}

/** Two ends with somebody in the middle; many are along a meridian or a parallel. */
function acrossRecipient({ random, centre, reach }: Neighbourhood): Spot[] {
  const reachLat = Math.min(reach, 90 * DEGREE_UNITS - Math.abs(centre[1]))
  const dx = random.between(-reach, reach)
  const dy = random.between(-reachLat, reachLat)
  const [east, north] = random.pick([
    [dx, dy],
    [dx, dy],
    [dx, 0],
    [0, dy],
  ])
  return [
    [centre[0] - east, centre[1] - north],
    [centre[0] + east, centre[1] + north],
  ]
}

/** With a vertex repeated, a spike, or a vertex in the middle of an edge. */
function disturbed(path: readonly Spot[], random: Random): Spot[] {
  const at = random.between(1, path.length - 1)
  const [[fromLng, fromLat], [toLng, toLat]] = [path[at - 1], path[at]]
  const beyond: Spot = [2 * toLng - fromLng, clampedLat(2 * toLat - fromLat)]
  const middle: Spot = [(fromLng + toLng) / 2, (fromLat + toLat) / 2]
  const isWhole = middle.every(Number.isInteger)
  const extra: Spot[] = random.pick<Spot[]>([
    [path[at]],
    [path[at], path[at - 1], path[at]],
    isWhole ? [middle, path[at]] : [path[at]],
    // A spike goes on along the edge, and back.
    Math.abs(2 * toLat - fromLat) <= 90 * DEGREE_UNITS ? [path[at], beyond, path[at]] : [path[at]],
  ])
  return [...path.slice(0, at), ...extra, ...path.slice(at + 1)]
}

/** A ring of fewer than three different vertices. */
export function ringWithoutArea(near: Neighbourhood): Spot[] {
  const [from, to] = near.random.unit() < 0.3 ? [near.spot(), near.spot()] : acrossRecipient(near)
  return near.random.pick([
    [from, to],
    [from, to, from],
    [near.centre, near.centre, near.centre],
    [near.spot()],
  ])
}

/** Drawn on over several turns, of which three are the most that is taken. */
export function widePath({ random, centre, spot }: Neighbourhood): Spot[] {
  const reach = random.pick([1, 2, 3, 4]) * 180 * DEGREE_UNITS
  const vertices = Array.from({ length: random.between(3, 7) }, (): Spot => {
    const [lng, lat] = spot()
    return [lng + random.between(-reach, reach), lat]
  })
  return random.unit() < 0.5 ? vertices : [...vertices, [centre[0] + reach, centre[1]]]
}

/**
 * A ring once round the globe, in longitudes from -180 to 180 and in steps of less than half a
 * turn, mostly far from the equator: it holds the pole that it is nearer to.
 *
 * @param folds  whether it runs back on its way round now and then
 */
export function ringRoundPole({ random, centre }: Neighbourhood, folds: boolean): Spot[] {
  const pole = Math.sign(centre[1]) || 1
  const cell = random.pick([1, DEGREE_UNITS])
  const stepCount = random.between(3, 9)
  const start = random.between(-180, 179)
  const lngOf = (share: number) => {
    const lng = start * DEGREE_UNITS + snapped(Math.round(360 * DEGREE_UNITS * share), cell)
    return lng > 180 * DEGREE_UNITS ? lng - 360 * DEGREE_UNITS : lng
  }
  const reachLat = random.pick([40, 40, 120, 180]) * DEGREE_UNITS
  const lat = () => pole * (90 * DEGREE_UNITS - snapped(random.between(0, reachLat), cell))
  const ring = Array.from({ length: stepCount }, (_, at): Spot => {
    const share = (at + (stepCount === 3 ? 0.3 : 0.5) * random.unit()) / stepCount
    return [lngOf(share), lat()]
  })
  if (folds) {
    const at = random.between(0, stepCount - 1)
    const back = random.between(1, 40) * DEGREE_UNITS
    const [lng] = ring[at]
    ring.splice(
      at + 1,
      0,
      [lng - back < -180 * DEGREE_UNITS ? lng : lng - back, lat()],
      [lng, lat()],
    )
  }
  return random.unit() < 0.5 ? ring : ring.reverse()
}

/**
 * Vertices where longitudes and latitudes end or change their signs, or a unit beside.
 *
 * @param latDegrees  the latitudes in degrees
 */
export function extremePath(
  random: Random,
  latDegrees: readonly number[] = [-90, -45, 0, 0, 45, 90],
): Spot[] {
  const along = (degrees: readonly number[]) => {
    const most = Math.max(...degrees) * DEGREE_UNITS
    const units = random.pick(degrees) * DEGREE_UNITS + random.pick([0, 0, 0, 0, -1, 1])
    return Math.max(-most, Math.min(most, units))
  }
  const path = Array.from(
    { length: random.between(3, 6) },
    (): Spot => [along([-180, -180, -90, 0, 90, 180, 180]), along(latDegrees)],
  )
  return isRing(path) ? path : triangleAt(path[0])
}

/** All round the globe between two parallels, or a parallel and a pole, with its seam as written. */
export function band({ random, centre }: Neighbourhood): Spot[] {
  const pole = Math.sign(centre[1]) || 1
  const [near, far] = [centre[1], random.pick([pole * 90, random.between(-89, 89)]) * DEGREE_UNITS]
  const halfTurn = 180 * DEGREE_UNITS
  const middle: Spot[] =
    random.unit() < 0.5 ? [] : [[random.between(-170, 170) * DEGREE_UNITS, near]]
  return [[-halfTurn, near], ...middle, [halfTurn, near], [halfTurn, far], [-halfTurn, far]]
}
