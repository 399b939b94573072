/**
 * How long does it take to find who is inside a county, a shape of many vertices and sizes?
 *
 * @module
 */
import { loadCounties, withoutDegenerateRings } from '../../test/support/data/counties.js'
import type { Question } from './harness/stage.js'
import { comparePolygons } from './polygons.js'

const BASELINE_SHAPE_COUNT = 400

export const counties: Question = async ({ world, naiveIndex, database }) => [
  await comparePolygons({
    title: 'counties of the US',
    geometries: loadCounties().flatMap(({ geometry }) => withoutDegenerateRings(geometry) ?? []),
    baselineShapeCount: BASELINE_SHAPE_COUNT,
    shards: world.shards,
    naiveIndex: naiveIndex(),
    database,
  }),
]
