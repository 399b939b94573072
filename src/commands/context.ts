/**
 * The values that the command line gives to every sub-command.
 *
 * @module
 */
import type { Log } from '../log.js'

export interface CommandContext {
  readonly dataDirectory: (flag: string | undefined) => string
  readonly log: Log
  /** Takes what a command did, for the audit; nothing of people. Left out where nobody records it. */
  readonly record?: (facts: Readonly<Record<string, unknown>>) => void
  /** Lets other processes go first, for good. Left out where the process is not the command's own. */
  readonly lowerPriority?: () => void
  /**
   * Says that what the command does is not what it prints: its process ends this long after the work, also where
   * its output is not read. Left out where the process is not the command's own.
   */
  readonly endUnread?: (afterMs: number) => void
}
