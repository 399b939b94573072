/**
 * What a load run is asked to do; without arguments, the canonical workload.
 *
 * @module
 */
import { integerOption } from './harness/integer-option.js'
import { parseOptions } from './harness/parse-options.js'

export interface LoadOptions {
  readonly recipientCount: number
  readonly seed: number
  /** Sources that the recipients are dealt out to. */
  readonly sourceCount: number
  readonly connectionCount: number
  readonly warmUpSeconds: number
  readonly measuredSeconds: number
  /** How long or how often what is named happens. */
  readonly soakMinutes: number
  readonly killSeconds: number
  readonly swapCount: number
  readonly slowReaderCount: number
  readonly slowSenderCount: number
  /** For how long the service is offered more than it can do. */
  readonly overloadSeconds: number
  /** How often each scenario is run. */
  readonly runCount: number
  /** Scenarios to run. */
  readonly names: readonly string[]
  /** File for the results; one below the directory for temporary files when absent. */
  readonly jsonPath: string | undefined
  /** Makes the data again even if it is there. */
  readonly fresh: boolean
  readonly help: boolean
}

/** What the usage says of a scenario; the first of them is run unless others are named. */
export interface Listed {
  readonly name: string
  readonly summary: string
}

export function usageOf(scenarios: readonly Listed[]): string {
  const width = Math.max(...scenarios.map(({ name }) => name.length))
  const list = scenarios.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`)
  return `npm run loadtest -- [options]
  --recipients N         recipients to serve, 1000 or more (1000000)
  --seed S               of recipients and shapes (1)
  --sources N            sources that they are dealt out to, 1 to 100 (1)
  --connections N        each with one request under way (64)
  --seconds N            measured at a time, 1 to 600 (10)
  --warm-up N            seconds before that, 1 to 600 (3)
  --overload-seconds N   seconds of overload, 1 to 600 (60)
  --kill-seconds N       seconds of worker-kills, 1 to 3600 (60)
  --swaps N              swaps of swap, 1 to 1000 (50)
  --slow-readers N       readers of slow-readers, 1 to 2000 (200)
  --slow-senders N       senders of slow-senders, 1 to 4000 (1000)
  --soak-minutes N       minutes of soak, 1 to 1440 (10)
  --runs N               runs of each scenario, for medians and spread (1)
  --only NAME[,NAME]     these scenarios (${scenarios[0].name})
  --all                  all scenarios
  --json FILE            writes the results there
  --fresh                makes the data again
  --help                 prints this
Scenarios:
${list.join('\n')}
`
}

const OPTIONS = {
  recipients: { type: 'string', default: '1000000' },
  seed: { type: 'string', default: '1' },
  sources: { type: 'string', default: '1' },
  connections: { type: 'string', default: '64' },
  seconds: { type: 'string', default: '10' },
  'warm-up': { type: 'string', default: '3' },
  'kill-seconds': { type: 'string', default: '60' },
  swaps: { type: 'string', default: '50' },
  'slow-readers': { type: 'string', default: '200' },
  'slow-senders': { type: 'string', default: '1000' },
  'soak-minutes': { type: 'string', default: '10' },
  'overload-seconds': { type: 'string', default: '60' },
  runs: { type: 'string', default: '1' },
  only: { type: 'string' },
  all: { type: 'boolean', default: false },
  json: { type: 'string' },
  fresh: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

/** @throws Error  that says what is wrong, with the usage below */
export function readOptions(args: readonly string[], scenarios: readonly Listed[]): LoadOptions {
  const usage = usageOf(scenarios)
  const values = parseOptions(args, OPTIONS, usage)
  const integer = (name: string, text: string, min: number, max: number) =>
    integerOption(name, text, min, max, usage)
  return {
    recipientCount: integer('recipients', values.recipients, 1000, 200_000_000),
    seed: integer('seed', values.seed, 0, 2 ** 32 - 1),
    sourceCount: integer('sources', values.sources, 1, 100),
    connectionCount: integer('connections', values.connections, 1, 1_024),
    warmUpSeconds: integer('warm-up', values['warm-up'], 1, 600),
    measuredSeconds: integer('seconds', values.seconds, 1, 600),
    soakMinutes: integer('soak-minutes', values['soak-minutes'], 1, 1_440),
    killSeconds: integer('kill-seconds', values['kill-seconds'], 1, 3_600),
    swapCount: integer('swaps', values.swaps, 1, 1_000),
    slowReaderCount: integer('slow-readers', values['slow-readers'], 1, 2_000),
    slowSenderCount: integer('slow-senders', values['slow-senders'], 1, 4_000),
    overloadSeconds: integer('overload-seconds', values['overload-seconds'], 1, 600),
    runCount: integer('runs', values.runs, 1, 100),
    names: namesOf(values, scenarios, usage),
    jsonPath: values.json,
    fresh: values.fresh,
    help: values.help,
  }
}

function namesOf(
  { only, all }: { only?: string | undefined; all: boolean },
  scenarios: readonly Listed[],
  usage: string,
): string[] {
  const known = scenarios.map(({ name }) => name)
  if (only === undefined) return all ? known : known.slice(0, 1)
  if (all) throw new Error(`--only and --all exclude each other\n${usage}`)
  const asked = only.split(',')
  for (const name of asked) {
    if (known.includes(name)) continue
    throw new Error(`--only takes names out of ${known.join(', ')}, not "${name}"\n${usage}`)
  }
  return known.filter((name) => asked.includes(name))
}
