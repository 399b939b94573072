/**
 * What every sub-command is handed by the command line.
 *
 * @module
 */
import type { Log } from '../log.js'

export interface CommandContext {
  readonly dataDirectory: (flag: string | undefined) => string
  readonly log: Log
}
