/**
 * How much longer do counts of drawn polygons take beside large shapes?
 *
 * @module
 */
import type { Polygon } from 'geojson'
import { driveByWrk, type WrkFigures } from '../generator/wrk.js'
import { askAll, type KnownRequest } from '../harness/answers.js'
import { type DriveFigures, drive, faultsOf } from '../harness/drive.js'
import { formatCount, formatFigure } from '../harness/table.js'
import { loadStates } from '../requests/atlas.js'
import { wavyRing } from '../requests/large.js'
import { areaFeature, type Selection } from '../requests/requests.js'
import type { Finding, Scenario, Stage } from './scenario.js'

export const countsBesideLarge: Scenario = {
  name: 'counts-beside-large',
  summary: 'how much longer do counts take while states, or rings of 20,000 vertices, are counted?',
  run: async (stage) => {
    const { service, signal } = stage
    const states = await askAll(service.url, loadStates().map(countOf), signal)
    const rings = await askAll(service.url, Array.from({ length: RING_COUNT }, ringAt), signal)
    const peak = await driveCounts(stage, 0)
    const thinkMs = (1_000 * stage.options.connectionCount) / (RATE_SHARE * peak.perSecond)
    const alone = await driveCounts(stage, thinkMs)
    const besideStates = await beside(stage, states, thinkMs)
    const besideRings = await beside(stage, rings, thinkMs)
    return findingOf(peak, alone, { states: besideStates, rings: besideRings })
  },
}

/** Of the rate of the closed loop: so few that they hardly wait for each other. */
const RATE_SHARE = 0.2
const LARGE_CONNECTION_COUNT = 4
const RING_COUNT = 16
const RING_VERTEX_COUNT = 20_000

function countOf({ geometry }: Pick<ReturnType<typeof loadStates>[number], 'geometry'>): Selection {
  return { features: [areaFeature(geometry)], countsOnly: true }
}

/** Of some degrees in width, in the middle of the country. */
function ringAt(_: unknown, at: number): Selection {
  const ring = wavyRing(-100 + at, 35 + at / 4, 4, RING_VERTEX_COUNT)
  const geometry: Polygon = { type: 'Polygon', coordinates: [ring] }
  return countOf({ geometry })
}

function driveCounts({ service, counts, options, signal }: Stage, thinkMs: number) {
  const { connectionCount, warmUpSeconds, measuredSeconds: seconds } = options
  const bodies = counts.map(({ body }) => body)
  const { url, pid } = service
  const plan = { url, pid, bodies, connectionCount, thinkMs, warmUpSeconds, seconds, signal }
  return Promise.race([driveByWrk(plan), service.failure])
}

interface Beside {
  readonly counts: WrkFigures
  readonly large: DriveFigures
}

async function beside(
  stage: Stage,
  requests: readonly KnownRequest[],
  thinkMs: number,
): Promise<Beside> {
  const { service, options, signal } = stage
  const [counts, large] = await Promise.all([
    driveCounts(stage, thinkMs),
    drive({
      url: service.url,
      requests,
      compareAnswers: true,
      connectionCount: LARGE_CONNECTION_COUNT,
      seconds: options.warmUpSeconds + options.measuredSeconds,
      signal,
    }),
  ])
  return { counts, large }
}

function findingOf(
  peak: WrkFigures,
  alone: WrkFigures,
  besides: Readonly<Record<'states' | 'rings', Beside>>,
): Finding {
  const row = (name: string, figures: WrkFigures, large?: DriveFigures) => [
    name,
    formatCount(figures.perSecond),
    ...[figures.p50Ms, figures.p99Ms, figures.maxMs].map(formatFigure),
    formatCount(figures.failedCount),
    ...(large === undefined ? ['', ''] : [large.perSecond, large.p99Ms].map(formatFigure)),
  ]
  const { states, rings } = besides
  const ratioOf = ({ counts }: Beside) => counts.p99Ms / alone.p99Ms
  return {
    table: {
      title:
        'counts of drawn polygons by wrk, alone and beside four connections that count large shapes: ' +
        `p99 is ${formatFigure(ratioOf(states))} times as long beside states, ` +
        `${formatFigure(ratioOf(rings))} times beside rings of ${formatCount(RING_VERTEX_COUNT)} vertices`,
      header: ['', 'counts/s', 'p50 ms', 'p99 ms', 'max ms', 'failed', 'large/s', 'their p99 ms'],
      rows: [
        row('as many as possible', peak),
        row('a fifth, alone', alone),
        row('beside states', states.counts, states.large),
        row('beside rings', rings.counts, rings.large),
      ],
    },
    figures: {
      peakPerSecond: peak.perSecond,
      aloneP50Ms: alone.p50Ms,
      aloneP99Ms: alone.p99Ms,
      besideStatesP50Ms: states.counts.p50Ms,
      besideStatesP99Ms: states.counts.p99Ms,
      besideRingsP50Ms: rings.counts.p50Ms,
      besideRingsP99Ms: rings.counts.p99Ms,
      statesPerSecond: states.large.perSecond,
      ringsPerSecond: rings.large.perSecond,
      failedCount: alone.failedCount + states.counts.failedCount + rings.counts.failedCount,
    },
    faults: [
      ...(alone.failedCount > 0 ? [`alone: ${formatCount(alone.failedCount)} failed`] : []),
      ...faultsOf('states', states.large, true),
      ...faultsOf('rings', rings.large, true),
    ],
  }
}
