/**
 * What does it cost that nobody beyond a boundary counts, with shapes within it and across it?
 *
 * @module
 */
import type { MultiPolygon, Polygon, Position } from 'geojson'
import { limits } from '../../src/limits.js'
import { readDrawing } from '../../src/selection/shapes/shapes.js'
import type { Shard } from '../../src/shard/layout.js'
import { createMask, isAllBeyond, type Mask, maskBytes, maskShards } from '../../src/shard/mask.js'
import { countInside, coveredBy } from '../../src/shard/select.js'
import { loadCounties, withoutDegenerateRings } from '../../test/support/data/counties.js'
import { type Random, seededRandom } from '../../test/support/random/world.js'
import { loadStates } from '../requests/atlas.js'
import { drawnPolygons } from '../requests/drawn.js'
import type { Finding } from './harness/compare.js'
import { compareInTurn } from './harness/in-turn.js'
import type { Question } from './harness/stage.js'
import { countOnShards } from './harness/ways.js'
import type { World } from './harness/world.js'

export const boundary: Question = async ({ world }) => {
  const random = seededRandom(world.seed)
  const state = { name: 'Texas', geometry: stateNamed('Texas') }
  const dense = {
    name: `Texas of ${VERTEX_COUNT.toLocaleString('en-US')} vertices`,
    geometry: denser(state.geometry, random),
  }
  return [state, dense].flatMap(({ name, geometry }) => compareWith(name, geometry, world))
}

const VERTEX_COUNT = 49_000
const DRAWN_COUNT = 20_000
const SHAPE_COUNT_MAX = 500
/** Two digits, the first of its counties' ids. */
const TEXAS = '48'

type Shape = Polygon | MultiPolygon

function compareWith(name: string, geometry: Shape, world: World): Finding[] {
  const { shards } = world
  const { mask, ms } = findMask(shards, geometry)
  const masked = maskShards(shards, mask)
  const runCount = maskBytes(mask) / 8
  const note =
    `${name}: its mask was found in ${ms.toFixed(0)} ms by one thread, has ${runCount} runs and ` +
    `takes ${(maskBytes(mask) / 1024).toFixed(0)} KiB`
  const compare = (title: string, shapes: readonly Shape[]) =>
    compareClipped(`${title}, within ${name}`, shapes, shards, mask, [note])
  const drawn = drawnPolygons(world.columns, DRAWN_COUNT, world.seed)
  const counts = drawn.map((shape) => [count(shards, shape), count(masked, shape)])
  const those = (isChosen: (plain: number, clipped: number) => boolean) =>
    drawn.filter((_, at) => isChosen(counts[at][0], counts[at][1])).slice(0, SHAPE_COUNT_MAX)
  const counties = loadCounties().filter(({ id }) => id.startsWith(TEXAS))
  return [
    compare(
      'drawn polygons all within',
      those((plain, clipped) => plain > 0 && clipped === plain),
    ),
    compare(
      'drawn polygons on the border',
      those((plain, clipped) => clipped > 0 && clipped < plain),
    ),
    compare('counties', wholeShapes(counties)),
    compare('the state and its neighbours', wholeShapes(loadStates().filter(isNear))),
  ]
}

function isNear({ name }: { readonly name: string }): boolean {
  return ['Texas', 'New Mexico', 'Oklahoma', 'Arkansas', 'Louisiana'].includes(name)
}

function stateNamed(name: string): Shape {
  return wholeShapes(loadStates().filter((state) => state.name === name))[0]
}

function wholeShapes(areas: readonly { readonly geometry: Shape }[]): Shape[] {
  return areas.flatMap(({ geometry }) => withoutDegenerateRings(geometry) ?? [])
}

function compareClipped(
  title: string,
  geometries: readonly Shape[],
  shards: readonly Shard[],
  mask: Mask,
  notes: readonly string[],
): Finding {
  const shapes = geometries.map((geometry) => readDrawing(geometry, 'shape').shapes)
  const countOn = (held: readonly Shard[]) => () =>
    shapes.reduce((sum, shape) => sum + countOnShards(held, shape), 0)
  const asked = maskShards(shards, mask).filter((_, at) => !isAllBeyond(mask, at))
  return compareInTurn({
    title,
    shapeCount: shapes.length,
    ways: { plain: countOn(shards), clipped: countOn(asked) },
    notes,
  })
}

function findMask(shards: readonly Shard[], geometry: Shape): { mask: Mask; ms: number } {
  const { shapes } = readDrawing(geometry, 'shape')
  const startedMs = performance.now()
  const runs = shards.map((shard) =>
    coveredBy(shard, shapes, { edgeTestCount: limits.edgeTestCount }),
  )
  return { mask: createMask(1, runs), ms: performance.now() - startedMs }
}

function count(shards: readonly Shard[], geometry: Shape): number {
  const budget = { edgeTestCount: limits.edgeTestCount }
  const counts = countInside(shards, readDrawing(geometry, 'shape').shapes, budget)
  return counts.reduce((sum, each) => sum + each, 0)
}

/** The same shape with as many vertices as a request may have, a little off its edges. */
function denser(geometry: Shape, random: Random): Shape {
  const polygons = geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates
  const edgeCount = polygons.flat().reduce((sum, ring) => sum + ring.length - 1, 0)
  const partCount = Math.floor(VERTEX_COUNT / edgeCount)
  const part = ([lng, lat]: Position, [nextLng, nextLat]: Position, at: number): Position => {
    const off = () => (at === 0 ? 0 : (random.unit() - 0.5) * JITTER_DEGREES)
    const share = at / partCount
    return [lng + share * (nextLng - lng) + off(), lat + share * (nextLat - lat) + off()]
  }
  const denserRing = (ring: Position[]): Position[] => {
    const vertices = ring
      .slice(0, -1)
      .flatMap((vertex, i) =>
        Array.from({ length: partCount }, (_, at) => part(vertex, ring[i + 1], at)),
      )
    return [...vertices, vertices[0]]
  }
  return {
    type: 'MultiPolygon',
    coordinates: polygons.map((rings) => rings.map(denserRing)),
  }
}

const JITTER_DEGREES = 0.0005
