import { around } from 'geokdbush'
import t from 'tap'
import { randomCircles } from '../../loadtest/micro/circles.js'
import { randomCorridors } from '../../loadtest/micro/corridors.js'
import {
  type Corridor,
  haversineMetres,
  naiveCircleCount,
  naiveCorridorCount,
} from '../../loadtest/micro/distances.js'
import { buildNaiveIndex } from '../../loadtest/micro/harness/naive.js'
import { syntheticColumns } from '../../src/sources/synthetic/synthetic-columns.js'

/** What the engine is compared with must be right itself. */
const SEED = 1
const columns = syntheticColumns({ recipientCount: 20_000, seed: SEED, countries: ['US'] })
const naive = buildNaiveIndex(columns)
const { lngs, lats } = naive

t.test(`circles equal brute force and geokdbush, seed ${SEED}`, async (t) => {
  for (const circle of randomCircles(columns, 100, SEED)) {
    const { lng, lat, radiusMetres } = circle
    const isNear = (at: number) => haversineMetres(lng, lat, lngs[at], lats[at]) <= radiusMetres
    const count = naiveCircleCount(naive, circle, 0)
    t.equal(count, countRows(isNear), JSON.stringify(circle))
    const found = around(naive.index, lng, lat, Number.POSITIVE_INFINITY, radiusMetres / 1000)
    t.equal(count, found.length, JSON.stringify(circle))
  }
})

t.test(`corridors lie between what two walks along them find, seed ${SEED}`, async (t) => {
  for (const corridor of randomCorridors(columns, 10, SEED)) {
    const count = naiveCorridorCount(naive, corridor, 0)
    // Steps of a walk are so far apart at most, so it finds the distance or up to half a step more.
    const stepMetres = 5
    const distances = walkDistances(corridor, stepMetres)
    const within = (metres: number) => distances.filter((distance) => distance <= metres).length
    t.ok(count >= within(corridor.bufferMetres), JSON.stringify(corridor))
    t.ok(count <= within(corridor.bufferMetres + stepMetres / 2), JSON.stringify(corridor))
    t.ok(count > 0, 'it starts at a recipient')
  }
})

t.test('a corridor follows the great circle, not the parallel', async (t) => {
  // Halfway between two places at 60 degrees north, the great circle runs 1.7 km north of them.
  const corridor: Corridor = {
    positions: [
      [-150, 60],
      [-146, 60],
    ],
    bufferMetres: 500,
  }
  const onArc = buildNaiveIndex({
    lngs: Int32Array.of(-148_0000000, -148_0000000),
    lats: Int32Array.of(60_0151000, 60_0000000),
  })
  t.equal(naiveCorridorCount(onArc, corridor, 0), 1)
  t.equal(naiveCorridorCount(onArc, corridor, 3_000), 2)
})

function countRows(isCounted: (at: number) => boolean): number {
  let count = 0
  for (let at = 0; at < columns.recipientCount; at++) if (isCounted(at)) count++
  return count
}

/** Of the recipients within a degree or so: the distance to the nearest of many points on it. */
function walkDistances({ positions }: Corridor, stepMetres: number): number[] {
  const steps = positions.slice(1).flatMap((to, i) => {
    const count = Math.ceil(haversineMetres(...positions[i], ...to) / stepMetres)
    return Array.from({ length: count + 1 }, (_, step) => slerp(positions[i], to, step / count))
  })
  const distances: number[] = []
  for (let at = 0; at < columns.recipientCount; at++) {
    if (Math.abs(lats[at] - positions[0][1]) > 1) continue
    if (Math.abs(lngs[at] - positions[0][0]) > 2) continue
    let least = Number.POSITIVE_INFINITY
    for (const [lng, lat] of steps) {
      least = Math.min(least, haversineMetres(lng, lat, lngs[at], lats[at]))
    }
    distances.push(least)
  }
  return distances
}

type Position = readonly [lng: number, lat: number]

/** The point of an arc of a great circle that divides it so; arcs of this test are short. */
function slerp(from: Position, to: Position, share: number): Position {
  const [a, b] = [toVector(from), toVector(to)]
  const sum = a.map((value, axis) => (1 - share) * value + share * b[axis])
  const [x, y, z] = sum
  return [toDegrees(Math.atan2(y, x)), toDegrees(Math.atan2(z, Math.hypot(x, y)))]
}

function toVector([lng, lat]: Position): number[] {
  const [lambda, phi] = [(lng * Math.PI) / 180, (lat * Math.PI) / 180]
  return [Math.cos(phi) * Math.cos(lambda), Math.cos(phi) * Math.sin(lambda), Math.sin(phi)]
}

function toDegrees(radians: number): number {
  return (radians * 180) / Math.PI
}
