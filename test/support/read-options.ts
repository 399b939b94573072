/**
 * Options of the programs among the tests.
 *
 * @module
 */
import { parseArgs } from 'node:util'

type TextOptions = Readonly<Record<string, { readonly type: 'string'; readonly default?: string }>>

type Values<Options extends TextOptions> = {
  readonly [Name in keyof Options]: Options[Name] extends { default: string }
    ? string
    : string | undefined
}

/**
 * Reads the command line. `--help` prints the usage and ends the process; so does an option that is not
 * known, or a text where the default is a whole number.
 *
 * @param command  as somebody types it, such as `node dist/test/faults/run.js`
 */
export function readOptions<const Options extends TextOptions>(
  command: string,
  options: Options,
): Values<Options> {
  const usage = usageOf(command, options)
  try {
    const withHelp = { ...options, help: { type: 'boolean' } } as const
    const values: Readonly<Record<string, unknown>> = parseArgs({ options: withHelp }).values
    if (values.help === true) end(usage, 0)
    for (const [name, { default: usual = '' }] of Object.entries(options)) {
      const value = values[name]
      if (isWhole(usual) && !isWhole(String(value))) {
        throw new Error(`--${name} must be a whole number, not "${value}"`)
      }
    }
    return values as Values<Options>
  } catch (error) {
    return end(`${(error as Error).message}\n${usage}`, 2)
  }
}

function usageOf(command: string, options: TextOptions): string {
  const lines = Object.entries(options).map(([name, { default: usual }]) => {
    const shown = name === 'seed' ? '(a new one each time)' : usual ? `(${usual})` : ''
    return `  --${name.padEnd(14)} ${shown}`.trimEnd()
  })
  return [`${command} [options]`, ...lines, '  --help'].join('\n')
}

function isWhole(text: string): boolean {
  return /^\d{1,15}$/.test(text)
}

function end(text: string, exitCode: number): never {
  const stream = exitCode === 0 ? process.stdout : process.stderr
  stream.write(`${text}\n`)
  process.exit(exitCode)
}
