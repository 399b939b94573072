/**
 * Random shapes, cut into the arcs of a topology by an independent writer, which knows what must come back.
 *
 * @module
 */

import fc from 'fast-check'
import { type Pair, pairs, type Shape } from './file-shapes.js'
import type { Random } from './world.js'

export interface Grid {
  readonly scale: Pair
  readonly translate: Pair
}

/** In whole steps of a grid if there is one. */
export interface TopologyPlan {
  readonly shapes: readonly (Shape | null)[]
  readonly grid: Grid | undefined
}

export const topologyPlans: fc.Arbitrary<TopologyPlan> = fc
  .option(
    fc.record({
      scale: fc.constantFrom<Pair>([0.0036000360003600037, 0.0017], [1e-7, 1e-7], [1, 1], [-1, 3]),
      translate: fc.constantFrom<Pair>([-180, -90], [0, 0], [0.1, -1e-9]),
    }),
    { nil: undefined },
  )
  .chain((grid) => {
    const steps = fc.integer({ min: -100_000, max: 100_000 })
    const whole = fc.tuple(steps, steps)
    const shapes = fc.array(fc.option(shapesOf(grid === undefined ? pairs : whole)), {
      maxLength: 4,
    })
    return shapes.map((list) => ({ shapes: list, grid }))
  })

function shapesOf(positions: fc.Arbitrary<Pair>): fc.Arbitrary<Shape> {
  const ring = fc.array(positions, { minLength: 3, maxLength: 7 }).map((list) => [...list, list[0]])
  const line = fc.array(positions, { minLength: 2, maxLength: 7 })
  const several = <T>(item: fc.Arbitrary<T>) => fc.array(item, { minLength: 1, maxLength: 3 })
  const simple = fc.oneof(
    positions.map((coordinates): Shape => ({ type: 'Point', coordinates })),
    several(positions).map((coordinates): Shape => ({ type: 'MultiPoint', coordinates })),
    line.map((coordinates): Shape => ({ type: 'LineString', coordinates })),
    several(line).map((coordinates): Shape => ({ type: 'MultiLineString', coordinates })),
    several(ring).map((coordinates): Shape => ({ type: 'Polygon', coordinates })),
    several(several(ring)).map((coordinates): Shape => ({ type: 'MultiPolygon', coordinates })),
  )
  const collection = several(simple).map(
    (geometries): Shape => ({ type: 'GeometryCollection', geometries }),
  )
  return fc.oneof({ arbitrary: simple, weight: 5 }, { arbitrary: collection, weight: 1 })
}

/** A topology of one object `zones`, and the geometries that it stands for. */
export function writeTopology(
  { shapes, grid }: TopologyPlan,
  random: Random,
): { topology: object; geometries: readonly (Shape | null)[] } {
  const arcs: Pair[][] = []
  const cut = (path: readonly Pair[]): number[] => {
    const references: number[] = []
    for (let begin = 0; begin < path.length - 1; ) {
      const end = random.between(begin + 1, path.length - 1)
      references.push(referenceTo(path.slice(begin, end + 1)))
      begin = end
    }
    return references
  }
  /** A new arc, forwards or backwards, or one that is there. */
  const referenceTo = (arc: readonly Pair[]): number => {
    const known = arcs.findIndex((each) => JSON.stringify(each) === JSON.stringify(arc))
    if (known >= 0) return known
    const backwards = arc.toReversed()
    const knownBackwards = arcs.findIndex(
      (each) => JSON.stringify(each) === JSON.stringify(backwards),
    )
    if (knownBackwards >= 0) return -1 - knownBackwards
    const isBackwards = random.unit() < 0.5
    arcs.push(isBackwards ? backwards : [...arc])
    return isBackwards ? -arcs.length : arcs.length - 1
  }
  const written = (shape: Shape): object => {
    switch (shape.type) {
      case 'Point':
      case 'MultiPoint':
        return { type: shape.type, coordinates: shape.coordinates }
      case 'LineString':
        return { type: 'LineString', arcs: cut(shape.coordinates) }
      case 'MultiLineString':
      case 'Polygon':
        return { type: shape.type, arcs: shape.coordinates.map(cut) }
      case 'MultiPolygon':
        return { type: shape.type, arcs: shape.coordinates.map((polygon) => polygon.map(cut)) }
      case 'GeometryCollection':
        return { type: shape.type, geometries: shape.geometries.map(written) }
    }
  }
  const geometries = shapes.map((shape, index) => ({
    ...(shape === null ? { type: null } : written(shape)),
    id: `${index}`,
    properties: { radius: index },
  }))
  return {
    topology: {
      type: 'Topology',
      arcs: grid === undefined ? arcs : arcs.map(inSteps),
      ...(grid !== undefined && { transform: grid }),
      objects: { zones: { type: 'GeometryCollection', geometries } },
    },
    geometries: shapes.map((shape) =>
      shape === null || grid === undefined ? shape : onGrid(shape, grid),
    ),
  }
}

function inSteps(arc: readonly Pair[]): Pair[] {
  return arc.map(([x, y], i) => (i === 0 ? [x, y] : [x - arc[i - 1][0], y - arc[i - 1][1]]))
}

function onGrid<T>(value: T, { scale, translate }: Grid): T {
  const moved = (item: unknown): unknown => {
    if (Array.isArray(item)) {
      if (typeof item[0] !== 'number') return item.map(moved)
      return [item[0] * scale[0] + translate[0], item[1] * scale[1] + translate[1]]
    }
    if (typeof item !== 'object' || item === null) return item
    return Object.fromEntries(Object.entries(item).map(([name, each]) => [name, moved(each)]))
  }
  return moved(value) as T
}
