/**
 * Recipients for the metamorphic suite: of a random world, all over the globe, exactly at the
 * antimeridian and the poles, and on the vertices and edges of the shapes that are asked about.
 *
 * @module
 */
import type { ShardImage } from '../../src/shard/layout.js'
import { inArenas } from '../support/data/arenas.js'
import { columnsOf } from '../support/data/columns.js'
import { globeWorldKinds, type Random, randomWorld, worldKinds } from '../support/random/world.js'
import { shardsOf } from '../support/service/local-service.js'
import type { Shape, Vertex } from './shape.js'

/** In units of 1e-7 degree. */
export type Place = readonly [lng: number, lat: number]

const HALF_TURN = 1_800_000_000
const POLE = 900_000_000

export function randomPlaces(random: Random): Place[] {
  const kind = random.pick([...globeWorldKinds, ...globeWorldKinds, ...worldKinds])
  const { lngs, lats } = randomWorld(kind, 120, random)
  const lng = () => random.between(-HALF_TURN, HALF_TURN)
  const lat = () => random.between(-POLE, POLE)
  return [
    ...Array.from(lngs, (each, i): Place => [each, lats[i]]),
    ...Array.from({ length: 50 }, (): Place => [lng(), lat()]),
    ...Array.from({ length: 10 }, (): Place => [random.pick([-HALF_TURN, HALF_TURN]), lat()]),
    ...Array.from({ length: 4 }, (): Place => [lng(), random.pick([-POLE, POLE])]),
  ]
}

/** On vertices, in the middle of edges, and a unit beside. */
export function placesOn(shape: Shape, random: Random): Place[] {
  const path = random.pick(random.pick(shape.parts))
  const at = random.between(0, path.length - 1)
  const [lng, lat] = path[at]
  const [nextLng, nextLat] = path[(at + 1) % path.length]
  const [besideLng, besideLat] = [random.between(-1, 1), random.between(-1, 1)]
  return [
    asPlace([lng, lat]),
    asPlace([(lng + nextLng) / 2, (lat + nextLat) / 2]),
    asPlace([lng + besideLng / 1e7, lat + besideLat / 1e7]),
  ]
}

export function shardsAt(places: readonly Place[], random: Random): ShardImage[] {
  const columns = columnsOf(
    places.map(([lng, lat], i) => ({ phone: `+999${i}`, lng, lat, contact: '' })),
  )
  const images = shardsOf(columns, 1, random.pick([places.length, 100]))
  // Where a service has them, now and then: an arena takes long to make.
  return random.unit() < 0.1 ? inArenas(images, 1) : images
}

function asPlace([lng, lat]: Vertex): Place {
  const units = Math.round(lng * 1e7)
  const within = units - 2 * HALF_TURN * Math.round(units / (2 * HALF_TURN))
  return [within, Math.max(-POLE, Math.min(POLE, Math.round(lat * 1e7)))]
}
