/**
 * Callers in tests.
 *
 * @module
 */
import { limits } from '../../../src/limits.js'
import { type Caller, callerUntil } from '../../../src/pool/messages.js'

/** A caller who waits as long as a client of the service does. */
export function inTime(): Caller {
  return within(limits.requestMs)
}

/** A caller who waits from now on for so long. */
export function within(waitMs: number): Caller {
  return callerUntil(performance.now() + waitMs)
}
