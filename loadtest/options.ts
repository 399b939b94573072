/**
 * What a load run is asked to do; without arguments, the canonical workload.
 *
 * @module
 */
import { parseArgs } from 'node:util'
import { integerOption } from './integer-option.js'

export interface LoadOptions {
  readonly recipientCount: number
  readonly seed: number
  readonly connectionCount: number
  readonly warmUpSeconds: number
  readonly measuredSeconds: number
  /** How long or how often what is named happens. */
  readonly soakMinutes: number
  readonly killSeconds: number
  readonly swapCount: number
  readonly slowReaderCount: number
  readonly slowSenderCount: number
  /** Name of the one scenario to run; all of them when absent. */
  readonly only: string | undefined
  /** Makes the data again even if it is there. */
  readonly fresh: boolean
}

export const USAGE = `npm run loadtest -- [options]
  --recipients N    recipients to serve, 1000 or more (1000000)
  --seed S          of recipients and shapes (1)
  --connections N   each with one request under way (64)
  --seconds N       measured for each scenario and server, 1 to 600 (10)
  --warm-up N       seconds before that, 1 to 600 (3)
  --soak-minutes N  of the scenario soak, 1 to 1440 (10)
  --kill-seconds N  of the scenario worker-kills, 1 to 3600 (60)
  --swaps N         of the scenario swap, 1 to 1000 (50)
  --slow-readers N  of the scenario slow-readers, 1 to 2000 (200)
  --slow-senders N  of the scenario slow-senders, 1 to 4000 (1000)
  --only NAME       one scenario
  --fresh           make the data again
`

export function readOptions(args: readonly string[]): LoadOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      recipients: { type: 'string', default: '1000000' },
      seed: { type: 'string', default: '1' },
      connections: { type: 'string', default: '64' },
      seconds: { type: 'string', default: '10' },
      'warm-up': { type: 'string', default: '3' },
      'soak-minutes': { type: 'string', default: '10' },
      'kill-seconds': { type: 'string', default: '60' },
      swaps: { type: 'string', default: '50' },
      'slow-readers': { type: 'string', default: '200' },
      'slow-senders': { type: 'string', default: '1000' },
      only: { type: 'string' },
      fresh: { type: 'boolean', default: false },
    },
  })
  return {
    recipientCount: integer('recipients', values.recipients, 1000, 200_000_000),
    seed: integer('seed', values.seed, 0, 2 ** 32 - 1),
    connectionCount: integer('connections', values.connections, 1, 1_024),
    warmUpSeconds: integer('warm-up', values['warm-up'], 1, 600),
    measuredSeconds: integer('seconds', values.seconds, 1, 600),
    soakMinutes: integer('soak-minutes', values['soak-minutes'], 1, 1_440),
    killSeconds: integer('kill-seconds', values['kill-seconds'], 1, 3_600),
    swapCount: integer('swaps', values.swaps, 1, 1_000),
    slowReaderCount: integer('slow-readers', values['slow-readers'], 1, 2_000),
    slowSenderCount: integer('slow-senders', values['slow-senders'], 1, 4_000),
    only: values.only,
    fresh: values.fresh,
  }
}

function integer(name: string, text: string, min: number, max: number): number {
  return integerOption(name, text, min, max, USAGE)
}
