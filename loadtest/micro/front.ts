/**
 * What does a count cost outside of the search, stage by stage?
 *
 * @module
 */
import type { Polygon } from 'geojson'
import { catalogueOf } from '../../src/selection/catalogue.js'
import { parse } from '../../src/selection/parse.js'
import { skeletonOfThread } from '../../src/selection/skeleton/skeleton.js'
import { validate } from '../../src/selection/validate.js'
import { mapLibraryPen } from '../../test/support/random/fine-coordinates.js'
import { seededRandom } from '../../test/support/random/world.js'
import { loadStates } from '../requests/atlas.js'
import { drawnPolygon, drawnPolygons } from '../requests/drawn.js'
import { inEsri, inWebMercator, largestPolygon, polygonsInRows } from '../requests/large.js'
import type { Finding } from './harness/compare.js'
import { compareInTurn } from './harness/in-turn.js'
import { requestStages } from './harness/request-stages.js'
import type { Question } from './harness/stage.js'
import type { World } from './harness/world.js'

const DRAWN_COUNT = 1_000
/** Of a service with several sources, spread over the country. */
const SHARD_COUNT = 40
const THREAD_COUNT = 2

export const front: Question = async ({ world }) => {
  const all = subjects(world)
  const staged = all.filter(({ title }) => STAGED.includes(title))
  return [...staged.map(timeStages), ...all.map(compareWays)]
}

/** A small count, and one that goes to its worker as a message. */
const STAGED = ['drawn polygons', 'a polygon of 50,000 vertices']

interface Subject {
  readonly title: string
  readonly bodies: readonly Buffer[]
}

function subjects({ columns, seed }: World): Subject[] {
  const random = seededRandom(seed)
  const drawn = drawnPolygons(columns, DRAWN_COUNT, seed)
  const pen = mapLibraryPen(random)
  const fine = drawn.map(() => drawnPolygon(columns, random, pen))
  const [rows, densely] = [polygonsInRows(100, 500), polygonsInRows(1_000, 10)]
  const thousand = { type: 'MultiPolygon', coordinates: drawn.map((each) => each.coordinates) }
  const esri = { title: 'drawn polygons in Esri JSON', geometries: drawn.map(inEsri) }
  return [
    { title: 'drawn polygons', geometries: drawn },
    { title: 'drawn polygons with all digits', geometries: fine },
    esri,
    { title: 'drawn polygons in web Mercator', geometries: drawn.map(inWebMercator) },
    { title: 'a polygon of 50,000 vertices', geometries: [largestPolygon()] },
    { title: '50,000 vertices in 100 polygons', geometries: [rows] },
    { title: 'a MultiPolygon of 1,000 drawn polygons', geometries: [thousand] },
    { title: '50,000 vertices in one Esri ring', geometries: [inEsri(largestPolygon())] },
    { title: '50,000 vertices in 100 Esri rings', geometries: [inEsri(rows)] },
    { title: '1,000 Esri rings', geometries: [inEsri(densely)] },
    { title: 'states', geometries: loadStates().map(({ geometry }) => geometry) },
    {
      title: 'states in Esri JSON',
      geometries: loadStates().map(({ geometry }) => inEsri(geometry)),
    },
  ]
    .map(({ title, geometries }) => ({ title, bodies: geometries.map((each) => bodyOf(each, {})) }))
    .concat({ title: 'drawn polygons with a name each', bodies: drawn.map(named) })
}

const named = (geometry: Polygon, index: number) => bodyOf(geometry, { name: `shape ${index}` })

function bodyOf(geometry: object, properties: object): Buffer {
  const features = [{ type: 'Feature', properties, geometry }]
  return Buffer.from(
    JSON.stringify({ countsOnly: true, geoJSON: { type: 'FeatureCollection', features } }),
  )
}

/** Before and after in one process: the long way is the one that every body took. */
function compareWays({ title, bodies }: Subject): Finding {
  const skeleton = skeletonOfThread()
  const { 'read and validate': readAndValidate, plan } = requestStages(
    bodies,
    CATALOGUE,
    THREAD_COUNT,
  )
  const each = (visit: (body: Buffer) => number) => () => {
    let sum = 0
    for (const body of bodies) sum += visit(body)
    return sum
  }
  return compareInTurn({
    title,
    shapeCount: bodies.length,
    ways: {
      'read and validate, the long way': each(
        (body) => validate(parse(body)).shapes.included.length,
      ),
      'read and validate': readAndValidate,
      'of that, to the skeleton': each((body) => (skeleton?.read(body) === undefined ? 0 : 1)),
      plan,
    },
    measuresGarbage: true,
    notes: [GARBAGE_NOTE],
  })
}

function timeStages({ title, bodies }: Subject): Finding {
  return compareInTurn({
    title: `the stages of ${title}`,
    shapeCount: bodies.length,
    ways: requestStages(bodies, CATALOGUE, THREAD_COUNT),
    measuresGarbage: true,
    notes: [GARBAGE_NOTE, 'search, HTTP connection and wake-ups are in none of the stages'],
  })
}

const GARBAGE_NOTE = 'garbage is what the heap and the memory of arrays grow by between collections'

/** Boxes of five by seven degrees, side by side. */
const CATALOGUE = catalogueOf({
  snapshotId: 'bench',
  createdAt: '2026-01-31T08:15:00.000Z',
  sources: [{ id: 1, label: 'Residents' }],
  shards: Array.from({ length: SHARD_COUNT }, (_, i) => {
    const minLng = -1_250_000_000 + Math.floor(i / 5) * 70_000_000
    const minLat = 250_000_000 + (i % 5) * 50_000_000
    const box = { minLng, minLat, maxLng: minLng + 70_000_000, maxLat: minLat + 50_000_000 }
    return { sourceId: 1, box }
  }),
})
