/**
 * How long does it take to find who is inside a polygon that somebody has drawn?
 *
 * @module
 */
import { drawnPolygons } from '../requests/drawn.js'
import type { Question } from './harness/stage.js'
import { comparePolygons } from './polygons.js'

const SHAPE_COUNT = 2_000
const BASELINE_SHAPE_COUNT = 500

export const drawn: Question = async ({ world, naiveIndex, database }) => [
  await comparePolygons({
    title: 'drawn polygons',
    geometries: drawnPolygons(world.columns, SHAPE_COUNT, world.seed),
    baselineShapeCount: BASELINE_SHAPE_COUNT,
    shards: world.shards,
    naiveIndex: naiveIndex(),
    database,
  }),
]
