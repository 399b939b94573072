/**
 * How long does it take to find who is along a road, a river or the path of a storm?
 *
 * @module
 */
import type { Feature, LineString } from 'geojson'
import { UNITS_PER_DEGREE } from '../../src/geometry/units.js'
import { readDrawing } from '../../src/selection/shapes/shapes.js'
import { type Random, seededRandom } from '../../test/support/random/world.js'
import { formatFigure } from '../harness/table.js'
import type { Corridor } from './distances.js'
import { compare } from './harness/compare.js'
import type { Question } from './harness/stage.js'
import { engineWays, naiveCorridorWay, postgisDistanceWay } from './harness/ways.js'
import { describeRuns } from './polygons.js'

const SHAPE_COUNT = 200
const BASELINE_SHAPE_COUNT = 40
const TOLERANCE_METRES = 1e-3

export const corridors: Question = async ({ world, naiveIndex, database }) => {
  const asked = randomCorridors(world.columns, SHAPE_COUNT, world.seed)
  const shapes = asked.map((corridor) => readDrawing(toFeature(corridor), 'shape').shapes)
  await database?.postgis.indexForDistances(database.table)
  const vertexCount = asked.reduce((sum, { positions }) => sum + positions.length, 0)
  const finding = await compare({
    title: 'corridors',
    shapeCount: asked.length,
    baselineShapeCount: BASELINE_SHAPE_COUNT,
    engine: engineWays(world.shards, shapes),
    baselines: [
      naiveCorridorWay(naiveIndex(), asked),
      ...(database
        ? [
            postgisDistanceWay(
              database.postgis,
              database.table,
              asked.map((corridor) => toFeature(corridor).geometry),
              asked.map(({ bufferMetres }) => bufferMetres),
            ),
          ]
        : []),
    ],
    toleranceMetres: TOLERANCE_METRES,
    describe: `${formatFigure(vertexCount / asked.length)} vertices, ${describeRuns(world.shards, shapes)}`,
  })
  return [finding]
}

/** Lines of 3 to 10 vertices and 10 to 100 km from a recipient, 100 to 2,000 m to either side. */
export function randomCorridors(
  { lngs, lats }: { readonly lngs: Int32Array; readonly lats: Int32Array },
  count: number,
  seed: number,
): Corridor[] {
  const random = seededRandom(seed)
  return Array.from({ length: count }, () => {
    const row = random.between(0, lngs.length - 1)
    const start = [lngs[row] / UNITS_PER_DEGREE, lats[row] / UNITS_PER_DEGREE] as const
    return { positions: wander(random, start), bufferMetres: Math.round(100 * 20 ** random.unit()) }
  })
}

const KM_PER_DEGREE = 111.2

/** Equal steps that turn by a sixth of a circle at most, so that the line gets somewhere. */
function wander(random: Random, start: readonly [lng: number, lat: number]) {
  const stepCount = random.between(2, 9)
  const stepDegrees = (10 * 10 ** random.unit()) / KM_PER_DEGREE / stepCount
  let angle = 2 * Math.PI * random.unit()
  const positions = [start]
  for (let step = 0; step < stepCount; step++) {
    const [lng, lat] = positions[step]
    const width = 1 / Math.cos((lat * Math.PI) / 180)
    positions.push([
      sevenDecimals(lng + stepDegrees * width * Math.cos(angle)),
      sevenDecimals(lat + stepDegrees * Math.sin(angle)),
    ])
    angle += (random.unit() - 0.5) * (2 * Math.PI) * (1 / 3)
  }
  return positions
}

function sevenDecimals(degrees: number): number {
  return Math.round(degrees * UNITS_PER_DEGREE) / UNITS_PER_DEGREE
}

function toFeature({ positions, bufferMetres }: Corridor): Feature<LineString> {
  return {
    type: 'Feature',
    geometry: { type: 'LineString', coordinates: positions.map((position) => [...position]) },
    properties: { buffer: bufferMetres },
  }
}
