import t, { type Test } from 'tap'
import { limits } from '../../src/limits.js'
import { createLog } from '../../src/log.js'
import { createMetricsMemory, frontPage } from '../../src/metrics/memory.js'
import { outlineOperations } from '../../src/operations/selections.js'
import { CLIPPING_ENVIRONMENT } from '../../src/outline/outline.js'
import { ClipPool } from '../../src/pool/clip.js'
import { NO_BOUNDARY } from '../../src/selection/boundary.js'
import { seededRandom } from '../support/random/world.js'
import { within } from '../support/service/in-time.js'

/** On a machine that has other work to do, all takes longer. */
const PATIENT_MS = 600_000

type Bounds = Partial<Record<'outlineMs' | 'outlineSharedMs' | 'clipHeapBytes', number>>

/** The whole way through a thread, with bounds that are wide or as given. */
function outlines(t: Test, bounds: Bounds = {}, environment = CLIPPING_ENVIRONMENT) {
  const { outlineMs, outlineSharedMs, clipHeapBytes } = limits
  Object.assign(limits, { outlineMs: PATIENT_MS, ...bounds })
  t.teardown(() => Object.assign(limits, { outlineMs, outlineSharedMs, clipHeapBytes }))
  const metrics = createMetricsMemory(1, 1)
  const runner = new ClipPool({
    workerUrl: new URL('../../workers/clip.js', import.meta.url).href,
    workerArgs: [],
    workerData: { metrics, frontIndex: 0 },
    environment,
    page: frontPage(metrics, 0),
    log: createLog('silent'),
  })
  t.teardown(() => runner.close())
  const service = {
    catalogue: { sources: [{ id: 1, label: 'A' }], shards: [] },
    runner,
    boundaryRule: NO_BOUNDARY,
  }
  const { OutlineRequest } = outlineOperations(service)
  return async (geoJSON: object) => {
    const answer = await OutlineRequest({ geoJSON }, within(PATIENT_MS))
    return JSON.parse(String(answer?.json()))
  }
}

const random = seededRandom(4)
const scribble = (vertexCount: number) => ({
  type: 'Polygon',
  coordinates: [Array.from({ length: vertexCount }, () => [random.unit(), random.unit()])],
})
const triangle = {
  type: 'Polygon',
  coordinates: [
    [
      [0, 0],
      [1, 0],
      [0, 1],
    ],
  ],
}
const isDissolved = { IsDissolved: true, Outlines: [{ SourceIds: [1] }] }

t.test('a thread unites shapes', async (t) => {
  const outline = outlines(t)
  t.match(await outline(triangle), isDissolved)
  t.match(await outline(scribble(60)), isDissolved)
})

const narrow: readonly {
  what: string
  vertexCount: number
  bounds?: Bounds
  environment?: typeof CLIPPING_ENVIRONMENT
  problem: string
}[] = [
  { what: 'takes too long', vertexCount: 900, bounds: { outlineMs: 400 }, problem: 'TookTooLong' },
  {
    what: 'takes too much memory',
    vertexCount: 900,
    bounds: { clipHeapBytes: 32 * 1024 * 1024 },
    problem: 'OutOfMemory',
  },
  {
    what: 'has too many crossings for the guards of the library',
    vertexCount: 200,
    environment: {
      POLYGON_CLIPPING_MAX_QUEUE_SIZE: '1000',
      POLYGON_CLIPPING_MAX_SWEEPLINE_SEGMENTS: '1000',
    },
    problem: 'ClippingFailed',
  },
]
for (const { what, vertexCount, bounds, environment, problem } of narrow) {
  t.test(`what ${what} is given undissolved, and the next one is dissolved`, async (t) => {
    const outline = outlines(t, bounds, environment)
    const { IsDissolved, Problem, Outlines } = await outline(scribble(vertexCount))
    t.same({ IsDissolved, Problem }, { IsDissolved: false, Problem: problem })
    t.equal(Outlines[0].Included[0].GeoJson.coordinates[0][0].length, vertexCount + 1)
    t.match(await outline(triangle), isDissolved)
  })
}
