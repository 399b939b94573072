/**
 * The values that the command line gives to every sub-command.
 *
 * @module
 */
import type { Log } from '../log.js'

export interface CommandContext {
  readonly dataDirectory: (flag: string | undefined) => string
  readonly log: Log
}
