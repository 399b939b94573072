/**
 * Several ways to do the same, timed in turn, so that whatever else the machine does hits all alike.
 *
 * @module
 */
import { formatCount, formatFigure } from '../../harness/table.js'
import type { Finding } from './compare.js'
import { garbageBytes } from './garbage.js'
import { type MeasurePlan, measure, type Timing } from './measure.js'

export interface TurnQuestion {
  readonly title: string
  /** Of each pass. */
  readonly shapeCount: number
  /** The first is what the others are compared with. Each returns how many it found. */
  readonly ways: Readonly<Record<string, () => number>>
  /** Adds a column with the bytes that a shape leaves behind. */
  readonly measuresGarbage?: boolean
  readonly notes?: readonly string[]
}

export function compareInTurn({
  title,
  shapeCount,
  ways,
  measuresGarbage = false,
  notes = [],
}: TurnQuestion): Finding {
  const measured = Object.entries(ways).map(([name, pass]) => ({
    name,
    pass,
    total: pass(),
    timings: [] as Timing[],
  }))
  for (let turn = 0; turn < TURN_COUNT; turn++) {
    for (const { pass, timings } of measured) timings.push(measure(pass, plan))
  }
  const rows = measured.map(({ name, pass, total, timings }) => ({
    name,
    total,
    garbage: measuresGarbage ? garbageBytes(pass) / shapeCount : undefined,
    timing: timings.reduce((best, each) => (each.minMs < best.minMs ? each : best)),
  }))
  const micros = (passMs: number) => formatFigure((1000 * passMs) / shapeCount)
  return {
    table: {
      title: `${title}: ${formatCount(shapeCount)} shapes, one thread`,
      header: [
        'µs a shape',
        'min',
        'median',
        'found',
        'to the first',
        ...(measuresGarbage ? ['garbage, bytes'] : []),
      ],
      rows: rows.map(({ name, total, timing, garbage }) => [
        name,
        micros(timing.minMs),
        micros(timing.medianMs),
        formatCount(total / shapeCount),
        `${(timing.minMs / rows[0].timing.minMs).toFixed(2)}×`,
        ...(garbage === undefined
          ? []
          : [Number.isNaN(garbage) ? 'too much' : formatCount(garbage)]),
      ]),
    },
    ways: rows.map(({ name, timing, garbage }) => ({
      name,
      itemCount: shapeCount,
      timing,
      ...(garbage === undefined ? {} : { garbageBytes: garbage }),
    })),
    notes: [`each way ${TURN_COUNT} times in turn; the ratio is that of the least`, ...notes],
  }
}

const TURN_COUNT = 20

const plan: MeasurePlan = {
  warmUpCount: 1,
  repetitionCountMin: 2,
  repetitionCountMax: 10,
  budgetMs: 100,
}
