/**
 * What a benchmark of imports is asked to do; without arguments, files of ten million recipients.
 *
 * @module
 */
import { integerOption } from '../harness/integer-option.js'
import { parseOptions } from '../harness/parse-options.js'

/** Kinds of files, in the order in which they are imported. */
export const fileFormats = ['csv', 'gzip', 'parquet', 'ndjson'] as const
export type FileFormat = (typeof fileFormats)[number]
export type InputFormat = FileFormat | 'postgres'

export interface ImportOptions {
  /** Numbers of recipients, each measured by itself. */
  readonly recipientCounts: readonly number[]
  readonly seed: number
  readonly formats: readonly InputFormat[]
  readonly runCount: number
  readonly jsonPath: string | undefined
  readonly svgPath: string | undefined
  /** A result file to draw instead of measuring anything. */
  readonly drawPath: string | undefined
  /** Whether the files that were made stay for the next time. */
  readonly keep: boolean
  readonly help: boolean
}

export const USAGE = `npm run bench:import -- [options]
  --recipients N    recipients to import, 1000 or more (10000000)
  --scale N,N,…     instead, each of these numbers of millions, with a table of all
  --seed S          of recipients and shapes (1)
  --formats F,F,…   of ${fileFormats.join(', ')} (all of them); csv is always among them
  --postgres        imports a table as well, of the server that PGHOST and its like name
  --runs N          imports of each format, for medians and spread (3)
  --json FILE       writes the results there
  --svg FILE        draws the results of several numbers there
  --draw FILE       measures nothing, and draws the results of a --json FILE to --svg
  --keep            keeps the files for the next time; they are deleted otherwise
  --help            prints this
`

const OPTIONS = {
  recipients: { type: 'string' },
  scale: { type: 'string' },
  seed: { type: 'string', default: '1' },
  formats: { type: 'string', default: fileFormats.join() },
  postgres: { type: 'boolean', default: false },
  runs: { type: 'string', default: '3' },
  json: { type: 'string' },
  svg: { type: 'string' },
  draw: { type: 'string' },
  keep: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

/** @throws Error  that says what is wrong, with the usage below */
export function readOptions(args: readonly string[]): ImportOptions {
  const values = parseOptions(args, OPTIONS, USAGE)
  const fault = (text: string) => new Error(`${text}\n${USAGE}`)
  if (values.recipients !== undefined && values.scale !== undefined) {
    throw fault('--recipients and --scale exclude each other')
  }
  if (values.draw !== undefined && values.svg === undefined) {
    throw fault('--draw needs --svg FILE, where to draw')
  }
  const millions = values.scale?.split(',').map((text) => {
    return 1_000_000 * integerOption('scale', text, 1, 200, USAGE)
  })
  const recipients = values.recipients ?? '10000000'
  return {
    recipientCounts: (
      millions ?? [integerOption('recipients', recipients, 1_000, 200_000_000, USAGE)]
    ).toSorted((a, b) => a - b),
    seed: integerOption('seed', values.seed, 0, 2 ** 32 - 1, USAGE),
    formats: [...formatsOf(values.formats), ...(values.postgres ? (['postgres'] as const) : [])],
    runCount: integerOption('runs', values.runs, 1, 100, USAGE),
    jsonPath: values.json,
    svgPath: values.svg,
    drawPath: values.draw,
    keep: values.keep,
    help: values.help,
  }
}

function formatsOf(text: string): FileFormat[] {
  const asked = text.split(',')
  for (const name of asked) {
    if (fileFormats.some((format) => format === name)) continue
    throw new Error(`--formats takes out of ${fileFormats.join(', ')}, not "${name}"\n${USAGE}`)
  }
  // What is served at the end comes from the CSV file.
  return fileFormats.filter((format) => format === 'csv' || asked.includes(format))
}
