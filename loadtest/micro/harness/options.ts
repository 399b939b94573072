/**
 * What a bench is asked to do; without arguments, every question.
 *
 * @module
 */
import { integerOption } from '../../harness/integer-option.js'
import { parseOptions } from '../../harness/parse-options.js'

export interface BenchOptions {
  readonly recipientCount: number
  readonly seed: number
  /** The one question to ask; all of them when absent. */
  readonly only: string | undefined
  /** Numbers of recipients to compare with each other, instead of asking the questions. */
  readonly growth: readonly number[] | undefined
  /** File for the results as JSON. */
  readonly jsonPath: string | undefined
  /** Whether the rows of PostGIS lie with neighbours side by side, not as they were imported. */
  readonly isClustered: boolean
  readonly help: boolean
}

export const RECIPIENT_COUNT_MIN = 1_000
export const RECIPIENT_COUNT_MAX = 200_000_000

export function usageOf(questionNames: readonly string[]): string {
  return `npm run bench -- [options]
  --recipients N      recipients to search, ${RECIPIENT_COUNT_MIN} or more (10000000)
  --seed S            of recipients and shapes (1)
  --only NAME         one question: ${questionNames.join(', ')}
  --growth N,N,…      instead, drawn polygons and memory at each of these numbers of recipients
  --json FILE         writes the results there, too
  --clustered         has PostGIS keep neighbours side by side, as after a CLUSTER
  --help              prints this
With PGHOST set, PostGIS is asked as well: see loadtest/README.md.
`
}

const OPTIONS = {
  recipients: { type: 'string', default: '10000000' },
  seed: { type: 'string', default: '1' },
  only: { type: 'string' },
  growth: { type: 'string' },
  json: { type: 'string' },
  clustered: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

/** @throws Error  that says what is wrong, with the usage below */
export function readOptions(
  args: readonly string[],
  questionNames: readonly string[],
): BenchOptions {
  const usage = usageOf(questionNames)
  const values = parseOptions(args, OPTIONS, usage)
  if (values.only !== undefined && !questionNames.includes(values.only)) {
    throw new Error(`--only is one of ${questionNames.join(', ')}, not "${values.only}"\n${usage}`)
  }
  const recipients = (name: string, text: string) =>
    integerOption(name, text, RECIPIENT_COUNT_MIN, RECIPIENT_COUNT_MAX, usage)
  return {
    recipientCount: recipients('recipients', values.recipients),
    seed: integerOption('seed', values.seed, 0, 2 ** 32 - 1, usage),
    only: values.only,
    growth: values.growth?.split(',').map((text) => recipients('growth', text)),
    jsonPath: values.json,
    isClustered: values.clustered,
    help: values.help,
  }
}
