/**
 * What do the worst shapes cost that the limits admit? Each is read once and searched once, as a
 * request would be; those that cost more than one request may are refused, and how soon is shown.
 *
 * @module
 */
import { ServiceError } from '../../src/errors.js'
import { limits } from '../../src/limits.js'
import { readDrawing } from '../../src/selection/shapes/shapes.js'
import { BudgetSpent } from '../../src/shard/budget.js'
import { selectInside } from '../../src/shard/select.js'
import { formatCount, formatFigure } from '../harness/table.js'
import type { Question } from './harness/stage.js'

export const worst: Question = async ({ world }) => {
  const { lngs, lats } = world.columns
  const around: Position = [lngs[0] / 1e7, lats[0] / 1e7]
  const rows = Object.entries(shapesAround(around)).map(([name, shape]) => {
    const startedMs = performance.now()
    let outcome: string
    let readMs = 0
    let spent = 0
    const budget = { edgeTestCount: limits.edgeTestCount }
    try {
      const shapes = readDrawing(shape, 'shape').shapes
      readMs = performance.now() - startedMs
      const found = selectInside(world.shards, shapes, budget)
      outcome = `${formatCount(found.reduce((sum, runs) => sum + sizeOf(runs), 0))} found`
    } catch (error) {
      if (!(error instanceof BudgetSpent || error instanceof ServiceError)) throw error
      if (error instanceof ServiceError) readMs = performance.now() - startedMs
      outcome = `refused, ${error instanceof ServiceError ? error.code : 'budget spent'}`
    }
    spent = limits.edgeTestCount - budget.edgeTestCount
    const searchMs = performance.now() - startedMs - readMs
    return [
      name,
      formatFigure(readMs),
      formatFigure(searchMs),
      formatFigure(spent / limits.edgeTestCount),
      outcome,
    ]
  })
  const header = ['shape', 'read, ms', 'search, ms', 'budget spent', 'outcome']
  const title = `the worst shapes: all ${world.shards.length} shards in one task, each shape once`
  return [{ table: { title, header, rows }, ways: [], notes: [] }]
}

type Position = readonly [lng: number, lat: number]

/** A whole country wide, so that every recipient is near, unless it says otherwise. */
function shapesAround(centre: Position): Readonly<Record<string, object>> {
  const vertexCount = limits.vertexCount - 10
  const wide: Position = [-95, 38]
  return {
    'comb, 50,000 vertices over all': polygon([comb(vertexCount, -125, -66, 24, 50)]),
    'comb, 50,000 vertices over a city': polygon([comb(vertexCount, ...boxAround(centre, 0.2))]),
    'horizontal comb, 50,000 vertices': polygon([
      comb(vertexCount, 24, 50, -125, -66).map(([lat, lng]) => [lng, lat]),
    ]),
    'spiral, 50,000 vertices': polygon([spiral(vertexCount, wide, 25)]),
    'star, 50,000 vertices through one place': polygon([star(vertexCount, centre, 20)]),
    'scribble, 50,000 vertices at random': polygon([scribble(vertexCount, wide, 30)]),
    'scribble over a city': polygon([scribble(vertexCount, centre, 0.1)]),
    '10,000 holes in one shell': polygon([
      ring(4, wide, 40),
      ...Array.from({ length: limits.ringCount - 1 }, (_, i) => ring(4, spread(i, wide, 25), 0.3)),
    ]),
    '10,000 polygons, one upon the other': multiPolygon(
      Array.from({ length: limits.ringCount }, (_, i) => [ring(4, wide, 20 + i / 1e4)]),
    ),
    '10,000 polygons apart': multiPolygon(
      Array.from({ length: limits.ringCount }, (_, i) => [ring(4, spread(i, wide, 25), 0.3)]),
    ),
    '1,000 overlapping circles of 100 km': features(1_000, (i) => ({
      geometry: { type: 'Point', coordinates: spread(i, centre, 0.5) },
      properties: { radius: 100_000 + i },
    })),
    '1,000 circles of 1,000 km apart': features(1_000, (i) => ({
      geometry: { type: 'Point', coordinates: spread(i, wide, 25) },
      properties: { radius: 1_000_000 },
    })),
    '10,000 circles of 20 km': {
      type: 'Feature',
      geometry: {
        type: 'MultiPoint',
        coordinates: Array.from({ length: limits.ringCount }, (_, i) => spread(i, wide, 25)),
      },
      properties: { radius: 20_000 },
    },
    'corridor of 25,000 vertices at random, 1 km': corridor(
      scribble(vertexCount / 2, wide, 30),
      1_000,
    ),
    'corridor of 25,000 vertices in a city, 10 m': corridor(
      scribble(vertexCount / 2, centre, 0.2),
      10,
    ),
    'margin of 100 km round 50,000 vertices': margin([spiral(vertexCount, wide, 25)], 100_000),
    'margin with two rings upon each other': margin(
      [ring(20_000, wide, 20), ring(20_000, wide, 20.001)],
      1_000,
    ),
    '100 times the nearest 10,000': features(limits.nearestFeatureCount, (i) => ({
      geometry: { type: 'Point', coordinates: spread(i, wide, 20) },
      properties: { nearest: limits.nearestCount },
    })),
    'the nearest 10,000 of everybody in a box': {
      type: 'FeatureCollection',
      features: [
        { geometry: polygon([ring(4, wide, 60)]) },
        {
          geometry: { type: 'Point', coordinates: centre },
          properties: { nearest: limits.nearestCount },
        },
      ],
    },
  }
}

