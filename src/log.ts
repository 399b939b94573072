/**
 * The one logger. Phones and positions of recipients never reach it: what is logged is chosen
 * field by field, and no request or response body is ever passed in.
 *
 * @module
 */
import { type Logger, pino } from 'pino'

export type Log = Logger

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

/** JSON lines on standard error, which leaves standard output to what a command prints. */
export function createLog(level: LogLevel, bindings: Record<string, string | number> = {}): Log {
  const standardError = pino.destination({ dest: 2, sync: true })
  // A disk that is full of logs ends nothing.
  standardError.on('error', () => {})
  return pino(
    { level, base: { pid: process.pid, ...bindings }, timestamp: pino.stdTimeFunctions.isoTime },
    standardError,
  )
}

/** Lines for a file that somebody else writes, who must not wait. */
export function createLineLog(write: (line: string) => void): Log {
  const options = { base: { pid: process.pid }, timestamp: pino.stdTimeFunctions.isoTime }
  return pino(options, { write })
}

/**
 * A bug as it may be logged. Messages of JSON.parse quote what was parsed and those of assert
 * show what was compared, either of which may be a request, so they are left out.
 */
export function describeFault(fault: unknown): Record<string, string | undefined> {
  if (!(fault instanceof Error)) return { fault: typeof fault }
  const quotesData = fault instanceof SyntaxError || fault.name === 'AssertionError'
  const frames = fault.stack?.split('\n').filter((line) => line.startsWith('    at '))
  return {
    fault: fault.name,
    ...(quotesData ? {} : { faultMessage: fault.message }),
    frames: frames?.join('\n'),
  }
}
