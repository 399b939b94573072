/**
 * Random shapes around a recipient, in continuous degrees of longitude: what is drawn, before it is
 * written in numbers.
 *
 * @module
 */
import type { Random } from '../support/random/world.js'
import type { Path, Vertex } from './shape.js'

export interface Spot {
  readonly random: Random
  readonly centre: Vertex
  /** Degrees to all sides. */
  readonly reach: number
}

export function randomShell(spot: Spot): Path {
  const draw = spot.random.pick([star, star, star, scribble, scribble, box, sliver, flat])
  const ring = draw(spot)
  return spot.random.unit() < 0.5 ? ring : ring.toReversed()
}

/** Once round its centre, so it does not cross itself. */
export function star({ random, centre: [lng, lat], reach }: Spot): Path {
  const vertexCount = random.between(3, 9)
  const wide = random.pick([1, 1, 1, 2])
  return Array.from({ length: vertexCount }, (_, at): Vertex => {
    const angle = (2 * Math.PI * (at + 0.8 * random.unit())) / vertexCount
    const distance = reach * (0.3 + 0.7 * random.unit())
    return [lng + wide * distance * Math.cos(angle), clamped(lat + distance * Math.sin(angle))]
  })
}

export function randomLine(spot: Spot): Path {
  return Array.from({ length: spot.random.between(2, 5) }, () => place(spot))
}

/** Once round the globe, in longitudes from `start` on; now and then it runs back on its way. */
export function ringRoundPole({ random, centre: [lng, lat] }: Spot): Path {
  const pole = lat < 0 ? -1 : 1
  const stepCount = random.between(3, 8)
  const jitter = stepCount === 3 ? 0.3 : 0.6
  const low = random.pick([-80, 0.9, 2, 50, 80])
  const ring = Array.from({ length: stepCount }, (_, at): Vertex => {
    const share = (at + jitter * random.unit()) / stepCount
    return [lng + 360 * share, pole * (low + (90 - low) * random.unit())]
  })
  if (random.unit() < 0.2) {
    const at = random.between(0, stepCount - 1)
    const back = 40 * random.unit()
    ring.splice(at + 1, 0, [ring[at][0] - back, clamped(ring[at][1] - pole * 3)], ring[at])
  }
  return random.unit() < 0.5 ? ring : ring.reverse()
}

/** All round the globe with a seam as written, between two parallels or a parallel and a pole. */
export function band({ random, centre: [, lat] }: Spot): Path {
  const far = random.pick([90, -90, random.between(-89, 89)])
  const middle: Path = random.unit() < 0.5 ? [] : [[random.between(-170, 170), clamped(lat + 1)]]
  const ring: Path = [[-180, lat], ...middle, [180, lat], [180, far], [-180, far]]
  return random.unit() < 0.5 ? ring : ring.toReversed()
}

/** Wider than half a turn, as drawn on a map that goes on beyond the antimeridian. */
export function wideRing({ random, centre: [, lat] }: Spot): Path {
  const west = random.between(-300, 150)
  const east = west + random.between(190, 1_070)
  const middle = west + (east - west) * random.unit()
  const south = clamped(lat - random.between(1, 20))
  return [
    [west, south],
    [middle, clamped(south + 30 * random.unit())],
    [east, lat],
    [east - 5 * random.unit(), clamped(lat + random.between(1, 30))],
    [west + 5 * random.unit(), clamped(lat + 20 * random.unit())],
  ]
}

function scribble(spot: Spot): Path {
  return Array.from({ length: spot.random.between(3, 8) }, () => place(spot))
}

function box(spot: Spot): Path {
  const [[west, south], [east, north]] = [place(spot), place(spot)]
  return [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
  ]
}

/** A unit wide, or a hundredth of it. */
function sliver(spot: Spot): Path {
  const [[fromLng, fromLat], [toLng, toLat]] = [place(spot), place(spot)]
  const width = spot.random.pick([1e-7, 1e-9])
  return [
    [fromLng, fromLat],
    [toLng, toLat],
    [toLng + width, toLat],
    [fromLng, clamped(fromLat + width)],
  ]
}

/** Along a parallel or a meridian and back: no area, but three different vertices. */
function flat(spot: Spot): Path {
  const { random, centre } = spot
  const [lng, lat] = place(spot)
  return random.pick<Path>([
    [
      [lng, lat],
      [(lng + centre[0]) / 2, lat],
      [centre[0], lat],
    ],
    [
      [lng, lat],
      [lng, centre[1]],
      [lng, clamped((lat + centre[1]) / 2)],
    ],
  ])
}

function place({ random, centre: [lng, lat], reach }: Spot): Vertex {
  const away = () => reach * (2 * random.unit() - 1)
  return [lng + away(), clamped(lat + away())]
}

export function clamped(lat: number): number {
  return Math.max(-90, Math.min(90, lat))
}
