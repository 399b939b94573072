/**
 * How long does it take to find who is inside a state, where most of the answer is far from any
 * edge?
 *
 * @module
 */
import { withoutDegenerateRings } from '../../test/support/data/counties.js'
import { loadStates } from '../requests/atlas.js'
import type { Question } from './harness/stage.js'
import { comparePolygons } from './polygons.js'

const BASELINE_SHAPE_COUNT = 10

export const states: Question = async ({ world, naiveIndex, database }) => [
  await comparePolygons({
    title: 'states of the US',
    geometries: loadStates().flatMap(({ geometry }) => withoutDegenerateRings(geometry) ?? []),
    baselineShapeCount: BASELINE_SHAPE_COUNT,
    shards: world.shards,
    naiveIndex: naiveIndex(),
    database,
  }),
]
