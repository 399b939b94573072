/**
 * Options of a command line.
 *
 * @module
 */
import { type ParseArgsConfig, parseArgs } from 'node:util'

/** @throws Error  that names what is not an option, with the usage below */
export function parseOptions<const Options extends NonNullable<ParseArgsConfig['options']>>(
  args: readonly string[],
  options: Options,
  usage: string,
) {
  try {
    return parseArgs({ args: [...args], options }).values
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${usage}`)
  }
}