function polygon(coordinates: readonly Ring[]): object {
  return { type: 'Polygon', coordinates }
}

function multiPolygon(coordinates: readonly (readonly Ring[])[]): object {
  return { type: 'MultiPolygon', coordinates }
}

function corridor(coordinates: Ring, buffer: number): object {
  return { type: 'Feature', geometry: { type: 'LineString', coordinates }, properties: { buffer } }
}

function margin(coordinates: readonly Ring[], radius: number): object {
  return { type: 'Feature', geometry: polygon(coordinates), properties: { radius } }
}

function features(count: number, feature: (i: number) => object): object {
  return {
    type: 'FeatureCollection',
    features: Array.from({ length: count }, (_, i) => feature(i)),
  }
}

type Ring = readonly (readonly number[])[]

function ring(vertexCount: number, [lng, lat]: Position, radius: number): Ring {
  return Array.from({ length: vertexCount }, (_, i) => {
    const angle = (2 * Math.PI * i) / vertexCount
    return [lng + radius * Math.cos(angle), lat + (radius / 2) * Math.sin(angle)]
  })
}

/** Teeth side by side, each as high as the box. */
function comb(vertexCount: number, west: number, east: number, south: number, north: number): Ring {
  return Array.from({ length: vertexCount }, (_, i) => [
    west + ((east - west) * i) / vertexCount,
    i % 2 === 0 ? south : north,
  ])
}

function spiral(vertexCount: number, [lng, lat]: Position, radius: number): Ring {
  const half = vertexCount / 2
  const at = (i: number, width: number) => {
    const angle = (2 * Math.PI * i) / 50
    const reach = (radius * (i + width)) / half
    return [lng + reach * Math.cos(angle), lat + (reach / 2) * Math.sin(angle)]
  }
  const outwards = Array.from({ length: half }, (_, i) => at(i, 0))
  return [...outwards, ...outwards.map((_, i) => at(half - 1 - i, 20))]
}

function star(vertexCount: number, [lng, lat]: Position, radius: number): Ring {
  return Array.from({ length: vertexCount }, (_, i) => {
    const angle = (Math.PI * (vertexCount - 1) * i) / vertexCount
    return [lng + radius * Math.cos(angle), lat + (radius / 2) * Math.sin(angle)]
  })
}

/** The same on every run: the golden ratio scatters evenly. */
function scribble(vertexCount: number, [lng, lat]: Position, radius: number): Ring {
  return Array.from({ length: vertexCount }, (_, i) => [
    lng + radius * (2 * ((i * 0.618_034) % 1) - 1),
    lat + (radius / 2) * (2 * ((i * 0.754_878) % 1) - 1),
  ])
}

function spread(i: number, [lng, lat]: Position, radius: number): Position {
  return [
    lng + radius * (2 * ((i * 0.618_034) % 1) - 1),
    lat + (radius / 2) * (2 * ((i * 0.754_878) % 1) - 1),
  ]
}

function boxAround([lng, lat]: Position, radius: number): [number, number, number, number] {
  return [lng - radius, lng + radius, lat - radius / 2, lat + radius / 2]
}

function sizeOf(runs: Uint32Array): number {
  let size = 0
  for (let i = 0; i < runs.length; i += 2) size += runs[i + 1] - runs[i]
  return size
}
