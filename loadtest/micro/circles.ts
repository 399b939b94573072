/**
 * How long does it take to find who is within some kilometres of a place?
 *
 * @module
 */
import type { Feature, Point } from 'geojson'
import { UNITS_PER_DEGREE } from '../../src/geometry/units.js'
import { readDrawing } from '../../src/selection/shapes/shapes.js'
import { seededRandom } from '../../test/support/random/world.js'
import { formatFigure } from '../harness/table.js'
import type { Circle } from './distances.js'
import { compare } from './harness/compare.js'
import type { Question } from './harness/stage.js'
import { engineWays, geokdbushWay, naiveCircleWay, postgisDistanceWay } from './harness/ways.js'
import { describeRuns } from './polygons.js'

const SHAPE_COUNT = 200
const BASELINE_SHAPE_COUNT = 40
/** What the ways may disagree about: each of them rounds sines and cosines in its own order. */
const TOLERANCE_METRES = 1e-3

export const circles: Question = async ({ world, naiveIndex, database }) => {
  const asked = randomCircles(world.columns, SHAPE_COUNT, world.seed)
  const shapes = asked.map((circle) => readDrawing(toFeature(circle), 'shape').shapes)
  await database?.postgis.indexForDistances(database.table)
  const finding = await compare({
    title: 'circles',
    shapeCount: asked.length,
    baselineShapeCount: BASELINE_SHAPE_COUNT,
    engine: engineWays(world.shards, shapes),
    baselines: [
      naiveCircleWay(naiveIndex(), asked),
      geokdbushWay(naiveIndex(), asked),
      ...(database
        ? [
            postgisDistanceWay(
              database.postgis,
              database.table,
              asked.map((circle) => toFeature(circle).geometry),
              asked.map(({ radiusMetres }) => radiusMetres),
            ),
          ]
        : []),
    ],
    toleranceMetres: TOLERANCE_METRES,
    describe: `${formatFigure(meanKilometres(asked))} km, ${describeRuns(world.shards, shapes)}`,
  })
  return [finding]
}

/** Of 1 to 50 km, as many below 7 km as above, around recipients drawn at random. */
export function randomCircles(
  { lngs, lats }: { readonly lngs: Int32Array; readonly lats: Int32Array },
  count: number,
  seed: number,
): Circle[] {
  const random = seededRandom(seed)
  return Array.from({ length: count }, () => {
    const row = random.between(0, lngs.length - 1)
    return {
      lng: lngs[row] / UNITS_PER_DEGREE,
      lat: lats[row] / UNITS_PER_DEGREE,
      radiusMetres: Math.round(1_000 * 50 ** random.unit()),
    }
  })
}

function toFeature({ lng, lat, radiusMetres }: Circle): Feature<Point> {
  return {
    type: 'Feature',
    geometry: { type: 'Point', coordinates: [lng, lat] },
    properties: { radius: radiusMetres },
  }
}

function meanKilometres(circles: readonly Circle[]): number {
  return circles.reduce((sum, { radiusMetres }) => sum + radiusMetres, 0) / circles.length / 1000
}
